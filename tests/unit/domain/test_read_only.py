"""What a halted ledger still takes."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain.approvals import ACTIONS
from domain.handlers import HANDLERS
from domain.read_only import is_refused
from domain.registers import Approval, LogState
from domain.work import Work

TAKEN = {
    "StartLedger", "PublishRuleset", "Propose", "Refuse", "RegisterPerson", "RevokePerson", "VerifySoftware",
    "StartLog", "HaltLog", "StartAudit", "FinishAudit", "RecordArchive",
}  # fmt: skip


def made(kind: type) -> c.Command:
    """Return a command of a kind, with nothing in it."""
    command: c.Command = object.__new__(kind)
    return command


def work(*, halted: bool) -> Work:
    """Return books on which every kind of action waits for approval."""
    books = Work(bytes, "test-build")
    books.log = LogState(1, "origin/1", ["vkey"], halted="behind" if halted else None)
    for kind in ACTIONS:
        books.approvals[kind] = Approval(
            kind, kind, {}, "", {}, "ada", by_person=True, proposed_at_us=0, expires_at_us=0
        )
    return books


@pytest.mark.parametrize("kind", [kind for kind in HANDLERS if kind is not c.Approve])
def test_only_what_moves_no_money_is_taken(kind: type) -> None:
    """A halted ledger refuses every command that is not known to be harmless; one that goes on takes all."""
    assert is_refused(made(kind), work(halted=True)) == (kind.__name__ not in TAKEN)
    assert not is_refused(made(kind), work(halted=False))


@pytest.mark.parametrize("kind", sorted(ACTIONS))
def test_only_actions_that_move_no_money_are_approved(kind: str) -> None:
    """A new log, people and software can be approved, a jackpot's money cannot."""
    harmless = kind in {"log", "log_key", "person_registration", "person_revocation", "software"}
    assert is_refused(c.Approve(kind), work(halted=True)) != harmless
    assert not is_refused(c.Approve(kind), work(halted=False))


def test_an_approval_that_is_not_there_is_told_as_ever() -> None:
    """Whether something was proposed is for the command itself to say."""
    assert not is_refused(c.Approve("nothing"), work(halted=True))

"""Which software may open rounds."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.approvals import ACTIONS, Approved
from domain.rejections import Rejection
from domain.software import ACCEPTANCE, BUILDS_MAX
from tests.unit.domain.playing import Box, Ledger, plain_house

CODE, CHANGED = "c" * 64, "d" * 64
APPROVED = Approved("approval-1", "ada", "bob", "e" * 64)


def look(occasion: ev.Occasion, code: str = CODE, build: str = "ledger/1", **more: Any) -> c.VerifySoftware:
    """Return the command that says what was found."""
    return c.VerifySoftware(build, code, "a" * 64, "b" * 64, None, occasion, **more)


def verified(ledger: Ledger) -> ev.SoftwareVerified:
    """Return the event that the last look left."""
    event = ledger.events[-1].event
    assert isinstance(event, ev.SoftwareVerified)
    return event


@pytest.fixture
def ledger() -> Ledger:
    """Return a ledger with a table, whose software has been looked at once."""
    ledger = Ledger()
    ledger.table(plain_house())
    ledger.ask(look("start"))
    return ledger


def test_the_first_that_is_found_is_the_baseline(ledger: Ledger) -> None:
    """A ledger's first look accepts what it finds, in a stream of the look's own."""
    event = verified(ledger)
    assert (event.matches, event.accepted, event.postgres) == (True, "baseline", None)
    last = ledger.events[-1]
    assert (last.stream, last.version) == (f"ledger-software-{last.position}", 1)


@pytest.mark.parametrize("occasion", ["start", "daily", "demand"])
def test_what_was_accepted_matches(ledger: Ledger, occasion: ev.Occasion) -> None:
    """The same files match, whenever they are looked at, and rounds open."""
    answer = ledger.ask(look(occasion))
    assert (verified(ledger).matches, verified(ledger).accepted) == (True, None)
    assert (answer["halted"], answer["changed"]) == (False, [])
    assert ledger.open()


@pytest.mark.parametrize("occasion", ["start", "daily", "demand"])
def test_changed_files_open_no_round(ledger: Ledger, occasion: ev.Occasion) -> None:
    """The same build with another hash halts new rounds and says what changed; accepted files end that."""
    answer = ledger.ask(look(occasion, CHANGED))
    assert (verified(ledger).matches, verified(ledger).accepted) == (False, None)
    assert (answer["halted"], answer["changed"]) == (True, ["code"])
    ledger.refused(c.OpenRound("r-halted", "t"), "software_mismatch")
    assert ledger.ask(look("demand"))["halted"] is False
    assert ledger.open()


def test_a_round_under_way_is_finished(ledger: Ledger) -> None:
    """What was staked before the mismatch is dealt, decided and settled."""
    round_id = ledger.dealt("2c 3d 4h 5s 7c", {1: Box("As Ad Ah Ks Qd", "raise")})
    ledger.ask(look("daily", CHANGED))
    ledger.decide(round_id, 1, "raise")
    ledger.reveal(round_id, "2c 3d 4h 5s 7c")
    assert ledger.round(round_id).finished


def test_another_postgresql_is_a_change(ledger: Ledger) -> None:
    """Binaries of the server that were not there, or are others, are found."""
    command = c.VerifySoftware("ledger/1", CODE, "a" * 64, "b" * 64, "f" * 64, "daily")
    assert ledger.ask(command)["changed"] == ["postgres"]


def test_a_new_build_is_accepted_at_a_start_only(ledger: Ledger) -> None:
    """An update is recorded as one; a build that appears without a start is a mismatch."""
    assert ledger.ask(look("daily", CHANGED, "ledger/2"))["halted"] is True
    assert ledger.ask(look("start", CHANGED, "ledger/2"))["halted"] is False
    assert (verified(ledger).matches, verified(ledger).accepted) == (False, "new_build")
    assert ledger.ask(look("daily", CHANGED, "ledger/2"))["halted"] is False
    assert ledger.ask(look("daily"))["halted"] is False


def test_a_demonstration_accepts_any_files_at_a_start(ledger: Ledger) -> None:
    """On a ledger without real money changed files are recorded and accepted, but only when it starts."""
    assert ledger.ask(look("daily", CHANGED, trusting=True))["halted"] is True
    assert ledger.ask(look("start", CHANGED, trusting=True))["halted"] is False
    assert verified(ledger).accepted == "demo"


def test_two_people_accept_what_was_found(ledger: Ledger) -> None:
    """The action says what has changed, and records who accepted it; then rounds open."""
    ledger.ask(look("daily", CHANGED))
    payload = dict(ledger.work.software.found)
    action = ACTIONS[ACCEPTANCE]
    assert action.effect(payload, ledger.work) == {"build": "ledger/1", "changed": ["code"]}
    action.apply(payload, ledger.work, APPROVED)
    event = ledger.work.emitted[-1].event
    assert isinstance(event, ev.SoftwareVerified)
    assert (event.matches, event.accepted, event.approved_by) == (False, "approval", "bob")
    assert not ledger.work.software.halted


def test_only_what_was_found_can_be_accepted(ledger: Ledger) -> None:
    """Where nothing is wrong there is nothing to accept, and where something is, only that."""
    effect = ACTIONS[ACCEPTANCE].effect
    with pytest.raises(Rejection, match="nothing to accept"):
        effect(dict(ledger.work.software.found), ledger.work)
    ledger.ask(look("daily", CHANGED))
    with pytest.raises(Rejection, match="not what was found"):
        effect({**ledger.work.software.found, "code": CODE}, ledger.work)


def test_the_builds_that_are_remembered_are_bounded(ledger: Ledger) -> None:
    """The oldest build is forgotten; should it start again it is new."""
    for number in range(BUILDS_MAX):
        ledger.ask(look("start", CHANGED, f"ledger/later-{number}"))
    assert len(ledger.work.software.accepted) == BUILDS_MAX
    ledger.ask(look("start"))
    assert verified(ledger).accepted == "new_build"

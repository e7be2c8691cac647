"""People and approvals between processes: what one records the others decide on, and memory stays small."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace

import orjson
import pytest

from domain import commands as c
from domain import events as ev
from domain.registers import SoftwareState
from infrastructure.ledger import registers
from infrastructure.ledger.store import RegisterRow
from infrastructure.ledger.stored_form import decode
from infrastructure.ledger.submission import Outcome, Submission
from tests.unit.infrastructure.ledgers import Process, beside, events, refused, submission, told

_numbers = itertools.count(1)
KEYS = {"anna": "key-of-anna", "ben": "key-of-ben", "cleo": "key-of-cleo"}


@pytest.fixture
def process() -> Process:
    """Return a process on a ledger with three people who may approve."""
    process = Process()
    process.do(c.StartLedger(demo=True))
    for name in ("anna", "ben"):
        process.do(c.RegisterPerson(name, KEYS[name], ("admin",), f"unused-{name}"))
    process.do(c.RegisterPerson("cleo", KEYS["cleo"], ("admin",), "add-cleo"))
    assert told(decide(process, "ben", c.Approve("add-cleo")))["status"] == "approved"
    return process


def by(person: str, command: c.Command) -> Submission:
    """Return a command that a person sends."""
    made = submission(command, f"by-{person}-{next(_numbers)}")
    return replace(made, actor=person, person=person, scopes=frozenset({"admin"}))


def decide(process: Process, person: str, *commands: c.Command) -> Outcome:
    """Have a person's commands decided in one batch; return the last one's outcome."""
    return process.run([by(person, command) for command in commands])[-1]


def propose(process: Process, approval_id: str, person_id: str = "cleo") -> c.Approve:
    """Propose to revoke somebody, as anna; return the command that approves it."""
    told(decide(process, "anna", c.RevokePerson(person_id, approval_id)))
    return c.Approve(approval_id)


def test_what_one_process_proposes_is_approved_at_another(process: Process) -> None:
    """Open proposals and people reach every process with its next batch, be it its first or not."""
    other = beside(process)
    other.do()
    approve = propose(process, "A1")
    assert told(decide(other, "ben", approve))["status"] == "approved"
    assert told(decide(beside(process), "ben", c.Refuse(propose(other, "A2", "ben").approval_id)))
    assert [type(e).__name__ for e in events(process.ledger, ev.ActionApproved)] == ["ActionApproved"] * 2


def test_of_two_approvals_one_happens(process: Process) -> None:
    """Sent at once, to one process in one batch or to two that know it as open: the second comes late."""
    other = beside(process)
    together, apart = propose(process, "A1"), propose(process, "A2", "ben")
    other.do()
    assert "A1" in other.books.work.approvals
    first, second = process.run([by("ben", together), by("ben", together)])
    assert told(first)["status"] == "approved"
    assert refused(second) == "approval_closed"
    assert refused(decide(other, "ben", together)) == "approval_closed"
    assert told(decide(other, "ben", apart))["status"] == "approved"
    assert refused(decide(process, "cleo", apart)) == "personal_subject_required"  # revoked by A1
    assert refused(decide(process, "anna", apart)) == "same_person"
    assert len(events(process.ledger, ev.PersonRevoked)) == 2


def test_who_is_revoked_at_one_process_is_nobody_at_the_other(process: Process) -> None:
    """At once, whatever the command and however long their token holds."""
    other = beside(process)
    other.do()
    assert told(decide(process, "ben", propose(process, "A1")))
    opening = c.OpenPlayer("player", "p1", "USD")
    assert refused(decide(other, "cleo", opening)) == "personal_subject_required"
    assert told(decide(other, "ben", opening))


def test_what_is_decided_is_forgotten_and_found_again(process: Process) -> None:
    """Memory holds open proposals only; a decided one is read where a command names it, and not kept."""
    other = beside(process)
    decide(process, "ben", propose(process, "A1"))
    other.do()
    open_one = propose(process, "A2", "ben")
    for each in (process, other, beside(process)):
        assert refused(decide(each, "ben", c.Approve("A1"))) == "approval_closed"
        assert refused(decide(each, "ben", c.Refuse("add-cleo"))) == "approval_closed"
        assert refused(decide(each, "ben", c.Approve("nothing"))) == "approval_not_found"
        assert list(each.books.work.approvals) == [open_one.approval_id]


def test_deciding_ahead_waits_for_an_approval_that_is_not_in_memory(process: Process) -> None:
    """What would have to be read is not decided before it is."""
    decide(process, "ben", propose(process, "A1"))
    process.books.quiet_batches = 100
    known = propose(process, "A2", "ben")
    sent = {name: [by("ben", command)] for name, command in (("known", known), ("gone", c.Approve("A1")))}
    books = process.books
    assert books.suffice(sent["known"], books.reading(sent["known"]))
    assert books.reading(sent["gone"]).registers == ["approval-A1"]
    assert not books.suffice(sent["gone"], books.reading(sent["gone"]))


def test_the_registers_say_what_the_events_say(process: Process) -> None:
    """People and open approvals, kept beside the books, are what a fold of their events comes to."""
    decide(process, "ben", propose(process, "A1"))
    decide(process, "ben", c.Refuse(propose(process, "A2", "ben").approval_id))
    propose(process, "A3", "ben")
    active = {}
    status = {}
    for row in process.ledger.events:
        match decode(row.data).event:
            case ev.PersonRegistered() as registered:
                active[registered.person_id] = True
            case ev.PersonRevoked() as revoked:
                active[revoked.person_id] = False
            case ev.ActionProposed() as proposed:
                status[proposed.approval_id] = "proposed"
            case ev.ActionApproved() as approved:
                status[approved.approval_id] = "approved"
            case ev.ActionRefused() as refusal:
                status[refusal.approval_id] = "refused"
    states = {name: orjson.loads(row.state) for name, row in process.ledger.registers.items()}
    assert {f"person-{name}": state for name, state in active.items()} == {
        name: state["active"] for name, state in states.items() if name.startswith("person-")
    }
    assert {f"approval-{name}": state for name, state in status.items()} == {
        name: state["status"] for name, state in states.items() if name.startswith("approval-")
    }
    assert {name for name, row in process.ledger.registers.items() if not row.active} == {
        "approval-add-cleo",
        "approval-A1",
        "approval-A2",
    }


def test_the_software_is_a_register_too(process: Process) -> None:
    """What is known of the software goes to the store and comes back as it was."""
    work = process.books.work
    work.software = SoftwareState(halted=True)
    row = registers.row_of(work, "software", 7)
    assert (row.name, row.position, row.active) == ("software", 7, True)
    other = beside(process).books.work
    registers.learn(other, row)
    assert other.software == work.software


def test_a_person_and_an_approval_come_back_as_they_were(process: Process) -> None:
    """Every field of what is kept survives the way to the store and back."""
    propose(process, "A1")
    work, other = process.books.work, beside(process).books.work
    for name in ("person-anna", "approval-A1"):
        row = registers.row_of(work, name, 1)
        assert isinstance(row, RegisterRow)
        registers.learn(other, row)
    assert other.people["anna"] == work.people["anna"]
    assert asdict(other.approvals["A1"]) == asdict(work.approvals["A1"])

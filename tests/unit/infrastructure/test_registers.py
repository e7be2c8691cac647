"""People and approvals between processes: what one records the others decide on, and memory stays small."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace
from random import Random

import orjson
import pytest

from domain import commands as c
from domain import events as ev
from domain.approvals import LIFE_US
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


# ── At random ───────────────────────────────────────────────────────────────────────────────────────────────
NAMES = tuple(f"person-{letter}" for letter in "abcdefghij")


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_tried_nothing_is_done_that_two_did_not_want(seed: int) -> None:
    """Two processes, any commands of anybody's: an oracle that knows the events alone finds no way around."""
    random = Random(seed)
    first = Process()
    first.do(c.StartLedger(demo=True))
    processes = [first, beside(first)]
    for step in range(250):
        first.clock.now_us += random.choice((1, 1, 1, LIFE_US // 15))
        known = [name.removeprefix("approval-") for name in first.ledger.registers if "approval" in name]
        tried = [_anything(random, f"A{step}-{n}", known[-12:]) for n in range(random.choice((1, 1, 3)))]
        random.choice(processes).run(tried)
    oracle = Oracle()
    for row in first.ledger.events:
        recorded = decode(row.data)
        oracle.saw(recorded.event, int(recorded.recorded_at.timestamp() * 1_000_000))
    oracle.agrees(first)
    for process in processes:
        process.do(c.OpenPlayer(f"last-{id(process)}", f"p{id(process)}", "USD"))
        assert {a.approval_id for a in process.books.work.approvals.values()} == oracle.still_open()
        assert {p.person_id for p in process.books.work.people.values() if p.active} == oracle.active


def _anything(random: Random, new: str, known: list[str]) -> Submission:
    """Return some command of some person's or of some service token's, on something new or known."""
    approval = random.choice([*known, "nothing"])
    name = random.choice(NAMES)
    command = random.choice(
        (
            c.RegisterPerson(f"{name}-{new}", f"key-{random.randrange(60)}", ("audit",), new),
            c.RegisterPerson(name, f"key-of-{name}", random.choice((("admin",), ("admin", "audit"))), new),
            c.RevokePerson(name, new),
            *[c.Approve(approval)] * 3,
            c.Refuse(approval),
        )
    )
    actor = random.choice((*NAMES, "tests"))
    made = replace(submission(command, f"{new}-{random.randrange(3)}"), actor=actor)
    if actor != "tests" and random.random() < 0.8:
        held = frozenset({"admin", "audit"} if random.random() < 0.9 else {"audit"})
        return replace(made, person=actor, scopes=held)
    return made


class Oracle:
    """What the events say of people and approvals, and that each was allowed when it happened."""

    def __init__(self) -> None:
        self.scopes: dict[str, tuple[str, ...]] = {}
        self.active: set[str] = set()
        self.keys: set[str] = set()
        self.proposed: dict[str, tuple[ev.ActionProposed, int]] = {}
        self.ended: dict[str, str] = {}
        self.now_approved: str | None = None

    def saw(self, event: ev.Event, at_us: int) -> None:
        """Take an event in."""
        approved, self.now_approved = self.now_approved, None
        match event:
            case ev.ActionProposed():
                assert event.approval_id not in self.proposed
                self.proposed[event.approval_id] = event, at_us
            case ev.ActionApproved():
                proposal = self._ends(event.approval_id, "approved", at_us)
                self._may_decide(event.approved_by)
                assert event.approved_by.lower() != proposal.proposed_by.lower()
                assert (event.kind, event.payload_sha256) == (proposal.kind, proposal.payload_sha256)
                self.now_approved = event.approval_id
            case ev.ActionRefused():
                self._ends(event.approval_id, "refused", at_us)
                self._may_decide(event.refused_by)
            case ev.ActionExpired():
                assert at_us >= self.proposed[event.approval_id][1] + LIFE_US
                assert self.ended.setdefault(event.approval_id, "expired") == "expired"
            case ev.PersonRegistered():
                self._wanted_by_two(event.approval_id, approved)
                assert event.person_id not in self.scopes
                assert event.public_key not in self.keys
                self.scopes[event.person_id] = event.scopes
                self.active.add(event.person_id)
                self.keys.add(event.public_key)
            case ev.PersonRevoked():
                self._wanted_by_two(event.approval_id, approved)
                self.active.remove(event.person_id)

    def _ends(self, approval_id: str, how: str, at_us: int) -> ev.ActionProposed:
        proposal, proposed_at_us = self.proposed[approval_id]
        assert approval_id not in self.ended
        assert at_us < proposed_at_us + LIFE_US
        self.ended[approval_id] = how
        return proposal

    def _may_decide(self, person: str) -> None:
        assert person in self.active
        assert "admin" in self.scopes[person]

    def _wanted_by_two(self, approval_id: str | None, approved: str | None) -> None:
        admins = {person for person, scopes in self.scopes.items() if "admin" in scopes}
        assert (approval_id is not None) == (len(admins) >= 2 and bool(admins & self.active))
        assert approval_id == approved

    def still_open(self) -> set[str]:
        """The proposals that nothing has ended."""
        return self.proposed.keys() - self.ended.keys()

    def agrees(self, process: Process) -> None:
        """Check the registers of a ledger."""
        rows = process.ledger.registers
        states = {name: orjson.loads(row.state) for name, row in rows.items()}
        assert {
            n.removeprefix("person-") for n, s in states.items() if n.startswith("person-") and s["active"]
        } == (self.active)
        for approval_id in self.proposed:
            state = states[f"approval-{approval_id}"]
            assert state["status"] == self.ended.get(approval_id, "proposed")
            assert rows[f"approval-{approval_id}"].active == (approval_id not in self.ended)
        assert set(self.ended.values()) == {"approved", "refused", "expired"}, "the seed tries too little"

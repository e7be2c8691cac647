"""A ledger's log between processes: what one records all decide on, and what a halted ledger answers."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import orjson
import pytest

from domain import commands as c
from domain import events as ev
from domain.evidence_log import GENERATION, KEY
from infrastructure.checking.envelopes import Row
from infrastructure.checking.findings import Finding
from infrastructure.checking.fold import Fold
from infrastructure.ledger.batch import Batch
from infrastructure.ledger.submission import ReadOnly, Result, Submission
from tests.unit.domain.log_keys import FIRST, ROOT, SECOND, vkey
from tests.unit.infrastructure.ledgers import (
    SEALS,
    Process,
    beside,
    deposit,
    events,
    furnished,
    stake,
    submission,
    told,
)

HALT = c.HaltLog(1, "behind", 3, 100, ROOT)
SHA256 = "a" * 64
_numbers = itertools.count(1)


@pytest.fixture
def process() -> Process:
    """Return a process on a furnished ledger with a log, and two people who may approve."""
    process = furnished()
    process.do(c.StartLog(FIRST, vkey()))
    for name in ("anna", "ben"):
        process.do(c.RegisterPerson(name, f"key-of-{name}", ("admin",), f"unused-{name}"))
    return process


def by(person: str, command: c.Command) -> Submission:
    """Return a command that a person sends."""
    made = submission(command, f"by-{person}-{next(_numbers)}")
    return replace(made, actor=person, person=person, scopes=frozenset({"admin"}))


def agreed(process: Process, other: Process, kind: str, payload: dict[str, Any]) -> None:
    """Have anna propose at one process and ben approve at another."""
    approval_id = f"approval-{next(_numbers)}"
    told(process.run([by("anna", c.Propose(approval_id, kind, payload))])[0])
    assert told(other.run([by("ben", c.Approve(approval_id))])[0])["status"] == "approved"


def new_log(process: Process, other: Process) -> None:
    """Have two people start a new log."""
    agreed(process, other, GENERATION, {"origin": SECOND, "vkey": vkey(SECOND, 2)})


# ── Read only ───────────────────────────────────────────────────────────────────────────────────────────────
def test_a_ledger_that_one_process_halts_is_halted_for_all(process: Process) -> None:
    """The next batch of every process refuses what moves money, and no event, answer or key is kept of it."""
    other = beside(process)
    sent = submission(deposit(1, 100, "later"), "later")
    process.do(HALT)
    at, known = process.ledger.position, len(process.ledger.commands)
    for asked in (process, other):
        (outcome,) = asked.run([sent])
        assert isinstance(outcome, ReadOnly)
    assert (process.ledger.position, len(process.ledger.commands)) == (at, known)
    new_log(process, other)
    (outcome,) = other.run([sent])
    assert (told(outcome)["balance"], isinstance(outcome, Result) and outcome.replayed) == (1_000_100, False)


def test_what_comes_after_the_halt_in_its_batch_is_refused(process: Process) -> None:
    """What was decided before it in the same batch stands."""
    first, _, second = process.ask(deposit(1, 100, "a"), HALT, deposit(1, 100, "b"))
    assert told(first)["balance"] == 1_000_100
    assert isinstance(second, ReadOnly)
    assert len(events(process.ledger, ev.Deposited)) == 9


def test_a_command_that_is_known_is_answered_as_ever(process: Process) -> None:
    """A repeat moves nothing: it gets its first answer, halted or not (G3)."""
    sent = submission(deposit(1, 100, "before"), "before")
    (first,) = process.run([sent])
    process.do(HALT)
    assert isinstance(first, Result)
    assert process.run([sent]) == [first._replace(replayed=True)]


def test_a_round_under_way_waits_until_there_is_a_new_log(process: Process) -> None:
    """Neither a decision nor the clock goes on with it; then it is played to its end."""
    process.do(c.OpenRound("r1", "pots", (stake(1),), deal=True))
    process.do(HALT)
    for command in (c.Decide("r1", 1, "raise"), c.TimeOutRound("r1"), c.VoidRound("r1", "malfunction")):
        assert isinstance(process.ask(command)[0], ReadOnly)
    new_log(process, beside(process))
    assert process.do(c.Decide("r1", 1, "raise"))[0]["phase"] == "closed"


def test_money_is_not_moved_by_two_people_either(process: Process) -> None:
    """A proposal that was open when the ledger was halted cannot be approved, and can be refused."""
    adjust = c.Propose("adjust", "jackpot_adjustment", {"jackpot_id": "pot", "pool": "meter", "amount": 5})
    told(process.run([by("anna", adjust)])[0])
    process.do(HALT)
    other = beside(process)
    for asked in (process, other):
        assert isinstance(asked.run([by("ben", c.Approve("adjust"))])[0], ReadOnly)
    assert told(other.run([by("ben", c.Refuse("adjust"))])[0])["status"] == "refused"


def test_a_batch_decided_ahead_of_a_halt_is_decided_again(process: Process) -> None:
    """What another process writes in between is never passed over."""
    other = beside(process)
    for number in range(12):
        process.do(deposit(1, 1, f"quiet-{number}"))
    sent = submission(c.CloseTable("pots"), "ahead")
    batch = Batch([sent], process.books, process.store, SEALS, process.clock)
    assert batch.anticipate()
    other.do(HALT)
    assert not batch.confirm()
    process.books.forget()
    assert isinstance(process.run([sent])[0], ReadOnly)
    assert not events(process.ledger, ev.TableClosed)


# ── The checkpoint in answers ───────────────────────────────────────────────────────────────────────────────
def test_answers_carry_the_checkpoint_of_their_batch(process: Process) -> None:
    """Rounds and transfers tell the newest one there was, and repeats tell the same bytes for ever (G3)."""
    newest: dict[str, Any] | None = None
    sent: dict[str, c.Command] = {
        "deposit": deposit(1, 100, "in"),
        "withdrawal": c.Withdraw("player-1", 50, "out", "t"),
        "round": c.OpenRound("r1", "pots", (stake(1),), deal=True),
    }

    def run(names: dict[str, c.Command]) -> list[dict[str, Any]]:
        submissions = [submission(command, name) for name, command in names.items()]
        batch = Batch(submissions, process.books, process.store, SEALS, process.clock, lambda _: newest)
        return [told(outcome) for outcome in batch.run()]

    assert "checkpoint" not in run({"first": deposit(2, 1, "none yet")})[0]
    newest = {"size": 7, "root": ROOT}
    answers = run(sent)
    assert [answer["checkpoint"] for answer in answers] == [newest] * 3
    newest = {"size": 8, "root": ROOT}
    assert run(sent) == answers
    again = run({"the same reference": deposit(1, 100, "in")})  # the first answer, to another command
    assert again == answers[:1]


# ── What is kept of it ──────────────────────────────────────────────────────────────────────────────────────
def test_what_was_recorded_reaches_a_process_that_knows_nothing(process: Process) -> None:
    """Log, archive and the audits that run are read at a start; audits that ended are not in memory."""
    process.do(c.StartAudit("a1", "database", 1, 5), c.StartAudit("a2", "archive", 1, 5))
    process.do(c.FinishAudit("a1", "pass", 1, 5, 0, SHA256), c.RecordArchive(1, "2026-10-01", 1, 9, SHA256))
    other = beside(process)
    other.do()
    for one in (process, other):
        assert list(one.books.work.audits) == ["a2"]
        assert one.books.work.log == process.books.work.log
        assert one.books.work.log.archive_sha256 == SHA256
    told(other.ask(c.FinishAudit("a2", "fail", 1, 5, 2))[0])
    assert isinstance(refused := process.ask(c.FinishAudit("a2", "pass", 1, 5, 0))[0], Result)
    assert orjson.loads(refused.body)["code"] == "validation_failed"
    assert isinstance(refused := process.ask(c.StartAudit("a2", "database", 1, 5))[0], Result)
    assert orjson.loads(refused.body)["code"] == "validation_failed"


def lived(process: Process) -> Process:
    """Have everything happen to a ledger's log."""
    other = beside(process)
    process.do(c.StartAudit("a1", "database", 1, 5), c.StartAudit("a2", "archive", 1, 5))
    process.do(c.FinishAudit("a1", "pass", 1, 5, 0, SHA256), c.RecordArchive(1, "2026-10-01", 1, 9, SHA256))
    agreed(process, other, KEY, {"vkey": vkey(key=3)})
    process.do(replace(HALT, origin=f"{FIRST[:-1]}7", vkey="vkey-7"))
    agreed(process, other, GENERATION, {"origin": f"{FIRST[:-1]}8", "vkey": vkey(f"{FIRST[:-1]}8", 4)})
    process.do(c.HaltLog(8, "lost", 3), c.RecordArchive(2, "2026-10-02", 10, 12, SHA256))
    return process


def rows(process: Process) -> list[Row]:
    """Return a ledger's events as the checker reads them."""
    return [(row.position, row.version, row.stream, row.data) for row in process.ledger.events]


def test_the_checker_comes_to_the_same_registers(process: Process) -> None:
    """Folded by the independent checker, the log's events leave what the writer keeps of them."""
    fold = Fold()
    fold.take(rows(lived(process)))
    assert fold.books.findings.kept == []
    for name in ("log", "audit-a1", "audit-a2"):
        due = {key: value for key, value in (fold.books.registers.peek(name) or {}).items() if key != "at"}
        kept = orjson.loads(process.ledger.registers[name].state)
        assert len(due) >= 5
        assert due == {key: kept[key] for key in due}
    assert {name for name, _ in fold.books.registers.items()} == set(process.ledger.registers)


EDITS: list[tuple[str, dict[str, Any], str]] = [
    ("LogStarted", {"generation": 2}, "log"),
    ("LogStarted", {"generation": 0}, "log"),
    ("LogKeyRotated", {"previous_vkey": "another"}, "log"),
    ("LogKeyRotated", {"generation": 3}, "log"),
    ("LogKeyRotated", {"approved_by": "cleo"}, "approval"),
    ("LogHalted", {"generation": 2}, "log"),
    ("LogHalted", {"origin": FIRST}, "log"),
    ("AuditStarted", {"run_id": "a9"}, "audit"),
    ("AuditFinished", {"run_id": "a9"}, "audit"),
    ("ArchiveExported", {"sequence": 2}, "archive"),
    ("ArchiveExported", {"first_position": 2}, "archive"),
    ("ArchiveExported", {"last_position": 7}, "archive"),
    ("ArchiveExported", {"day": "2026-10-02"}, "archive"),
]


@pytest.mark.parametrize(("type_", "change", "name"), EDITS)
def test_an_edited_record_is_found(process: Process, type_: str, change: dict[str, Any], name: str) -> None:
    """What a log's event is edited to say is found at it, or where the next one does not follow from it."""
    found = edited(rows(lived(process)), type_, change)
    assert name in {finding.name for finding in found}


def edited(kept: list[Row], type_: str, change: dict[str, Any]) -> list[Finding]:
    """Return what a fold finds once the first event of a type was edited, in bytes that are canonical."""
    for index, (position, version, stream, data) in enumerate(kept):
        event = orjson.loads(data)
        if event["type"] == type_:
            event["data"] |= change
            kept[index] = (position, version, stream, orjson.dumps(event, option=orjson.OPT_SORT_KEYS))
            break
    fold = Fold()
    fold.take(kept)
    return fold.books.findings.kept


def test_a_log_that_is_halted_or_exported_twice_is_found(process: Process) -> None:
    """Events that repeat others, in streams whose versions go on, are found by what they say."""
    kept = rows(lived(process))
    for type_, name in (("LogHalted", "log"), ("AuditFinished", "audit"), ("AuditStarted", "audit")):
        position, _, stream, data = next(row for row in kept if f'"type":"{type_}"'.encode() in row[3])
        fold = Fold()
        fold.take(kept[:position])
        event = orjson.loads(data) | {"position": position + 1}
        fold.take([(position + 1, 9, stream, orjson.dumps(event, option=orjson.OPT_SORT_KEYS))])
        assert name in {finding.name for finding in fold.books.findings.kept}

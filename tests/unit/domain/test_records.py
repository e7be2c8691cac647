"""What is recorded of audits and exports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.records import AUDITS_MAX
from tests.unit.domain.playing import NOON, Ledger, plain_house

SHA256 = "a" * 64


@pytest.fixture
def ledger() -> Ledger:
    """Return a ledger with a few events."""
    ledger = Ledger()
    ledger.table(plain_house())
    ledger.player("anna")
    return ledger


def start(run_id: str = "run-1", first: int = 1, last: int = 3) -> c.StartAudit:
    """Return the command that begins an audit."""
    return c.StartAudit(run_id, "database", first, last)


def finish(run_id: str = "run-1", **more: Any) -> c.FinishAudit:
    """Return the command that ends an audit which found nothing wrong."""
    return replace(c.FinishAudit(run_id, "pass", 2, 30, 0, SHA256), **more)


def export(sequence: int = 1, first: int = 1, last: int = 3, day: str = "2026-10-01") -> c.RecordArchive:
    """Return the command that records an export."""
    return c.RecordArchive(sequence, day, first, last, SHA256)


def test_an_audit_is_recorded_at_both_ends(ledger: Ledger) -> None:
    """Its stream says what was looked at, by whom, and what was found."""
    answer = ledger.ask(start())
    (started,) = ledger.last
    assert (started.stream, started.version) == ("audit-run-1", 1)
    assert started.event == ev.AuditStarted("run-1", "database", 1, 3)
    assert (answer["run_id"], answer["started_by"], answer["to_position"]) == ("run-1", "tests", 3)
    assert answer["status"] == "running"
    assert answer["started_at"] == "2026-10-02T12:00:00.000005Z"
    assert started.recorded_at_us == NOON + 5
    answer = ledger.ask(finish())
    (finished,) = ledger.last
    assert (finished.stream, finished.version) == ("audit-run-1", 2)
    assert finished.event == ev.AuditFinished("run-1", "pass", 2, 30, 0, SHA256)
    told = {name: answer[name] for name in ("verdict", "rounds", "events", "exceptions", "report_sha256")}
    assert told == {"verdict": "pass", "rounds": 2, "events": 30, "exceptions": 0, "report_sha256": SHA256}
    assert answer["status"] == "finished"
    assert answer["finished_at"] > answer["started_at"]


def test_an_audit_without_a_report_says_so(ledger: Ledger) -> None:
    """What came to nothing has no hash of a report."""
    ledger.ask(start())
    assert "report_sha256" not in ledger.ask(finish(verdict="error", report_sha256=None))


@pytest.mark.parametrize(("first", "last"), [(0, 3), (3, 2), (1, 1_000)])
def test_an_audit_is_of_positions_that_there_are(ledger: Ledger, first: int, last: int) -> None:
    """Nothing is recorded as audited that is not there."""
    ledger.refused(start(first=first, last=last), "validation_failed")


def test_an_audit_begins_once_and_ends_once(ledger: Ledger) -> None:
    """Neither a second beginning nor a second end is taken, nor the end of one that never began."""
    ledger.refused(finish(), "validation_failed")
    ledger.ask(start())
    ledger.refused(start(), "validation_failed")
    ledger.ask(finish())
    ledger.refused(finish(), "validation_failed")
    ledger.refused(start(), "validation_failed")


def test_audits_that_died_make_room(ledger: Ledger) -> None:
    """No more than so many run at once: the oldest is ended as one that came to nothing."""
    for number in range(AUDITS_MAX):
        ledger.ask(start(f"run-{number}"))
    ledger.ask(start("one-more"))
    assert [type(e.event) for e in ledger.last] == [ev.AuditFinished, ev.AuditStarted]
    assert ledger.last[0].event == ev.AuditFinished("run-0", "error", 0, 0, 0)
    ledger.refused(finish("run-0"), "validation_failed")
    assert ledger.ask(finish("run-1"))["verdict"] == "pass"


def test_days_are_exported_one_after_the_other(ledger: Ledger) -> None:
    """Each export is an event of its own and goes on where the one before ended; a day may be empty."""
    assert ledger.ask(export()) == {
        "sequence": 1,
        "day": "2026-10-01",
        "last_position": 3,
        "manifest_sha256": SHA256,
    }
    (exported,) = ledger.last
    assert (exported.stream, exported.version) == ("archive-1", 1)
    assert exported.event == ev.ArchiveExported(1, "2026-10-01", 1, 3, SHA256)
    ledger.ask(export(2, 4, 3, "2026-10-02"))
    ledger.ask(export(3, 4, 5, "2026-10-03"))
    assert (ledger.work.log.archive_sequence, ledger.work.log.archive_position) == (3, 5)


@pytest.mark.parametrize(
    "command",
    [
        export(1, 4, 5, "2026-10-02"),
        export(3, 4, 5, "2026-10-02"),
        export(2, 5, 6, "2026-10-02"),
        export(2, 3, 5, "2026-10-02"),
        export(2, 4, 5, "2026-10-01"),
        export(2, 4, 2, "2026-10-02"),
        export(2, 4, 1_000, "2026-10-02"),
    ],
)
def test_exports_leave_no_gap(ledger: Ledger, command: c.RecordArchive) -> None:
    """Another number, position or day than the next is refused, and what is not there yet."""
    ledger.ask(export())
    ledger.refused(command, "validation_failed")

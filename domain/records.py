"""What is recorded of those who look: audits that begin and end, days that were exported."""

from __future__ import annotations

from typing import Any, Final

from domain import events as ev
from domain.calendar import instant
from domain.commands import FinishAudit, RecordArchive, StartAudit
from domain.registers import AUDIT, LOG, AuditState
from domain.rejections import Rejection
from domain.work import Work

AUDITS_MAX: Final = 32
"""So many audits may run at once; the one that began first makes room, as its process has died long ago."""


def start_audit(command: StartAudit, work: Work) -> dict[str, Any]:
    """Record that an audit begins. Returns it. Rejects with validation_failed."""
    if not 1 <= command.from_position <= command.to_position <= work.position:
        detail = f"An audit is of positions between 1 and {work.position}, in their order."
        raise Rejection("validation_failed", detail, position=work.position)
    if command.run_id in work.audits:
        raise Rejection("validation_failed", f"The audit {command.run_id} has begun already.")
    running = [audit for audit in work.audits.values() if audit.verdict is None]
    for audit in running[: max(0, len(running) - AUDITS_MAX + 1)]:
        _finish(work, audit, ev.AuditFinished(audit.run_id, "error", 0, 0, 0))
    audit = AuditState(
        command.run_id,
        command.source,
        command.from_position,
        command.to_position,
        work.meta["actor"],
        work.next_recorded_at_us(),
    )
    work.audits[audit.run_id] = audit
    event = ev.AuditStarted(audit.run_id, audit.source, audit.from_position, audit.to_position)
    _emit(work, audit, 1, event)
    return audit_view(audit)


def finish_audit(command: FinishAudit, work: Work) -> dict[str, Any]:
    """Record what an audit found. Returns it. Rejects with validation_failed where none of that id runs."""
    audit = work.audits.get(command.run_id)
    if audit is None or audit.verdict is not None:
        raise Rejection("validation_failed", f"No audit {command.run_id} runs.")
    found = ev.AuditFinished(
        audit.run_id,
        command.verdict,
        command.rounds,
        command.events,
        command.exceptions,
        command.report_sha256,
    )
    _finish(work, audit, found)
    return audit_view(audit)


def record_archive(command: RecordArchive, work: Work) -> dict[str, Any]:
    """Record that the next day was exported. Returns what was recorded. Rejects with validation_failed."""
    state = work.log
    due = (state.archive_sequence + 1, state.archive_position + 1)
    if (command.sequence, command.first_position) != due:
        detail = f"What is exported next has the number {due[0]} and begins at position {due[1]}."
        raise Rejection("validation_failed", detail, sequence=due[0], first_position=due[1])
    if command.day <= state.archive_day:
        raise Rejection("validation_failed", f"The day {state.archive_day} was exported already.")
    if not command.first_position - 1 <= command.last_position <= work.position:
        raise Rejection("validation_failed", f"The ledger ends at position {work.position}.")
    state.archive_sequence, state.archive_day = command.sequence, command.day
    state.archive_position, state.archive_sha256 = command.last_position, command.manifest_sha256
    work.touched_registers.add(LOG)
    event = ev.ArchiveExported(
        command.sequence,
        command.day,
        command.first_position,
        command.last_position,
        command.manifest_sha256,
    )
    work.emit(f"archive-{command.sequence}", 1, event)
    return {
        "sequence": command.sequence,
        "day": command.day,
        "last_position": command.last_position,
        "manifest_sha256": command.manifest_sha256,
    }


def audit_view(audit: AuditState) -> dict[str, Any]:
    """An audit as the HTTP contract shows it."""
    view: dict[str, Any] = {
        "run_id": audit.run_id,
        "source": audit.source,
        "from_position": audit.from_position,
        "to_position": audit.to_position,
        "started_by": audit.actor,
        "started_at": instant(audit.started_at_us),
        "status": "running" if audit.verdict is None else "finished",
    }
    if audit.verdict is not None and audit.finished_at_us is not None:
        view |= {
            "finished_at": instant(audit.finished_at_us),
            "verdict": audit.verdict,
            "rounds": audit.rounds,
            "events": audit.events,
            "exceptions": audit.exceptions,
        }
        if audit.report_sha256 is not None:
            view["report_sha256"] = audit.report_sha256
    return view


def _finish(work: Work, audit: AuditState, event: ev.AuditFinished) -> None:
    _emit(work, audit, 2, event)
    audit.verdict, audit.finished_at_us = event.verdict, work.recorded_at_us
    audit.rounds, audit.events, audit.exceptions = event.rounds, event.events, event.exceptions
    audit.report_sha256 = event.report_sha256


def _emit(work: Work, audit: AuditState, version: int, event: ev.AuditStarted | ev.AuditFinished) -> None:
    stream = f"{AUDIT}{audit.run_id}"
    work.touched_registers.add(stream)
    work.emit(stream, version, event)

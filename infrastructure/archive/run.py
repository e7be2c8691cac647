"""An export from beginning to end: which days are due, each written, and recorded in the ledger.

The ledger records each export by the hash of its manifest. Where an archive has fewer days than the ledger
has recorded, because it is another copy or was lost, they are made again, and have to come out as they were.
Where it has one more, an export was interrupted before that was recorded, and it is now.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psycopg

from domain.commands import RecordArchive
from infrastructure.archive import manifest as manifests
from infrastructure.archive.due import LedgerDays, NotDueError
from infrastructure.archive.export import export_day, open_archive
from infrastructure.archive.manifest import ArchiveError
from infrastructure.archive.reader import Archive, Day
from infrastructure.archive.sealing import LogSeal
from infrastructure.projections.source import PostgresSource

Record = Callable[[RecordArchive], None]
"""Has the ledger record an export; raises ArchiveError where it will not."""
Progress = Callable[[int, int], None]
"""Told the position that was reached, and the day's last."""


class Exported(NamedTuple):
    """A day that was added. `again`: the ledger had recorded it already."""

    day: Day
    again: bool


def export(
    connection: psycopg.Connection,
    schema: str,
    target: Path,
    seal: LogSeal,
    record: Record,
    now_us: int,
    *,
    until: str | None = None,
    progress: Progress = lambda _at, _of: None,
) -> Iterator[Exported]:
    """Add every day that is finished to the archive in a folder, up to the day `until`; yield each.

    The connection is in autocommit mode. Ends where the ledger does; raises NotDueError where the next day
    cannot be exported yet, ArchiveError, psycopg.Error, OSError. What was yielded stays.
    """
    days = LedgerDays(connection, schema)
    source = PostgresSource(connection, schema)
    with _alone(connection, schema):
        archive = open_archive(target)
        if _compare(archive, days):
            record(_recording(archive.days[-1]))
            yield Exported(archive.days[-1], again=False)
        while True:
            last = archive.days[-1].manifest if archive.days else None
            if last is not None and until is not None and last.day >= until:
                return
            known = None
            sequence = last.sequence + 1 if last else 1
            if sequence <= days.log().archive_sequence:
                due, known = days.recorded(sequence)
                days.require_events(due.first)
            else:
                found = days.next(last.last_position if last else 0, last.day if last else "", now_us)
                if found is None or (until is not None and found.day > until):
                    return
                due = found
            if seal.size() < due.last:
                raise NotDueError(f"{due.day} waits until the evidence log has sealed position {due.last}")
            day = export_day(
                archive,
                due,
                source,
                seal,
                known=known,
                progress=lambda at, of=due.last: progress(at, of),  # type: ignore[misc] # of this day
            )
            if known is None:
                record(_recording(day))
            yield Exported(day, again=known is not None)


def _compare(archive: Archive, days: LedgerDays) -> bool:
    """Compare an archive with what the ledger recorded; return whether the last day is still to be recorded.

    Raises ArchiveError where it is another ledger's, or the ledger has lost events since.
    """
    log = days.log()
    if log.halted is not None:
        raise ArchiveError("the evidence log is halted, so nothing is sealed: see scripts/log status")
    if not archive.days:
        return False
    day = archive.days[-1]
    sequence = day.manifest.sequence
    if sequence > log.archive_sequence + 1:
        raise ArchiveError(
            f"the archive has export number {sequence}, and the ledger recorded {log.archive_sequence}: the "
            "archive is another ledger's, or the ledger was restored to a time before; choose another folder"
        )
    if sequence > log.archive_sequence:
        return True
    if (recorded := days.recorded(sequence).manifest_sha256) != manifests.sha256(day.stored):
        raise ArchiveError(
            f"the manifest of {day.manifest.day} is not the one that the ledger recorded ({recorded})"
        )
    return False


def _recording(day: Day) -> RecordArchive:
    manifest = day.manifest
    return RecordArchive(
        manifest.sequence,
        manifest.day,
        manifest.first_position,
        manifest.last_position,
        manifests.sha256(day.stored),
    )


@contextmanager
def _alone(connection: psycopg.Connection, schema: str) -> Iterator[None]:
    """Hold the advisory lock of who exports a ledger: 63 bits of a hash, as such a lock has no name."""
    digest = hashlib.sha256(f"stud-ledger archive {schema}".encode()).digest()
    number = int.from_bytes(digest[:8], "big") >> 1
    (had,) = connection.execute("SELECT pg_try_advisory_lock(%s)", [number]).fetchone() or (False,)
    if not had:
        raise ArchiveError("somebody is exporting this ledger already")
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(%s)", [number])

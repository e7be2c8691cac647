"""Events for projections where the oldest ones are no longer in the ledger: from an archive, then from there.

An event that the archive has is never asked of the ledger, whether it still is there or not. The earlier
events of a round are looked for in the ledger first, by their index; what is missing of them is looked for in
the archive, in whole parts: a round's events lie near one another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pyarrow.parquet as pq

from infrastructure.archive.due import LedgerDays
from infrastructure.archive.layout import EVENTS, ROW_GROUP
from infrastructure.archive.manifest import ArchiveError, sha256
from infrastructure.archive.reader import Archive, Part, read
from infrastructure.ledger import horizon
from infrastructure.projections.source import BYTES_MAX, Source


def require_fit(archive: Archive, connection: psycopg.Connection, schema: str) -> None:
    """Raise ArchiveError where an archive is another ledger's, or lacks events that are detached here.

    Raises psycopg.Error.
    """
    gone = horizon.read(connection, schema).position
    if not archive.is_whole or archive.days[-1].manifest.last_position < gone:
        raise ArchiveError(
            f"the archive in {archive.path} has not all events up to position {gone}, which are detached"
        )
    last = archive.days[-1]
    days = LedgerDays(connection, schema)
    log = days.log()
    if last.manifest.sequence == log.archive_sequence:
        recorded = log.archive_sha256
    else:
        recorded = days.recorded(last.manifest.sequence).manifest_sha256
    if recorded != sha256(last.stored):
        raise ArchiveError(
            f"the manifest of {last.manifest.day} is not the one that the ledger recorded ({recorded})"
        )


class ArchivedSource:
    """A `Source`: the events in an archive, which begins with the ledger's first, and behind them `rest`.

    Each day's file is compared with its manifest before it is read. Raises ArchiveError, and what `rest`
    raises.
    """

    def __init__(self, archive: Archive, rest: Source) -> None:
        self._parts = archive.partitions(ROW_GROUP)
        self._said = {str(day.folder / EVENTS): day.manifest.files[EVENTS].sha256 for day in archive.days}
        self._genuine: set[str] = set()
        self._last = self._parts[-1].last_position if self._parts else 0
        self._rest = rest
        self._number = 0
        self._held: tuple[int, list[bytes]] = (-1, [])

    def after(self, position: int, limit: int) -> tuple[Sequence[bytes], bool]:
        """The stored bytes of the events after a position, in order; at most `limit` of them.

        Also whether it stopped at a limit, so that there may be more.
        """
        if position >= self._last:
            return self._rest.after(position, limit)
        number = self._find(position + 1)
        held = self._events(number)
        at = position + 1 - self._parts[number].first_position
        found: list[bytes] = []
        size = 0
        while at < len(held) and len(found) < limit and size < BYTES_MAX:
            found.append(held[at])
            size += len(held[at])
            at += 1
        return found, True

    def older(self, below: Mapping[str, int]) -> Iterator[bytes]:
        """The events of these streams whose version is below the one given, each stream's in order."""
        found: dict[str, dict[int, bytes]] = {stream: {} for stream in below}
        for data in self._rest.older(below):
            event = orjson.loads(data)
            found.setdefault(event["stream"], {})[event["version"]] = data
        missing = {stream for stream, version in below.items() if len(found[stream]) < version - 1}
        # From where was read last, backwards; who comes from elsewhere finds them behind that.
        for number in (*range(self._number, -1, -1), *range(len(self._parts) - 1, self._number, -1)):
            if not missing or not self._parts:
                break
            for stream, version, data in self._of_streams(number, missing):
                if version < below[stream]:
                    found[stream].setdefault(version, data)
            missing = {stream for stream in missing if len(found[stream]) < below[stream] - 1}
        for versions in found.values():
            yield from (versions[version] for version in sorted(versions))

    def _find(self, position: int) -> int:
        """The number of the part that has a position; where it was read last, or behind that, in general."""
        number = self._number
        if position < self._parts[number].first_position:
            number = 0
        while position > self._parts[number].last_position:
            number += 1
        self._number = number
        return number

    def _events(self, number: int) -> list[bytes]:
        """A part's events, of which one is in memory at a time."""
        if self._held[0] != number:
            part = self._parts[number]
            self._require_genuine(part)
            self._held = number, [data for _, _, _, data in read(part)]
            if len(self._held[1]) != part.rows:
                raise ArchiveError(f"{part.file} has not the events that the manifest says")
        return self._held[1]

    def _of_streams(self, number: int, streams: set[str]) -> list[tuple[str, int, bytes]]:
        """What a part has of some streams, as stream, version and bytes."""
        part = self._parts[number]
        self._require_genuine(part)
        with pq.ParquetFile(part.file) as file:
            names: Any = file.read_row_group(part.first_group, columns=["stream"], use_threads=False)
            if streams.isdisjoint(names.column(0).unique().to_pylist()):
                return []
        return [(stream, version, data) for _, stream, version, data in read(part) if stream in streams]

    def _require_genuine(self, part: Part) -> None:
        """Raise ArchiveError where a file is not the one that its manifest names; it is compared once."""
        if part.file in self._genuine:
            return
        try:
            with Path(part.file).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ArchiveError(f"{part.file} cannot be read ({error.strerror})") from error
        if found != self._said[part.file]:
            raise ArchiveError(f"{part.file} is not the file that was exported")
        self._genuine.add(part.file)

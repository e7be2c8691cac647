"""The events of an archive as a source of an audit: no database is needed, nor anything but the files."""

from __future__ import annotations

import contextlib
import hashlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow.compute as pc
import pyarrow.parquet as pq

from infrastructure.archive import reader
from infrastructure.archive.layout import EVENTS, ONWARD
from infrastructure.archive.manifest import ArchiveError
from infrastructure.archive.reader import Archive, Day
from infrastructure.audit.results import Opening, StoredRow
from infrastructure.checking.exact import MINOR

_POOLS: Final = ("jackpot", "jackpot_overflow", "jackpot_diversion")


@dataclass(frozen=True, slots=True)
class ArchivedPart:
    """Row groups of a day's file, of which the positions behind `after` up to `up_to` are wanted."""

    part: reader.Part
    after: int
    up_to: int

    def rows(self) -> Iterator[StoredRow]:
        """Yield the events in order. Raises ArchiveError."""
        rows = reader.read(self.part)
        # What a file says of positions may be wrong: only where it is cut anything is left out.
        cut = self.part.first_position <= self.after or self.part.last_position > self.up_to
        return (row for row in rows if self.after < row[0] <= self.up_to) if cut else rows


class Archived:
    """An archive. `first` and `last` are the positions of its events. Raises ArchiveError, wherever it reads.

    Its days have to follow on each other.
    """

    kind: Final = "archive"

    def __init__(self, path: Path) -> None:
        self.archive = Archive(path)
        if not self.archive.days:
            raise ArchiveError(f"there is no day in {path}")
        self.first = self.archive.days[0].manifest.first_position
        self.last = self.archive.days[-1].manifest.last_position
        self._onward: list[StoredRow] | None = None

    def parts(self, after: int, up_to: int) -> Iterator[ArchivedPart]:
        """Yield the parts of a range, in order."""
        for part in self.archive.partitions(first=after + 1, last=up_to):
            yield ArchivedPart(part, max(after, part.first_position - 1), min(up_to, part.last_position))

    def rulesets(self) -> dict[str, bytes]:
        """The content of all rule sets that were published up to the end, by its SHA-256 (hex)."""
        found = {}
        for stored in self.stream_events("ruleset"):
            with contextlib.suppress(ValueError, KeyError, TypeError):  # an edited event is found as such
                content = orjson.dumps(orjson.loads(stored)["data"]["content"], option=orjson.OPT_SORT_KEYS)
                found[hashlib.sha256(content).hexdigest()] = content
        return found

    def stream_events(self, kind: str) -> list[bytes]:
        """The events of all streams of a kind that is kept from day to day, in the order of positions."""
        if self._onward is None:
            self._onward = [*reader.events(self.archive.days[-1].folder / ONWARD)]
        return [data for _, stream, _, data in self._onward if stream.startswith(f"{kind}-")]

    def opening(self, after: int) -> Opening | None:
        """What was held behind a position: as recorded, where a day begins there; None at the beginning."""
        if not after:
            return None
        for day in self.archive.days:
            if day.manifest.first_position == after + 1:
                return self._opening(day)
        return Opening(after)

    def last_by(self, moment: str) -> int:
        """The last position recorded at or before a moment (UTC, six digits); `first` - 1 where none was."""
        days = self.archive.days
        number = bisect_right([day.manifest.first_time for day in days], moment) - 1
        if number < 0:
            return self.first - 1
        day = days[number]
        if day.manifest.last_time <= moment:
            return day.manifest.last_position
        column: Any = pq.read_table(day.folder / EVENTS, columns=["recorded_at"]).column(0)
        earlier = pc.sum(pc.less_equal(column, datetime.fromisoformat(moment))).as_py() or 0
        return day.manifest.first_position - 1 + int(earlier)

    def _opening(self, day: Day) -> Opening:
        wallets: dict[str, int] = {}
        pots: dict[str, list[int]] = {}
        for kind, owner, _, _, balance, _ in self.archive.opening(day):
            if kind == "wallet":
                wallets[owner] = balance // MINOR
            elif kind in _POOLS:
                pots.setdefault(owner, [0, 0, 0])[_POOLS.index(kind)] = balance
        pools = {name: (held[0], held[1], held[2]) for name, held in pots.items()}
        return Opening(day.manifest.first_position - 1, wallets, pools)

"""Projections over a ledger in memory, in batches of any size, with a crash now and then.

It does what the engine does around a projection and nothing else, so that the projections' tests are about
the projections.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from infrastructure.ledger.memory import MemoryLedger
from infrastructure.projections.catalogue import PROJECTIONS
from infrastructure.projections.kinds import Happened, Key, Projection, Row, Table
from infrastructure.projections.round_facts import RoundFacts

_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")


def happened(ledger: MemoryLedger) -> list[Happened]:
    """Return all events of a ledger as projections are given them."""
    return [_happened(row.data) for row in ledger.events]


def _happened(stored: bytes) -> Happened:
    row = orjson.loads(stored)
    since = datetime.fromisoformat(row["recorded_at"]) - _EPOCH
    at_us = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    names = "stream", "version", "type", "data", "meta"
    return Happened(row["position"], at_us, *(row[name] for name in names))


@dataclass
class Kept:
    """One projection's tables. It is what `put` writes to and what a projection reads its own rows from."""

    tables: Mapping[str, Table]
    kept: dict[str, dict[Key, Row]] = field(default_factory=dict)
    waiting: list[tuple[str, Row]] = field(default_factory=list)

    def put(self, table: str, row: Row) -> None:
        """Note a row; it is not there before `write`."""
        self.waiting.append((table, row))

    def write(self) -> None:
        """Write what was put, as the table's mode says."""
        for name, row in self.waiting:
            table = self.tables[name]
            assert len(row) == len(table.columns)
            rows = self.kept.setdefault(name, {})
            key = tuple(self.value(table, row, column) for column in table.key)
            assert None not in key
            if key in rows and table.mode == "add":
                pairs = zip(table.columns, rows[key], row, strict=True)
                rows[key] = tuple(a if column.name in table.key else a + b for column, a, b in pairs)
            else:
                assert key not in rows or table.mode == "replace", f"{name}: {key} is put twice"
                rows[key] = row
        self.waiting.clear()

    @staticmethod
    def value(table: Table, row: Row, column: str) -> object:
        """Return one value of a row."""
        return row[[each.name for each in table.columns].index(column)]

    def rows(self, table: str, keys: Sequence[Key]) -> dict[Key, Row]:
        """Return rows by their full keys."""
        return {key: row for key, row in self.kept.get(table, {}).items() if key in set(keys)}

    def latest(self, table: str, prefixes: Sequence[Key]) -> dict[Key, Row]:
        """Return the row with the greatest key of each prefix."""
        length, wanted = len(prefixes[0]) if prefixes else 0, set(prefixes)
        found = [(key, row) for key, row in self.kept.get(table, {}).items() if key[:length] in wanted]
        return {key[:length]: row for key, row in sorted(found)}

    def whole(self, table: str) -> list[Row]:
        """Return all rows in the order of their keys."""
        return [row for _, row in sorted(self.kept.get(table, {}).items())]


class Projecting:
    """All projections (or those given), taken forward together. `rows` has what they have written."""

    def __init__(self, projections: Iterable[Callable[[], Projection]] = PROJECTIONS) -> None:
        self.projections: list[Projection] = [make() for make in projections]
        self.kept = [Kept({table.name: table for table in each.tables}) for each in self.projections]
        self.facts: dict[str, RoundFacts] = {}
        self.position = 0
        self.restore()

    def restore(self) -> None:
        """Have every projection come back to the checkpoint from its own rows."""
        for projection, kept in zip(self.projections, self.kept, strict=True):
            kept.waiting.clear()
            projection.restore(kept, self.position)

    def take(self, batch: Sequence[Happened], *, torn: bool = False) -> None:
        """Project one batch; with `torn`, its rows are lost once, and it is projected again."""
        if torn:
            streams = {event.stream for event in batch}
            before = copy.deepcopy({stream: self.facts[stream] for stream in streams & self.facts.keys()})
            self._project(batch)
            self.facts = {
                stream: kept for stream, kept in self.facts.items() if stream not in streams
            } | before
            self.restore()
        self._project(batch)
        for kept in self.kept:
            kept.write()
        self.position = batch[-1].position

    def _project(self, batch: Sequence[Happened]) -> None:
        pairs = list(zip(self.projections, self.kept, strict=True))
        for projection, kept in pairs:
            projection.begin(batch, kept)
        for event in batch:
            facts = None
            if event.stream.startswith("round-"):
                facts = self.facts.setdefault(event.stream, RoundFacts())
                facts.fold(event)
            for projection, kept in pairs:
                if projection.types is None or event.type in projection.types:
                    projection.event(event, facts if projection.rounds else None, kept)
        for projection, kept in pairs:
            projection.finish(batch[-1], kept)

    @property
    def rows(self) -> dict[str, list[Row]]:
        """All tables' rows in the order of their keys."""
        return {name: kept.whole(name) for kept in self.kept for name in kept.tables}

    def dicts(self, table: str) -> list[dict[str, object]]:
        """A table's rows by column."""
        (definition,) = (kept.tables[table] for kept in self.kept if table in kept.tables)
        names = [column.name for column in definition.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows[table]]


def projected(events: Sequence[Happened], sizes: Iterable[int] = (), **options: Any) -> Projecting:
    """Project a ledger in batches of these sizes, over and over; in one where none is given."""
    projecting = Projecting(**options)
    for batch in batches(events, sizes):
        projecting.take(batch)
    return projecting


def batches(events: Sequence[Happened], sizes: Iterable[int] = ()) -> Iterator[Sequence[Happened]]:
    """Cut events into batches."""
    given = list(sizes) or [max(len(events), 1)]
    start = 0
    for size in itertools.cycle(given):
        if start >= len(events):
            return
        yield events[start : start + size]
        start += size

"""A day of the ledger, from its events to the files of its folder: batch by batch, in bounded memory.

What went before is taken from the archived day before, never from the ledger's own tables: balances, the
events of rounds that were open, and what of the log's tree is needed to go on.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from domain.calendar import instant
from infrastructure.archive import parquet
from infrastructure.archive.holdings import PLAYERS, Holdings
from infrastructure.archive.layout import (
    BALANCE_COLUMNS,
    CLOSING,
    CONTEXT,
    EVENT_COLUMNS,
    EVENTS,
    ONWARD,
    OPENING,
    ROUNDS,
    StoredRow,
)
from infrastructure.archive.manifest import ArchiveError, File, Log, hash_from, hash_text
from infrastructure.archive.reader import Day, balances, events
from infrastructure.defects import place
from infrastructure.evidence.merkle import Frontier, complete_subtrees, leaf_hashes
from infrastructure.projections.happened import batch_from, happened
from infrastructure.projections.kinds import Happened, Poison, Row
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.round_records import record_rows, status
from infrastructure.projections.rounds import STREAM_OF_ROUND
from infrastructure.projections.source import Source

BATCH_EVENTS: Final = 5_000

STANDING: Final = frozenset(
    (
        "LedgerStarted",
        "RulesetPublished",
        "JackpotOpened",
        "JackpotParametersScheduled",
        "JackpotParametersActivated",
        "LogStarted",
        "LogKeyRotated",
        "LogHalted",
    )
)
"""Types of event without which later ones cannot be understood: they are in every later day's context."""

_CHUNK_BYTES: Final = 1 << 20


class Written(NamedTuple):
    """What was written of a day. `root` is of the log's tree at its end; times are as the events say."""

    files: dict[str, File]
    log: Log
    root: bytes
    first_time: str
    last_time: str


def write_day(
    folder: Path, source: Source, first: int, last: int, before: Day | None, progress: Callable[[int], None]
) -> Written:
    """Write the files of a day, all but manifest and signature, into an empty folder.

    The day's events are those at the positions `first` to `last`; `before` is the archived day that ends
    right before. `progress` is told positions. Raises ArchiveError where an event is missing or is not what
    it must be, OSError, and what the source raises.
    """
    files = {
        OPENING: _carried(folder / OPENING, before, CLOSING, BALANCE_COLUMNS),
        CONTEXT: _carried(folder / CONTEXT, before, ONWARD, EVENT_COLUMNS),
    }
    frontier = frontier_of(first - 1, before.manifest.log.after if before else ())
    log_before = hashes_of(frontier)
    others = (row for row in balances(folder / OPENING) if row.kind not in PLAYERS)
    with closing(Fold(events(folder / CONTEXT), Holdings(others))) as fold:
        with (
            parquet.Writer(folder / EVENTS, EVENT_COLUMNS) as day,
            parquet.Writer(folder / ROUNDS, parquet.ROUND_COLUMNS) as hands,
        ):
            position = first - 1
            while position < last:
                stored, _ = source.after(position, min(BATCH_EVENTS, last - position))
                if not stored:
                    raise ArchiveError(f"position {position + 1}: the event is missing")
                rows, records = fold.take(position, stored)
                day.put_all(rows)
                hands.put_all(records)
                frontier.extend(leaf_hashes(stored))
                position += len(stored)
                progress(position)
        files |= {EVENTS: day.file, ROUNDS: hands.file}
        closing_rows = fold.holdings.closing(row for row in balances(folder / OPENING) if row.kind in PLAYERS)
        files[CLOSING] = parquet.write(folder / CLOSING, BALANCE_COLUMNS, closing_rows)
        files[ONWARD] = parquet.write(folder / ONWARD, EVENT_COLUMNS, fold.onward())
        times = instant(fold.first_us), instant(fold.last_us)
    root = frontier.root()
    log = Log(hash_text(root), log_before, hashes_of(frontier))
    return Written(files, log, root, *times)


class Fold:
    """What has to be remembered from one event to the next.

    `context` are the events of earlier days that matter. Raises ArchiveError where they do not fold.
    """

    def __init__(self, context: Iterator[StoredRow], holdings: Holdings) -> None:
        self.holdings = holdings
        self.first_us = self.last_us = 0
        self._standing: list[Row] = []
        self._rounds: dict[str, tuple[RoundFacts, list[Row]]] = {}
        for position, _, _, data in context:
            event = happened(data)
            try:
                self._remember(event, _row(event, data))
            except Poison as poison:
                raise ArchiveError(f"the context of the day: {poison}") from poison
            if event.position != position:
                raise ArchiveError(f"the context of the day: the event at {position} says otherwise")

    def close(self) -> None:
        """Let go of temporary files."""
        self.holdings.close()

    def take(self, position: int, stored: Sequence[bytes]) -> tuple[list[Row], list[Row]]:
        """Take in the events behind a position.

        Returns their rows, and the records of the hands that ended with them. Raises ArchiveError.
        """
        batch = batch_from(position, stored)
        if batch.poison is not None:
            raise ArchiveError(str(batch.poison))
        self.first_us = self.first_us or batch.events[0].at_us
        self.last_us = batch.events[-1].at_us
        rows: list[Row] = []
        records: list[Row] = []
        event = batch.events[0]
        try:
            for event, data in zip(batch.events, stored, strict=True):
                row = _row(event, data)
                facts = self._remember(event, row)
                self.holdings.take(event, facts)
                rows.append(row)
                if facts is not None and facts.finished:
                    records += record_rows(facts, facts.seats.values(), status(facts, 0))
                    del self._rounds[event.stream]
        except Poison as poison:
            raise ArchiveError(str(poison)) from poison
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            # The error's text may hold what an event says: only its kind and place are told.
            where = f"{type(error).__name__} at {place(error)}"
            raise ArchiveError(f"position {event.position}: {where}") from error
        return rows, records

    def onward(self) -> list[Row]:
        """The events that the next day's need: the next day's context, in the order of positions."""
        of_rounds = (row for _, rows in self._rounds.values() for row in rows)
        return sorted([*self._standing, *of_rounds])

    def _remember(self, event: Happened, row: Row) -> RoundFacts | None:
        """Fold an event into its round, which is returned, or keep it where every later day needs it."""
        if not event.stream.startswith(STREAM_OF_ROUND):
            if event.type in STANDING:
                self._standing.append(row)
            return None
        if event.stream not in self._rounds:
            self._rounds[event.stream] = RoundFacts(), []
        facts, rows = self._rounds[event.stream]
        facts.fold(event)
        rows.append(row)
        return facts


def frontier_of(size: int, hashes: Sequence[str]) -> Frontier:
    """The frontier of a tree as a manifest has it. Raises ArchiveError where that is none."""
    subtrees = complete_subtrees(0, size)
    if len(subtrees) != len(hashes):
        raise ArchiveError(f"a tree of {size} events consists of {len(subtrees)} parts, not {len(hashes)}")
    known = dict(zip(subtrees, map(hash_from, hashes), strict=True))
    return Frontier.of(size, lambda level, index: known[level, index])


def hashes_of(frontier: Frontier) -> tuple[str, ...]:
    """A frontier as a manifest has it."""
    return tuple(hash_text(root) for _, _, root in frontier.nodes)


def _row(event: Happened, data: bytes) -> Row:
    """A row of `EVENT_COLUMNS`."""
    return event.position, event.stream, event.version, event.type, event.at_us, data


def _carried(path: Path, before: Day | None, name: str, schema: Any) -> File:
    """Begin a day with a file that the day before ended with. Raises ArchiveError where it has changed."""
    if before is None:
        return parquet.write(path, schema, ())
    said = before.manifest.files[name]
    hashed = hashlib.sha256()
    with (before.folder / name).open("rb") as old, path.open("xb") as new:
        while chunk := old.read(_CHUNK_BYTES):
            hashed.update(chunk)
            new.write(chunk)
        new.flush()
        os.fsync(new.fileno())
    if hashed.hexdigest() != said.sha256:
        raise ArchiveError(f"{before.folder.name}/{name} is not the file that was exported")
    return said

"""Small projections whose rows say whether every event was taken in once, and a ledger to project."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from typing import Any

from infrastructure.ledger.memory import MemoryLedger
from infrastructure.ledger.stored_form import type_of
from infrastructure.projections.engine import Engine
from infrastructure.projections.kinds import Column, Happened, Out, Poison, Projection, Shelf, Table
from infrastructure.projections.memory import MemorySink
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.source import MemorySource
from infrastructure.projections.tables import check
from tests.unit.infrastructure.ledgers import furnished
from tests.unit.infrastructure.random_play import RandomPlay
from tests.unit.infrastructure.rebuilding import Rebuilt


@functools.cache
def played(commands: int = 400) -> MemoryLedger:
    """Return a ledger on which some hundred random commands were played. Do not write to it."""
    process, play, rebuilt = furnished(), RandomPlay(7), Rebuilt()
    for _ in range(commands):
        process.run([play.next()])
        process.clock.now_us += random.Random(process.ledger.position).randint(1, 2_000_000)
        rebuilt.read(process.ledger)
        play.rounds = rebuilt.rounds
    return process.ledger


def beginning(ledger: MemoryLedger, position: int) -> MemoryLedger:
    """Return what a ledger was at a position."""
    cut = MemoryLedger(position=position, events=ledger.events[:position])
    for event in cut.events:
        cut.streams.setdefault(event.stream, []).append(event)
    return cut


class Small:
    """What the small projections have in common."""

    name = ""
    version = 1
    tables: tuple[Table, ...] = ()
    types: frozenset[str] | None = None
    rounds = False

    def restore(self, shelf: Shelf, position: int) -> None:
        """Nothing is remembered."""

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:
        """Nothing is needed."""

    def finish(self, last: Happened, out: Out) -> None:
        """Nothing is left."""


class Seen(Small):
    """One row an event, which may be put once."""

    name = "seen"
    tables = (
        Table(
            "seen",
            (Column("position", "bigint"), Column("type", "text"), Column("data", "jsonb")),
            ("position",),
            "insert",
        ),
    )

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:
        """Put the row."""
        assert facts is None
        out.put("seen", (happened.position, happened.type, {"of": happened.stream}))


class Counted(Small):
    """How many events there are of a type: a doubled one is counted twice."""

    name = "counted"
    tables = (
        Table(
            "counted",
            (Column("type", "text"), Column("events", "bigint"), Column("positions", "numeric(30,0)")),
            ("type",),
            "add",
        ),
    )

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:
        """Count it."""
        assert facts is None
        out.put("counted", (happened.type, 1, happened.position))


class Chained(Small):
    """The last version of each stream, and how often it was told: read back from its own rows."""

    name = "chained"
    tables = (
        Table(
            "chained",
            (Column("stream", "text"), Column("version", "integer"), Column("told", "bigint")),
            ("stream",),
            "replace",
        ),
    )

    def __init__(self) -> None:
        self.told: dict[str, int] = {}

    def restore(self, shelf: Shelf, position: int) -> None:
        """Forget."""
        del shelf, position
        self.told = {}

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:
        """Read the streams of the batch; forget all others, so that they are read again."""
        streams = {each.stream for each in batch}
        kept = {stream: told for stream, told in self.told.items() if stream in streams}
        found = shelf.rows("chained", [(stream,) for stream in streams - kept.keys()])
        self.told = kept | {stream: told for stream, _, told in found.values()}

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:
        """Count on."""
        assert facts is None
        told = self.told[happened.stream] = self.told.get(happened.stream, 0) + 1
        if told != happened.version:
            raise Poison(happened.position, "an event was lost, or told twice")
        out.put("chained", (happened.stream, happened.version, told))


class Hands(Small):
    """How many events a round had when it was closed, as its facts say."""

    name = "hands"
    tables = (
        Table("hands", (Column("round_id", "text"), Column("events", "integer")), ("round_id",), "insert"),
    )
    types = frozenset({"RoundClosed"})
    rounds = True

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:
        """Put the row."""
        assert facts is not None
        assert facts.version == happened.version
        out.put("hands", (facts.round_id, facts.version))


SMALL: tuple[Callable[[], Projection], ...] = (Seen, Counted, Chained, Hands)
check([make() for make in SMALL])


def failing(make: type[Any], position: int, error: Exception | None = None) -> Callable[[], Projection]:
    """Return a projection that does what another does, but raises at a position."""

    class Failing(make):  # type: ignore[misc]
        types = None

        def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:
            if happened.position == position:
                raise error or Poison(position, "it is made to fail here")
            if make.types is None or happened.type in make.types:
                super().event(happened, facts, out)

    return Failing


def expected(ledger: MemoryLedger, *, upto: int | None = None) -> dict[str, list[tuple[Any, ...]]]:
    """Return what the small projections must have, counted from the ledger in one loop."""
    seen: list[tuple[Any, ...]] = []
    counted: dict[str, tuple[int, int]] = {}
    chained: dict[str, tuple[Any, ...]] = {}
    hands: list[tuple[Any, ...]] = []
    for position, type_, stream, version in told(ledger)[:upto]:
        seen.append((position, type_, {"of": stream}))
        events, positions = counted.get(type_, (0, 0))
        counted[type_] = (events + 1, positions + position)
        chained[stream] = (stream, version, version)
        if type_ == "RoundClosed":
            hands.append((stream.removeprefix("round-"), version))
    return {
        "seen": seen,
        "counted": sorted((type_, *sums) for type_, sums in counted.items()),
        "chained": sorted(chained.values()),
        "hands": sorted(hands),
    }


def told(ledger: MemoryLedger) -> list[tuple[int, str, str, int]]:
    """Return position, type, stream and version of each event."""
    return [(row.position, type_of(row.data), row.stream, row.version) for row in ledger.events]


def engine_on(
    ledger: MemoryLedger,
    sink: Any = None,
    projections: Sequence[Callable[[], Projection]] = SMALL,
    batch: int = 100,
) -> tuple[Engine, MemorySink]:
    """Return an engine over a ledger in memory, ready to turn, and its sink."""
    sink = sink or MemorySink([make() for make in projections])
    engine = Engine(MemorySource(ledger), sink, projections, RoundFacts, batch_events_max=batch)
    engine.load()
    return engine, sink


def run(engine: Engine, turns_max: int = 10_000) -> None:
    """Take turns until there is nothing more to do."""
    for _ in range(turns_max):
        if not engine.turn():
            return
    raise AssertionError("it does not come to an end")

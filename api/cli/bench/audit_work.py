"""What the processes of `scripts/bench audit` do for its floors: the same events, with less done to them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from api.cli.bench.figures import per_second
from domain.round import Round, evolve
from infrastructure.audit.archived import Archived
from infrastructure.audit.database import Database
from infrastructure.audit.pool import Pool
from infrastructure.audit.source import Part
from infrastructure.bootstrap import DEFAULT_SCHEMA
from infrastructure.evidence.merkle import Frontier, leaf_hashes
from infrastructure.ledger.reading import PostgresReader
from infrastructure.ledger.recorder import LedgerApplication


class Taken(NamedTuple):
    """What a part took, seconds: reading it, parsing it as JSON, and hashing it into the log's tree.

    The last by the time of the processor: there is nothing in it to wait for.
    """

    events: int
    reading: float
    parsing: float
    hashing: float
    frontier: Frontier


def take(part: Part) -> Taken:
    """Do all three, one after the other."""
    began = time.perf_counter()
    stored = [data for _, _, _, data in part.rows()]
    read = time.perf_counter()
    for data in stored:
        orjson.loads(data)
    parsed, began_hashing = time.perf_counter(), time.process_time()
    frontier = Frontier(part.after)
    frontier.extend(leaf_hashes(stored))
    return Taken(len(stored), read - began, parsed - read, time.process_time() - began_hashing, frontier)


@dataclass(frozen=True, slots=True)
class Floors:
    """Events a second that all processes together read; read and parse; hash into the log's tree."""

    read: int
    parse: int
    leaves: int


def floors(source: Archived | Database, processes: int) -> Floors:
    """Measure them, over all events of a source."""
    events = 0
    reading = parsing = hashing = 0.0
    joined = Frontier(source.first - 1)
    with Pool[Part, Taken](take, processes, niceness=0) as pool:
        for taken in pool.map(source.parts(source.first - 1, source.last)):
            began = time.process_time()
            joined.join(taken.frontier)
            hashing += taken.hashing / processes + time.process_time() - began
            events += taken.events
            reading += taken.reading / processes
            parsing += taken.parsing / processes
    return Floors(
        per_second(events, reading), per_second(events, reading + parsing), per_second(events, hashing)
    )


def one_by_one(dsn: str, rounds: list[str]) -> int:
    """Rounds a second that the library's repository folds from their events, one after the other."""
    reader = PostgresReader(dsn, DEFAULT_SCHEMA, connections_max=1, wait_seconds_max=5.0)
    application = LedgerApplication(reader)
    try:
        reader.open()
        began = time.perf_counter()
        for round_id in rounds:
            application.repository.get(f"round-{round_id}", projector_func=_folded)
        return per_second(len(rounds), time.perf_counter() - began)
    finally:
        reader.close()


def _folded(state: Round | None, events: Iterable[Any]) -> Round | None:
    for recorded in events:
        state = evolve(state, recorded.stream, recorded.event, recorded.meta["command"])
    return state

"""What the processes of `scripts/bench audit` do for its floors: the same events, with less done to them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

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


def read(part: Part) -> tuple[int, float]:
    """Read the events; return how many, and how many seconds that took."""
    began = time.perf_counter()
    count = sum(1 for _ in part.rows())
    return count, time.perf_counter() - began


def parse(part: Part) -> tuple[int, float]:
    """Read the events and parse them as JSON."""
    began = time.perf_counter()
    count = 0
    for _, _, _, data in part.rows():
        orjson.loads(data)
        count += 1
    return count, time.perf_counter() - began


def hash_leaves(part: Part) -> tuple[int, float, Frontier]:
    """Hash the events, which are read before, into the log's tree; also say what that took of a processor."""
    stored = [data for _, _, _, data in part.rows()]
    began = time.process_time()
    frontier = Frontier(part.after)
    frontier.extend(leaf_hashes(stored))
    return len(stored), time.process_time() - began, frontier


def decoding(source: Archived | Database, processes: int) -> tuple[int, int]:
    """Events a second that all processes together read; and that they read and parse."""
    rates = []
    for work in (read, parse):
        count, seconds = 0, 0.0
        with Pool[Part, tuple[int, float]](work, processes, niceness=0) as pool:
            for events, taken in pool.map(source.parts(source.first - 1, source.last)):
                count += events
                seconds += taken / processes
        rates.append(per_second(count, seconds))
    return rates[0], rates[1]


def verification(source: Archived | Database, processes: int) -> int:
    """Leaves a second that all processes together hash into the tree and join, the reading apart.

    By the time they take of their processors.
    """
    joined = Frontier(source.first - 1)
    count, seconds = 0, 0.0
    with Pool[Part, tuple[int, float, Frontier]](hash_leaves, processes, niceness=0) as pool:
        for leaves, taken, frontier in pool.map(source.parts(source.first - 1, source.last)):
            began = time.perf_counter()
            joined.join(frontier)
            count += leaves
            seconds += taken / processes + time.perf_counter() - began
    return per_second(count, seconds)


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

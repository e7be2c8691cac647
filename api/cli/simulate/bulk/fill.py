"""Filling a ledger: chunks are given out to processes in turn, and committed in the same order."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

import psycopg
import uvloop

from api.cli.simulate import venue as venues
from api.cli.simulate.bulk import player
from api.cli.simulate.bulk.chunks import CHUNK_EVENTS, Chunk, Done, Failed, Go, Job
from api.cli.simulate.bulk.tally import Tally
from infrastructure import partitions
from infrastructure.bootstrap import DEFAULT_SCHEMA
from infrastructure.clock import system_clock
from infrastructure.ledger.bulk import BulkLoad, BulkRefusedError

DAYS: Final = 30
"""So far back the rounds of an empty ledger begin."""
DAY_US: Final = 86_400 * 1_000_000
EVENTS_A_ROUND: Final = 13
"""More than a round has: the rounds end some days before now, not after."""
EVENTS_A_ROUND_MIN: Final = 7
STEP_US_MIN: Final = 2
PROCESSES_MAX: Final = 4
_PARTITIONS_EVERY: Final = 1_000_000
"""After so many positions partitions are made ahead; far more are ready than chunks under way reach."""


@dataclass(slots=True)
class Filled:
    """What was written. Times in microseconds since the epoch, as the events have them."""

    tally: Tally
    begin_us: int
    end_us: int
    position: int
    seconds: float


def fill(
    venue: venues.Venue,
    rulesets: Sequence[str],
    rounds: int,
    *,
    seed: int,
    players: int,
    processes: int | None = None,
    chunk_events: int = CHUNK_EVENTS,
    days: int = DAYS,
    alone: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Filled:
    """Write `rounds` rounds, with all that belongs to them, into a ledger that nobody else is writing to.

    `alone`: no round has more than one guest.
    Raises BulkRefusedError where somebody is, or where a process ends; what was committed by then is a
    valid ledger.
    """
    began = time.monotonic()
    position, begin_us = uvloop.run(_begun(venue, days))
    step_us = max((system_clock() - begin_us) // (rounds * EVENTS_A_ROUND + 4 * players), STEP_US_MIN)
    filled = Filled(Tally(), begin_us, begin_us, position, 0.0)
    count = processes or max(min(os.cpu_count() or 1, PROCESSES_MAX), 2)
    with (
        psycopg.connect(venue.dsn, autocommit=True) as connection,
        _crew(venue, position, tuple(rulesets), seed, players, count, alone=alone) as crew,
    ):
        for done in _chunks(crew, filled, rounds, step_us, chunk_events):
            if done.position // _PARTITIONS_EVERY > filled.position // _PARTITIONS_EVERY:
                partitions.make_ahead(connection, DEFAULT_SCHEMA)
            filled.tally.add(done.tally)
            filled.position, filled.end_us = done.position, done.recorded_at_us
            progress(filled.tally.rounds)
    filled.seconds = time.monotonic() - began
    return filled


async def _begun(venue: venues.Venue, days: int) -> tuple[int, int]:
    """See to it that the ledger has begun and has the houses.

    Returns its position, and the time to go on from.
    """
    load = BulkLoad(venue.dsn)
    try:
        _, recorded_at_us = load.head()
        begin_us = max(recorded_at_us + 1, system_clock() - days * DAY_US)
        async with venues.in_process(venue, "bulk", clock=lambda: begin_us):
            pass
        position, recorded_at_us = load.head()
    finally:
        load.close()
    return position, max(recorded_at_us + 1, begin_us)


def _chunks(crew: _Crew, filled: Filled, rounds: int, step_us: int, chunk_events: int) -> Iterator[Done]:
    """Give out chunks and yield what came of each, in their order.

    A chunk of a fixed size ends at a position that is known before it is played, so that the next one can be
    begun at once. How many rounds it will hold is not known: for each under way as many are set aside as it
    could hold at most. What is left in the end is one last chunk, as long as it needs to be.
    """
    position, begin_us = filled.position, filled.begin_us
    most = chunk_events // EVENTS_A_ROUND_MIN
    under_way: deque[_Player] = deque()
    number = 0
    while filled.tally.rounds < rounds:
        left = rounds - filled.tally.rounds
        while len(under_way) < crew.count and left - most * len(under_way) > most:
            chunk = Chunk(position, begin_us, step_us, chunk_events)
            under_way.append(crew.give(number, chunk))
            number += 1
            position, begin_us = position + chunk_events, begin_us + chunk_events * step_us
        if not under_way:
            under_way.append(crew.give(number, Chunk(position, begin_us, step_us, None, left)))
        yield under_way.popleft().commit()


class _Player:
    """A process that plays, from here."""

    def __init__(self, job: Job) -> None:
        context = multiprocessing.get_context("spawn")
        self._line: Connection
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=player.main, args=(theirs, job), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, chunk: Chunk) -> None:
        """Let it play a chunk."""
        self._line.send(chunk)

    def commit(self) -> Done:
        """Let it commit the chunk it has, when that is ready. Raises BulkRefusedError."""
        self._answer()
        self._line.send(Go())
        done: Done = self._answer()
        return done

    def _answer(self) -> Any:
        try:
            answer = self._line.recv()
        except (EOFError, ConnectionError):
            raise BulkRefusedError("a process that was playing has ended") from None
        if isinstance(answer, Failed):
            raise BulkRefusedError(answer.reason)
        return answer

    def end(self) -> None:
        """End it; a chunk that is not committed is not there."""
        self._line.close()
        self._process.terminate()
        self._process.join()


class _Crew:
    """The processes, each started when there is a chunk for it."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.count = len(jobs)
        self._jobs = jobs
        self._players: dict[int, _Player] = {}

    def give(self, number: int, chunk: Chunk) -> _Player:
        """Give chunk `number` to the process whose turn it is."""
        place = number % self.count
        found = self._players.get(place)
        if found is None:
            found = self._players[place] = _Player(self._jobs[place])
        found.give(chunk)
        return found

    def end(self) -> None:
        """End them all."""
        for each in self._players.values():
            each.end()


@contextmanager
def _crew(
    venue: venues.Venue,
    position: int,
    rulesets: tuple[str, ...],
    seed: int,
    players: int,
    count: int,
    *,
    alone: bool,
) -> Iterator[_Crew]:
    crew = _Crew(
        [
            Job(
                venue.dsn,
                # The position makes it a name that no filling of this ledger has had before.
                f"bulk-{position}-{number}",
                rulesets,
                f"{seed}:{number}",
                -(-players // count),
                venues.BUILD,
                alone,
            )
            for number in range(count)
        ]
    )
    try:
        yield crew
    finally:
        crew.end()

"""A process that plays chunks: it decides, and hands the events to the database while it goes on deciding."""

from __future__ import annotations

import gc
import os
import signal
import time
from multiprocessing.connection import Connection

import psycopg

from api.cli.simulate.bulk.chunks import Chunk, Done, Failed, Job, Ready
from api.cli.simulate.bulk.clock import ChunkClock
from api.cli.simulate.bulk.games import Games
from api.cli.simulate.bulk.guests import Guests
from api.cli.simulate.furniture import furniture
from domain.rejections import Rejection
from domain.work import Work
from infrastructure.clock import system_clock
from infrastructure.ledger import bookkeeping, registers
from infrastructure.ledger.bulk import BulkLoad, BulkRefusedError
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.store import FirstReading

DECISION_SECONDS = 30


def main(line: Connection, job: Job) -> None:
    """Play the chunks that come by `line`, until it ends."""
    # Ctrl-C is for whoever gave us the work, who ends us then: a chunk not committed is not there.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        play(line, job)
    except (EOFError, ConnectionError):
        return
    except (BulkRefusedError, psycopg.Error) as problem:
        line.send(Failed(str(problem).strip().partition("\n")[0]))
    except Rejection as refused:  # of the ledger as a whole: nothing is asked here that may not be
        line.send(Failed(refused.detail))


def play(line: Connection, job: Job) -> None:
    """Play the chunks. Raises EOFError when there are no more, BulkRefusedError and psycopg.Error."""
    load = BulkLoad(job.dsn)
    work = books(job)
    furnished = list(furniture(job.run, job.rulesets, decision_seconds=DECISION_SECONDS))
    houses = [house for house, _ in furnished]
    guests = Guests(job.run, {house.currency for house in houses}, job.players)
    games = Games(work, load, houses, guests, job.seed, alone=job.alone)
    first = [command for _, commands in furnished for command in commands]
    # What is made here does not refer to itself, but by accident: the collector would look at it for nothing.
    # It does so between chunks, and not at what was there before.
    gc.freeze()
    gc.disable()
    while True:
        chunk: Chunk = line.recv()
        work.position = chunk.position_before
        work.recorded_at_us = max(work.recorded_at_us, chunk.begin_us - 1)
        load.begin()
        games.chunk(ChunkClock(chunk.begin_us, chunk.step_us), chunk.size, chunk.rounds, first)
        first = []
        line.send(Ready())
        line.recv()
        while (ahead_us := work.recorded_at_us - system_clock()) > 0:  # nothing is recorded before it happens
            time.sleep(ahead_us / 1e6)
        load.commit(work, chunk.position_before)
        line.send(Done(games.tally, work.position, work.recorded_at_us))
        gc.collect()


def books(job: Job) -> Work:
    """Books that know the published rule sets and the registers: all else here is this process's own.

    Raises BulkRefusedError where the ledger is halted.
    """
    store = PostgresStore(job.dsn)
    try:
        answer = store.begin(FirstReading(0))
        store.rollback()
    finally:
        store.close()
    work = Work(os.urandom, job.build, answers=False)
    for row in answer.rulesets:
        work.rulesets.setdefault(row.ruleset_id, {})[row.version] = bookkeeping.ruleset_from(row)
    for register in answer.registers:
        registers.learn(work, register)
    if work.log.halted is not None:
        raise BulkRefusedError("the ledger is read-only: it is not what its evidence log has signed")
    return work

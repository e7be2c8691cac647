"""The whole ledger in one thread, by a seed: real writers, failing stores, and a naive model beside them.

Run more seeds, or one again, with environment variables (PostgreSQL takes every sixteenth of that number):

    SIMULATION_SEEDS=10000 SIMULATION_FIRST_SEED=5000 python -m pytest tests/property/deterministic
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from unittest import mock

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from infrastructure.bootstrap import prepare
from infrastructure.ledger import postgres as stores
from infrastructure.ledger.memory import MemoryLedger, MemoryStore
from infrastructure.ledger.postgres import PostgresStore
from tests.property.deterministic.mutants import MUTANTS
from tests.property.deterministic.simulated_ledgers import (
    InMemory,
    SimulatedLedger,
    furnish,
    furnished_model,
)
from tests.property.deterministic.simulated_machines import SEALS
from tests.property.deterministic.simulated_oracle import Violation
from tests.property.deterministic.simulated_postgres import BreakingLine, InPostgres
from tests.property.deterministic.simulated_world import World

SEEDS = int(os.environ.get("SIMULATION_SEEDS", "500"))
FIRST = int(os.environ.get("SIMULATION_FIRST_SEED", "0"))
CHUNK = 50
STEPS = 300
STEPS_ON_POSTGRES = 200
ON_POSTGRES_SHARE = 16
MUTANT_SEEDS_MAX = 60
STEPS_TOLD = 60
PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
HERE = "tests/property/deterministic"

Chunk = range


def chunks(first: int, count: int) -> list[Chunk]:
    """Return the seeds in portions that workers can share."""
    return [range(start, min(start + CHUNK, first + count)) for start in range(first, first + count, CHUNK)]


def world(seed: int, ledger: SimulatedLedger) -> World:
    """Return a seed's world."""
    return World(seed, ledger, furnished_model(random.Random(seed).choice((1, 2, 500))))


def run(seed: int, ledger: SimulatedLedger, steps: int = STEPS) -> World:
    """Run a seed; where something does not hold, tell how to see it again."""
    made = world(seed, ledger)
    try:
        made.run(steps)
    except (Exception, Violation) as error:
        told = "\n".join(made.steps[-STEPS_TOLD:])
        which = f"{HERE} -k {type(ledger).__name__}"
        again = f"SIMULATION_FIRST_SEED={seed} SIMULATION_SEEDS=1 python -m pytest {which}"
        raise AssertionError(f"seed {seed}: {error}\nsee it again: {again}\n{told}") from error
    return made


@pytest.fixture(scope="module")
def furnished() -> MemoryLedger:
    """Return a furnished ledger in memory, to be copied."""
    ledger = MemoryLedger()
    furnish(MemoryStore(ledger), SEALS)
    return ledger


@pytest.fixture(scope="module")
def new_database(postgres: str) -> Iterator[Callable[[], InPostgres]]:
    """Yield a function that makes a copy of a furnished ledger in PostgreSQL.

    The server itself does not die here: it need not wait for the disk, least of all to copy databases.
    """
    with psycopg.connect(postgres, autocommit=True) as server, ExitStack() as open_ones:
        server.execute("CREATE DATABASE simulated")
        logins = prepare(make_conninfo(postgres, dbname="simulated"), "ledger", passwords=PASSWORDS)
        store = PostgresStore(logins.app, "ledger", throwaway=True)
        furnish(store, SEALS)
        store.close()
        _wait_for_disk(server, wait=False)

        def new() -> InPostgres:
            open_ones.close()
            server.execute("DROP DATABASE IF EXISTS simulation WITH (FORCE)")
            server.execute("CREATE DATABASE simulation TEMPLATE simulated")
            admin = psycopg.connect(make_conninfo(postgres, dbname="simulation"), autocommit=True)
            return InPostgres(make_conninfo(logins.app, dbname="simulation"), open_ones.enter_context(admin))

        try:
            yield new
        finally:
            open_ones.close()
            for name in ("simulation", "simulated"):
                server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            _wait_for_disk(server, wait=True)


def _wait_for_disk(server: psycopg.Connection, *, wait: bool) -> None:
    """Let the server wait until what it writes is on the disk, or not."""
    server.execute(f"ALTER SYSTEM {'RESET' if wait else 'SET'} fsync {'' if wait else '= off'}")
    server.execute("SELECT pg_reload_conf()")


@pytest.mark.parametrize("seeds", chunks(FIRST, SEEDS), ids=lambda seeds: f"InMemory-{seeds.start}")
def test_over_memory_everything_holds_at_every_step(furnished: MemoryLedger, seeds: Chunk) -> None:
    """Whatever fails and in whatever order: books, answers and events are the naive model's."""
    for seed in seeds:
        run(seed, InMemory(furnished))


@pytest.mark.parametrize(
    "seeds", chunks(FIRST, max(SEEDS // ON_POSTGRES_SHARE, 1)), ids=lambda seeds: f"InPostgres-{seeds.start}"
)
def test_over_postgresql_everything_holds_at_every_step(
    new_database: Callable[[], InPostgres], seeds: Chunk
) -> None:
    """The same over PostgreSQL, where a connection can also end after any single statement."""
    with mock.patch.object(stores, "Line", BreakingLine):
        for seed in seeds:
            run(seed, new_database(), STEPS_ON_POSTGRES)


def test_a_seed_always_goes_the_same_way(furnished: MemoryLedger) -> None:
    """A failure that a seed has found is found again by that seed."""
    assert run(7, InMemory(furnished)).steps == run(7, InMemory(furnished)).steps


def test_the_seeds_meet_what_they_are_for(furnished: MemoryLedger) -> None:
    """Within a few seeds all that can go wrong with a store does, and rounds end in every way."""
    seen: set[str] = set()
    for seed in range(30):
        made = run(seed, InMemory(furnished))
        seen.update(line for line in made.steps if ":" in line or "dies" in line)
        seen.update(round_["phase"] for round_ in made.model.rounds.values())
    faults = {f"{step}: {fault}" for step in ("begin", "commit") for fault in ("lost", "lost after", "crash")}
    assert {*faults, "find: lost", "commit: refused", "machine 1 dies", "closed", "voided"} <= seen


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_ledger_that_is_broken_on_purpose_is_caught(
    furnished: MemoryLedger, mutant: Callable[[], Any]
) -> None:
    """The harness can fail: each of these defects shows within a few seeds."""
    with mutant():
        for seed in range(MUTANT_SEEDS_MAX):
            try:
                world(seed, InMemory(furnished)).run(STEPS)
            except (Exception, Violation):  # noqa: BLE001 - however it shows
                return
    pytest.fail(f"{MUTANT_SEEDS_MAX} seeds have not noticed that {mutant.__name__}")

"""Projecting in PostgreSQL: the engine on connections, and a thread that keeps it going.

One process acts for a ledger; an advisory lock sees to that, and lets another take over when its holder's
connection ends, however it ends. The checkpoints would keep the rows right even without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import MappingProxyType
from typing import Final, Self

import psycopg
import structlog

from infrastructure.advisory import try_lock
from infrastructure.projections import tables
from infrastructure.projections.catalogue import PREPARED, PROJECTIONS
from infrastructure.projections.engine import BATCH_EVENTS_MAX, Engine
from infrastructure.projections.kinds import Facts, Projection
from infrastructure.projections.postgres import PostgresSink
from infrastructure.projections.rebuilds import Rebuilds
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.source import PostgresSource, Source
from infrastructure.tireless import Tireless, connect

PAUSE_SECONDS_MIN: Final = 0.03
PAUSE_SECONDS_MAX: Final = 0.25
PAUSE_FACTOR: Final = 10
"""A pause is so many times as long as the turn before it: while events keep coming, some gather."""
RECONNECT_SECONDS: Final = 1.0
LOCK_SECONDS: Final = 0.5

log = structlog.get_logger(__name__)


class Projector:
    """The engine on connections of its own. A context manager; not thread safe.

    `acting` says whether it is the one that projects: until `try_to_act` says so, do not `turn`. `source`
    makes of a connection and a schema what events are read from. `prepared` says of projections by name
    whether what they need in memory is there: until it is, the others go on without them.
    """

    def __init__(
        self,
        dsn: str,
        schema: str,
        *,
        projections: Sequence[Callable[[], Projection]] = PROJECTIONS,
        facts: Callable[[], Facts] = RoundFacts,
        batch_events_max: int = BATCH_EVENTS_MAX,
        source: Callable[[psycopg.Connection, str], Source] = PostgresSource,
        prepared: Mapping[str, Callable[[], bool]] = MappingProxyType({}),
    ) -> None:
        self._waiting = dict(prepared)
        self._dsn = dsn
        self._schema = schema
        self._source = source
        self._projections = projections
        self._facts = facts
        self._batch_events_max = batch_events_max
        self._stack = ExitStack()
        self._engine: Engine | None = None
        self._rebuilds: Rebuilds | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._writing = stack.enter_context(self._connect())
            self._reading = stack.enter_context(self._connect())
            executor = stack.enter_context(ThreadPoolExecutor(2, "projections"))
            self._executor = executor
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def acting(self) -> bool:
        """Whether this is the process that projects."""
        return self._engine is not None

    def try_to_act(self) -> bool:
        """Become the one that projects, unless another is. Raises psycopg.Error."""
        if self._engine is not None:
            return True
        had = try_lock(self._writing, "projections", self._schema)
        if had:
            tables.ensure(self._writing, self._schema, self._projections)
            sink = PostgresSink(
                self._writing,
                self._schema,
                [make() for make in self._projections],
                self._connect,
                self._reading,
            )
            engine = Engine(
                self._source(self._reading, self._schema),
                sink,
                self._projections,
                self._facts,
                executor=self._executor,
                batch_events_max=self._batch_events_max,
                held=self._waiting,
            )
            engine.load()
            self._engine, self._rebuilds = engine, Rebuilds(engine, sink)
        return had

    def turn(self) -> bool:
        """Take the projections forward a bounded way; return whether there is more to do at once.

        Raises psycopg.Error: then begin anew with another instance.
        """
        if self._engine is None or self._rebuilds is None:
            raise RuntimeError("another process projects, or nobody tried to act")
        for name in [name for name, prepared in self._waiting.items() if prepared()]:
            del self._waiting[name]
            self._engine.release(name)
        more = self._engine.turn()
        return self._rebuilds.turn() or more

    def _connect(self) -> psycopg.Connection:
        return connect(self._dsn, "projections")


class ProjectionRunner(Tireless):
    """A thread that projects for as long as it lives, and waits while another process does.

    `prepared` as with `Projector`.
    """

    def __init__(
        self,
        dsn: str,
        schema: str,
        *,
        projections: Sequence[Callable[[], Projection]] = PROJECTIONS,
        facts: Callable[[], Facts] = RoundFacts,
        batch_events_max: int = BATCH_EVENTS_MAX,
        prepared: Mapping[str, Callable[[], bool]] = PREPARED,
    ) -> None:
        super().__init__("projections", RECONNECT_SECONDS)
        self._make: Callable[[], Projector] = lambda: Projector(
            dsn,
            schema,
            projections=projections,
            facts=facts,
            batch_events_max=batch_events_max,
            prepared=prepared,
        )

    def _live(self) -> None:
        with self._make() as projector:
            self._project(projector)

    def _project(self, projector: Projector) -> None:
        while not self._stop.is_set():
            self._acting = projector.try_to_act()
            if not self._acting:
                self._stop.wait(LOCK_SECONDS)
                continue
            began = time.monotonic()
            if not projector.turn():
                pause = PAUSE_FACTOR * (time.monotonic() - began)
                self._stop.wait(min(max(pause, PAUSE_SECONDS_MIN), PAUSE_SECONDS_MAX))

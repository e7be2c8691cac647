"""What the ledger does by itself: time-outs, rounds left half settled, and the projections.

Every process of the service has a `Jobs` thread; an advisory lock of the database lets one of them act at a
time, and passes to another when its holder's connection ends, however it ends. Nothing is remembered here
between turns: what is to do stands in the database, and each command has a key that names its occasion, so
that nothing happens twice.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

import psycopg
import structlog
from psycopg import sql

from domain.commands import TimeOutRound
from infrastructure.clock import Clock
from infrastructure.ledger.submission import (
    CommandFailed,
    Overloaded,
    Result,
    Submission,
    own_submission,
)
from infrastructure.ledger.writer import continuation
from infrastructure.projections import player_rounds

TURN_SECONDS: Final = 0.25
RECONNECT_SECONDS: Final = 1.0
DUE_MAX: Final = 100
UNSETTLED_MAX: Final = 20
ATTEMPTS_MAX: Final = 100
PROJECTIONS_A_TURN_MAX: Final = 20

_OPTIONS: Final = "-c statement_timeout=30000 -c lock_timeout=10000"
_DUE: Final = """SELECT round_id, deadline_us FROM {}.open_rounds
    WHERE deadline_us <= %s ORDER BY deadline_us LIMIT %s"""
_UNSETTLED: Final = """SELECT round_id,
        (SELECT max(version) FROM {0}.events WHERE stream = 'round-' || round_id)
    FROM {0}.open_rounds WHERE unsettled ORDER BY round_id LIMIT %s"""

log = structlog.get_logger(__name__)


class Jobs:
    """One process's part in the ledger's own work. `call` hands a command to the writer and waits."""

    def __init__(self, dsn: str, schema: str, call: Callable[[Submission], Result], clock: Clock) -> None:
        self._dsn = dsn
        self._schema = schema
        self._call = call
        self._clock = clock
        self._unsettled: Mapping[str, int] = {}
        self._acting = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after what is under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def acting(self) -> bool:
        """Whether this process is the one that acts."""
        return self._acting

    def turn(self, connection: psycopg.Connection) -> None:
        """Do what there is to do. The connection is in autocommit mode. Raises psycopg.Error, Overloaded."""
        for round_id, deadline_us in self._ask(connection, _DUE, self._clock(), DUE_MAX):
            self._time_out(round_id, deadline_us)
        self._go_on(dict(self._ask(connection, _UNSETTLED, UNSETTLED_MAX)))
        for _ in range(PROJECTIONS_A_TURN_MAX):
            if not player_rounds.project(connection, self._schema) or self._stop.is_set():
                break

    def _time_out(self, round_id: str, deadline_us: int) -> None:
        """Let the clock decide. A round with many seats takes several commands; the first may be known."""
        for attempt in range(ATTEMPTS_MAX):
            submission = own_submission(TimeOutRound(round_id), f"timeout:{round_id}:{deadline_us}:{attempt}")
            if not self._do(submission).replayed:
                break

    def _go_on(self, unsettled: Mapping[str, int]) -> None:
        """Continue rounds that stood still since the last turn: the writer goes on by itself, if it lives."""
        for round_id, version in unsettled.items():
            if self._unsettled.get(round_id) == version:
                self._do(continuation(round_id, version))
        self._unsettled = unsettled

    def _do(self, submission: Submission) -> Result:
        try:
            return self._call(submission)
        except CommandFailed:
            return Result(1, b"", 0)  # the writer has logged it; it is tried again in the next turn

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                with psycopg.connect(
                    self._dsn,
                    autocommit=True,
                    connect_timeout=5,
                    options=_OPTIONS,
                    application_name="stud-ledger jobs",
                    keepalives_idle=5,
                    keepalives_interval=2,
                    keepalives_count=3,
                ) as connection:
                    self._take_turns(connection)
            except (psycopg.Error, Overloaded, TimeoutError) as error:
                log.warning("jobs_interrupted", error=type(error).__name__)
            self._acting = False
            self._stop.wait(RECONNECT_SECONDS)

    def _take_turns(self, connection: psycopg.Connection) -> None:
        while not self._stop.is_set():
            if not self._acting:
                (self._acting,) = connection.execute(
                    "SELECT pg_try_advisory_lock(%s)", [lock_number(self._schema)]
                ).fetchone() or (False,)
            if self._acting:
                self.turn(connection)
            self._stop.wait(TURN_SECONDS)

    def _ask(self, connection: psycopg.Connection, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        text = sql.SQL(query).format(sql.Identifier(self._schema))
        return connection.execute(text, parameters).fetchall()


def lock_number(schema: str) -> int:
    """The advisory lock of a ledger's jobs: 63 bits of a hash, since such a lock has a number, no name."""
    return int.from_bytes(hashlib.sha256(f"stud-ledger jobs {schema}".encode()).digest()[:8], "big") >> 1

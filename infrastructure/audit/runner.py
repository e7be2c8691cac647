"""The service's own audits: those that somebody asked for, one at a time, each in a process of its own.

What is to be done stands in the ledger: an audit that has begun and not ended (`AuditStarted`). So an audit
goes on, from its beginning, after a restart; one that has failed `ATTEMPTS_MAX` times is given up.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg
import structlog
from psycopg import sql

from infrastructure.audit.database import Database, connect
from infrastructure.audit.pool import Beside, WorkerDied, WorkFailed, usable_processors
from infrastructure.audit.prepare import of_database
from infrastructure.audit.recording import NotRecordedError, Recording
from infrastructure.audit.report import encoded
from infrastructure.audit.run import audit, in_processes
from infrastructure.audit.store import AuditStore
from infrastructure.ledger import registers
from infrastructure.ledger.submission import LEDGER_CLIENT
from infrastructure.tireless import Tireless

LOOK_SECONDS: Final = 0.5
TELL_SECONDS: Final = 0.5
ATTEMPTS_MAX: Final = 3
_WAITING: Final = """SELECT state FROM {}.registers
    WHERE active AND name > 'audit-' AND name < 'audit.' ORDER BY name"""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Audited:
    """Where the ledger, its keys and its evidence log are, and which software this is."""

    dsn: str = field(repr=False)
    schema: str
    keys_folder: Path
    log_folder: Path
    software: str


@dataclass(frozen=True, slots=True)
class Run:
    """An audit to be made, of the positions behind `after` up to `up_to`."""

    ledger: Audited
    run_id: str
    after: int
    up_to: int


class AuditRunner(Tireless):
    """A thread that sees to the audits; one that is under way at its end begins again with the next start."""

    def __init__(self, ledger: Audited) -> None:
        super().__init__("audits", LOOK_SECONDS)
        self._ledger = ledger
        self._recording = Recording(ledger.dsn, ledger.schema, ledger.keys_folder)

    def _live(self) -> None:
        with connect(self._ledger.dsn) as connection:
            while not self._stop.is_set():
                run = self._next(connection) if self._is_first(connection, self._ledger.schema) else None
                if run is not None:
                    self._make(run)
                self._stop.wait(LOOK_SECONDS)

    def _next(self, connection: psycopg.Connection) -> Run | None:
        """The audit that was asked for first; those of the command line are made there."""
        query = sql.SQL(_WAITING).format(sql.Identifier(self._ledger.schema))
        for (state,) in connection.execute(query):
            asked = registers.audit_from(state)
            if asked.actor != LEDGER_CLIENT:
                return Run(self._ledger, asked.run_id, asked.from_position - 1, asked.to_position)
        return None

    def _make(self, run: Run) -> None:
        with psycopg.connect(self._ledger.dsn, autocommit=True) as connection:
            attempts = AuditStore(connection, self._ledger.schema).begin(run.run_id)
        if attempts > ATTEMPTS_MAX:
            self._give_up(run, "it has failed too often")
            return
        process = Beside(make, run, alone=False)
        try:
            while not process.ended:
                if self._stop.wait(LOOK_SECONDS / 5):
                    return
            process.result()
        except WorkerDied:
            log.warning("audit_died", run_id=run.run_id, attempts=attempts)
        except WorkFailed as failure:
            log.warning("audit_failed", run_id=run.run_id, attempts=attempts, why=str(failure))
        finally:
            process.close()

    def _give_up(self, run: Run, why: str) -> None:
        log.error("audit_given_up", run_id=run.run_id, why=why)
        try:
            self._recording.give_up(run.run_id)
        except NotRecordedError as problem:
            log.warning("audit_not_recorded", run_id=run.run_id, why=str(problem))


def make(run: Run, tell: Callable[[int], None]) -> None:
    """Make an audit, keep its report and have the ledger record what it found; in a process of its own.

    Raises what the audit raises, and NotRecordedError.
    """
    ledger = run.ledger
    source = Database(ledger.dsn, ledger.schema)
    wanted = of_database(
        source,
        (ledger.dsn, ledger.schema),
        (run.after, run.up_to),
        run_id=run.run_id,
        software=ledger.software,
        log_folder=ledger.log_folder,
    )
    with psycopg.connect(ledger.dsn, autocommit=True) as connection:
        store = AuditStore(connection, ledger.schema)
        next_time = 0.0

        def come_to(done: int, whole: int) -> None:
            nonlocal next_time
            if (now := time.monotonic()) < next_time:
                return
            next_time = now + TELL_SECONDS
            tell(done)  # fails where the service has ended: there is nobody to make the audit for then
            store.come_to(run.run_id, done, whole)

        # The service's own processes come first: one processor is left to them where there are more.
        report = audit(source, wanted, in_processes(max(1, usable_processors() - 1)), come_to)
        store.keep(run.run_id, encoded(report.as_json()))
    Recording(ledger.dsn, ledger.schema, ledger.keys_folder).end(report)

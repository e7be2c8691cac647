"""The service's own odds: what every published rule set returns, computed beside the game and kept.

What is to do stands in the ledger: a version without odds. So it goes on after a restart, and what is
published has its odds a little later. The work is done by one process at a time, which gives way to
everything else and is bounded in time and memory; what takes long to count is on a shelf and counted once.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import psycopg
import structlog

from domain.events import RulesetRef
from domain.work import PublishedRuleset
from infrastructure.audit.pool import Beside, WorkerDied, WorkFailed
from infrastructure.odds.child import Made, Task, compute
from infrastructure.odds.returns import ReturnsWatch
from infrastructure.odds.store import OddsStore
from infrastructure.odds.wanted import published, tables, wanted
from infrastructure.tireless import Tireless, connect

START_SECONDS: Final = 10.0
"""A service has other things to do when it starts."""
LOOK_SECONDS: Final = 5.0
RECONNECT_SECONDS: Final = 5.0
COMPUTING_SECONDS_MAX: Final = 900.0
ATTEMPTS_MAX: Final = 3
NICENESS: Final = 19

_OPTIONS: Final = "-c statement_timeout=30000 -c lock_timeout=10000"

log = structlog.get_logger(__name__)


class Computing(Protocol):
    """A process that computes: as `infrastructure.audit.pool.Beside`."""

    @property
    def ended(self) -> bool:
        """Whether there is a result."""
        ...

    def result(self) -> Made:
        """What it has made. Raises WorkerDied, WorkFailed."""
        ...

    def close(self) -> None:
        """End it, whatever it does."""
        ...


class Work(NamedTuple):
    """A version of which odds are missing, and the task that makes them."""

    version: PublishedRuleset
    task: Task


class OddsRunner(Tireless):
    """A thread that sees to the odds; what it computes when it ends is computed again after the next start.

    `folder` is the shelf's; `begin` begins a task in a process of its own.
    """

    def __init__(
        self, dsn: str, schema: str, folder: Path, begin: Callable[[Task], Computing] | None = None
    ) -> None:
        super().__init__("odds", RECONNECT_SECONDS)
        self._dsn = dsn
        self._schema = schema
        self._folder = folder
        self._begin = _begin if begin is None else begin
        self._failures: Counter[RulesetRef] = Counter()
        self._returns = ReturnsWatch(schema)

    def turn(self, connection: psycopg.Connection) -> bool:
        """Compute the odds that a version lacks; return False where none lacks any.

        The connection is in autocommit mode. Raises psycopg.Error.
        """
        work = self._next(connection)
        if work is None:
            return False
        began = time.monotonic()
        process = self._begin(work.task)
        try:
            while not process.ended:
                if time.monotonic() - began > COMPUTING_SECONDS_MAX:
                    self._failed(work, "it takes too long")
                    return True
                if self._stop.wait(LOOK_SECONDS / 50):
                    return False
            made = process.result()
        except (WorkerDied, WorkFailed) as failure:
            self._failed(work, str(failure))
            return True
        finally:
            process.close()
        store = OddsStore(connection, self._schema)
        for terms, figures, chart in made:
            store.put(terms, figures, chart)
            self._tell(work.version.ref, figures)
        return True

    def _next(self, connection: psycopg.Connection) -> Work | None:
        """The version to do next: those that are played come before those that were."""
        known = OddsStore(connection, self._schema).known()
        played = tables(connection, self._schema)
        by_use = Counter(table.ruleset for table in played)
        for version in sorted(published(connection, self._schema), key=lambda each: -by_use[each.ref]):
            missing = [terms for terms in wanted(version, played) if terms not in known]
            if missing and self._failures[version.ref] < ATTEMPTS_MAX:
                return Work(version, Task(version.document, missing, self._folder))
        return None

    def _failed(self, work: Work, why: str) -> None:
        ref = work.version.ref
        self._failures[ref] += 1
        log.warning("odds_failed", ruleset=ref.id, version=ref.version, times=self._failures[ref], why=why)

    @staticmethod
    def _tell(ref: RulesetRef, figures: dict[str, Any]) -> None:
        about = {"ruleset": ref.id, "version": ref.version}
        if (why := figures.get("unsupported")) is not None:
            log.warning("odds_unsupported", **about, why=why)
        elif favours := figures["favours_player"]:
            log.warning("ruleset_favours_player", **about, bets=favours, ante=figures["ante"])

    def _run(self) -> None:
        self._stop.wait(START_SECONDS)
        super()._run()

    def _live(self) -> None:
        with connect(self._dsn, self._work, _OPTIONS) as connection:
            while not self._stop.is_set():
                acting = self._is_first(connection, self._schema)
                if acting:
                    self._returns.turn(connection)
                if not (acting and self.turn(connection)):
                    self._stop.wait(LOOK_SECONDS)


def _begin(task: Task) -> Computing:
    return Beside(compute, task, niceness=NICENESS)

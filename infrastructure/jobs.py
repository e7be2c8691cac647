"""What the ledger does by itself: time-outs, rounds left half settled, room for what comes.

Every process of the service has a `Jobs` thread; an advisory lock of the database lets one of them act at a
time, and passes to another when its holder's connection ends, however it ends. Nothing is remembered here
between turns: what is to do stands in the database, and each command has a key that names its occasion, so
that nothing happens twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from datetime import UTC, datetime
from typing import Any, Final

import psycopg
import structlog
from psycopg import sql

from domain.commands import TimeOutRound
from infrastructure import partitions
from infrastructure.clock import Clock
from infrastructure.ledger.submission import (
    ACCEPTED,
    REJECTED,
    CommandFailed,
    Overloaded,
    ReadOnly,
    Result,
    Submission,
    continuation,
    own_submission,
)
from infrastructure.tireless import Tireless, connect

TURN_SECONDS: Final = 0.25
RECONNECT_SECONDS: Final = 1.0
WAIT_SECONDS_MAX: Final = 60.0
DUE_MAX: Final = 256
"""Rounds whose time is up that are handed to the writer at once: as many as it writes in one transaction."""
STAKED_SEARCH_MAX: Final = 5_000
"""How many due rounds, the last ones first, are looked through for such as have stakes."""
UNSETTLED_MAX: Final = 20
ATTEMPTS_MAX: Final = 100
LOOK_SECONDS: Final = 20.0

_OPTIONS: Final = "-c statement_timeout=30000 -c lock_timeout=10000"
_DUE: Final = """SELECT round_id, deadline_us FROM {}.open_rounds
    WHERE deadline_us <= %s ORDER BY deadline_us LIMIT %s"""
# A round's first event opens it, the second is a stake. A probe by key for each, not a join: that might be
# planned as reading all events.
_DUE_WITH_STAKES: Final = """SELECT round_id, deadline_us FROM (
        SELECT round_id, deadline_us FROM {0}.open_rounds
        WHERE deadline_us <= %s ORDER BY deadline_us DESC LIMIT %s
    ) AS due
    WHERE (SELECT true FROM {0}.events WHERE stream = 'round-' || round_id AND version = 2)
    ORDER BY deadline_us LIMIT %s"""
_UNSETTLED: Final = """SELECT round_id,
        (SELECT max(version) FROM {0}.events WHERE stream = 'round-' || round_id)
    FROM {0}.open_rounds WHERE unsettled ORDER BY round_id LIMIT %s"""
_NOT_COPIED: Final = """SELECT last_failed_wal FROM pg_stat_archiver
    WHERE last_failed_time > coalesce(last_archived_time, '-infinity')"""

log = structlog.get_logger(__name__)


class Jobs(Tireless):
    """One process's part in the ledger's own work. `hand_over` gives a command to the writer.

    `daily` makes the command that a day begins with, of its ISO date.
    """

    INTERRUPTED_BY = (psycopg.Error, Overloaded, TimeoutError)

    def __init__(
        self,
        dsn: str,
        schema: str,
        hand_over: Callable[[Submission], Future[Result]],
        clock: Clock,
        daily: Callable[[str], Submission] | None = None,
    ) -> None:
        super().__init__("jobs", RECONNECT_SECONDS)
        self._dsn = dsn
        self._schema = schema
        self._hand_over = hand_over
        self._clock = clock
        self._daily = daily
        self._day = ""
        self._unsettled: Mapping[str, int] = {}
        self._next_look = 0.0

    def turn(self, connection: psycopg.Connection) -> bool:
        """Do what there is to do, up to a bound; return whether the next turn should follow at once.

        The connection is in autocommit mode. Raises psycopg.Error, Overloaded, TimeoutError.
        """
        self._look_after(connection)
        more = self._time_out_rounds(connection)
        self._go_on(dict(self._ask(connection, _UNSETTLED, UNSETTLED_MAX)))
        self._look_daily()  # last: files that cannot be read keep no player waiting
        return more

    def _look_after(self, connection: psycopg.Connection) -> None:
        """See to it now and then that the next events have their tables, and a backup its log.

        What the server cannot copy away it keeps, until its disk is full.
        """
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK_SECONDS
        partitions.make_ahead(connection, self._schema)
        for (name,) in self._ask(connection, _NOT_COPIED):
            log.error("backup_log_not_copied", file=name)

    def _look_daily(self) -> None:
        """When a day begins (UTC), have its first command: the software is looked at (GLI-19 2.3.2)."""
        today = self._today()
        self._day = self._day or today
        if self._daily is not None and today != self._day:
            (result,) = self._do([self._daily(today)])
            if result.outcome == ACCEPTED:
                self._day = today

    def _today(self) -> str:
        return datetime.fromtimestamp(self._clock() // 1_000_000, UTC).date().isoformat()

    def _time_out_rounds(self, connection: psycopg.Connection) -> bool:
        """Time out a page of the rounds whose time is up; return whether there may be more, and it goes on.

        Anybody who may play can open rounds faster than they expire. Where there are more than a page, those
        with stakes, whose players wait, do not stand in line behind empty ones.
        """
        now_us = self._clock()
        due = dict(self._ask(connection, _DUE, now_us, DUE_MAX))
        full = len(due) == DUE_MAX
        if full:
            due = dict(self._ask(connection, _DUE_WITH_STAKES, now_us, STAKED_SEARCH_MAX, DUE_MAX)) | due
        return self._time_out(due.items()) > 0 and full

    def _time_out(self, due: Iterable[tuple[str, int]]) -> int:
        """Let the clock decide; return how many commands did something.

        A round with many seats takes several commands; the first may be known.
        """
        left, done = list(due), 0
        for attempt in range(ATTEMPTS_MAX):
            if not left:
                break
            results = self._do(
                own_submission(TimeOutRound(round_id), f"timeout:{round_id}:{deadline_us}:{attempt}")
                for round_id, deadline_us in left
            )
            done += sum(result.outcome == ACCEPTED and not result.replayed for result in results)
            left = [each for each, result in zip(left, results, strict=True) if result.replayed]
        return done

    def _go_on(self, unsettled: Mapping[str, int]) -> None:
        """Continue rounds that stood still since the last turn: the writer goes on by itself, if it lives."""
        still = [each for each in unsettled.items() if self._unsettled.get(each[0]) == each[1]]
        self._do(continuation(round_id, version) for round_id, version in still)
        self._unsettled = unsettled

    def _do(self, submissions: Iterable[Submission]) -> Sequence[Result]:
        """Hand over commands and wait for all of them: they share transactions."""
        futures: list[Future[Result]] = []
        try:
            for submission in submissions:
                futures.append(self._hand_over(submission))  # noqa: PERF401 - what was handed over is waited for
        finally:
            wait(futures, WAIT_SECONDS_MAX)
        return [_end(future) for future in futures]

    def _live(self) -> None:
        with connect(self._dsn, self._work, _OPTIONS) as connection:
            while not self._stop.is_set():
                if not (self._is_first(connection, self._schema) and self.turn(connection)):
                    self._stop.wait(TURN_SECONDS)

    def _ask(self, connection: psycopg.Connection, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        text = sql.SQL(query).format(sql.Identifier(self._schema))
        return connection.execute(text, parameters).fetchall()


def _end(future: Future[Result]) -> Result:
    """What a command that was waited for came to. Raises Overloaded, and TimeoutError where it has no end."""
    try:
        return future.result(0)
    except (CommandFailed, ReadOnly):
        return Result(REJECTED, b"", 0)  # the writer has logged it; it is tried again in the next turn

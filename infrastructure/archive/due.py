"""Which days of a ledger can be exported, and what the ledger says of those that were.

A day (UTC) is finished when it has been over for a while, every round that has an event in it has ended, and
the evidence log has sealed all of it. As time in the ledger never goes back, a day's events are consecutive.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, NamedTuple

import orjson
import psycopg
from psycopg import sql

from domain.registers import LogState
from infrastructure.archive.manifest import ArchiveError
from infrastructure.ledger import horizon
from infrastructure.ledger.registers import log_from

GRACE_US: Final = 600 * 1_000_000
"""So long a day has to be over: the clocks of several processes may differ by seconds."""
_DAY_US: Final = 86_400 * 1_000_000

_HEAD: Final = "SELECT position FROM {schema}.head"
_LOG: Final = "SELECT state FROM {schema}.registers WHERE name = 'log'"
_EVENT: Final = "SELECT data FROM {schema}.events WHERE position = %s"
_RECORDED: Final = "SELECT data FROM {schema}.events WHERE stream = 'archive-' || %s::text AND version = 1"
_OPEN: Final = """
    SELECT round_id FROM {schema}.open_rounds
    JOIN {schema}.events ON stream = 'round-' || round_id AND version = 1
    WHERE events.position <= %s ORDER BY events.position LIMIT 1"""


class DueDay(NamedTuple):
    """A day's events: the positions `first` to `last`."""

    day: str
    first: int
    last: int


class Recorded(NamedTuple):
    """What the ledger's event says of an export."""

    due: DueDay
    manifest_sha256: str


class NotDueError(ArchiveError):
    """The next day cannot be exported yet: one line that says why."""


class LedgerDays:
    """A ledger as its exports see it, on a connection in autocommit mode. Raises psycopg.Error."""

    def __init__(self, connection: psycopg.Connection, schema: str) -> None:
        self._connection = connection
        self._schema = schema

    def log(self) -> LogState:
        """What the ledger knows of its log, and of what was exported."""
        rows = self._ask(_LOG)
        return log_from(rows[0][0]) if rows else LogState()

    def recorded(self, sequence: int) -> Recorded:
        """What the ledger recorded of an export. Raises ArchiveError where that event is not there."""
        rows = self._ask(_RECORDED, sequence)
        if not rows:
            raise ArchiveError(f"the ledger has no event of export number {sequence}")
        data: dict[str, Any] = orjson.loads(rows[0][0])["data"]
        due = DueDay(data["day"], data["first_position"], data["last_position"])
        return Recorded(due, data["manifest_sha256"])

    def next(self, after: int, last_day: str, now_us: int) -> DueDay | None:
        """The day that comes after position `after` and the exported day `last_day` (empty: none).

        None where there is no event behind it. Raises NotDueError where it is not over, or a round of it is
        not; ArchiveError where its events were taken out of the ledger.
        """
        ((head,),) = self._ask(_HEAD)
        if head <= after:
            return None
        self.require_events(after + 1)
        day = day_of(self._time(after + 1))
        if last_day and day <= last_day:  # a clock was set back by more than the grace: it counts on
            day = (date.fromisoformat(last_day) + timedelta(days=1)).isoformat()
        end_us = _end_us(day)
        if now_us < end_us + GRACE_US:
            over = datetime.fromtimestamp((end_us + GRACE_US) / 1e6, UTC)
            raise NotDueError(f"{day} is exported after {over:%Y-%m-%dT%H:%M:%SZ}")
        due = DueDay(day, after + 1, self._last_before(end_us, after + 1, head))
        for (round_id,) in self._ask(_OPEN, due.last):
            raise NotDueError(f"{day} waits for round {round_id}, which has not ended")
        return due

    def require_events(self, position: int) -> None:
        """Raise ArchiveError where the event at a position was taken out of the ledger."""
        gone = horizon.read(self._connection, self._schema).position
        if position <= gone:
            raise ArchiveError(
                f"the events up to position {gone} are detached, and those from {position} on were not "
                "exported: attach them first (scripts/partitions --attach)"
            )

    def _last_before(self, end_us: int, first: int, head: int) -> int:
        """The last position from `first` on whose event was recorded before a moment; `first` was."""
        low, high = first, head
        while low < high:
            middle = (low + high + 1) // 2
            if self._time(middle) < end_us:
                low = middle
            else:
                high = middle - 1
        return low

    def _time(self, position: int) -> int:
        """When the event at a position was recorded, in microseconds since the epoch."""
        rows = self._ask(_EVENT, position)
        if not rows:
            raise ArchiveError(f"position {position}: the event is missing")
        try:
            moment = datetime.fromisoformat(orjson.loads(rows[0][0])["recorded_at"])
        except (KeyError, TypeError, ValueError):
            raise ArchiveError(f"position {position}: not an event") from None
        return int(moment.replace(microsecond=0).timestamp()) * 1_000_000 + moment.microsecond

    def _ask(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        text = sql.SQL(query).format(schema=sql.Identifier(self._schema))
        return self._connection.execute(text, parameters or None).fetchall()


def day_of(at_us: int) -> str:
    """The day (UTC) of a moment."""
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).date().isoformat()


def _end_us(day: str) -> int:
    """The midnight that ends a day."""
    begin = datetime.combine(date.fromisoformat(day), time(), UTC)
    return int(begin.timestamp()) * 1_000_000 + _DAY_US

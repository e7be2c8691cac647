"""The events of a database as a source of an audit: ranges of positions, each read by whoever works on it.

Events never change, so that every page is a transaction of its own, on a service that goes on writing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
import psycopg
from psycopg import sql

from infrastructure.audit.cutting import PARTITION_POSITIONS, spans
from infrastructure.audit.results import Opening, StoredRow
from infrastructure.audit.source import published
from infrastructure.ledger import horizon

PAGE: Final = 4_096
_OPTIONS: Final = "-c jit=off -c default_transaction_read_only=on -c statement_timeout=300000"
_EVENTS: Final = """SELECT position, stream, version, data FROM {}.events
    WHERE position > %s AND position <= %s ORDER BY position"""
_ENDS: Final = (
    """SELECT (SELECT position FROM {0}.head), (SELECT coalesce(max(position), 0) FROM {0}.events)"""
)
_ONE: Final = "SELECT data FROM {}.events WHERE position = %s"
_OF_KIND: Final = """SELECT data FROM {}.events
    WHERE stream >= %s COLLATE "C" AND stream < %s COLLATE "C" ORDER BY position"""

_own = threading.local()


def connect(dsn: str) -> psycopg.Connection:
    """Connect to read. Raises psycopg.Error."""
    return psycopg.connect(
        dsn, autocommit=True, connect_timeout=10, application_name="stud-ledger audit", options=_OPTIONS
    )


@dataclass(frozen=True, slots=True)
class DatabasePart:
    """A span of positions in a database. It can be sent to another process; it holds a password."""

    dsn: str = field(repr=False)
    schema: str
    after: int
    up_to: int

    def rows(self) -> Iterator[StoredRow]:
        """Yield the events in order. Raises psycopg.Error."""
        query = sql.SQL(_EVENTS).format(sql.Identifier(self.schema))
        after = self.after
        while after < self.up_to:
            until = min(after + PAGE, self.up_to)
            page = _connection(self.dsn).execute(query, [after, until], binary=True, prepare=True).fetchall()
            yield from page
            after = until


def _connection(dsn: str) -> psycopg.Connection:
    """The thread's connection, kept for the next part."""
    known: tuple[str, psycopg.Connection] | None = getattr(_own, "connection", None)
    if known is not None and known[0] == dsn and not known[1].closed:
        return known[1]
    let_go()
    connection = connect(dsn)
    _own.connection = dsn, connection
    return connection


def let_go() -> None:
    """Close the thread's connection, where it has read a part."""
    known: tuple[str, psycopg.Connection] | None = getattr(_own, "connection", None)
    if known is not None:
        known[1].close()
        _own.connection = None


class Database:
    """A ledger in PostgreSQL. `first` and `last` are the positions of the events that are there.

    `head` is where the ledger says it ends: an event beyond it, or one that is missing before it, is for the
    audit to find. Up to `archived`, events were taken elsewhere. Raises psycopg.Error, wherever it reads.
    """

    kind: Final = "database"

    def __init__(self, dsn: str, schema: str, partition_positions: int = PARTITION_POSITIONS) -> None:
        self._partition = partition_positions
        self._dsn = dsn
        self._schema = schema
        with connect(dsn) as connection:
            self.archived = horizon.read(connection, schema).position
            self.first = self.archived + 1
            ((self.head, self.last),) = self._ask(connection, _ENDS)

    def count(self) -> int:
        """The last position there is by now."""
        with connect(self._dsn) as connection:
            return max(int(last) for last in self._ask(connection, _ENDS)[0])

    def parts(self, after: int, up_to: int) -> Iterator[DatabasePart]:
        """Yield the parts of a range, in order."""
        for span in spans(after, up_to, self._partition):
            yield DatabasePart(self._dsn, self._schema, span.after, span.up_to)

    def rulesets(self) -> dict[str, bytes]:
        """The content of all published rule sets by its SHA-256 (hex), out of their events."""
        return published(self.stream_events("ruleset"))

    def stream_events(self, kind: str) -> list[bytes]:
        """The events of all streams of a kind of which there are few, in the order of positions."""
        with connect(self._dsn) as connection:
            rows = self._ask(connection, _OF_KIND, f"{kind}-", f"{kind}.")
        return [data for (data,) in rows]

    def opening(self, after: int) -> Opening | None:
        """What was held behind a position: nothing where that is the beginning, else it is not known."""
        return Opening(after) if after else None

    def last_by(self, moment: str) -> int:
        """The last position recorded at or before a moment (UTC, six digits); `first` - 1 where none was."""
        low, high = self.first - 1, self.last
        with connect(self._dsn) as connection:
            while low < high:
                middle = (low + high + 1) // 2
                rows = self._ask(connection, _ONE, middle)
                at = _moment_of(rows[0][0]) if rows else None
                if at is None or at <= moment:  # where events are missing, more is audited rather than less
                    low = middle
                else:
                    high = middle - 1
        return low

    def _ask(self, connection: psycopg.Connection, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        text = sql.SQL(query).format(sql.Identifier(self._schema))
        return connection.execute(text, parameters, binary=True).fetchall()


def _moment_of(stored: bytes) -> str | None:
    try:
        return str(orjson.loads(stored)["recorded_at"])
    except (ValueError, KeyError, TypeError):
        return None

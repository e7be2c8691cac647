"""Reading committed events, by stream and by position, from PostgreSQL or from memory.

A batch becomes visible before the next one can take the head row, so readers see positions without a gap:
whoever has read up to a position will never find an event before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from psycopg import sql
from psycopg_pool import ConnectionPool

from infrastructure.ledger.store import StoredEventRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    from infrastructure.ledger.memory import MemoryLedger

_STATEMENT_MS_MAX: Final = 30_000
_INTEGER_MAX: Final = 2**31 - 1
_BIGINT_MAX: Final = 2**63 - 1


class EventReader(Protocol):
    """Reads events that are committed. Safe for several threads."""

    def of_stream(
        self, stream: str, *, after: int, up_to: int | None, descending: bool, limit: int | None
    ) -> list[StoredEventRow]:
        """Return a stream's events with versions above `after`, up to `up_to`, at most `limit`, in order."""

    def from_position(self, first: int, last: int | None, limit: int) -> list[StoredEventRow]:
        """Return at most `limit` events from position `first` on, up to `last`, in order."""

    def position(self) -> int:
        """Return the position of the last event, 0 where there is none."""


class PostgresReader:
    """Reads from PostgreSQL through a pool of at most `connections_max` connections.

    Open it before use and close it after, or use it as a context manager. Raises psycopg's errors;
    PoolTimeout where no connection comes free within `wait_seconds_max`.
    """

    def __init__(
        self, dsn: str, schema: str = "ledger", *, connections_max: int = 4, wait_seconds_max: float = 10.0
    ) -> None:
        names = {"schema": sql.Identifier(schema)}
        self._of_stream = {
            descending: sql.SQL(
                "SELECT position, stream, version, data FROM {schema}.events"
                " WHERE stream = %s AND version > %s AND version <= %s ORDER BY version {order} LIMIT %s"
            ).format(order=sql.SQL("DESC" if descending else "ASC"), **names)
            for descending in (False, True)
        }
        self._from_position = sql.SQL(
            "SELECT position, stream, version, data FROM {schema}.events"
            " WHERE position >= %s AND position <= %s ORDER BY position LIMIT %s"
        ).format(**names)
        self._position = sql.SQL("SELECT position FROM {schema}.head").format(**names)
        self._pool = ConnectionPool(
            dsn,
            min_size=1,
            max_size=connections_max,
            timeout=wait_seconds_max,
            open=False,
            configure=_configure,
            check=ConnectionPool.check_connection,
            kwargs={"autocommit": True, "application_name": "stud-ledger reader"},
        )

    def open(self) -> None:
        """Connect."""
        self._pool.open(wait=True)

    def close(self) -> None:
        """Give the connections back."""
        self._pool.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def of_stream(
        self, stream: str, *, after: int, up_to: int | None, descending: bool, limit: int | None
    ) -> list[StoredEventRow]:
        """Return a stream's events with versions above `after`, up to `up_to`, at most `limit`, in order."""
        return self._rows(
            self._of_stream[descending], [stream, after, _INTEGER_MAX if up_to is None else up_to, limit]
        )

    def from_position(self, first: int, last: int | None, limit: int) -> list[StoredEventRow]:
        """Return at most `limit` events from position `first` on, up to `last`, in order."""
        return self._rows(self._from_position, [first, _BIGINT_MAX if last is None else last, limit])

    def position(self) -> int:
        """Return the position of the last event, 0 where there is none."""
        with self._pool.connection() as connection:
            row = connection.execute(self._position).fetchone()
        return 0 if row is None else row[0]

    def _rows(self, query: sql.Composed, parameters: Sequence[Any]) -> list[StoredEventRow]:
        with self._pool.connection() as connection:
            rows = connection.execute(query, parameters, binary=True).fetchall()
        return [StoredEventRow(*row) for row in rows]


class MemoryReader:
    """Reads from a `MemoryLedger`."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self._ledger = ledger

    def of_stream(
        self, stream: str, *, after: int, up_to: int | None, descending: bool, limit: int | None
    ) -> list[StoredEventRow]:
        """Return a stream's events with versions above `after`, up to `up_to`, at most `limit`, in order."""
        rows = list(self._ledger.streams.get(stream, ()))
        last = _INTEGER_MAX if up_to is None else up_to
        found = [row for row in rows if after < row.version <= last and row.position <= self._ledger.position]
        return (found[::-1] if descending else found)[:limit]

    def from_position(self, first: int, last: int | None, limit: int) -> list[StoredEventRow]:
        """Return at most `limit` events from position `first` on, up to `last`, in order."""
        end = self._ledger.position if last is None else min(last, self._ledger.position)
        return self._ledger.events[max(first, 1) - 1 : max(end, 0)][:limit]

    def position(self) -> int:
        """Return the position of the last event, 0 where there is none."""
        return self._ledger.position


def _configure(connection: psycopg.Connection) -> None:
    connection.execute("SELECT set_config('statement_timeout', %s, false)", [str(_STATEMENT_MS_MAX)])
    connection.execute("SELECT set_config('default_transaction_read_only', 'on', false)")

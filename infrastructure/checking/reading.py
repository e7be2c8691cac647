"""What the checker reads: events by position, and the head, in short transactions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import psycopg
from psycopg import sql

from infrastructure.checking.envelopes import Row

PAGE: Final = 5_000


class Ledger:
    """The tables of one ledger on one connection, which is in autocommit mode."""

    def __init__(self, connection: psycopg.Connection, schema: str) -> None:
        self.connection = connection
        self._names: Mapping[str, sql.Identifier] = {
            "schema": sql.Identifier(schema),
            "read": sql.Identifier(f"{schema}_read"),
        }

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a query in which ``{schema}`` and ``{read}`` stand for the ledger's schemas."""
        text = sql.SQL(query).format(**self._names)
        return self.connection.execute(text, parameters, binary=True).fetchall()

    def stream(self, query: str, *parameters: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query a page at a time; inside a transaction."""
        text = sql.SQL(query).format(**self._names)
        with self.connection.cursor("stud_ledger_check", binary=True) as cursor:
            cursor.itersize = PAGE
            cursor.execute(text, parameters)
            yield from cursor

    def head(self) -> tuple[int, int]:
        """The last position and when it was recorded, in microseconds since the epoch."""
        ((position, recorded_at_us),) = self.rows("SELECT position, recorded_at_us FROM {schema}.head")
        return position, recorded_at_us

    def events(self, after: int, up_to: int, limit: int = PAGE) -> list[Row]:
        """Events in order, at most `limit`."""
        return self.rows(
            "SELECT position, version, stream, data FROM {schema}.events"
            " WHERE position > %s AND position <= %s ORDER BY position LIMIT %s",
            after,
            up_to,
            limit,
        )

"""What the sealer reads of a ledger: stored events in order, which rounds are open, what its log is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

import psycopg
from psycopg import sql

from domain.registers import LogState
from infrastructure.ledger.registers import log_from

Row = tuple[int, str, bytes]
"""An event: its position, its stream, its stored bytes."""

BYTES_MAX: Final = 8_000_000
"""How many bytes of events are read at once, give or take one slice."""
_SLICE: Final = 500
_ROUND: Final = "round-"


class Events(Protocol):
    """A ledger's committed events. Not thread safe."""

    def log(self) -> LogState:
        """What the ledger says of its log."""
        ...

    def starting(self, position: int, limit: int) -> Sequence[Row]:
        """The events from a position on, in order: at most `limit`, and fewer where they are long.

        At least one, where there is one.
        """
        ...

    def position(self) -> int:
        """The position of the last event; 0 where there is none."""
        ...

    def horizon(self) -> int:
        """The position up to which events were taken out and kept elsewhere."""
        ...

    def open_rounds(self) -> set[str]:
        """The streams of the rounds that are not finished."""
        ...


class PostgresEvents:
    """Reads over a connection in autocommit mode. Raises psycopg.Error."""

    def __init__(self, connection: psycopg.Connection, schema: str) -> None:
        self._connection = connection
        self._schema = sql.Identifier(schema)
        self._starting = sql.SQL(
            """SELECT position, stream, data FROM {}.events
            WHERE position >= %s AND position < %s ORDER BY position"""
        ).format(self._schema)

    def log(self) -> LogState:
        """What the ledger says of its log."""
        rows = self._ask("SELECT state FROM {}.registers WHERE name = 'log'")
        return log_from(rows[0][0]) if rows else LogState()

    def starting(self, position: int, limit: int) -> Sequence[Row]:
        """The events from a position on, in order: at most `limit`, and fewer where they are long.

        At least one, where there is one.
        """
        found: list[Row] = []
        size = 0
        while len(found) < limit and size < BYTES_MAX:
            # A short look first: it tells how long these events are.
            fitting = (BYTES_MAX - size) * len(found) // size + 1 if found else _SLICE
            first, wanted = position + len(found), min(fitting, limit - len(found))
            rows: list[Row] = self._connection.execute(
                self._starting, [first, first + wanted], binary=True, prepare=True
            ).fetchall()
            found += rows
            size += sum(len(row[2]) for row in rows)
            if len(rows) < wanted:
                break
        return found

    def position(self) -> int:
        """The position of the last event; 0 where there is none."""
        return int(self._ask("SELECT coalesce(max(position), 0) FROM {}.events")[0][0])

    def horizon(self) -> int:
        """The position up to which events were taken out and kept elsewhere."""
        return int(self._ask("SELECT coalesce(max(last_position), 0) FROM {}.horizon")[0][0])

    def open_rounds(self) -> set[str]:
        """The streams of the rounds that are not finished."""
        return {_ROUND + round_id for (round_id,) in self._ask("SELECT round_id FROM {}.open_rounds")}

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql.SQL(query).format(self._schema), prepare=True).fetchall()


def are_in_order(rows: Sequence[Row], first: int) -> bool:
    """Say whether events have the positions from one on, without a gap."""
    return all(row[0] == position for position, row in enumerate(rows, first))


def read_all(events: Events, first: int, count: int) -> list[Row]:
    """So many events from a position on, or as many as there are."""
    found: list[Row] = []
    while len(found) < count:
        rows = events.starting(first + len(found), count - len(found))
        found += rows
        if not rows:
            break
    return found

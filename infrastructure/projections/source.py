"""Where the engine reads events: forward from a position, and the earlier ones of a round it comes back to.

Reads are bounded in events and in bytes: an event may be 64 KiB, though nearly all are below one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

import psycopg
from psycopg import sql

if TYPE_CHECKING:
    from infrastructure.ledger.memory import MemoryLedger

BYTES_MAX: Final = 4_000_000
"""How many bytes of events a batch holds, give or take one slice."""
_SLICE: Final = 250
_STREAMED: Final = 500


class Earlier(Protocol):
    """Committed events of streams."""

    def older(self, below: Mapping[str, int]) -> Iterator[bytes]:
        """The events of these streams whose version is below the one given, each stream's in order."""


class Source(Earlier, Protocol):
    """Committed events. Not thread safe; called from different threads, but in turn."""

    def after(self, position: int, limit: int) -> tuple[Sequence[bytes], bool]:
        """The stored bytes of the events after a position, in order; at most `limit` of them.

        Also whether it stopped at a limit, so that there may be more.
        """


class PostgresSource:
    """Reads over a connection in autocommit mode. Raises psycopg.Error."""

    def __init__(self, connection: psycopg.Connection, schema: str) -> None:
        name = sql.Identifier(schema)
        self._connection = connection
        # The column's own position, not a count of rows: a hole is seen by what stands in the bytes.
        self._after = sql.SQL(
            "SELECT data FROM {}.events WHERE position > %s AND position <= %s ORDER BY position"
        ).format(name)
        # OFFSET 0 keeps the planner from anything but one descent of the index for each stream.
        self._older = sql.SQL(
            """SELECT e.data FROM unnest(%s::text[], %s::integer[]) AS wanted(stream, below)
            CROSS JOIN LATERAL (
                SELECT data FROM {}.events
                WHERE events.stream = wanted.stream AND events.version < wanted.below
                ORDER BY events.version OFFSET 0
            ) AS e"""
        ).format(name)

    def after(self, position: int, limit: int) -> tuple[Sequence[bytes], bool]:
        """The stored bytes of the events after a position, in order; at most `limit` of them.

        Also whether it stopped at a limit, so that there may be more.
        """
        found: list[bytes] = []
        size = 0
        while len(found) < limit and size < BYTES_MAX:
            first = position + len(found)
            # A short look first: it tells how long these events are.
            fitting = (BYTES_MAX - size) * len(found) // size + 1 if found else _SLICE
            wanted = min(fitting, limit - len(found))
            rows = self._connection.execute(
                self._after, [first, first + wanted], binary=True, prepare=True
            ).fetchall()
            slice_ = [data for (data,) in rows]
            found += slice_
            size += sum(map(len, slice_))
            if len(slice_) < wanted:
                return found, False
        return found, True

    def older(self, below: Mapping[str, int]) -> Iterator[bytes]:
        """The events of these streams whose version is below the one given, each stream's in order."""
        with self._connection.cursor(binary=True) as cursor:
            parameters = [list(below), list(below.values())]
            for (data,) in cursor.stream(self._older, parameters, size=_STREAMED):
                yield data


class MemorySource:
    """Reads a `MemoryLedger`: for tests."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self._ledger = ledger

    def after(self, position: int, limit: int) -> tuple[Sequence[bytes], bool]:
        """The stored bytes of the events after a position, in order; at most `limit` of them.

        Also whether it stopped at a limit, so that there may be more.
        """
        end = min(self._ledger.position, position + limit)
        return [event.data for event in self._ledger.events[position:end]], end - position == limit

    def older(self, below: Mapping[str, int]) -> Iterator[bytes]:
        """The events of these streams whose version is below the one given, each stream's in order."""
        for stream, version in below.items():
            for event in self._ledger.streams.get(stream, ())[: version - 1]:
                yield event.data

"""Up to where a ledger's events were archived: their tables are apart, and nothing of them can be read.

A round of which only the end is left counts as archived too: its first event is gone. What was derived from
archived events (balances, statements, reports, trial balances) stays; deriving it again from the beginning is
refused while they are away (`require_whole`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import psycopg
from psycopg import sql

from infrastructure import ids

QUERY: Final = (
    "SELECT coalesce(max(last_position), 0), coalesce(max(recorded_at_us), 0) FROM {schema}.horizon"
)


class ArchivedError(RuntimeError):
    """What was asked needs events that are archived: one line that says so and what to do."""


class Horizon(NamedTuple):
    """The last archived position and the time of its event, microseconds since the epoch; 0 where none is."""

    position: int
    recorded_at_us: int

    def may_hide(self, round_id: str) -> bool:
        """Tell whether a round of that id, if there was one, opened before the horizon."""
        opened_us = ids.time_of(round_id)
        return opened_us is not None and opened_us <= self.recorded_at_us


def read(connection: psycopg.Connection, schema: str) -> Horizon:
    """Return the ledger's horizon. Raises psycopg.Error."""
    row = connection.execute(sql.SQL(QUERY).format(schema=sql.Identifier(schema))).fetchone()
    return Horizon(0, 0) if row is None else Horizon(*row)


def require_whole(connection: psycopg.Connection, schema: str, what: str) -> None:
    """Raise ArchivedError where events are archived that `what` (as in "a rebuild") needs from the first on.

    Raises psycopg.Error.
    """
    horizon = read(connection, schema)
    if horizon.position:
        raise ArchivedError(
            f"{what} needs all events and those up to position {horizon.position} are archived: "
            "attach them first (scripts/partitions --attach)"
        )

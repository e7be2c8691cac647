"""How far each projection is behind the ledger: in positions and in seconds."""

from __future__ import annotations

from typing import Final, NamedTuple

from psycopg import sql

from infrastructure.projections.tables import read_schema

# How long the oldest event that is not projected yet has been there. Its time stands in its bytes alone.
_QUERY: Final = """SELECT p.name, p.position, h.position - p.position, p.state, p.error_position,
        CASE WHEN h.position <= p.position THEN 0 ELSE greatest(0, extract(epoch FROM clock_timestamp()) - (
            SELECT extract(epoch FROM
                (convert_from(e.data, 'UTF8')::json ->> 'recorded_at')::timestamptz)
            FROM {schema}.events AS e WHERE e.position = p.position + 1
        )) END::float8
    FROM {read}.projections AS p, {schema}.head AS h WHERE p.live ORDER BY p.name"""


class Lag(NamedTuple):
    """A live projection's distance from the head of the ledger.

    `seconds` is the age of the oldest event that it has not taken in, by the database's clock; 0 where there
    is none. `state` is ``running`` or ``stopped``; then `error_position` says at which event.
    """

    name: str
    position: int
    positions: int
    state: str
    error_position: int | None
    seconds: float


def query(schema: str) -> sql.Composed:
    """Return the statement whose rows are `Lag`s."""
    return sql.SQL(_QUERY).format(schema=sql.Identifier(schema), read=sql.Identifier(read_schema(schema)))

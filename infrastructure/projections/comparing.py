"""Whether a rebuilt projection is what the live one is: slice by slice along the key, in one snapshot.

The database hashes the rows of both tables in the order of the key; only where the hashes of a slice differ
are rows looked at. What is written meanwhile is not seen.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

import psycopg
from psycopg import sql

from infrastructure.projections import tables
from infrastructure.projections.kinds import Key, Projection, Table
from infrastructure.projections.sink import Difference, Stale

SLICE_ROWS: Final = 10_000

_POSITIONS: Final = """SELECT count(DISTINCT position), count(*) FROM {}.projections
    WHERE name = %s AND build IN (%s, %s)"""
_DIGEST: Final = """SELECT md5(string_agg(md5(t::text), '' ORDER BY {key}))
    FROM (SELECT * FROM {table} WHERE {range}) AS t"""
_DIFFERENCE: Final = """SELECT {key} FROM (SELECT * FROM {live} WHERE {range}) AS a
    FULL JOIN (SELECT * FROM {rebuilt} WHERE {range}) AS b USING ({key})
    WHERE a::text IS DISTINCT FROM b::text ORDER BY {key} LIMIT 1"""


def compare(
    connection: psycopg.Connection, schema: str, projection: Projection, live: int, rebuilt: int
) -> Generator[Difference | None, None, None]:
    """Yield None after each slice without a difference; then one difference, if there is one.

    The connection is in autocommit mode. Raises Stale where the builds do not stand at one position.
    """
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    connection.execute("SELECT set_config('idle_in_transaction_session_timeout', '0', true)")
    query = sql.SQL(_POSITIONS).format(sql.Identifier(tables.read_schema(schema)))
    if connection.execute(query, [projection.name, live, rebuilt]).fetchone() != (1, 2):
        raise Stale(f"the builds {live} and {rebuilt} of {projection.name} are not at one position")
    for table in projection.tables:
        pair = [tables.physical(schema, table.name, build) for build in (live, rebuilt)]
        for found in _compare_table(connection, table, pair):
            yield found
            if found is not None:
                return
    connection.execute("COMMIT")


def _compare_table(
    connection: psycopg.Connection, table: Table, pair: list[sql.Identifier]
) -> Generator[Difference | None, None, None]:
    types = {column.name: column.type for column in table.columns}
    key = sql.SQL(", ").join(map(sql.Identifier, table.key))
    place = sql.SQL(", ").join(sql.SQL(f"%s::{types[name]}") for name in table.key)
    row_after = sql.SQL("({}) > ({})").format(key, place)
    row_until = sql.SQL("({}) <= ({})").format(key, place)
    last: Key | None = None
    while True:
        lower = sql.SQL("true") if last is None else row_after
        bound = sql.SQL("SELECT {} FROM {} WHERE {} ORDER BY {} OFFSET %s LIMIT 1").format(
            key, pair[1], lower, key
        )
        upper = connection.execute(bound, [*(last or ()), SLICE_ROWS - 1]).fetchone()
        condition = sql.SQL("{} AND {}").format(lower, sql.SQL("true") if upper is None else row_until)
        limits: list[Any] = [*(last or ()), *(upper or ())]
        digests = [
            connection.execute(
                sql.SQL(_DIGEST).format(key=key, table=name, range=condition), limits
            ).fetchone()
            for name in pair
        ]
        if digests[0] != digests[1]:
            query = sql.SQL(_DIFFERENCE).format(key=key, live=pair[0], rebuilt=pair[1], range=condition)
            row = connection.execute(query, [*limits, *limits]).fetchone()
            yield Difference(table.name, ", ".join(map(str, row or ("?",))))
            return
        yield None
        if upper is None:
            return
        last = upper

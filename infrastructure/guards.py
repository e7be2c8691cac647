"""Whether a database guards what it must: what refuses changes, who may do what, where events go.

`infrastructure.bootstrap.check` asks this before every start; nothing here changes anything.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import psycopg
from psycopg import sql

_TABLES: Final = ("commands", "transfers", "rulesets")
_KINDS: Final = ("never_change", "rows_never_change")
_ON_THE_PARENT: Final = "events_never_change"

# Types 27 and 58: before UPDATE and DELETE for each row; before these and TRUNCATE for each statement.
_TRIGGERS: Final = r"""SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE relnamespace = to_regnamespace(%s) AND tgenabled = 'A'
        AND tgname IN (relname || '_never_change', relname || '_rows_never_change')
        AND tgfoid = to_regprocedure(%s) AND tgqual IS NULL AND tgattr = ''::int2vector
        AND tgtype = CASE WHEN tgname LIKE '%%\_rows\_never\_change' THEN 27 ELSE 58 END"""
_RIGHTS: Final = """SELECT current_user, bool_or(rolsuper
        OR pg_has_role(relowner, 'MEMBER')
        OR has_table_privilege(pg_class.oid, 'UPDATE, DELETE, TRUNCATE')
        OR has_any_column_privilege(pg_class.oid, 'UPDATE'))
    FROM pg_class, pg_roles
    WHERE relnamespace = to_regnamespace(%s) AND relname = ANY (%s) AND relkind IN ('r', 'p')
        AND rolname = current_user"""
_PARTITIONS: Final = "SELECT * FROM {schema}.partitions()"
_ARCHIVED: Final = """SELECT partition FROM {schema}.horizon
    WHERE to_regclass(format('%%I.%%I', %s::text, partition)) IS NOT NULL"""
_HEAD_AND_HORIZON: Final = """SELECT position, (SELECT coalesce(max(last_position), 0) FROM {schema}.horizon)
    FROM {schema}.head"""
_WITHOUT_LAST_GUARD: Final = """SELECT relname FROM pg_class
    WHERE relnamespace = to_regnamespace(%s) AND relname = ANY (%s) AND NOT EXISTS (
        SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisunique AND indisvalid AND indpred IS NULL
            AND (SELECT array_agg(attname::text ORDER BY ordinality)
                FROM unnest(indkey) WITH ORDINALITY AS key (attnum, ordinality)
                JOIN pg_attribute ON attrelid = indrelid AND pg_attribute.attnum = key.attnum)
                = ARRAY['stream', 'version'])
    ORDER BY relname"""


class NotReadyError(RuntimeError):
    """The database cannot be used as a ledger: one line that says what is wrong and what to do."""


class UnguardedError(NotReadyError):
    """What refuses to change recorded events is missing or weakened."""


def require(connection: psycopg.Connection, schema: str) -> None:
    """Raise NotReadyError unless recorded events are guarded, and the next ones have a place.

    Raises psycopg.Error.
    """
    partitions = _rows(connection, schema, _PARTITIONS)
    archived = _rows(connection, schema, _ARCHIVED, schema)
    names = [row[0] for row in (*archived, *partitions)]
    _require_refusing_triggers(connection, schema, names)
    _require_last_guard(connection, schema, names)
    _require_few_rights(connection, schema, names)
    _require_places(connection, schema, partitions)


def _require_refusing_triggers(connection: psycopg.Connection, schema: str, partitions: list[str]) -> None:
    rows = connection.execute(_TRIGGERS, [schema, f"{schema}.refuse_change()"]).fetchall()
    expected = {f"{table}_{kind}" for table in (*_TABLES, *partitions) for kind in _KINDS} | {_ON_THE_PARENT}
    if missing := sorted(expected - {name for (name,) in rows}):
        raise UnguardedError(f"trigger {missing[0]} is missing or weakened: recorded events could be changed")


def _require_last_guard(connection: psycopg.Connection, schema: str, partitions: list[str]) -> None:
    for (name,) in connection.execute(_WITHOUT_LAST_GUARD, [schema, partitions]).fetchall():
        raise UnguardedError(f"{name} lacks its unique index: a version of a stream could be written twice")


def _require_few_rights(connection: psycopg.Connection, schema: str, partitions: list[str]) -> None:
    (row,) = connection.execute(_RIGHTS + " GROUP BY 1", [schema, ["events", *partitions]]).fetchall()
    user, too_many = row
    if too_many:
        raise NotReadyError(f"the login {user} could change recorded events: connect as {schema}_app")


def _require_places(connection: psycopg.Connection, schema: str, partitions: list[tuple[Any, ...]]) -> None:
    """The partitions follow one another from the horizon on, and the next event falls into one of them."""
    head, horizon = _rows(connection, schema, _HEAD_AND_HORIZON)[0]
    if not partitions or partitions[0][1] != horizon + 1:
        raise NotReadyError(f"the events from position {horizon + 1} on are in no table: put them back")
    for (_, _, end), (name, first, _) in pairwise(partitions):
        if first != end:
            raise NotReadyError(f"the events from position {end} to {first - 1} have no table before {name}")
    if partitions[-1][2] <= head + 1:
        raise NotReadyError("there is no partition for the next event: run serve --init-db")


def _rows(connection: psycopg.Connection, schema: str, query: str, *parameters: str) -> list[tuple[Any, ...]]:
    text = sql.SQL(query).format(schema=sql.Identifier(schema))
    return connection.execute(text, parameters or None).fetchall()

"""The partitions of the events: made ahead, taken out of the ledger when they are old, and put back.

A detached partition stays a table of the schema, with its guards, in nobody's way: it can be dumped, moved
to a cheaper disk, dropped, and restored. `horizon` tells which they are. Only whole partitions from the first
on are detached, so that what is left is a ledger that begins later and has no gap.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson
import psycopg
from psycopg import sql

LOCK_MS_MAX: Final = 5_000
"""How long a detachment waits for those who read, while everybody else waits for it."""

_MAKE: Final = "SELECT {schema}.make_partitions()"
_LIST: Final = """
    SELECT name, first_position, next_position - 1, 'attached',
        pg_total_relation_size(format('%%I.%%I', %s::text, name))
    FROM {schema}.partitions()
    UNION ALL
    SELECT partition, first_position, last_position,
        CASE WHEN there IS NULL THEN 'elsewhere' ELSE 'detached' END,
        coalesce(pg_total_relation_size(there), 0)
    FROM {schema}.horizon, to_regclass(format('%%I.%%I', %s::text, partition)) AS there
    ORDER BY 2"""
_OPEN_BEFORE: Final = """
    SELECT round_id FROM {schema}.open_rounds
    JOIN {schema}.events ON stream = 'round-' || round_id AND version = 1
    WHERE events.position < %s ORDER BY events.position LIMIT 1"""
_BEHIND: Final = "SELECT name, position FROM {read}.projections WHERE position < %s ORDER BY position LIMIT 1"
_ENDS: Final = """
    SELECT data FROM {schema}.{partition} WHERE position IN (%s, %s) ORDER BY position"""


class PartitionsError(RuntimeError):
    """Partitions cannot be detached or attached: one line that says why. Nothing was changed."""


class Partition(NamedTuple):
    """One range of positions. `state`: attached, detached (here, but not in the ledger) or elsewhere."""

    name: str
    first_position: int
    last_position: int
    state: str
    bytes: int


def make_ahead(connection: psycopg.Connection, schema: str) -> int:
    """See to it that two partitions are ready beyond the one that is written; return how many were made.

    The application's login may do this. Raises psycopg.Error.
    """
    ((made,),) = _ask(connection, schema, _MAKE)
    return int(made)


def listing(connection: psycopg.Connection, schema: str) -> list[Partition]:
    """Return all partitions there are or were, in the order of their positions. Raises psycopg.Error."""
    return [Partition(*row) for row in _ask(connection, schema, _LIST, schema, schema)]


def detach_before(connection: psycopg.Connection, schema: str, position: int) -> list[Partition]:
    """Take out of the ledger the partitions that lie wholly before a position; return them.

    The connection is an administrator's. Raises PartitionsError where that cannot be; psycopg.Error.
    """
    with connection.transaction():
        old = [part for part in listing(connection, schema) if part.state == "attached"]
        old = [part for part in old if part.last_position < position]
        if not old:
            raise PartitionsError(f"no partition lies wholly before position {position}: see --list")
        _require_done(connection, schema, old[-1].last_position)
        _act_as_owner(connection, schema)
        for part in old:
            _detach(connection, schema, part)
    return old


def attach(connection: psycopg.Connection, schema: str) -> list[Partition]:
    """Put back every detached partition that is here, from the newest on; return them.

    The connection is an administrator's. Raises PartitionsError where there is nothing to put back;
    psycopg.Error.
    """
    attached = []
    with connection.transaction():
        _act_as_owner(connection, schema)
        gone = [part for part in listing(connection, schema) if part.state != "attached"]
        for part in reversed(gone):
            if part.state == "elsewhere":
                break
            _attach(connection, schema, part)
            attached.append(part)
        if not attached:
            missing = f": restore table {gone[-1].name} first" if gone else ""
            raise PartitionsError(f"there is no detached partition to attach{missing}")
    return attached


def _require_done(connection: psycopg.Connection, schema: str, last_position: int) -> None:
    """Raise PartitionsError where something still needs the events up to a position."""
    ((head,),) = _ask(connection, schema, "SELECT position FROM {schema}.head")
    if last_position >= head:
        raise PartitionsError(f"the ledger has only come to position {head}: what is written stays")
    for (round_id,) in _ask(connection, schema, _OPEN_BEFORE, last_position + 1):
        raise PartitionsError(f"round {round_id} began there and is still open")
    # A projection that is behind may yet come to the end of a round that began there.
    there = connection.execute("SELECT to_regclass(%s)", [f"{_read_schema(schema)}.projections"]).fetchone()
    if there != (None,):
        for name, position in _ask(connection, schema, _BEHIND, head):
            raise PartitionsError(
                f"the projection {name} is at position {position} of {head}: wait until it has caught up"
            )


def _detach(connection: psycopg.Connection, schema: str, part: Partition) -> None:
    names = {"schema": sql.Identifier(schema), "partition": sql.Identifier(part.name)}
    ends = connection.execute(sql.SQL(_ENDS).format(**names), [part.first_position, part.last_position])
    (first,), (last,) = ends.fetchall()
    recorded_at = datetime.fromisoformat(orjson.loads(last)["recorded_at"])
    connection.execute(
        sql.SQL("ALTER TABLE {schema}.events DETACH PARTITION {schema}.{partition}").format(**names)
    )
    connection.execute(
        sql.SQL("GRANT SELECT ON {schema}.{partition} TO {auditor}").format(
            auditor=sql.Identifier(f"{schema}_auditor"), **names
        )
    )
    connection.execute(
        sql.SQL(
            "INSERT INTO {schema}.horizon"
            " (first_position, last_position, partition, recorded_at_us, first_event)"
            " VALUES (%s, %s, %s, %s, %s)"
        ).format(**names),
        [part.first_position, part.last_position, part.name, round(recorded_at.timestamp() * 1e6), first],
    )


def _attach(connection: psycopg.Connection, schema: str, part: Partition) -> None:
    names = {"schema": sql.Identifier(schema), "partition": sql.Identifier(part.name)}
    ((count,),) = _ask(connection, schema, f"SELECT count(*) FROM {{schema}}.{part.name}")  # noqa: S608
    if count != part.last_position - part.first_position + 1:
        raise PartitionsError(f"table {part.name} has {count} events and not those that were detached")
    bounds = sql.SQL("FOR VALUES FROM ({}) TO ({})").format(part.first_position, part.last_position + 1)
    connection.execute(
        sql.SQL("ALTER TABLE {schema}.events ATTACH PARTITION {schema}.{partition} ").format(**names) + bounds
    )
    connection.execute(
        sql.SQL("REVOKE SELECT ON {schema}.{partition} FROM {auditor}").format(
            auditor=sql.Identifier(f"{schema}_auditor"), **names
        )
    )
    connection.execute(
        sql.SQL("DELETE FROM {schema}.horizon WHERE partition = %s").format(**names), [part.name]
    )


def _act_as_owner(connection: psycopg.Connection, schema: str) -> None:
    """Be the ledger's owner to the end of the transaction, and wait for nobody long."""
    connection.execute("SELECT set_config('lock_timeout', %s, true)", [str(LOCK_MS_MAX)])
    connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(f"{schema}_owner")))


def _read_schema(schema: str) -> str:
    return f"{schema}_read"


def _ask(connection: psycopg.Connection, schema: str, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
    text = sql.SQL(query).format(schema=sql.Identifier(schema), read=sql.Identifier(_read_schema(schema)))
    return connection.execute(text, parameters or None).fetchall()

"""The read side's SQL schema: which tables and views a projection has, how they are made and how they go.

Readers use one view for each table; behind it is the table of the live build, `{table}__{build}`. All of it
belongs to the application's role and can be derived again: the ledger itself is in another schema, where that
role makes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import psycopg
from psycopg import sql

from infrastructure.projections.kinds import COLUMN_TYPES, Column, Projection, Table
from infrastructure.projections.sink import REQUESTED, RUNNING

if TYPE_CHECKING:
    from collections.abc import Sequence

SWITCH_LOCK_MS_MAX: Final = 500
"""How long a change of the views waits for those who are reading, while others wait behind it."""

_NAME: Final = re.compile(r"[a-z][a-z_]{0,29}")
_TABLE_NAME: Final = re.compile(r"[a-z][a-z_]{0,39}")
_NUMERIC: Final = re.compile(r"numeric\([0-9]{1,3},0\)")
_LOCK: Final = 0x5374_7564_5265_6164  # "StudRead"

OTHER_TABLES: Final = ("projections", "alarms", "audit_runs")
"""Those of the read side that are no projection's."""

_REGISTRY: Final = """
CREATE TABLE IF NOT EXISTS {schema}.projections (
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    build integer NOT NULL,
    live boolean NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    state text COLLATE "C" NOT NULL,
    error text,
    error_position bigint,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    tables text[] NOT NULL,
    PRIMARY KEY (name, build)
) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
CREATE UNIQUE INDEX IF NOT EXISTS projections_one_live ON {schema}.projections (name) WHERE live;
CREATE UNIQUE INDEX IF NOT EXISTS projections_one_beside ON {schema}.projections (name)
    WHERE NOT live AND state <> 'dropped';
CREATE TABLE IF NOT EXISTS {schema}.alarms (
    name text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL,
    detail text NOT NULL,
    since_us bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS {schema}.audit_runs (
    run_id text COLLATE "C" PRIMARY KEY,
    attempts integer NOT NULL DEFAULT 1,
    done bigint NOT NULL DEFAULT 0,
    whole bigint NOT NULL DEFAULT 0,
    report bytea
);
GRANT SELECT ON {schema}.projections, {schema}.alarms, {schema}.audit_runs TO {auditor}
"""
_LIVE: Final = "SELECT name, version FROM {}.projections WHERE live"
_STORAGE: Final = {
    "insert": "autovacuum_vacuum_insert_scale_factor = 0.05",
    "add": "fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05",
    "replace": "fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05",
}


def read_schema(schema: str) -> str:
    """Return the name of the SQL schema of a ledger's read side."""
    return f"{schema}_read"


def check(projections: Iterable[Projection]) -> None:
    """Raise ValueError where a projection's definition cannot be kept as tables."""
    seen: set[str] = set()
    for projection in projections:
        names = [projection.name, *(table.name for table in projection.tables)]
        if not _NAME.fullmatch(projection.name):
            raise ValueError(f"not a projection's name: {projection.name}")
        for table in projection.tables:
            if table.name in seen or table.name in OTHER_TABLES:
                raise ValueError(f"two tables have the name {table.name}")
            seen.add(table.name)
            _check_table(table)
        if not names[1:]:
            raise ValueError(f"{projection.name} has no table")


def ensure(
    connection: psycopg.Connection, schema: str, projections: Sequence[Callable[[], Projection]]
) -> None:
    """Make what is missing of the registry, the tables and the views; harmless where nothing is.

    A projection that is new is live at once and begins at position 0. One whose version is another than that
    of its live tables is rebuilt beside them. Acts as the role the connection has. Raises psycopg.Error.
    """
    names = _names(schema)
    wanted = [make() for make in projections]
    check(wanted)
    with connection.transaction():
        # Two processes that start at once take turns: what is missing is made once.
        connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_LOCK >> 32, schema])
        (made,) = connection.execute(
            "SELECT bool_and(to_regclass(name) IS NOT NULL) FROM unnest(%s::text[]) AS wanted (name)",
            [[f"{read_schema(schema)}.{table}" for table in OTHER_TABLES]],
        ).fetchone() or (False,)
        if not made:
            connection.execute(sql.SQL(_REGISTRY).format(**names))
        live: dict[str, int] = dict(connection.execute(sql.SQL(_LIVE).format(names["schema"])).fetchall())
        for projection in wanted:
            if projection.name not in live:
                register(connection, schema, projection, 1, live=True)
                make_tables(connection, schema, projection.tables, 1)
                make_views(connection, schema, projection.tables, 1, ())
            elif live[projection.name] != projection.version:
                request(connection, schema, projection)


def register(
    connection: psycopg.Connection, schema: str, projection: Projection, build: int, *, live: bool
) -> None:
    """Note a build that begins at position 0."""
    connection.execute(
        sql.SQL(
            "INSERT INTO {schema}.projections (name, version, build, live, state, tables)"
            " VALUES (%s, %s, %s, %s, %s, %s)"
        ).format(**_names(schema)),
        [
            projection.name,
            projection.version,
            build,
            live,
            RUNNING if live else REQUESTED,
            [table.name for table in projection.tables],
        ],
    )


def request(connection: psycopg.Connection, schema: str, projection: Projection) -> bool:
    """Ask for a rebuild, in the open transaction; return False where one is under way, or nothing is live.

    One that has failed, or was begun by a software of another version, makes room.
    """
    names = _names(schema)
    known = connection.execute(
        sql.SQL(
            "SELECT build, version, state, live FROM {schema}.projections WHERE name = %s FOR UPDATE"
        ).format(**names),
        [projection.name],
    ).fetchall()
    if not known:
        return False
    for build, version, state, is_live in known:
        if is_live or state == "dropped":
            continue
        if state != "stopped" and version == projection.version:
            return False
        connection.execute(
            sql.SQL(
                "UPDATE {schema}.projections SET state = 'dropped' WHERE name = %s AND build = %s"
            ).format(**names),
            [projection.name, build],
        )
    register(connection, schema, projection, 1 + max(row[0] for row in known), live=False)
    return True


def make_tables(connection: psycopg.Connection, schema: str, tables: Iterable[Table], build: int) -> None:
    """Make the empty tables of a build, in the open transaction."""
    for table in tables:
        columns = [
            sql.SQL("{} {}{}").format(
                sql.Identifier(column.name),
                sql.SQL('text COLLATE "C"') if column.type == "text" else sql.SQL(column.type),
                sql.SQL(" NOT NULL" if column.name in table.key or table.mode == "add" else ""),
            )
            for column in table.columns
        ]
        name = physical(schema, table.name, build)
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(name))
        connection.execute(
            sql.SQL("CREATE TABLE {} ({}, PRIMARY KEY ({})) WITH ({})").format(
                name, sql.SQL(", ").join(columns), _list(table.key), sql.SQL(_STORAGE[table.mode])
            )
        )
        for index in table.indexes:
            connection.execute(sql.SQL("CREATE INDEX ON {} ({})").format(name, _list(index)))


def make_views(
    connection: psycopg.Connection, schema: str, tables: Iterable[Table], build: int, gone: Iterable[str]
) -> None:
    """Let the views show a build, in the open transaction; those of the tables that are `gone` go.

    A view whose columns changed is made anew: the others are replaced, so that nobody sees none.
    """
    names = _names(schema)
    for name in gone:
        connection.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(_qualified(schema, name)))
    for table in tables:
        view = _qualified(schema, table.name)
        select = sql.SQL("VIEW {} AS SELECT {} FROM {}").format(
            view, _list(column.name for column in table.columns), physical(schema, table.name, build)
        )
        if _columns(connection, schema, table.name) in ([], list(table.columns)):
            connection.execute(sql.SQL("CREATE OR REPLACE {}").format(select))
        else:
            connection.execute(sql.SQL("DROP VIEW {}").format(view))
            connection.execute(sql.SQL("CREATE {}").format(select))
        connection.execute(sql.SQL("GRANT SELECT ON {} TO {auditor}").format(view, **names))


def drop_tables(connection: psycopg.Connection, schema: str, tables: Iterable[str], build: int) -> None:
    """Remove the tables of a build, in the open transaction."""
    for table in tables:
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(physical(schema, table, build)))


def physical(schema: str, table: str, build: int) -> sql.Identifier:
    """Return the name of a build's table."""
    return _qualified(schema, f"{table}__{build}")


def _columns(connection: psycopg.Connection, schema: str, view: str) -> list[Column]:
    """The columns of a view as it is; none where there is no view."""
    rows = connection.execute(
        """SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
        WHERE attrelid = to_regclass(%s) AND attnum > 0 ORDER BY attnum""",
        [f"{read_schema(schema)}.{view}"],
    ).fetchall()
    return [Column(*row) for row in rows]


def _check_table(table: Table) -> None:
    names = [column.name for column in table.columns]
    if not _TABLE_NAME.fullmatch(table.name):
        raise ValueError(f"not a table's name: {table.name}")
    if len(set(names)) != len(names) or not table.key or not set(table.key) <= set(names):
        raise ValueError(f"{table.name}: the key is not some of its columns")
    for column in table.columns:
        if column.type not in COLUMN_TYPES and not _NUMERIC.fullmatch(column.type):
            raise ValueError(f"{table.name}.{column.name}: no column can have the type {column.type}")
        if (
            table.mode == "add"
            and column.name not in table.key
            and column.type in ("text", "jsonb", "boolean")
        ):
            raise ValueError(f"{table.name}.{column.name}: only numbers can be added to")
    if not {column for index in table.indexes for column in index} <= set(names):
        raise ValueError(f"{table.name}: an index is not of its columns")


def _names(schema: str) -> dict[str, sql.Identifier]:
    return {"schema": sql.Identifier(read_schema(schema)), "auditor": sql.Identifier(f"{schema}_auditor")}


def _qualified(schema: str, name: str) -> sql.Identifier:
    return sql.Identifier(read_schema(schema), name)


def _list(names: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))

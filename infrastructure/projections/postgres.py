"""Projections in PostgreSQL: rows and checkpoints in one transaction, on one connection.

Commits are not waited for on disk: what a crash takes are the last rows and their checkpoint together, and
they are derived again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Final

import psycopg
from psycopg import errors, sql

from infrastructure.projections import comparing, tables
from infrastructure.projections.kinds import Projection, Shelf
from infrastructure.projections.shelf import PostgresShelf
from infrastructure.projections.sink import (
    DROPPED,
    RUNNING,
    STOPPED,
    Checkpoint,
    Difference,
    Move,
    Refused,
    Stale,
)
from infrastructure.projections.writing import TableWriter, adapt

REFUSALS: Final = (
    psycopg.DataError,
    psycopg.IntegrityError,
    psycopg.ProgrammingError,
    psycopg.InternalError,
    psycopg.NotSupportedError,
    OverflowError,
    TypeError,
    ValueError,
    AttributeError,
)
"""What says something about the rows; every other error is about the server or the way to it."""

_SETTINGS: Final = """SELECT set_config('synchronous_commit', 'off', false),
    set_config('statement_timeout', '60000', false), set_config('lock_timeout', '10000', false),
    set_config('idle_in_transaction_session_timeout', '60000', false),
    set_config('plan_cache_mode', 'force_generic_plan', false), set_config('jit', 'off', false),
    set_config('enable_seqscan', 'off', false), set_config('enable_hashjoin', 'off', false),
    set_config('enable_mergejoin', 'off', false)"""

_QUERIES: Final = {
    "all": """SELECT name, build, version, live, position, state, error, error_position
        FROM {schema}.projections ORDER BY name, live DESC, build""",
    "advance": """UPDATE {schema}.projections AS p SET position = m.after, updated_at = clock_timestamp()
        FROM unnest(%s::text[], %s::integer[], %s::bigint[], %s::bigint[]) AS m (name, build, before, after)
        WHERE p.name = m.name AND p.build = m.build AND p.position = m.before
            AND p.state IN ('running', 'stopped')""",
    "state": """UPDATE {schema}.projections
        SET state = %(state)s, error = %(why)s, error_position = %(at)s, updated_at = clock_timestamp()
        WHERE name = %(name)s AND build = %(build)s AND state <> 'dropped' RETURNING live""",
    "row": "SELECT state, tables FROM {schema}.projections WHERE name = %s AND build = %s FOR UPDATE",
    "cancel": """UPDATE {schema}.projections SET state = 'dropped'
        WHERE name = %s AND NOT live AND state <> 'dropped'""",
    "delete": "DELETE FROM {schema}.projections WHERE name = %s AND build = %s",
    "demote": """UPDATE {schema}.projections SET live = false, state = 'dropped'
        WHERE name = %s AND build = %s AND live RETURNING tables""",
    "promote": """UPDATE {schema}.projections
        SET live = true, state = 'running', error = NULL, error_position = NULL
        WHERE name = %s AND build = %s AND state = 'running' AND NOT live RETURNING position""",
    "alarm": """INSERT INTO {schema}.alarms AS a (name, position, detail, since_us) VALUES (%s, %s, %s, %s)
        ON CONFLICT (name) DO UPDATE SET position = excluded.position, detail = excluded.detail""",
    "quiet": "DELETE FROM {schema}.alarms WHERE name = ANY(%s)",
}


def prepare(connection: psycopg.Connection) -> psycopg.Connection:
    """Set up a connection in autocommit mode for projecting; return it."""
    connection.execute(_SETTINGS)
    adapt(connection)
    return connection


class PostgresSink:
    """A `Sink`. `connect` makes a connection in autocommit mode, for a comparison's own snapshot.

    `looking` is a connection on which rows are looked up while others are written; without one, the same.
    """

    def __init__(
        self,
        connection: psycopg.Connection,
        schema: str,
        projections: Iterable[Projection],
        connect: Callable[[], psycopg.Connection],
        looking: psycopg.Connection | None = None,
    ) -> None:
        self._connection = prepare(connection)
        self._looking = connection if looking is None else prepare(looking)
        self._schema = schema
        self._defined = {each.name: each for each in projections}
        self._connect = connect
        name = sql.Identifier(tables.read_schema(schema))
        self._queries = {key: sql.SQL(text).format(schema=name) for key, text in _QUERIES.items()}
        self._writers: dict[tuple[str, int], TableWriter] = {}
        self._analysed: tuple[str, int] | None = None

    # ── The engine's ────────────────────────────────────────────────────────────────────────────────────────
    def checkpoints(self) -> list[Checkpoint]:
        """All builds, by name, the live one of each first."""
        return [Checkpoint(*row) for row in self._rows("all")]

    def shelf(self, name: str, build: int) -> Shelf:
        """The rows of a build."""
        return PostgresShelf(self._looking, self._schema, self._defined[name].tables, build)

    def apply(self, moves: Sequence[Move]) -> None:
        """Write all the rows and move all the checkpoints, or nothing. Raises Stale, Refused."""
        with self._connection.transaction(), self._connection.cursor() as cursor:
            steps = [(move.name, move.build, move.before, move.after) for move in moves]
            names, builds, befores, afters = (list(part) for part in zip(*steps, strict=True))
            # First, so that whoever else projects waits here instead of finding our rows in its way.
            cursor.execute(self._queries["advance"], [names, builds, befores, afters])
            if cursor.rowcount != len(moves):
                raise Stale(f"not all of {', '.join(map(str, names))} are where they were left")
            table = ""
            try:
                for move in moves:
                    for table, rows in move.rows.items():
                        if rows:
                            self._writer(move.name, move.build, table).write(cursor, rows)
            except REFUSALS as error:
                # Not the error's text: it quotes values.
                constraint = isinstance(error, psycopg.Error) and error.diag.constraint_name
                what = f"{type(error).__name__}{f' ({constraint})' if constraint else ''}"
                raise Refused(f"{table} cannot keep what was put: {what}") from error

    def stop(self, name: str, build: int, why: str, position: int) -> None:
        """Note that a build cannot go on, and raise the alarm."""
        with self._connection.transaction():
            live = self._state(name, build, STOPPED, why, position)
            if live is not None:
                alarm = f"projection_{name}" if live else f"rebuild_{name}"
                self._run("alarm", alarm, position, why, time.time_ns() // 1_000)

    def resume(self, name: str, build: int) -> None:
        """Note that a build goes on; its alarm goes away. Harmless where it was not stopped."""
        with self._connection.transaction():
            live = self._state(name, build, RUNNING, None, None)
            if live is not None:
                self._run("quiet", [f"projection_{name}" if live else f"rebuild_{name}"])

    # ── Rebuilding ──────────────────────────────────────────────────────────────────────────────────────────
    def request(self, name: str) -> bool:
        """Ask for a rebuild; return False where one is under way. One that has failed makes room."""
        with self._connection.transaction():
            return tables.request(self._connection, self._schema, self._defined[name])

    def cancel(self, name: str) -> bool:
        """Have a rebuild dropped; return False where there is none."""
        with self._connection.transaction():
            self._run("quiet", [f"rebuild_{name}"])
            return self._run("cancel", name) > 0

    def begin(self, name: str, build: int) -> None:
        """Make the empty tables of a build that was requested."""
        with self._connection.transaction():
            if self._rows("row", name, build)[0][0] == "requested":
                tables.make_tables(self._connection, self._schema, self._defined[name].tables, build)
                self._state(name, build, RUNNING, None, None)

    def compare(self, name: str, live: int, rebuilt: int) -> Generator[Difference | None, None, None]:
        """Compare two builds that stand at one position; None now and then on the way. Raises Stale."""
        with self._connect() as connection:
            yield from comparing.compare(
                prepare(connection), self._schema, self._defined[name], live, rebuilt
            )

    def switch(self, name: str, live: int, rebuilt: int, difference: Difference | None) -> bool:
        """Make the rebuilt tables the live ones, in one transaction; a difference raises an alarm."""
        wanted = self._defined[name].tables
        if self._analysed != (name, rebuilt):
            # Readers' queries are planned by these figures from the switch on.
            for table in wanted:
                self._connection.execute(
                    sql.SQL("ANALYZE {}").format(tables.physical(self._schema, table.name, rebuilt))
                )
            self._analysed = name, rebuilt
        try:
            with self._connection.transaction():
                self._impatient()
                before = self._rows("demote", name, live)
                after = self._rows("promote", name, rebuilt)
                if not before or not after:
                    raise Stale(f"the builds {live} and {rebuilt} of {name} are not what they were")
                gone = set(before[0][0]) - {table.name for table in wanted}
                tables.make_views(self._connection, self._schema, wanted, rebuilt, gone)
                self._run("quiet", [f"projection_{name}", f"rebuild_{name}"])
                if difference is not None:
                    why = f"{difference.table}: the row {difference.key} was not what the events say"
                    self._run("alarm", f"rebuild_{name}", after[0][0], why, time.time_ns() // 1_000)
        except errors.LockNotAvailable:
            return False
        return True

    def drop(self, name: str, build: int) -> bool:
        """Remove the tables of a dropped build, then its row. Returns False as `switch` does."""
        try:
            with self._connection.transaction():
                self._impatient()
                for state, names in self._rows("row", name, build):
                    if state == DROPPED:
                        tables.drop_tables(self._connection, self._schema, names, build)
                        self._run("delete", name, build)
        except errors.LockNotAvailable:
            return False
        for table in self._defined[name].tables if name in self._defined else ():
            self._writers.pop((table.name, build), None)
        return True

    def _impatient(self) -> None:
        self._connection.execute(
            "SELECT set_config('lock_timeout', %s, true)", [str(tables.SWITCH_LOCK_MS_MAX)]
        )

    def _state(self, name: str, build: int, state: str, why: str | None, at: int | None) -> bool | None:
        parameters = {"name": name, "build": build, "state": state, "why": why, "at": at}
        row = self._connection.execute(self._queries["state"], parameters).fetchone()
        return None if row is None else bool(row[0])

    def _writer(self, name: str, build: int, table: str) -> TableWriter:
        found = self._writers.get((table, build))
        if found is None:
            definition = next(each for each in self._defined[name].tables if each.name == table)
            found = TableWriter(definition, tables.physical(self._schema, table, build))
            self._writers[table, build] = found
        return found

    def _rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(self._queries[query], parameters).fetchall()

    def _run(self, query: str, *parameters: Any) -> int:
        return self._connection.execute(self._queries[query], parameters).rowcount

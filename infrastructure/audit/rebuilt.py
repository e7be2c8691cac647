"""The projections built anew from the first event, beside an audit, and compared with the live ones.

Nothing is written to the database: what a projection has to find again of its own rows, and the rows that
still change, are kept here, beyond a bound in temporary files. Rows that never change are looked up in the
live tables as they come up; the others are compared at the end, at one position of both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any, Final, NamedTuple

import psycopg
from psycopg import sql

from infrastructure.audit.database import connect
from infrastructure.audit.rebuilt_rows import RebuiltShelf, Rows
from infrastructure.audit.results import Finding
from infrastructure.projections import writing
from infrastructure.projections.catalogue import PROJECTIONS
from infrastructure.projections.engine import Engine
from infrastructure.projections.kinds import Row, Table
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.shelf import PostgresShelf
from infrastructure.projections.sink import RUNNING, STOPPED, Checkpoint, Move, Stale
from infrastructure.projections.source import PostgresSource
from infrastructure.projections.tables import read_schema

FINDINGS_MAX: Final = 100
NEAR: Final = 10_000
"""So far behind the live ones, the rest of the events is read in the snapshot."""
ASKED_MAX: Final = 2_000
PAGE: Final = 5_000
AGAIN: Final = 50
"""How often it is looked whether all live projections stand at one position."""
AGAIN_SECONDS: Final = 0.2
_LIVE: Final = "SELECT name, version, position, state, error, error_position FROM {}.projections WHERE live"


class Projected(NamedTuple):
    """A live projection."""

    version: int
    position: int
    state: str
    error: str | None
    error_position: int | None


def check_projections(task: tuple[str, str], tell: Callable[[int], None]) -> tuple[list[Finding], int]:
    """Build every projection anew and compare it. Returns what differs, and up to which position that was.

    `task` is how to log in and the schema. Raises psycopg.Error.
    """
    dsn, schema = task
    with ExitStack() as stack:
        looking, reading = (stack.enter_context(connect(dsn)) for _ in range(2))
        for connection in (looking, reading):
            connection.execute("SET statement_timeout = 0")
            writing.adapt(connection)
        return _Rebuild(looking, reading, schema, stack).run(tell)


class _Rebuild:
    """One connection reads live rows, in the end in one snapshot, the other one events."""

    def __init__(
        self, looking: psycopg.Connection, reading: psycopg.Connection, schema: str, stack: ExitStack
    ) -> None:
        self._looking = looking
        self._schema = schema
        self._source = _Bounded(reading, schema)
        live = self._live()
        self.findings: list[Finding] = [
            Finding(
                found.error_position or 1, f"projection.{name}", "the next event", found.error or "stopped"
            )
            for name, found in live.items()
            if found.state == STOPPED
        ]
        # What is stopped is told; what other software made is for a rebuild to replace.
        made = [
            make
            for make in PROJECTIONS
            if (found := live.get(make().name)) and found.state == RUNNING and found.version == make().version
        ]
        self._names = [make().name for make in made]
        self._sink = _Comparing(looking, schema, [make() for make in made], self.findings)
        stack.callback(self._sink.close)
        self._engine = Engine(self._source, self._sink, made, RoundFacts)

    def run(self, tell: Callable[[int], None]) -> tuple[list[Finding], int]:
        """Build and compare."""
        self._engine.load()
        while (up_to := self._reached()) - self._source.up_to > NEAR:
            self._forward(up_to, tell)
        position = self._snapshot()
        self._forward(position, tell)
        if self._sink.stopped:
            return self.findings, position
        self._sink.compare_whole(position)
        self._looking.execute("COMMIT")
        return self.findings, position

    def _forward(self, up_to: int, tell: Callable[[int], None]) -> None:
        self._source.up_to = up_to
        while self._engine.turn():
            tell(self._engine.front())

    def _snapshot(self) -> int:
        """Begin a snapshot in which all live projections stand at one position; return that."""
        for _ in range(AGAIN):
            self._looking.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            live = self._live()
            positions = {live[name].position for name in self._names}
            if len(positions) <= 1:
                return positions.pop() if positions else 0
            self._looking.execute("COMMIT")
            time.sleep(AGAIN_SECONDS)
        raise Stale("the projections do not come to one position: is one of them being rebuilt?")

    def _reached(self) -> int:
        live = self._live()
        return min((live[name].position for name in self._names), default=0)

    def _live(self) -> dict[str, Projected]:
        query = sql.SQL(_LIVE).format(sql.Identifier(read_schema(self._schema)))
        return {name: Projected(*rest) for name, *rest in self._looking.execute(query)}


class _Bounded:
    """The events up to a position that can be put forward."""

    def __init__(self, connection: psycopg.Connection, schema: str) -> None:
        self._source = PostgresSource(connection, schema)
        self.older = self._source.older
        self.up_to = 0

    def after(self, position: int, limit: int) -> tuple[Sequence[bytes], bool]:
        """The stored bytes of the events after a position, as a `Source` gives them."""
        left = self.up_to - position
        if left <= 0:
            return [], False
        found, cut = self._source.after(position, min(limit, left))
        return found, cut and len(found) < left


class _Live(PostgresShelf):
    """The live rows, through the views: an auditor may read those."""

    def __init__(self, connection: psycopg.Connection, schema: str, definitions: Sequence[Table]) -> None:
        super().__init__(connection, schema, definitions, 0)
        self._tables = {
            table.name: (table, sql.Identifier(read_schema(schema), table.name)) for table in definitions
        }


class _Comparing:
    """An `EngineSink` that compares what it is given with the live tables."""

    def __init__(
        self,
        connection: psycopg.Connection,
        schema: str,
        projections: Sequence[Any],
        findings: list[Finding],
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._findings = findings
        self._live = _Live(connection, schema, [table for each in projections for table in each.tables])
        self._positions = {each.name: (each.version, 0) for each in projections}
        self._rows = {each.name: {table.name: Rows(table) for table in each.tables} for each in projections}
        self.stopped: set[str] = set()

    def close(self) -> None:
        """Let go of the temporary files."""
        for tables in self._rows.values():
            for rows in tables.values():
                rows.close()

    # ── What the engine asks ────────────────────────────────────────────────────────────────────────────────
    def checkpoints(self) -> list[Checkpoint]:
        """All builds."""
        return [
            Checkpoint(name, 1, version, True, position, RUNNING, None, None)  # noqa: FBT003 - as in the registry
            for name, (version, position) in self._positions.items()
            if name not in self.stopped
        ]

    def shelf(self, name: str, build: int) -> RebuiltShelf:
        """The rows of a build."""
        del build
        return RebuiltShelf(self._rows[name])

    def apply(self, moves: Sequence[Move]) -> None:
        """Take the rows, and compare those that never change. Raises psycopg.Error."""
        for move in moves:
            for name, put in move.rows.items():
                rows = self._rows[move.name][name]
                for row in put:
                    rows.put(row)
                if rows.changing is None:
                    self._look_up(rows, put, move.after)
            version, _ = self._positions[move.name]
            self._positions[move.name] = version, move.after

    def stop(self, name: str, build: int, why: str, position: int) -> None:
        """Note an event that cannot be projected."""
        del build
        self.stopped.add(name)
        self._note(position, name, "an event that follows", why)

    def resume(self, name: str, build: int) -> None:
        """Nothing was ever stopped that goes on."""

    # ── Comparing ───────────────────────────────────────────────────────────────────────────────────────────
    def compare_whole(self, position: int) -> None:
        """Compare what still changes, and how many rows there are, in the snapshot at this position."""
        for tables in self._rows.values():
            for rows in tables.values():
                if rows.changing is not None:
                    items = rows.changing.values()
                    while page := list(islice(items, ASKED_MAX)):
                        self._look_up(rows, page, position)
                query = sql.SQL("SELECT count(*) FROM {}").format(
                    sql.Identifier(read_schema(self._schema), rows.table.name)
                )
                (count,) = self._connection.execute(query).fetchone() or (0,)
                if count != rows.count:
                    self._note(position, rows.table.name, f"{rows.count} rows", f"{count} rows")

    def _look_up(self, rows: Rows, built: Sequence[Row], position: int) -> None:
        for start in range(0, len(built), ASKED_MAX):
            page = {rows.key_of(row): row for row in built[start : start + ASKED_MAX]}
            found = self._live.rows(rows.table.name, list(page))
            if found == page:
                continue
            for key, row in page.items():
                if (there := found.get(key)) != row:
                    self._note(
                        _position_of(rows.table, row, position), rows.table.name, *_unlike(rows, row, there)
                    )

    def _note(self, position: int, name: str, expected: str, found: str) -> None:
        if len(self._findings) < FINDINGS_MAX:
            self._findings.append(Finding(position, f"projection.{name}", expected, found))


def _position_of(table: Table, row: Row, otherwise: int) -> int:
    """The position that a row says it is about."""
    for name in ("position", "ended_position", "began_position"):
        for column, value in zip(table.columns, row, strict=True):
            if column.name == name and isinstance(value, int):
                return value
    return otherwise


def _unlike(rows: Rows, row: Row, there: Row | None) -> tuple[str, str]:
    """What a row has to be and what it is: the columns that differ, behind the key."""
    key = ", ".join(map(str, rows.key_of(row)))
    if there is None:
        return f"a row {key}", "none"
    columns = [column.name for column in rows.table.columns]
    unlike = [each for each in zip(columns, row, there, strict=True) if each[1] != each[2]]
    expected, found = (", ".join(f"{each[0]} {each[place]}" for each in unlike) for place in (1, 2))
    return f"{key}: {expected}", found

"""Projections in memory: for tests they behave as in PostgreSQL, but for surviving a restart."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

from infrastructure.projections.kinds import Key, Projection, Row, Shelf, Table
from infrastructure.projections.merging import added, key_function
from infrastructure.projections.sink import (
    DROPPED,
    REQUESTED,
    RUNNING,
    STOPPED,
    Checkpoint,
    Difference,
    Move,
    Refused,
    Stale,
)

Rows = dict[Key, Row]


class MemorySink:
    """A `Sink`. `tables` and `alarms` can be read: the live rows by table, and name → (position, detail)."""

    def __init__(self, projections: Iterable[Projection]) -> None:
        self._defined = {each.name: each for each in projections}
        self._builds: dict[tuple[str, int], Checkpoint] = {}
        self._rows: dict[tuple[str, int], dict[str, Rows]] = {}
        self.alarms: dict[str, tuple[int, str]] = {}
        for name, projection in self._defined.items():
            self._builds[name, 1] = Checkpoint(name, 1, projection.version, True, 0, RUNNING, None, None)  # noqa: FBT003
            self._rows[name, 1] = {table.name: {} for table in projection.tables}

    @property
    def tables(self) -> dict[str, list[Row]]:
        """The rows of all live tables, in the order of their keys."""
        live = [self._rows[key] for key, checkpoint in self._builds.items() if checkpoint.live]
        return {table: [rows[key] for key in sorted(rows)] for build in live for table, rows in build.items()}

    def checkpoints(self) -> list[Checkpoint]:
        """All builds, by name, the live one of each first."""
        return sorted(self._builds.values(), key=lambda each: (each.name, not each.live, each.build))

    def shelf(self, name: str, build: int) -> Shelf:
        """The rows of a build."""
        return _MemoryShelf(self._tables(name), self._rows[name, build])

    def apply(self, moves: Sequence[Move]) -> None:
        """Write all the rows and move all the checkpoints, or nothing. Raises Stale, Refused."""
        for move in moves:
            checkpoint = self._builds.get((move.name, move.build))
            if (
                checkpoint is None
                or checkpoint.position != move.before
                or checkpoint.state not in (RUNNING, STOPPED)
            ):
                raise Stale(f"{move.name} is not at position {move.before}")
        written = [self._written(move) for move in moves]
        for move, tables in zip(moves, written, strict=True):
            kept = self._rows[move.name, move.build]
            for table, rows in tables.items():
                kept[table].update(rows)
            self._change(move.name, move.build, position=move.after)

    def stop(self, name: str, build: int, why: str, position: int) -> None:
        """Note that a build cannot go on, and raise the alarm."""
        self._change(name, build, state=STOPPED, error=why, error_position=position)
        what = "projection" if self._builds[name, build].live else "rebuild"
        self.alarms[f"{what}_{name}"] = position, why

    def resume(self, name: str, build: int) -> None:
        """Note that a build goes on; its alarm goes away. Harmless where it was not stopped."""
        if self._builds[name, build].state == STOPPED:
            self._change(name, build, state=RUNNING, error=None, error_position=None)
            what = "projection" if self._builds[name, build].live else "rebuild"
            self.alarms.pop(f"{what}_{name}", None)

    def request(self, name: str) -> bool:
        """Ask for a rebuild; return False where one is under way. One that has failed makes room."""
        for each in self._second(name):
            if each.state != STOPPED:
                return False
            self._change(name, each.build, state=DROPPED)
        build = 1 + max(build for each, build in self._builds if each == name)
        version = self._defined[name].version
        self._builds[name, build] = Checkpoint(name, build, version, False, 0, REQUESTED, None, None)  # noqa: FBT003
        return True

    def cancel(self, name: str) -> bool:
        """Have a rebuild dropped; return False where there is none."""
        found = self._second(name)
        for each in found:
            self._change(name, each.build, state=DROPPED)
        self.alarms.pop(f"rebuild_{name}", None)
        return bool(found)

    def begin(self, name: str, build: int) -> None:
        """Make the empty tables of a build that was requested."""
        if self._builds[name, build].state == REQUESTED:
            self._rows[name, build] = {table: {} for table in self._tables(name)}
            self._change(name, build, state=RUNNING)

    def compare(self, name: str, live: int, rebuilt: int) -> Generator[Difference | None, None, None]:
        """Compare two builds that stand at one position; at most one difference."""
        before, after = (
            {table: dict(rows) for table, rows in self._rows[name, build].items()}
            for build in (live, rebuilt)
        )
        for table in before:
            yield None
            left, right = before[table], after.get(table, {})
            for key in sorted(left.keys() | right.keys()):
                if left.get(key) != right.get(key):
                    yield Difference(table, str(key))
                    return

    def switch(self, name: str, live: int, rebuilt: int, difference: Difference | None) -> bool:
        """Make the rebuilt tables the live ones; a difference raises an alarm."""
        position = self._builds[name, rebuilt].position
        self._change(name, live, live=False, state=DROPPED)
        self._change(name, rebuilt, live=True, state=RUNNING, error=None, error_position=None)
        self.alarms.pop(f"projection_{name}", None)
        self.alarms.pop(f"rebuild_{name}", None)
        if difference is not None:
            self.alarms[f"rebuild_{name}"] = position, f"{difference.table}: {difference.key} differs"
        return True

    def drop(self, name: str, build: int) -> bool:
        """Remove a dropped build."""
        if self._builds[name, build].state == DROPPED:
            del self._builds[name, build]
            self._rows.pop((name, build), None)
        return True

    def _tables(self, name: str) -> dict[str, Table]:
        return {table.name: table for table in self._defined[name].tables}

    def _second(self, name: str) -> list[Checkpoint]:
        return [c for c in self._builds.values() if c.name == name and not c.live and c.state != DROPPED]

    def _change(self, name: str, build: int, **fields: Any) -> None:
        self._builds[name, build] = self._builds[name, build]._replace(**fields)

    def _written(self, move: Move) -> dict[str, Rows]:
        """What a move changes: the new rows by table. Raises Refused."""
        tables = self._tables(move.name)
        result = {}
        for name, rows in move.rows.items():
            table = tables[name]
            key_of = key_function(table)
            kept = self._rows[move.name, move.build][name]
            changed: Rows = {}
            for row in rows:
                key = key_of(row)
                if None in key or len(row) != len(table.columns):
                    raise Refused(f"{name}: a row without its key, or of another length")
                known = changed.get(key, kept.get(key))
                if table.mode == "insert" and known is not None:
                    raise Refused(f"{name}: a key was put twice")
                changed[key] = row if table.mode != "add" or known is None else added(table, known, row)
            result[name] = changed
        return result


class _MemoryShelf:
    def __init__(self, tables: Mapping[str, Table], rows: Mapping[str, Rows]) -> None:
        self._tables = tables
        self._rows = rows

    def rows(self, table: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """The rows under these full keys."""
        kept = self._rows[table]
        return {key: kept[key] for key in keys if key in kept}

    def latest(self, table: str, prefixes: Sequence[Key]) -> Mapping[Key, Row]:
        """For each prefix of the key its row with the greatest key."""
        kept, wanted = self._rows[table], set(prefixes)
        length = len(prefixes[0]) if prefixes else 0
        greatest: dict[Key, Key] = {}
        for key in list(kept):  # at once: they may be written meanwhile
            prefix = key[:length]
            if prefix in wanted and key >= greatest.get(prefix, key):
                greatest[prefix] = key
        return {prefix: kept[key] for prefix, key in greatest.items()}

    def whole(self, table: str) -> Sequence[Row]:
        """Every row in the order of the key."""
        kept = self._rows[table]
        return [kept[key] for key in sorted(kept)]

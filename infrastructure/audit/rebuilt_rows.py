"""Rows built anew beside an audit, as far as they are needed again: beyond a bound they lie on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from infrastructure.checking.shelf import Shelf as Kept
from infrastructure.projections.kinds import Key, Row, Table
from infrastructure.projections.merging import added, key_function

LOOKED_UP: Final = frozenset(("postings", "sessions", "players"))
"""The tables of which their projections read rows again: the latest of each key without its last part."""


class Rows:
    """The rows of one table. `changing` has those of a table whose rows change, by key."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.key_of = key_function(table)
        self.changing: Kept[Row] | None = None if table.mode == "insert" else _kept()
        self._latest: Kept[Row] | None = _kept() if table.name in LOOKED_UP else None
        self._prefix = max(1, len(table.key) - 1)
        self._put = 0

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self._put if self.changing is None else self.changing.count

    def put(self, row: Row) -> None:
        """Take a row in."""
        self._put += 1
        key = self.key_of(row)
        if self.changing is not None:
            name = _name(key)
            known = self.changing.get(name)
            if known is not None:
                row = added(self.table, known, row) if self.table.mode == "add" else row
                self.changing.remove(name)
            self.changing.add(name, row)
        if self._latest is not None:
            prefix = _name(key[: self._prefix])
            newest = self._latest.get(prefix)
            if newest is not None and self.key_of(newest) > key:
                return
            if newest is not None:
                self._latest.remove(prefix)
            self._latest.add(prefix, row)

    def latest(self, prefix: Key) -> Row | None:
        """The row with the greatest key of those that begin so. Raises LookupError where none are kept."""
        if self._latest is None or len(prefix) != self._prefix:
            raise LookupError(f"{self.table.name} is not looked up by {len(prefix)} parts of its key")
        return self._latest.peek(_name(prefix))

    def close(self) -> None:
        """Let go of the temporary files."""
        for kept in (self._latest, self.changing):
            if kept is not None:
                kept.close()


class RebuiltShelf:
    """A projection's own rows as it is built anew. Raises LookupError for rows that are not kept."""

    def __init__(self, rows: Mapping[str, Rows]) -> None:
        self._rows = rows

    def rows(self, table: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """The rows under these full keys, which have one part."""
        found = ((key, self._rows[table].latest(key)) for key in keys)
        return {key: row for key, row in found if row is not None}

    def latest(self, table: str, prefixes: Sequence[Key]) -> Mapping[Key, Row]:
        """For each prefix of the key its row with the greatest key."""
        return self.rows(table, prefixes)

    def whole(self, table: str) -> Sequence[Row]:
        """Every row: that is asked at the beginning, when there are none."""
        if self._rows[table].count:
            raise LookupError(f"{table} is not read as a whole on the way")
        return []


def _kept() -> Kept[Row]:
    # Not the shelf's own JSON: exact amounts may have more than 64 bits.
    return Kept(json.dumps, lambda text: tuple(json.loads(text)))


def _name(key: Key) -> str:
    return json.dumps(key)

"""A projection's own rows as of the batch before, though that may still be on its way to the database.

Rows that are being written are laid over what the database has: whether it has them already makes no
difference, for a row that is put, or takes another's place, is the same laid over itself. Sums are not: where
rows are added up the writing is waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

import psycopg

from infrastructure.projections.kinds import Key, Row, Shelf, Table
from infrastructure.projections.merging import key_function

_Found = TypeVar("_Found")
_ABOUT_ROWS: Final = (psycopg.DataError, psycopg.ProgrammingError, psycopg.NotSupportedError)


class CurrentShelf:
    """A `Shelf` of what was put before. `on_the_way` are the rows being written, `settle` waits for them.

    `trouble` is the error that a look ended with, where it is the database's and not the projection's.
    """

    def __init__(
        self,
        shelf: Shelf,
        tables: Iterable[Table],
        on_the_way: Callable[[], Mapping[str, Sequence[Row]]],
        settle: Callable[[], None],
    ) -> None:
        self._shelf = shelf
        self._key_of = {table.name: key_function(table) for table in tables if table.mode != "add"}
        self._on_the_way = on_the_way
        self._settle = settle
        self.trouble: BaseException | None = None

    def rows(self, table: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """The rows under these full keys."""
        waiting = self._waiting(table)
        found = dict(self._look(self._shelf.rows, table, keys))
        found.update((key, waiting[key]) for key in keys if key in waiting)
        return found

    def latest(self, table: str, prefixes: Sequence[Key]) -> Mapping[Key, Row]:
        """For each prefix of the key its row with the greatest key."""
        waiting = self._waiting(table)
        found = dict(self._look(self._shelf.latest, table, prefixes))
        if waiting and prefixes:
            wanted, length, key_of = set(prefixes), len(prefixes[0]), self._key_of[table]
            for key, row in waiting.items():
                prefix = key[:length]
                if prefix in wanted and (prefix not in found or key >= key_of(found[prefix])):
                    found[prefix] = row
        return found

    def whole(self, table: str) -> Sequence[Row]:
        """Every row in the order of the key."""
        self._wait()
        return self._look(self._shelf.whole, table)

    def _waiting(self, table: str) -> dict[Key, Row]:
        """The rows of a table that are on their way, by key."""
        key_of = self._key_of.get(table)
        if key_of is None:
            self._wait()
            return {}
        return {key_of(row): row for row in self._on_the_way().get(table, ())}

    def _wait(self) -> None:
        try:
            self._settle()
        except Exception as error:
            self.trouble = error
            raise

    def _look(self, look: Callable[..., _Found], *arguments: object) -> _Found:
        try:
            return look(*arguments)
        except _ABOUT_ROWS:
            raise
        except Exception as error:
            self.trouble = error
            raise

"""A mapping of bounded memory: what was not asked for lately lies in a temporary file.

A ledger may have any number of players. The file is SQLite's, in the system's folder for such, without a
journal, and the system removes it with us, however we end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from operator import itemgetter
from typing import Any, Final, Generic, Self, TypeVar

import orjson

HELD_MAX: Final = 100_000
"""Entries held in memory: about 50 MB of players, or of open rounds."""

_V = TypeVar("_V")


class Shelf(Generic[_V]):
    """Values by text keys; values may be changed in place until the next call.

    `dump` and `load` turn a value into JSON and back. At most `held_max` values are in memory; `count` says
    how many there are.
    """

    def __init__(
        self, dump: Callable[[_V], Any], load: Callable[[Any], _V], held_max: int = HELD_MAX
    ) -> None:
        self._dump = dump
        self._load = load
        self._held_max = held_max
        self._held: dict[str, _V] = {}
        self._file: sqlite3.Connection | None = None
        self.count = 0

    def add(self, key: str, value: _V) -> None:
        """Keep a value under a key that has none."""
        self.count += 1
        self._hold(key, value)

    def get(self, key: str) -> _V | None:
        """Return a value to change, None where there is none."""
        value = self._held.get(key)
        if value is None and self._file is not None:
            value = self.peek(key)
            if value is not None:
                self._hold(key, value)
        return value

    def peek(self, key: str) -> _V | None:
        """Return a value only to look at, None where there is none."""
        held = self._held.get(key)
        if held is not None or self._file is None:
            return held
        row = self._file.execute("SELECT value FROM shelf WHERE key = ?", [key]).fetchone()
        return None if row is None else self._load(orjson.loads(row[0]))

    def remove(self, key: str) -> None:
        """Keep a value no longer that is there."""
        self.count -= 1
        self._held.pop(key, None)
        if self._file is not None:
            self._file.execute("DELETE FROM shelf WHERE key = ?", [key])

    def items(self) -> Iterator[tuple[str, _V]]:
        """Yield every key with its value; the mapping may not be changed meanwhile."""
        yield from self._held.items()
        if self._file is not None:
            for key, value in self._file.execute("SELECT key, value FROM shelf"):
                if key not in self._held:
                    yield key, self._load(orjson.loads(value))

    def values(self) -> Iterator[_V]:
        """Yield every value; the mapping may not be changed meanwhile."""
        yield from map(itemgetter(1), self.items())

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            with suppress(sqlite3.Error):
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hold(self, key: str, value: _V) -> None:
        self._held[key] = value
        if len(self._held) > self._held_max:
            self._lay_down()

    def _lay_down(self) -> None:
        """Move the older half to the file."""
        if self._file is None:
            # An empty name: a file that has no name from the beginning. Only one thread uses it at a time.
            self._file = sqlite3.connect("", isolation_level=None, check_same_thread=False)
            self._file.execute("PRAGMA journal_mode = OFF")
            self._file.execute("PRAGMA synchronous = OFF")
            self._file.execute("PRAGMA cache_size = -8192")
            self._file.execute("CREATE TABLE shelf (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
        older = list(islice(self._held.items(), len(self._held) // 2))
        rows = [(key, orjson.dumps(self._dump(value))) for key, value in older]
        self._file.execute("BEGIN")
        self._file.executemany("INSERT OR REPLACE INTO shelf VALUES (?, ?)", rows)
        self._file.execute("COMMIT")
        for key, _ in older:
            del self._held[key]

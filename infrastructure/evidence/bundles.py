"""Which entry bundles can be written: those of whole tiles whose rounds are all finished.

A round that stays open holds back the bundles it has events in, and no others. Which rounds hold a bundle
back is remembered; the bundle itself is read again when it is due, unless it is due at once, as most are.
What is read again is held against the tile first: a bundle says for ever what was sealed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from infrastructure.evidence import merkle
from infrastructure.evidence.events import Events, Row, are_in_order, read_all
from infrastructure.evidence.merkle import TILE_WIDTH
from infrastructure.evidence.sealed import SealedLog
from infrastructure.evidence.tiles import pack_entries
from infrastructure.evidence.unavailable import LogUnavailable

BUNDLES_MAX: Final = 256
"""How many are written in one turn."""
BUNDLES_AT_ONCE: Final = 32
LOOK_SHARE: Final = 20
"""A pause is so many times as long as the look before it."""
HINT_EVERY: Final = 256

UNKNOWN: Final = frozenset({""})
"""Stands for the rounds of a tile whose events are still to be looked at: no stream has no name."""


class Bundles:
    """The bundles of a log that are still to be written.

    `compare` is told the tiles whose events are not what was sealed. It raises what is to be raised where the
    ledger is not the one that was signed, and returns where only the tile was damaged, and is mended.
    """

    def __init__(self, events: Events, log: SealedLog, compare: Callable[[int], None]) -> None:
        self._events = events
        self._log = log
        self._compare = compare
        self._waiting: dict[int, frozenset[str]] = {}
        self._rows: dict[int, Sequence[Row]] = {}
        self._tiles = log.bundled
        self._hint = self._tiles
        self._look_at = 0.0
        self._find_missing()

    @property
    def waiting(self) -> int:
        """How many whole tiles have no bundle yet."""
        return len(self._waiting)

    def sealed(self, rows: Sequence[Row]) -> None:
        """Take note of events that were sealed just now."""
        whole = self._log.size // TILE_WIDTH
        for number in range(self._tiles, whole):
            first = number * TILE_WIDTH + 1 - rows[0][0] if rows else -1
            if first >= 0:
                self._rows[number] = rows[first : first + TILE_WIDTH]
                self._waiting[number] = _rounds(self._rows[number])
            else:
                self._waiting[number] = UNKNOWN
        self._tiles = whole

    def write(self) -> bool:
        """Write what can be written, up to a bound; return whether there may be more at once.

        Raises OSError and what reading and comparing raise.
        """
        rows, self._rows = self._rows, {}
        if not self._waiting or time.monotonic() < self._look_at:
            return False
        self._look()
        due = [number for number, held in self._waiting.items() if not held]
        for at in range(0, min(len(due), BUNDLES_MAX), BUNDLES_AT_ONCE):
            numbers = due[at : at + BUNDLES_AT_ONCE]
            found = [(number, rows.get(number) or self._sealed(number)) for number in numbers]
            self._log.write_bundles(
                [(number, pack_entries(row[2] for row in events)) for number, events in found if events]
            )
            for number in numbers:
                del self._waiting[number]
        self._tell()
        return len(due) > BUNDLES_MAX or UNKNOWN in self._waiting.values()

    def _look(self) -> None:
        """Let each waiting bundle be held back by those of its rounds that are open still."""
        unknown = [number for number, held in self._waiting.items() if held is UNKNOWN]
        for number in unknown[:BUNDLES_MAX]:
            self._waiting[number] = _rounds(self._read(number))
        began = time.monotonic()
        open_rounds = self._events.open_rounds()
        self._look_at = (now := time.monotonic()) + LOOK_SHARE * (now - began)
        for number, held in self._waiting.items():
            if held is not UNKNOWN:
                self._waiting[number] = held & open_rounds

    def _sealed(self, number: int) -> Sequence[Row]:
        """A tile's events, which have its hashes; none where they are not to be had any more."""
        found = self._read(number)
        if not self._has_hashes(number, found):
            self._compare(number)
            found = self._read(number)
            if found and not self._has_hashes(number, found):
                raise LogUnavailable(f"the events of tile {number} have changed while they were compared")
        return found

    def _has_hashes(self, number: int, rows: Sequence[Row]) -> bool:
        try:
            tile = self._log.reader.tile(0, number)
        except LogUnavailable:
            return False
        return b"".join(merkle.leaf_hashes(row[2] for row in rows)) == tile

    def _read(self, number: int) -> Sequence[Row]:
        """A tile's events; none where they are not to be had any more."""
        first = number * TILE_WIDTH + 1
        found = read_all(self._events, first, TILE_WIDTH)
        return found if len(found) == TILE_WIDTH and are_in_order(found, first) else ()

    def _find_missing(self) -> None:
        for number in range(self._tiles, self._log.size // TILE_WIDTH):
            if not self._log.has_bundle(number):
                self._waiting[number] = UNKNOWN
        self._tiles = self._log.size // TILE_WIDTH

    def _tell(self) -> None:
        first = min(self._waiting, default=self._tiles)
        if first >= self._hint + HINT_EVERY:
            self._log.bundled = self._hint = first


def _rounds(rows: Sequence[Row]) -> frozenset[str]:
    return frozenset(row[1] for row in rows)

"""Whether the ledger still is what its log has signed: at the start, and round and round while it runs.

A tile's events are hashed again and compared with the tile. Where they differ, the signed root says which
of the two is right: the database, then the tile was damaged and is written again; or the tile, then the
ledger is not the one that was signed, and `Disagreement` says so.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Final

from domain.events.evidence import HaltReason
from infrastructure.evidence import merkle
from infrastructure.evidence.edge import Edge, Tile
from infrastructure.evidence.events import Events, Row, are_in_order, read_all
from infrastructure.evidence.folder import Generation
from infrastructure.evidence.merkle import HASH_BYTES, SIZE_MAX, TILE_HEIGHT, TILE_WIDTH
from infrastructure.evidence.sealed import SealedLog
from infrastructure.evidence.tiles import pack_entries, width_at
from infrastructure.evidence.unavailable import LogUnavailable

FIRST_EVENTS: Final = 1_024
"""So many of the last sealed events, at least, are compared before anything new is signed."""
TURN_SECONDS: Final = 0.005
SHARE: Final = 50
"""A pause is so many times as long as the comparing before it."""
SEARCH_TILES_MAX: Final = 400
"""How far back it is looked for where ledger and log still agree."""
REPAIRED_MAX: Final = 2_048
READ_AT_ONCE: Final = 16_384


class Disagreement(Exception):
    """The ledger is not the one that was signed.

    `position` is the last on which both agree, as far as is known.
    """

    def __init__(self, reason: HaltReason, position: int, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.position = position


class Comparing:
    """Compares the sealed events of a log. `repaired` is told each position at which tiles were damaged."""

    def __init__(self, events: Events, log: SealedLog, repaired: Callable[[int], None]) -> None:
        self._events = events
        self._log = log
        self._repaired = repaired
        self._next = 0
        self._not_before = 0.0

    def begin(self) -> None:
        """Compare the last sealed events. Raises Disagreement, OSError and what reading raises."""
        tiles = -(-self._log.size // TILE_WIDTH)
        for number in range(max(0, (self._log.size - FIRST_EVENTS) // TILE_WIDTH), tiles):
            self.compare(number)
        self._next = random.randrange(tiles) if tiles else 0  # noqa: S311 - no secret

    def go_on(self) -> None:
        """Compare some more tiles, one at least, where it is time for that. Raises as `begin` does."""
        began = time.monotonic()
        if began < self._not_before:
            return
        first = -(-self._events.horizon() // TILE_WIDTH)
        end = -(-self._log.size // TILE_WIDTH)
        for _ in range(first, end):
            number = self._next if first <= self._next < end else first
            self.compare(number)
            self._next = number + 1
            if time.monotonic() - began > TURN_SECONDS:  # after one at least: a slow machine gets round too
                break
        self._not_before = time.monotonic() + SHARE * (time.monotonic() - began)

    def disagree(self, detail: str, at: int = SIZE_MAX) -> Disagreement:
        """What to raise where the ledger is seen to be another than was signed: at a position, or before."""
        size, last = self._log.size, self._events.position()
        position = self._agreement(min(size, last, at))
        return Disagreement("behind" if last < size else "differs", position, detail)

    def rebuild(self) -> None:
        """Hash all sealed events again; write the tiles that are not theirs. Raises as `begin` does.

        Raises LogUnavailable where that cannot be told, as events were taken out.
        """
        if self._events.horizon():
            raise LogUnavailable("the log's tiles are damaged and events were taken out: put its folder back")
        while damaged := self._damaged():
            self._log.write_tiles(damaged)
            self._repaired((damaged[0].number << TILE_HEIGHT * (damaged[0].level + 1)) + 1)

    # ── One tile ────────────────────────────────────────────────────────────────────────────────────────────
    def compare(self, number: int) -> None:
        """Compare a tile's events with it; write it again where it was damaged. Raises as `begin` does."""
        first = number * TILE_WIDTH
        width = min(TILE_WIDTH, self._log.size - first)
        if first < self._events.horizon():
            return
        rows = read_all(self._events, first + 1, width)
        if len(rows) < width or not are_in_order(rows, first + 1):
            raise self.disagree("events that were sealed are missing", first + width)
        leaves = b"".join(merkle.leaf_hashes(row[2] for row in rows))
        stored = self._stored(0, number, width)
        if stored == leaves:
            self._compare_above(number, leaves)
            self._compare_bundle(number, rows)
        elif self._is_signed(number, leaves):
            self._log.write_tiles([Tile(0, number, leaves)])
            self._repaired(first + 1)
        elif len(stored) == len(leaves) and self._is_signed(number, stored):
            raise self.disagree("events differ from what was sealed", first + width)
        else:
            self.rebuild()

    def _compare_above(self, number: int, hashes: bytes) -> None:
        """Compare a whole tile with its hash in the tile above, and on while it is the last one there."""
        level = 0
        while len(hashes) == TILE_WIDTH * HASH_BYTES:
            number, at = divmod(number, TILE_WIDTH)
            level += 1
            above = self._stored(level, number, width_at(level, number, self._log.size))
            if above[at * HASH_BYTES : (at + 1) * HASH_BYTES] != merkle.complete_root(hashes):
                self.rebuild()
                return
            hashes = above

    def _compare_bundle(self, number: int, rows: Sequence[Row]) -> None:
        try:
            bundle = self._log.reader.entries(number)
        except LogUnavailable:
            bundle = b""
        if bundle is not None and bundle != (entries := pack_entries(row[2] for row in rows)):
            self._log.write_bundles([(number, entries)])
            self._repaired(number * TILE_WIDTH + 1)

    def _is_signed(self, number: int, hashes: bytes) -> bool:
        """Say whether these leaf hashes are those of a tile in the tree that was signed."""
        size, root = self._log.size, self._log.root
        elsewhere = Generation(self._log.reader.place).hashes(size)

        def read(level: int, index: int) -> bytes:
            start = (index << level) - number * TILE_WIDTH
            own = hashes[start * HASH_BYTES : (start + (1 << level)) * HASH_BYTES] if start >= 0 else b""
            if len(own) == HASH_BYTES << level:
                return merkle.complete_root(own)
            return elsewhere(level, index)

        try:
            proof = merkle.inclusion_proof(number * TILE_WIDTH, size, read)
        except LogUnavailable:
            return False
        return merkle.verify_inclusion(hashes[:HASH_BYTES], number * TILE_WIDTH, size, proof, root)

    # ── All of them ─────────────────────────────────────────────────────────────────────────────────────────
    def _damaged(self) -> list[Tile]:
        """The tiles that are not those of the events, up to a bound, if the events are what was signed."""
        size = self._log.size
        edge, damaged = Edge(), list[Tile]()
        while edge.size < size:
            rows = read_all(self._events, edge.size + 1, min(READ_AT_ONCE, size - edge.size))
            if not rows or not are_in_order(rows, edge.size + 1):
                raise self.disagree("events that were sealed are missing", edge.size + READ_AT_ONCE)
            tiles = edge.add(merkle.leaf_hashes(row[2] for row in rows))
            if edge.size == size:
                tiles += edge.partial()
            damaged += [tile for tile in tiles if self._stored(*tile.place) != tile.hashes]
            del damaged[REPAIRED_MAX:]
        if edge.root() != self._log.root:
            lowest = min((tile.number for tile in damaged if not tile.level), default=size)
            raise self.disagree("events differ from what was sealed", (lowest + 1) * TILE_WIDTH)
        return damaged

    def _agreement(self, position: int) -> int:
        """The last position on which the ledger agrees with the tiles; the search goes back so far only."""
        number = (position - 1) // TILE_WIDTH
        for _ in range(SEARCH_TILES_MAX):
            first = number * TILE_WIDTH
            if position <= first or number < 0:
                break
            rows = read_all(self._events, first + 1, position - first)
            stored = self._stored(0, number, position - first)
            differing = [
                at
                for at in range(position - first)
                if at >= len(rows)
                or rows[at][0] != first + 1 + at
                or merkle.leaf_hash(rows[at][2]) != stored[at * HASH_BYTES : (at + 1) * HASH_BYTES]
            ]
            if not differing:
                break
            position = first + differing[0]
            if differing[0]:
                break
            number -= 1
        return max(position, 0)

    def _stored(self, level: int, number: int, width: int) -> bytes:
        """The hashes of a tile as they are in its file; none where there is none of them."""
        try:
            return self._log.reader.tile(level, number, width)
        except LogUnavailable:
            return b""

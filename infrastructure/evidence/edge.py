"""The growing edge of a tree: the tiles that are not whole yet, one a level. Pure.

That is all that has to be kept to write the next tiles and to tell the root, whatever the size of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from infrastructure.evidence import merkle
from infrastructure.evidence.merkle import HASH_BYTES, TILE_HEIGHT, TILE_WIDTH
from infrastructure.evidence.tiles import TILE_BYTES


class Tile(NamedTuple):
    """A tile with its hashes, all as one string."""

    level: int
    number: int
    hashes: bytes

    @property
    def width(self) -> int:
        """How many hashes it holds."""
        return len(self.hashes) // HASH_BYTES

    @property
    def place(self) -> tuple[int, int, int]:
        """Its level, number and width: what `tile_path` takes."""
        return self.level, self.number, self.width


class Edge:
    """The edge of a tree of `size` leaves."""

    __slots__ = ("_levels", "size")

    def __init__(self, size: int = 0, levels: Sequence[bytes] = ()) -> None:
        self.size = size
        self._levels = list(levels)

    @classmethod
    def of(cls, size: int, read: merkle.Read) -> Edge:
        """The edge of a tree that is kept elsewhere."""
        levels = []
        level = 0
        while size >> TILE_HEIGHT * level:
            end = size >> TILE_HEIGHT * level
            first = end - end % TILE_WIDTH
            levels.append(b"".join(read(TILE_HEIGHT * level, index) for index in range(first, end)))
            level += 1
        return cls(size, levels)

    def copy(self) -> Edge:
        """Another one of the same tree."""
        return Edge(self.size, self._levels)

    def add(self, leaves: Sequence[bytes]) -> list[Tile]:
        """Grow by leaf hashes; return the tiles that are whole now, the lower ones first."""
        whole: list[Tile] = []
        level, added = 0, b"".join(leaves)
        while added:
            if level == len(self._levels):
                self._levels.append(b"")
            number = (self.size >> TILE_HEIGHT * level) // TILE_WIDTH
            hashes = self._levels[level] + added
            end = len(hashes) - len(hashes) % TILE_BYTES
            tiles = [hashes[at : at + TILE_BYTES] for at in range(0, end, TILE_BYTES)]
            whole += [Tile(level, number + at, tile) for at, tile in enumerate(tiles)]
            self._levels[level] = hashes[end:]
            added = b"".join(map(merkle.complete_root, tiles))
            level += 1
        self.size += len(leaves)
        return whole

    def partial(self) -> list[Tile]:
        """The tiles that are not whole, the lower ones first."""
        return [
            Tile(level, (self.size >> TILE_HEIGHT * level) // TILE_WIDTH, hashes)
            for level, hashes in enumerate(self._levels)
            if hashes
        ]

    def root(self) -> bytes:
        """The tree's root."""
        frontier: list[bytes] = []
        for level in reversed(range(len(self._levels))):
            hashes = self._levels[level]
            for height, index in merkle.complete_subtrees(0, len(hashes) // HASH_BYTES):
                at = (index << height) * HASH_BYTES
                frontier.append(merkle.complete_root(hashes[at : at + (HASH_BYTES << height)]))
        return merkle.folded(frontier)

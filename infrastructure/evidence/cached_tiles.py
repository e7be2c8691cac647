"""A log's hash tiles as their files have them, and the newest used ones in memory."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from infrastructure.evidence import merkle
from infrastructure.evidence.merkle import HASH_BYTES, TILE_HEIGHT, TILE_WIDTH
from infrastructure.evidence.tiles import LEVEL_MAX, tile_path
from infrastructure.evidence.unavailable import LOOK_SECONDS, LogUnavailable, read_file, stamp_of

TILES_MAX: Final = 512
"""Tiles that are kept in memory, with the nodes between: 16 KiB each."""
_ATTEMPTS: Final = 5


class _Tile(NamedTuple):
    """At least `width` of a tile's hashes, with the nodes above them, as its file was at a monotonic time."""

    looked_at: float
    path: Path
    stamp: tuple[int, ...]
    width: int
    nodes: Sequence[bytes]


class CachedTiles:
    """The tiles of one log. Safe to use from several threads."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._tiles: OrderedDict[tuple[int, int], _Tile] = OrderedDict()

    def __len__(self) -> int:
        """How many are in memory."""
        return len(self._tiles)

    def read(self, level: int, index: int, width: int) -> bytes:
        """The first `width` hashes of a tile, 32 bytes each, from its file. Raises LogUnavailable."""
        return self._found(level, index, width)[2]

    def _found(self, level: int, index: int, width: int) -> tuple[Path, tuple[int, ...], bytes]:
        """A tile's hashes, with the file that they were found in and that file's stamp."""
        if not (0 <= level <= LEVEL_MAX and 0 < width <= TILE_WIDTH):
            raise LogUnavailable("there is no such tile")
        # While a sealer fills a tile, a partial one can go between two looks: then the whole one is there.
        for _ in range(_ATTEMPTS):
            for path in self._files(level, index, width):
                stamp = stamp_of(path)  # before it is read, as with notes
                data = read_file(path)
                if data and len(data) >= width * HASH_BYTES:
                    return path, stamp, data[: width * HASH_BYTES]
                if data:
                    break
        raise LogUnavailable(f"the tile {tile_path(level, index, width)} is missing or damaged")

    def _files(self, level: int, index: int, width: int) -> Iterator[Path]:
        """Where a tile may stand: whole, or as a partial one; in one that has more, if need be."""
        whole = self._place / tile_path(level, index)
        yield whole
        if width == TILE_WIDTH:
            return
        partial = self._place / tile_path(level, index, width)
        yield partial
        with suppress(FileNotFoundError):
            widths = [int(each.name) for each in partial.parent.iterdir() if each.name.isdigit()]
            if longer := [each for each in widths if each > width]:
                yield partial.with_name(str(min(longer)))

    def nodes(self, level: int, index: int, width: int) -> Sequence[bytes]:
        """The nodes of a tile of at least this width: for each height, all hashes as one string."""
        with self._lock:
            found = self._tiles.get((level, index))
        if found is None or found.width < width or (found := self._still(found)) is None:
            found = self._with_nodes(level, index, width)
        with self._lock:
            self._tiles[level, index] = found
            self._tiles.move_to_end((level, index))
            while len(self._tiles) > TILES_MAX:
                self._tiles.popitem(last=False)
        return found.nodes

    @staticmethod
    def _still(tile: _Tile) -> _Tile | None:
        """A known tile, if its file is the one that was read: one that was damaged is written again."""
        now = time.monotonic()
        if now - tile.looked_at < LOOK_SECONDS:
            return tile
        return tile._replace(looked_at=now) if stamp_of(tile.path) == tile.stamp else None

    def _with_nodes(self, level: int, index: int, width: int) -> _Tile:
        now = time.monotonic()
        path, stamp, hashes = (
            self._found(level, index, width) if width else (self._place, stamp_of(self._place), b"")
        )
        nodes = [hashes]
        while len(nodes) < TILE_HEIGHT:
            nodes.append(merkle.level_above(nodes[-1]))
        return _Tile(now, path, stamp, width, nodes)

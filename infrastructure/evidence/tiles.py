"""Where a log's files are, and what is in an entry bundle: C2SP tlog-tiles, at height 8."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from infrastructure.evidence.merkle import HASH_BYTES, TILE_HEIGHT, TILE_WIDTH

TILE_BYTES: Final = TILE_WIDTH * HASH_BYTES
LEVEL_MAX: Final = 7
"""A tree of 2^63 leaves has no tile above."""
INDEX_MAX: Final = 2**55 - 1
ENTRIES: Final = "entries"

_PATH: Final = re.compile(
    r"tile/(?P<level>entries|[0-7])/(?P<index>(?:x[0-9]{3}/)*[0-9]{3})(?:\.p/(?P<width>[1-9][0-9]{0,2}))?"
)
_LENGTH_BYTES: Final = 2
_THOUSAND: Final = 1000


class Place(NamedTuple):
    """A file of hashes or, with `level` None, of entries: which of them, and how many it holds (1 to 256)."""

    level: int | None
    number: int
    width: int

    @property
    def path(self) -> str:
        """Where it is below the log's prefix."""
        return _path(ENTRIES if self.level is None else str(self.level), self.number, self.width)


def tile_path(level: int, index: int, width: int = TILE_WIDTH) -> str:
    """The path of a tile of hashes: ``tile/0/x001/x234/067``, or ``….p/5`` where it holds only five."""
    return Place(level, index, width).path


def entries_path(index: int, width: int = TILE_WIDTH) -> str:
    """The path of a bundle of entries: ``tile/entries/x001/x234/067``, or ``….p/5``."""
    return Place(None, index, width).path


def parse_path(path: str) -> Place:
    """What a path names. Raises ValueError where it is not exactly what a `Place` is called."""
    match = _PATH.fullmatch(path)
    if match is None:
        raise ValueError("not the path of a tile")
    level, index, width = match["level"], match["index"], match["width"]
    place = Place(
        None if level == ENTRIES else int(level),
        int(index.replace("x", "").replace("/", "")),
        TILE_WIDTH if width is None else int(width),
    )
    # Zeros in front and a partial tile of 256 are other spellings of the same: only one is a path.
    if place.number > INDEX_MAX or place.width > TILE_WIDTH or place.path != path:
        raise ValueError("not the path of a tile")
    return place


def width_at(level: int, index: int, size: int) -> int:
    """How many hashes a tile holds in a tree of this size: 0 to 256."""
    return max(0, min(TILE_WIDTH, (size >> TILE_HEIGHT * level) - index * TILE_WIDTH))


def tiles_between(old: int, new: int) -> Iterator[tuple[int, int, int]]:
    """The tiles of a tree of `new` leaves that one of `old` has not, or has shorter: level, number, width.

    The lower ones come first.
    """
    for level in range(LEVEL_MAX + 1):
        first, end = old >> TILE_HEIGHT * level, new >> TILE_HEIGHT * level
        if first == end:
            break
        for index in range(first // TILE_WIDTH, -(-end // TILE_WIDTH)):
            yield level, index, width_at(level, index, new)


def pack_entries(entries: Iterable[bytes]) -> bytes:
    """A bundle: each entry after its length in two bytes. Raises OverflowError where one is longer."""
    parts: list[bytes] = []
    for entry in entries:
        parts += (len(entry).to_bytes(_LENGTH_BYTES, "big"), entry)
    return b"".join(parts)


def unpack_entries(bundle: bytes) -> list[bytes]:
    """The entries of a bundle. Raises ValueError where it ends within one, or holds more than 256."""
    entries: list[bytes] = []
    at = 0
    while at < len(bundle):
        length = int.from_bytes(bundle[at : at + _LENGTH_BYTES], "big")
        entry = bundle[at + _LENGTH_BYTES : at + _LENGTH_BYTES + length]
        at += _LENGTH_BYTES + length
        if at > len(bundle) or len(entries) == TILE_WIDTH:
            raise ValueError("not a bundle of entries")
        entries.append(entry)
    return entries


def _path(level: str, index: int, width: int) -> str:
    parts = [f"{index % _THOUSAND:03}"]
    while index := index // _THOUSAND:
        parts.insert(0, f"x{index % _THOUSAND:03}")
    whole = width == TILE_WIDTH
    return f"tile/{level}/{'/'.join(parts)}" + ("" if whole else f".p/{width}")

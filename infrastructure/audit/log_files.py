"""The evidence log's files, compared with the events of a partition: tiles of hashes and bundles of entries.

A file that does not hold what the events say is found by the position of the first leaf that differs in it,
whichever of the two was changed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from infrastructure.audit.results import Finding, PartResult, StoredRow
from infrastructure.evidence.folder import Generation
from infrastructure.evidence.merkle import (
    HASH_BYTES,
    TILE_HEIGHT,
    TILE_WIDTH,
    complete_root,
)
from infrastructure.evidence.tiles import LEVEL_MAX, pack_entries, unpack_entries, width_at
from infrastructure.evidence.unavailable import LogUnavailable

_FOUND_MAX: Final = 20
"""One edited file, or a shift of all that follows, says it all: so many are told of each partition."""
_LENGTH_BYTES: Final = 2


@dataclass(frozen=True, slots=True)
class LogFiles:
    """The folder of one generation of a log, and the size up to which its files have to be there."""

    folder: Path
    size: int


@dataclass(slots=True)
class Compared:
    """How many files were compared with the events, and which of them hold something else."""

    tiles: int = 0
    bundles: int = 0
    findings: list[Finding] = field(default_factory=list)

    def add(self, position: int, what: str, expected: str, found: str) -> None:
        """Note a file that differs."""
        if len(self.findings) < _FOUND_MAX:
            self.findings.append(Finding(position, what, expected, found))


def compare(
    files: LogFiles, rows: Sequence[StoredRow], hashes: Sequence[bytes], result: PartResult
) -> Compared:
    """Compare the files over a partition's events; `result` is what the audit of these came to.

    `hashes` are those of the events as leaves.

    Where a position is missing nothing is compared: it is a finding of its own, and puts every leaf behind it
    out.
    """
    compared = Compared()
    sealed = [row for row in rows if row[0] <= files.size]
    if not sealed or sealed[-1][0] - sealed[0][0] + 1 != len(sealed):
        return compared
    log = Generation(files.folder)
    first = sealed[0][0] - 1
    leaves = [leaf for row, leaf in zip(rows, hashes, strict=True) if row[0] <= files.size]
    for index in range(first // TILE_WIDTH, (first + len(sealed) - 1) // TILE_WIDTH + 1):
        start = max(index * TILE_WIDTH, first)
        end = min((index + 1) * TILE_WIDTH, first + len(sealed))
        width = width_at(0, index, files.size)
        compared.tiles += 1
        _tile(log, index, width, start, leaves[start - first : end - first], compared)
        events = [row[3] for row in sealed[start - first : end - first]]
        if len(events) == TILE_WIDTH:
            _bundle(log, index, events, compared)
        elif width == TILE_WIDTH:
            _over_the_edge(log, files.size, start, events, compared)
    for n, root in enumerate(result.leaves.tiles, result.leaves.first_tile):
        if (n + 1) * TILE_WIDTH <= files.size:
            _hash_in(log, files.size, 1, n, root, compared)
    return compared


def compare_levels(files: LogFiles) -> list[Finding]:
    """Compare the tiles from level 2 on with those below: they are few.

    With the leaves and level 1 compared, all hashes of the log are.
    """
    log, compared = Generation(files.folder), Compared()
    for level in range(2, LEVEL_MAX + 1):
        for index in range(files.size >> TILE_HEIGHT * level):
            try:
                below = log.tile(level - 1, index)
            except LogUnavailable as missing:
                compared.add((index << TILE_HEIGHT * level) + 1, "log.tile", "a tile", str(missing))
                continue
            _hash_in(log, files.size, level, index, complete_root(below), compared)
    return compared.findings


def _tile(
    log: Generation, index: int, width: int, start: int, leaves: Sequence[bytes], compared: Compared
) -> None:
    try:
        kept = log.tile(0, index, width)
    except LogUnavailable as missing:
        compared.add(start + 1, "log.tile", f"a tile of {width} hashes", str(missing))
        return
    into = (start - index * TILE_WIDTH) * HASH_BYTES
    kept = kept[into : into + len(leaves) * HASH_BYTES]
    if b"".join(leaves) == kept:
        return
    for n, leaf in enumerate(leaves):
        sealed = kept[n * HASH_BYTES : (n + 1) * HASH_BYTES]
        if sealed != leaf:
            compared.add(start + n + 1, "log.leaf", sealed.hex(), leaf.hex())


def _bundle(log: Generation, index: int, events: Sequence[bytes], compared: Compared) -> None:
    """Compare a bundle of entries, where it was written: it waits for the end of its rounds."""
    kept = log.entries(index)
    if kept is None:
        return
    compared.bundles += 1
    if pack_entries(events) == kept:
        return
    at = 0
    for n, event in enumerate(events):
        length = _LENGTH_BYTES + len(event)
        if kept[at : at + length] != len(event).to_bytes(_LENGTH_BYTES, "big") + event:
            compared.add(index * TILE_WIDTH + n + 1, "log.entry", "the event's bytes", "other bytes")
            return
        at += length
    compared.add((index + 1) * TILE_WIDTH, "log.entry", "the end of the bundle", "more bytes")


def _over_the_edge(
    log: Generation, size: int, start: int, events: Sequence[bytes], compared: Compared
) -> None:
    """Compare what is over a whole tile of which this partition has some events, and others the rest."""
    index, into = divmod(start, TILE_WIDTH)
    if not into:  # once; the tile itself is compared by those who have its events
        compared.bundles += log.entries(index) is not None
        with contextlib.suppress(LogUnavailable):
            _hash_in(log, size, 1, index, complete_root(log.tile(0, index)), compared)
    kept = log.entries(index)
    if kept is None:
        return
    try:
        entries = unpack_entries(kept)
    except ValueError:
        entries = []
    for n, event in enumerate(events):
        if entries[into + n : into + n + 1] != [event]:
            compared.add(start + n + 1, "log.entry", "the event's bytes", "other bytes")
            return


def _hash_in(log: Generation, size: int, level: int, index: int, root: bytes, compared: Compared) -> None:
    """Compare the root of what is below with the hash that a tile has of it."""
    tile, into = divmod(index, TILE_WIDTH)
    position = (index << TILE_HEIGHT * level) + 1
    try:
        kept = log.tile(level, tile, width_at(level, tile, size))
    except LogUnavailable as missing:
        compared.add(position, "log.tile", f"a tile of level {level}", str(missing))
        return
    found = kept[into * HASH_BYTES : (into + 1) * HASH_BYTES]
    if found != root:
        compared.add(position, f"log.tile.level_{level}", root.hex(), found.hex())

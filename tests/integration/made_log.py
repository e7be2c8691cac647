"""An evidence log made at once of events that are there, for tests in which no sealer runs.

It may be made as if many more events had come after them: then the hashes beside their paths stand for leaves
that nobody has, and a log of any size is a few files.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from infrastructure.evidence import files, folder, merkle
from infrastructure.evidence.folder import Generation, LogFolder
from infrastructure.evidence.merkle import HASH_BYTES, TILE_HEIGHT, TILE_WIDTH
from infrastructure.evidence.notes import Checkpoint, Signer, write_note
from infrastructure.evidence.tiles import tile_path

SIGNER: Final = Signer.from_seed("stud-ledger/fedcba9876543210/1", b"l" * 32)
WITNESS: Final = Signer.from_seed("witness.example/test", b"w" * 32)
COSIGNED_AT: Final = 1_796_000_000


def make_log(path: Path, events: Sequence[bytes], size: int | None = None, number: int = 1) -> Generation:
    """Return a published log, in a folder for logs, of stored events in the order of their positions.

    `size` is how many events it is to have in all.
    """
    size = len(events) if size is None else size
    folder.begin(path, number)
    log = LogFolder(path).generation(number)
    _write_tiles(log.place, merkle.leaf_hashes(events), size)
    files.write(log.place / folder.KEYS, f"{SIGNER.verifier.vkey}\n".encode())
    files.write(log.place / folder.CHECKPOINT, checkpoint(log, size))
    return log


def checkpoint(log: Generation, size: int, *, cosigned: bool = False) -> bytes:
    """Return a signed checkpoint of a log's first so many events."""
    text = Checkpoint(SIGNER.name, size, log.root(size)).body()
    cosignatures = [WITNESS.cosign(text, COSIGNED_AT)] if cosigned else []
    return write_note(text, [SIGNER.sign(text), *cosignatures])


def _write_tiles(place: Path, known: list[bytes], size: int) -> None:
    """Write the tiles on the paths of the first leaves, and those at the tree's right edge."""
    dice = random.Random(size)
    level = 0
    while width := size >> TILE_HEIGHT * level:
        above = []
        last = [width // TILE_WIDTH] if width % TILE_WIDTH else []
        for number in sorted({*range(-(-len(known) // TILE_WIDTH)), *last}):
            first = number * TILE_WIDTH
            count = min(TILE_WIDTH, width - first)
            tile = b"".join(known[first : first + count])
            tile += dice.randbytes(count * HASH_BYTES - len(tile))
            target = place / tile_path(level, number, count)
            target.parent.mkdir(parents=True, exist_ok=True)
            files.put(target, tile)
            if count == TILE_WIDTH:
                above.append(merkle.complete_root(tile))
        known = above
        level += 1

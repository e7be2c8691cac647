"""A log of a few leaves, all in memory, that can also lie: what a witness is shown in tests."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from infrastructure.evidence.merkle import consistency_proof, leaf_hash, root_of
from infrastructure.evidence.notes import Checkpoint, Signer, write_note
from infrastructure.evidence.tiles import tile_path, tiles_between

ORIGIN = "stud-ledger/0123456789abcdef/1"


def signer(name: str = ORIGIN, number: int = 1) -> Signer:
    """Return a key that is always the same."""
    return Signer.from_seed(name, hashlib.sha256(f"{name} {number}".encode()).digest())


class SmallLog:
    """A log whose i-th leaf is the text of i, but from `fork_at` on, where it is another text."""

    def __init__(self, size: int, fork_at: int | None = None, key: Signer | None = None) -> None:
        differs = size if fork_at is None else fork_at
        self.entries = [f"leaf {i}{' forked' * (i >= differs)}".encode() for i in range(size)]
        self.leaves = [leaf_hash(entry) for entry in self.entries]
        self.key = key or signer()

    def checkpoint(self, size: int) -> Checkpoint:
        """Return its head at a size."""
        return Checkpoint(self.key.name, size, root_of(self.leaves[:size]))

    def note(self, size: int, *more: str) -> bytes:
        """Return its signed checkpoint at a size, with more signature lines."""
        text = self.checkpoint(size).body()
        return write_note(text, [self.key.sign(text), *more])

    def read(self, level: int, index: int) -> bytes:
        """Return the hash of a complete subtree."""
        return root_of(self.leaves[index << level : (index + 1) << level])

    def proof(self, old: int, new: int) -> list[bytes]:
        """Return the consistency proof between two sizes."""
        return consistency_proof(old, new, self.read)

    def request(self, old: int, new: int) -> bytes:
        """Return what the log sends to a witness that has signed `old`."""
        return request(old, self.proof(old, new), self.note(new))

    def tile(self, level: int, number: int, width: int) -> bytes:
        """Return a tile of hashes."""
        return b"".join(self.read(8 * level, number * 256 + i) for i in range(width))

    def files(self, size: int) -> dict[str, bytes]:
        """Return the log's files at a size, by their paths below the prefix."""
        tiles = {tile_path(*which): self.tile(*which) for which in tiles_between(0, size)}
        return {"checkpoint": self.note(size), **tiles}


def request(old: int, proof: Sequence[bytes], note: bytes) -> bytes:
    """Return the body of an `add-checkpoint` request."""
    lines = [f"old {old}", *(base64.b64encode(each).decode() for each in proof)]
    return "\n".join([*lines, "", ""]).encode() + note

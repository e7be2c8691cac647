"""A small evidence log whose every byte is fixed, for other people's verifiers to look at.

    log/        what a ledger serves below /log, and its sealer leaves in a generation's folder
    broken/     the same with one bit of a hash tile changed
    old.note    a checkpoint of an earlier size; fork.note one of another history, signed with the same key
    *.vkey      the log's key, a witness's, and a stranger's
    leaf-<i>    the bytes of some leaves

The private keys are those of SHA-256 of their names: these logs are for tests alone.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Final

from infrastructure.evidence.merkle import consistency_proof, inclusion_proof, leaf_hash, root_of
from infrastructure.evidence.notes import Checkpoint, Signer, write_note
from infrastructure.evidence.tiles import entries_path, pack_entries, tile_path, tiles_between

SIZE: Final = 70_000
OLD: Final = 1_234
SIZES: Final = (1, 2, 3, 7, 8, 255, 256, 257, 511, 512, 1_234, 65_535, 65_536, 65_537, SIZE)
LEAVES: Final = (0, 1, 255, 256, 1_024, 1_233, 1_234, 65_535, 65_536, SIZE - 1)
PAIRS: Final = (
    (1, 2),
    (1, SIZE),
    (2, 3),
    (6, 8),
    (255, 256),
    (256, 257),
    (OLD, SIZE),
    (65_536, SIZE),
    (SIZE - 1, SIZE),
)
COSIGNED_AT: Final = 1_700_000_000
ORIGIN: Final = "stud-ledger/00000000000000aa/1"


def signer(name: str) -> Signer:
    """Return a key that is always the same."""
    return Signer.from_seed(name, hashlib.sha256(f"a key for tests: {name}".encode()).digest())


LOG: Final = signer(ORIGIN)
WITNESS: Final = signer("witness.example/w1")
STRANGER: Final = signer("stranger.example")


def leaf(index: int, *, forked: bool = False) -> bytes:
    """Return a leaf: an event in canonical JSON, as small as can be."""
    event = {"position": index + 1, "type": "Forked" if forked else "Tested"}
    return json.dumps(event, sort_keys=True, separators=(",", ":")).encode()


HASHES: Final = [leaf_hash(leaf(i)) for i in range(SIZE)]


def read(level: int, index: int) -> bytes:
    """Return the hash of a complete subtree."""
    return root_of(HASHES[index << level : (index + 1) << level])


def root(size: int) -> bytes:
    """Return the root of the first leaves."""
    return root_of(HASHES[:size])


def inclusion(index: int, size: int) -> list[bytes]:
    """Return the proof that a leaf is in the tree."""
    return inclusion_proof(index, size, read)


def consistency(old: int, new: int) -> list[bytes]:
    """Return the proof that one tree begins with the other."""
    return consistency_proof(old, new, read)


def note(size: int, tree_root: bytes, *, cosigned: bool = False) -> bytes:
    """Return a checkpoint signed by the log, and by the witness too."""
    text = Checkpoint(ORIGIN, size, tree_root).body()
    return write_note(text, [LOG.sign(text), *([WITNESS.cosign(text, COSIGNED_AT)] if cosigned else [])])


def write(folder: Path) -> None:
    """Write all of it into an empty folder."""
    files = {
        "log/checkpoint": note(SIZE, root(SIZE), cosigned=True),
        "old.note": note(OLD, root(OLD)),
        "fork.note": note(OLD, root_of([leaf_hash(leaf(i, forked=i == 7)) for i in range(OLD)])),
        "log.vkey": f"{LOG.verifier.vkey}\n".encode(),
        "witness.vkey": f"{WITNESS.cosigner.vkey}\n".encode(),
        "stranger.vkey": f"{STRANGER.verifier.vkey}\n".encode(),
    }
    for level, number, width in tiles_between(0, SIZE):
        hashes = b"".join(read(8 * level, 256 * number + i) for i in range(width))
        files[f"log/{tile_path(level, number, width)}"] = hashes
        if level == 0:
            entries = pack_entries(leaf(256 * number + i) for i in range(width))
            files[f"log/{entries_path(number, width)}"] = entries
    for index in LEAVES:
        files[f"leaf-{index}"] = leaf(index)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    shutil.copytree(folder / "log", folder / "broken")
    spoiled = folder / "broken" / tile_path(0, 4)
    data = bytearray(spoiled.read_bytes())
    data[100] ^= 1
    spoiled.write_bytes(data)

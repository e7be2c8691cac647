"""A log made by hand around a file of evidence, for testing the offline verifier.

Written from RFC 6962 and the C2SP texts, apart from the ledger's code and the verifier's: trees are divided
as section 2.1 says it, and signatures are made by `cryptography`.
"""

from __future__ import annotations

import base64
import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.unit.scripts.evidence_builder import canonical, sha256

ORIGIN, WITNESS_NAME = "stud-ledger/0123456789abcdef/1", "witness.example/w1"
SEEN_AT = 1_796_000_000


def base64_of(data: bytes) -> str:
    """Return bytes in base64."""
    return base64.b64encode(data).decode()


def leaf_of(entry: bytes) -> bytes:
    """Return the hash of a leaf."""
    return hashlib.sha256(b"\x00" + entry).digest()


def split(count: int) -> int:
    """Return the largest power of two below a count."""
    half = 1
    while half * 2 < count:
        half *= 2
    return half


def root(leaves: Sequence[bytes]) -> bytes:
    """Return MTH (RFC 6962, 2.1)."""
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    half = split(len(leaves))
    return hashlib.sha256(b"\x01" + root(leaves[:half]) + root(leaves[half:])).digest()


def path(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """Return PATH (2.1.1)."""
    if len(leaves) == 1:
        return []
    half = split(len(leaves))
    if index < half:
        return [*path(index, leaves[:half]), root(leaves[half:])]
    return [*path(index - half, leaves[half:]), root(leaves[:half])]


def growth(old: int, leaves: Sequence[bytes], *, known: bool = True) -> list[bytes]:
    """Return SUBPROOF (2.1.2); nothing for a tree of no leaves."""
    if old in (0, len(leaves)):
        return [] if known else [root(leaves)]
    half = split(len(leaves))
    if old <= half:
        return [*growth(old, leaves[:half], known=known), root(leaves[half:])]
    return [*growth(old - half, leaves[half:], known=False), root(leaves[:half])]


@dataclass(frozen=True)
class Key:
    """Somebody's key: `kind` 1 signs a log's checkpoints, 4 cosigns them."""

    name: str
    kind: int
    private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def of(cls, seed: bytes, name: str = ORIGIN, kind: int = 1) -> Key:
        """Return the key of a seed."""
        return cls(name, kind, Ed25519PrivateKey.from_private_bytes(hashlib.sha256(seed).digest()))

    @property
    def material(self) -> bytes:
        """The kind and the public key."""
        return bytes([self.kind]) + self.private.public_key().public_bytes_raw()

    @property
    def key_id(self) -> bytes:
        """What signatures name it by."""
        return hashlib.sha256(f"{self.name}\n".encode() + self.material).digest()[:4]

    @property
    def vkey(self) -> str:
        """What verifiers know it by."""
        return f"{self.name}+{self.key_id.hex()}+{base64_of(self.material)}"

    def line(self, body: str, time: int = SEEN_AT) -> str:
        """Return its signature line under a text."""
        text, stamp = body, b""
        if self.kind == 4:
            text, stamp = f"cosignature/v1\ntime {time}\n{body}", time.to_bytes(8, "big")
        signature = self.key_id + stamp + self.private.sign(text.encode())
        return f"\u2014 {self.name} {base64_of(signature)}\n"


LOG_KEY, OTHER_KEY = Key.of(b"log"), Key.of(b"another log")
WITNESS, OTHER_WITNESS = Key.of(b"witness", WITNESS_NAME, 4), Key.of(b"other", "witness.example/w2", 4)


def checkpoint(leaves: Sequence[bytes], *signers: Key, origin: str = ORIGIN) -> str:
    """Return a signed checkpoint of a tree."""
    body = f"{origin}\n{len(leaves)}\n{base64_of(root(leaves))}\n"
    return f"{body}\n{''.join(signer.line(body) for signer in signers)}"


def entries_around(file: dict[str, Any], size: int = 0) -> list[bytes]:
    """Return a log's leaves: at the file's positions its events, at all others something else."""
    own = {event["position"]: leaf(event) for event in file["events"]}
    size = size or max(own) + 9
    return [own.get(position, leaf_of(b"entry %d" % position)) for position in range(1, size + 1)]


def leaf(entry: dict[str, Any]) -> bytes:
    """Return the leaf of an event or of what is withheld of one."""
    return bytes.fromhex(entry["leaf_sha256"]) if entry.get("withheld") else leaf_of(canonical(entry))


def sealed(
    file: dict[str, Any],
    leaves: Sequence[bytes] | None = None,
    *,
    signers: Sequence[Key] = (LOG_KEY, WITNESS),
    since: int | None = None,
) -> dict[str, Any]:
    """Return a file of format 2: the events of a file of format 1 and their proofs in a log."""
    leaves = entries_around(file) if leaves is None else leaves
    earlier = file["events"][0]["position"] - 1 if since is None else since
    log = {
        "origin": ORIGIN,
        "keys": [signer.vkey for signer in signers if signer.kind == 1],
        "checkpoint": checkpoint(leaves, *signers),
        "proofs": [[*map(base64_of, path(event["position"] - 1, leaves))] for event in file["events"]],
        "earlier": {
            "size": earlier,
            "root": base64_of(root(leaves[:earlier])),
            "proof": [*map(base64_of, growth(earlier, leaves))],
        },
    }
    return hashed({**copy.deepcopy(file), "format": "stud-ledger/evidence/2", "log": log})


def hashed(file: dict[str, Any]) -> dict[str, Any]:
    """Return a file with the hash of all else in it."""
    rest = {name: part for name, part in file.items() if name != "sha256"}
    return {**rest, "sha256": sha256(rest)}


def write_log(folder: Path, entries: Sequence[bytes]) -> None:
    """Write a log's folder: the lowest level of tiles, and the bundles of entries."""
    for number, start in enumerate(range(0, len(entries), 256)):
        part = entries[start : start + 256]
        name = f"{number:03}" if len(part) == 256 else f"{number:03}.p/{len(part)}"
        bundle = b"".join(len(entry).to_bytes(2, "big") + entry for entry in part)
        for kind, data in (("entries", bundle), ("0", b"".join(map(leaf_of, part)))):
            file = folder / "tile" / kind / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)

"""Names, keys and roots of evidence logs for tests that sign nothing."""

from __future__ import annotations

import hashlib
from base64 import b64encode

NAME = "stud-ledger/0011223344556677"
FIRST, SECOND = f"{NAME}/1", f"{NAME}/2"
ROOT = b64encode(b"r" * 32).decode()
OTHER_ROOT = b64encode(b"s" * 32).decode()


def vkey(origin: str = FIRST, key: int = 1, algorithm: int = 1, length: int = 32) -> str:
    """Return a verifier key as C2SP signed-note spells it."""
    data = bytes([algorithm]) + bytes([key]) * length
    key_id = hashlib.sha256(f"{origin}\n".encode() + data).digest()[:4].hex()
    return f"{origin}+{key_id}+{b64encode(data).decode()}"

"""Numbers of advisory locks: who acts for a ledger holds one, and another takes over when it lets go."""

from __future__ import annotations

import hashlib


def lock_number(what: str, schema: str) -> int:
    """The lock of those who do `what` for a ledger: 63 bits of a hash, as a lock has a number, no name."""
    digest = hashlib.sha256(f"stud-ledger {what} {schema}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1

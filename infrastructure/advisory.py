"""Numbers of advisory locks: who acts for a ledger holds one, and another takes over when it lets go."""

from __future__ import annotations

import hashlib

import psycopg


def lock_number(what: str, schema: str) -> int:
    """The lock of those who do `what` for a ledger: 63 bits of a hash, as a lock has a number, no name."""
    digest = hashlib.sha256(f"stud-ledger {what} {schema}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def try_lock(connection: psycopg.Connection, what: str, schema: str) -> bool:
    """Take the lock on a connection, which holds it while it lives, unless another has it.

    A connection that has it is granted it once more, and lets all go together. Raises psycopg.Error.
    """
    found = connection.execute("SELECT pg_try_advisory_lock(%s)", [lock_number(what, schema)]).fetchone()
    return found is not None and bool(found[0])

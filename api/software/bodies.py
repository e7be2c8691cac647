"""The software: what requests and answers look like."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from api.shapes import Answer, Body, Note

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 in hex.")]


class LookBody(Body):
    """Nothing has to be said."""


class Manifest(Body):
    """What was looked at: SHA-256 in hex of the program's files, the rule sets, the list of packages.

    `postgres` is that of the database server's binaries, absent where the server is another's.
    """

    code: Sha256
    rulesets: Sha256
    lock: Sha256
    postgres: Sha256 | None = None


class AcceptanceBody(Body):
    """What was found, word for word as it was read: nothing else can be accepted."""

    build: Annotated[str, Field(min_length=1, max_length=128, examples=["stud-ledger/0.4.0"])]
    found: Manifest
    note: Note


class SoftwareAnswer(Answer):
    """What was found last of the software, and what was accepted for its build.

    `changed` names the parts that differ; `halted`: no new round opens.
    """

    halted: bool
    build: str
    found: dict[str, str]
    accepted: dict[str, str]
    changed: list[str]


_FOUND: Final = {
    "code": "8c7f1b8d2f8a0a1d7e9b0e8f6a5c4b3d2e1f00112233445566778899aabbccdd",
    "rulesets": "0f1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778899aabbccddeeff0",
    "lock": "5ac3cb37dd5be61c5be2a6b2dba1d1cbb7ef2bc1ddb0e6d3d3bcd1c8f0b1b3a8",
}
SOFTWARE: Final[dict[str, Any]] = {
    "halted": False,
    "build": "stud-ledger/0.4.0",
    "found": _FOUND,
    "accepted": _FOUND,
    "changed": [],
}
ACCEPTANCE: Final[dict[str, Any]] = {
    "build": "stud-ledger/0.4.0",
    "found": _FOUND,
    "note": "A library was brought up to date on Monday.",
}

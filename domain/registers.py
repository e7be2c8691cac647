"""Small facts that a writer always has in memory: who may approve, what waits for approval, the software.

They follow from the events of the streams ``person-<id>``, ``approval-<id>`` and ``ledger-software-<n>``; the
store keeps them beside the books so that nobody folds those streams again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

SOFTWARE: Final = "software"
"""The register's name."""

Status = Literal["proposed", "approved", "refused", "expired"]


@dataclass(slots=True)
class Person:
    """Somebody an administrator has registered.

    `public_key` checks what only this person can sign: 32 bytes of Ed25519 (RFC 8032 section 5.1.5) in
    base64url without padding. `scopes` is the most that a token of theirs can allow. A person who was revoked
    stays known: neither the id nor the key is ever given to another.
    """

    person_id: str
    public_key: str
    scopes: list[str]
    active: bool = True
    version: int = 1
    registered_at_us: int = 0


@dataclass(slots=True)
class Approval:
    """Something proposed, and what became of it. Times in microseconds since the epoch.

    `effect` is what applying it would have done when it was proposed; `result` what it did. `proposed_by` is
    an actor, a registered person's id where `by_person`; `decided_by` a person's id. Notes are salted hashes.
    """

    approval_id: str
    kind: str
    payload: dict[str, Any]
    payload_sha256: str
    effect: dict[str, Any]
    proposed_by: str
    by_person: bool
    proposed_at_us: int
    expires_at_us: int
    note_sha256: str | None = None
    status: Status = "proposed"
    version: int = 1
    decided_by: str | None = None
    decided_at_us: int | None = None
    decision_note_sha256: str | None = None
    result: dict[str, Any] | None = None


@dataclass(slots=True)
class SoftwareState:
    """What is known of the software. `halted`: no new round opens until it is what was accepted.

    `accepted` maps a build to what was accepted of it, the latest last: what was hashed to its SHA-256 (hex).
    `found` is what was looked at last, and its build; empty where nothing was.
    """

    halted: bool = False
    accepted: dict[str, dict[str, str]] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)

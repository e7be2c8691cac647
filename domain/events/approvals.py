"""What takes two people: something is proposed, and another person approves or refuses it.

Who may approve is registered: a person holds a private key of their own, the ledger its public half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ActionProposed:
    """Something was proposed; nothing of it has happened yet.

    `payload` says what, in the terms of its `kind`; `payload_sha256` is the hash of its canonical JSON
    (`domain.canonical`). `effect` is what a dry run came to. `by_person`: `proposed_by` is a registered
    person, and else the name a service token was made for. `expires_at` is RFC 3339, UTC.
    """

    approval_id: str
    kind: str
    payload: dict[str, Any]
    payload_sha256: str
    effect: dict[str, Any]
    proposed_by: str
    by_person: bool
    expires_at: str
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class ActionApproved:
    """A person who did not propose it approved; what follows in the same command is its effect.

    `payload_sha256` is of what is carried out, `effect` what the dry run just before came to.
    """

    approval_id: str
    kind: str
    payload_sha256: str
    effect: dict[str, Any]
    proposed_by: str
    approved_by: str
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class ActionRefused:
    """A person said no, perhaps the one who had proposed it: it will not happen."""

    approval_id: str
    refused_by: str
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class ActionExpired:
    """Nobody approved in time: it will not happen. Recorded with the next proposal."""

    approval_id: str


@dataclass(frozen=True, slots=True)
class PersonRegistered:
    """Somebody may approve. `public_key`: 32 bytes of Ed25519 in base64url; `scopes` are in order.

    Where it took two: who proposed and who approved it, by which approval.
    """

    person_id: str
    public_key: str
    scopes: tuple[str, ...]
    approval_id: str | None = None
    proposed_by: str | None = None
    approved_by: str | None = None
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class PersonRevoked:
    """From now on nothing signed with the person's key is taken."""

    person_id: str
    approval_id: str | None = None
    proposed_by: str | None = None
    approved_by: str | None = None
    note_sha256: str | None = None

"""People: what requests and answers look like."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from typing import Annotated, Any, Final, Literal

from fastapi import Path
from pydantic import AfterValidator, Field

from api.shapes import ID_PATTERN, Answer, Body, Note

# The last of 43 characters carries four bits: with these there is one spelling of every key.
PUBLIC_KEY_PATTERN: Final = r"^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$"

_FIELD: Final = 2**255 - 19
_ORDER_EIGHT: Final = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
_WEAK_Y: Final = frozenset((0, 1, _FIELD - 1, _ORDER_EIGHT, _FIELD - _ORDER_EIGHT))
"""The points of order 1, 2, 4 and 8 (RFC 8032 section 5.1): under such a key anybody can sign anything."""

Scope = Literal["play", "cashier", "admin", "reports", "audit", "disputes", "disputes:approve"]


def strong_key(public_key: str) -> str:
    """Return a public key; raise ValueError for one whose signatures prove nothing."""
    number = int.from_bytes(urlsafe_b64decode(public_key + "="), "little")
    if (number & (2**255 - 1)) % _FIELD in _WEAK_Y:
        raise ValueError("must not be a point of small order")
    return public_key


PersonId = Annotated[
    str, Field(pattern=ID_PATTERN, description="Who it is; for ever theirs.", examples=["maria"])
]
PublicKey = Annotated[
    str,
    Field(
        pattern=PUBLIC_KEY_PATTERN,
        description="Ed25519, 32 bytes in base64url: `scripts/token --new-person` prints it.",
        examples=["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"],
    ),
    AfterValidator(strong_key),
]
PersonPath = Annotated[str, Path(pattern=ID_PATTERN, description="The person.", examples=["maria"])]


class PersonBody(Body):
    """Somebody who may approve."""

    person_id: PersonId
    public_key: PublicKey
    scopes: Annotated[
        list[Scope], Field(min_length=1, max_length=16, description="The most their tokens can allow.")
    ]
    note: Note | None = None


class RevokeBody(Body):
    """Why somebody is one no longer."""

    note: Note | None = None


class PersonAnswer(Answer):
    """A person; or, from two administrators on, the proposal that waits for another's approval."""

    person_id: str | None = None
    public_key: str | None = None
    scopes: list[str] | None = None
    active: bool | None = None
    registered_at: str | None = None
    approval_id: str | None = None
    status: str | None = None


class PeopleAnswer(Answer):
    """A page of people."""

    items: list[PersonAnswer]


PERSON: Final[dict[str, Any]] = {
    "person_id": "maria",
    "public_key": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    "scopes": ["admin", "disputes:approve"],
    "active": True,
    "registered_at": "2026-11-30T09:15:00.000000Z",
}

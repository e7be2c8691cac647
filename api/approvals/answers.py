"""Approvals: what requests and answers look like."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import Path
from pydantic import Field

from api.shapes import ID_PATTERN, Answer, Body, Note
from domain.registers import Status

ApprovalPath = Annotated[
    str, Path(pattern=ID_PATTERN, description="The approval.", examples=["1K1E6P6HCWMV45MKRW"])
]


class DecisionBody(Body):
    """What a person decides on somebody else's proposal; to refuse their own is open to them too."""

    decision: Literal["approve", "refuse"]
    note: Note | None = None
    payload_sha256: Annotated[
        str | None,
        Field(
            pattern=r"^[0-9a-f]{64}$",
            description="The proposal's, as it was read: nothing else is approved then.",
        ),
    ] = None


class Refusal(Answer):
    """Why it cannot be done now."""

    code: str
    detail: str


class ApprovalAnswer(Answer):
    """Something proposed, and what became of it.

    `payload` says what, in the terms of its `kind`. `effect` is what it would have done when it was
    proposed, `effect_now` what it would do now; or `impossible_now` says why it cannot be done. `result` is
    what it did.
    """

    approval_id: str
    kind: str
    status: Status
    payload: dict[str, Any]
    payload_sha256: str
    effect: dict[str, Any]
    proposed_by: str
    by_person: bool
    proposed_at: str
    expires_at: str
    note: str | None = None
    effect_now: dict[str, Any] | None = None
    impossible_now: Refusal | None = None
    decided_by: str | None = None
    decided_at: str | None = None
    decision_note: str | None = None
    result: dict[str, Any] | None = None


class ApprovalsAnswer(Answer):
    """A page of approvals."""

    items: list[ApprovalAnswer]


PROPOSED: Final[dict[str, Any]] = {
    "approval_id": "1K1E6P6HCWMV45MKRW",
    "kind": "person_revocation",
    "status": "proposed",
    "payload": {"person_id": "maria"},
    "payload_sha256": "d3c0f1c8699d6f5a1ce6c841ebbfb0369b432a35ccac1bb007a7ade05d64d221",
    "effect": {"person_id": "maria", "scopes": ["admin"], "active": False},
    "proposed_by": "operator",
    "by_person": False,
    "proposed_at": "2026-11-30T09:15:00.000000Z",
    "expires_at": "2026-12-07T09:15:00.000000Z",
}
APPROVED: Final[dict[str, Any]] = {
    **PROPOSED,
    "status": "approved",
    "decided_by": "jan",
    "decided_at": "2026-11-30T11:40:00.000000Z",
    "result": {"person_id": "maria", "active": False},
}

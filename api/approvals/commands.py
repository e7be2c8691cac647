"""Deciding on what was proposed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body

from api import openapi
from api.approvals.answers import APPROVED, ApprovalAnswer, ApprovalPath, DecisionBody
from api.auth import APPROVE, scopes
from api.writing import WithNote, WriteRoute
from domain import commands as c

router = APIRouter(route_class=WriteRoute, tags=["approvals"])

_OF_ACTIONS = (
    "jackpot_not_found",
    "jackpot_enabled",
    "jackpot_retired",
    "jackpot_unsettled",
    "currency_mismatch",
    "account_class_mismatch",
    "amount_out_of_range",
    "person_exists",
    "person_not_found",
)
"""Why an action may not be possible any more."""


@router.post(
    "/v1/approvals/{approval_id}",
    summary="Approve or refuse",
    response_model=ApprovalAnswer,
    dependencies=[scopes(APPROVE)],
    responses=openapi.write_problems(
        "approval_not_found", "approval_closed", "approval_expired", "same_person", *_OF_ACTIONS
    ),
    openapi_extra=openapi.write(
        APPROVED, {"decision": "approve"}, {"decision": "refuse", "note": "Why now?"}
    ),
)
def decide(
    approval_id: ApprovalPath, body: Annotated[DecisionBody, Body()]
) -> c.Approve | c.Refuse | WithNote:
    """Approve what another has proposed, and it is done; or refuse it, and it never is.

    Takes a registered person's own token, with the scope that the action asks for. What is no longer possible
    is answered with the reason, and the proposal stays open.
    """
    command: c.Approve | c.Refuse
    if body.decision == "approve":
        command = c.Approve(approval_id, payload_sha256=body.payload_sha256)
    else:
        command = c.Refuse(approval_id)
    return command if body.note is None else WithNote(command, body.note)

"""Reading what was proposed and what became of it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api import openapi
from api.approvals.answers import PROPOSED, ApprovalAnswer, ApprovalPath, ApprovalsAnswer
from api.auth import SEE_APPROVALS, reader, scopes
from api.composition import Service
from api.paging import PAGE_MAX, Cursor, Fresh, answer, key_of, page
from api.problems import Problem
from api.tokens import Token
from domain.approvals import approval_answer, dry_run, is_expired
from domain.registers import Approval, Status
from domain.rejections import Rejection
from infrastructure.reading import AFTER_ALL_ROUNDS, Reading

LOOKED_AT_MAX: Final = 400
"""Of how many proposals a page takes those with the status that was asked for."""

router = APIRouter(tags=["approvals"])

_Caller = Annotated[Token, Depends(reader(SEE_APPROVALS))]
_Status = Annotated[Status | None, Query(description="Only those with this status.")]


@router.get(
    "/v1/approvals",
    summary="What was proposed",
    response_model=ApprovalsAnswer,
    dependencies=[scopes(SEE_APPROVALS)],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read({"items": [PROPOSED]}),
)
async def read_approvals(
    request: Request, _: _Caller, reading: Fresh, status: _Status = None, cursor: Cursor = None
) -> Response:
    """Proposals, the newest first. With a status a page may be short, even empty, where others follow."""
    limit = PAGE_MAX if status is None else LOOKED_AT_MAX
    before = key_of(cursor, AFTER_ALL_ROUNDS)
    found = await reading.registers.approvals(before, limit + 1, only_open=status == "proposed")
    now_us = _service(request).clock()
    items: list[dict[str, Any]] = []
    looked_at = 0
    for approval in found[:limit]:
        if len(items) == PAGE_MAX:
            break
        looked_at += 1
        if status in (None, _status(approval, now_us)):
            items.append(_shown(approval, now_us))
    return page(
        request, {"items": items}, found[looked_at - 1].approval_id if looked_at < len(found) else None
    )


@router.get(
    "/v1/approvals/{approval_id}",
    summary="A proposal",
    response_model=ApprovalAnswer,
    dependencies=[scopes(SEE_APPROVALS)],
    responses=openapi.problems("approval_not_found", "validation_failed"),
    openapi_extra=openapi.read({**PROPOSED, "note": "Left the house.", "effect_now": PROPOSED["effect"]}),
)
async def read_approval(request: Request, _: _Caller, reading: Fresh, approval_id: ApprovalPath) -> Response:
    """The proposal with its reason; while it is open, with what approving would do now, or why it cannot."""
    approval = await reading.registers.approval(approval_id)
    if approval is None:
        raise Problem("approval_not_found", f"There is no approval {approval_id}.")
    now_us = _service(request).clock()
    told = _shown(approval, now_us) | await _notes(reading, approval)
    if told["status"] == "proposed":
        told |= await _now(reading, approval, now_us)
    return answer(told)


async def _notes(reading: Reading, approval: Approval) -> dict[str, str]:
    """The texts of which the approval has the hashes, where they were not erased."""
    hashes = {"note": approval.note_sha256, "decision_note": approval.decision_note_sha256}
    texts = {name: await reading.note(sha256) for name, sha256 in hashes.items() if sha256 is not None}
    return {name: text for name, text in texts.items() if text is not None}


async def _now(reading: Reading, approval: Approval, now_us: int) -> dict[str, Any]:
    """What approving would come to now: in a thread, for it reads much and computes."""
    standing = await reading.standing()

    def tried() -> dict[str, Any]:
        try:
            return {"effect_now": dry_run(approval, standing.books(now_us))}
        except Rejection as rejection:
            why = {"code": rejection.code, "detail": rejection.detail, **rejection.extra}
            return {"impossible_now": why}

    return await asyncio.to_thread(tried)


def _shown(approval: Approval, now_us: int) -> dict[str, Any]:
    return {**approval_answer(approval), "status": _status(approval, now_us)}


def _status(approval: Approval, now_us: int) -> Status:
    """What the approval is: one that has expired is only recorded as such with the next proposal."""
    return "expired" if is_expired(approval, now_us) else approval.status


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service

"""Looking at the software now, and proposing to accept what was found."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter
from fastapi import Body as InBody

from api import openapi
from api.approvals.answers import PROPOSED, ApprovalAnswer
from api.approvals.proposing import propose
from api.auth import ADMIN, scopes
from api.software.bodies import ACCEPTANCE, SOFTWARE, AcceptanceBody, LookBody, SoftwareAnswer
from api.writing import Later, WithNote, WriteRoute
from domain import commands as c
from domain.software import ACCEPTANCE as ACTION

if TYPE_CHECKING:
    from api.composition import Service

router = APIRouter(route_class=WriteRoute, tags=["service"])


@router.post(
    "/v1/software/checks",
    status_code=201,
    summary="Look at the software now",
    response_model=SoftwareAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems(),
    openapi_extra=openapi.write(SOFTWARE, {}, status=201),
)
def look(body: Annotated[LookBody, InBody()]) -> Later:
    """Hash the files and record what they are. Where they are not what was accepted, no new round opens."""
    del body
    return Later(_look)


async def _look(service: Service) -> c.Command:
    return await asyncio.to_thread(service.software.look, "demand")


@router.post(
    "/v1/software/acceptances",
    status_code=201,
    summary="Propose to accept the software that was found",
    response_model=ApprovalAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems("approvals_full"),
    openapi_extra=openapi.write({**PROPOSED, "kind": ACTION}, ACCEPTANCE, status=201),
)
def accept(body: Annotated[AcceptanceBody, InBody()]) -> c.Propose | WithNote:
    """Propose that what was found last is what is accepted from now on; another person approves."""
    return propose(ACTION, {"build": body.build, **body.found.model_dump()}, body.note)

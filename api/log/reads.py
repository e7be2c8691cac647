"""What is known of the evidence log."""

from __future__ import annotations

from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api import openapi
from api.auth import SEE_SOFTWARE, reader, scopes
from api.log.bodies import LOG, LogAnswer
from api.paging import Fresh
from api.tokens import Token
from domain.evidence_log import log_view

router = APIRouter(tags=["evidence log"])

_Caller = Annotated[Token, Depends(reader(SEE_SOFTWARE))]


@router.get(
    "/v1/log",
    summary="The evidence log, and whether the ledger is halted because of it",
    response_model=LogAnswer,
    dependencies=[scopes(SEE_SOFTWARE)],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read(LOG),
)
async def read_log(request: Request, _: _Caller, reading: Fresh) -> Response:
    """Its name, its keys and its newest checkpoint; and what to do where ledger and log do not agree."""
    state = await reading.registers.log()
    view = log_view(state)
    if (checkpoint := request.app.state.service.checkpoint(state.generation)) is not None:
        view["checkpoint"] = checkpoint
    return Response(orjson.dumps(view), media_type="application/json")

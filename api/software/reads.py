"""What is known of the software."""

from __future__ import annotations

from typing import Annotated

import orjson
from fastapi import APIRouter, Depends
from starlette.responses import Response

from api import openapi
from api.auth import SEE_SOFTWARE, reader, scopes
from api.paging import Fresh
from api.software.bodies import SOFTWARE, SoftwareAnswer
from api.tokens import Token
from domain.software import software_view

router = APIRouter(tags=["service"])

_Caller = Annotated[Token, Depends(reader(SEE_SOFTWARE))]


@router.get(
    "/v1/software",
    summary="What the software is, and whether it may open rounds",
    response_model=SoftwareAnswer,
    dependencies=[scopes(SEE_SOFTWARE)],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read(SOFTWARE),
)
async def read_software(_: _Caller, reading: Fresh) -> Response:
    """What was found when the software was last looked at, and what was accepted."""
    view = software_view(await reading.software())
    return Response(orjson.dumps(view), media_type="application/json")

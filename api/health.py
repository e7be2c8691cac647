"""Whether the service lives, and whether it can be given work."""

from __future__ import annotations

from typing import Any, Final

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response

from api import openapi
from api.composition import Service
from api.problems import overloaded

router = APIRouter(tags=["service"])

_OK: Final = orjson.dumps({"status": "ok"})
_EXAMPLE: Final[dict[str, Any]] = {"status": "ok"}


@router.get("/healthz", summary="The process is up", openapi_extra=openapi.read(_EXAMPLE))
async def healthz() -> Response:
    """Answer: that is the statement."""
    return Response(_OK, media_type="application/json")


@router.get(
    "/readyz",
    summary="The service can be given work",
    responses={503: openapi.problems()[503]},
    openapi_extra=openapi.read(_EXAMPLE),
)
async def readyz(request: Request) -> Response:
    """The database can be reached, its schema was right at the start, and the threads live; else 503."""
    service: Service | None = getattr(request.app.state, "service", None)
    if service is None or not service.started:
        raise overloaded("The service is starting or stopping.")
    if not service.writer.alive:
        raise overloaded("The writer has ended.")
    if not service.jobs.alive:
        raise overloaded("The thread for time-outs has ended.")
    if service.projections is not None and not service.projections.alive:
        raise overloaded("The thread for projections has ended.")
    await service.reading.position()
    return Response(_OK, media_type="application/json")

"""Reading a jackpot, once or as it grows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Final

import orjson
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response, StreamingResponse

from api import openapi
from api.auth import SEE_TABLES, reader, scopes
from api.composition import Service
from api.jackpots.commands import JACKPOT, JackpotAnswer
from api.paging import Fresh, answer
from api.problems import Problem, overloaded
from api.shapes import JackpotPath
from api.tokens import Token
from domain.houses import jackpot_answer
from domain.jackpots import Jackpot
from infrastructure.reading import Reading, ReadingUnavailable

STREAMS_MAX: Final = 64
LOOK_SECONDS: Final = 0.5
SILENCE_SECONDS_MAX: Final = 15.0
STREAM_SECONDS_MAX: Final = 600.0

router = APIRouter(tags=["jackpots"])

_Caller = Annotated[Token, Depends(reader(SEE_TABLES))]


@router.get(
    "/v1/jackpots/{jackpot_id}",
    summary="A jackpot",
    response_model=JackpotAnswer,
    dependencies=[scopes(SEE_TABLES)],
    responses=openapi.problems("jackpot_not_found", "validation_failed"),
    openapi_extra=openapi.read(JACKPOT),
)
async def read_jackpot(_: _Caller, reading: Fresh, jackpot_id: JackpotPath) -> Response:
    """The jackpot as of the last command. `meter` is rounded down to the minor unit, `meter_exact` is not."""
    return answer(jackpot_answer(await _jackpot(reading, jackpot_id)))


@router.get(
    "/v1/jackpots/{jackpot_id}/meter",
    summary="The meter as it grows",
    response_class=StreamingResponse,
    dependencies=[scopes(SEE_TABLES)],
    responses={
        200: {"content": {"text/event-stream": {"example": 'event: meter\ndata: {"meter":1000070}\n\n'}}},
        **openapi.problems("jackpot_not_found", "validation_failed"),
    },
)
async def watch_meter(request: Request, _: _Caller, reading: Fresh, jackpot_id: JackpotPath) -> Response:
    """Server-sent events: the jackpot at once, then whenever its meter has moved.

    A stream ends after ten minutes; browsers come back by themselves. A process holds a bounded number.
    """
    service: Service = request.app.state.service
    jackpot = await _jackpot(reading, jackpot_id)
    if service.meter_streams >= STREAMS_MAX:
        raise overloaded(f"{STREAMS_MAX} meters are being watched here already.")
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(
        _meter(request, service, jackpot), headers=headers, media_type="text/event-stream"
    )


async def _meter(request: Request, service: Service, jackpot: Jackpot) -> AsyncIterator[bytes]:
    """The events of one stream."""
    service.meter_streams += 1
    try:
        end = time.monotonic() + STREAM_SECONDS_MAX
        told: Jackpot | None = None
        told_at = 0.0
        now = time.monotonic()
        while now < end and service.started and not await request.is_disconnected():
            if told is None or jackpot.meter != told.meter or jackpot.enabled != told.enabled:
                told, told_at = jackpot, now
                yield b"event: meter\ndata: " + orjson.dumps(jackpot_answer(jackpot)) + b"\n\n"
            elif now - told_at > SILENCE_SECONDS_MAX:
                told_at = now
                yield b": still here\n\n"
            await asyncio.sleep(LOOK_SECONDS)
            jackpot = await service.reading.jackpot(jackpot.jackpot_id) or jackpot
            now = time.monotonic()
    except ReadingUnavailable:
        return  # the stream ends; who listens comes back
    finally:
        service.meter_streams -= 1


async def _jackpot(reading: Reading, jackpot_id: str) -> Jackpot:
    jackpot = await reading.jackpot(jackpot_id)
    if jackpot is None:
        raise Problem("jackpot_not_found", f"There is no jackpot {jackpot_id}.")
    return jackpot

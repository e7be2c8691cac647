"""Reading a jackpot, once or as it grows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response, StreamingResponse

from api import openapi
from api.auth import SEE_TABLES, reader, scopes
from api.composition import Service
from api.jackpots.bodies import JACKPOT, JackpotAnswer, JackpotThenAnswer
from api.paging import Fresh, answer
from api.problems import Problem, overloaded
from api.shapes import JackpotPath
from api.times import Moment, Position, asked, then
from api.tokens import Token
from domain.accounts import account_name
from domain.events import AccountClass
from domain.houses import jackpot_answer
from domain.jackpots import Jackpot
from domain.money import exact_text, floor_minor
from domain.postings import DIVERSION, OVERFLOW
from domain.postings import JACKPOT as JACKPOT_METER
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
    response_model=JackpotAnswer | JackpotThenAnswer,
    dependencies=[scopes(SEE_TABLES)],
    responses=openapi.problems("jackpot_not_found", "validation_failed"),
    openapi_extra=openapi.read(JACKPOT),
)
async def read_jackpot(
    _: _Caller, reading: Fresh, jackpot_id: JackpotPath, at: Moment = None, position: Position = None
) -> Response:
    """The jackpot as of the last command. `meter` is rounded down to the minor unit, `meter_exact` is not.

    As of a moment or a position it is told what its pools held then, and nothing else.
    """
    jackpot = await _jackpot(reading, jackpot_id)
    past = await then(reading, at, position)
    if past is None:
        return answer(jackpot_answer(jackpot))
    accounts = {each.account: each.balance for each in await asked(reading.then.trial_balance, past)}
    return answer(_pools_then(jackpot, past, accounts))


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


def _pools_then(jackpot: Jackpot, position: int, accounts: dict[str, int]) -> dict[str, Any]:
    """What a jackpot's pools held. Raises Problem jackpot_not_found where it was not open yet."""
    name = jackpot.jackpot_id
    account_class: AccountClass = "test" if jackpot.account_class == "test" else "real"
    meter, overflow, diversion = (
        accounts.get(account_name(kind, name, account_class=account_class))
        for kind in (JACKPOT_METER, OVERFLOW, DIVERSION)
    )
    if meter is None:
        raise Problem("jackpot_not_found", f"There was no jackpot {name} at position {position}.")
    return {
        "jackpot_id": name,
        "currency": jackpot.currency,
        "account_class": jackpot.account_class,
        "position": position,
        "meter": floor_minor(meter),
        "meter_exact": exact_text(meter),
        "overflow_exact": exact_text(overflow or 0),
        "diversion_exact": exact_text(diversion or 0),
    }


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

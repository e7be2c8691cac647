"""Jackpots: what is done at once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body

from api import openapi
from api.auth import ADMIN, scopes
from api.jackpots.bodies import JACKPOT, JackpotAnswer, JackpotBody, WhyBody
from api.shapes import JackpotPath
from api.writing import WithNote, WriteRoute
from domain import commands as c

router = APIRouter(route_class=WriteRoute, tags=["jackpots"])


@router.post(
    "/v1/jackpots",
    status_code=201,
    summary="Open a jackpot",
    response_model=JackpotAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems("jackpot_exists", "amount_out_of_range"),
    openapi_extra=openapi.write(
        {**JACKPOT, "meter": 1_000_000, "meter_exact": "1000000"},
        {"jackpot_id": "jackpot-1", "currency": "USD", "reset": 1_000_000, "contribution": "0.70"},
        status=201,
    ),
)
def open_jackpot(body: Annotated[JackpotBody, Body()]) -> c.Command:
    """Open a progressive jackpot at its reset, which the house pays in."""
    return c.OpenJackpot(
        body.jackpot_id,
        body.currency,
        body.reset,
        body.contribution,
        body.account_class,
        body.ceiling,
        body.diversion,
    )


@router.post(
    "/v1/jackpots/{jackpot_id}/disable",
    summary="Take no bets on a jackpot",
    response_model=JackpotAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems("jackpot_not_found", "jackpot_retired"),
    openapi_extra=openapi.write({**JACKPOT, "enabled": False}, {"note": "The display shows another amount."}),
)
def disable_jackpot(jackpot_id: JackpotPath, body: Annotated[WhyBody, Body()]) -> WithNote:
    """Take no side bet, so that nothing grows. What is staked already is played out and paid."""
    return WithNote(c.DisableJackpot(jackpot_id), body.note)


@router.post(
    "/v1/jackpots/{jackpot_id}/enable",
    summary="Take bets on a jackpot again",
    response_model=JackpotAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems("jackpot_not_found", "jackpot_retired"),
    openapi_extra=openapi.write(JACKPOT, {"note": "The display is right again."}),
)
def enable_jackpot(jackpot_id: JackpotPath, body: Annotated[WhyBody, Body()]) -> WithNote:
    """Take side bets again; the jackpot goes on as it was."""
    return WithNote(c.EnableJackpot(jackpot_id), body.note)

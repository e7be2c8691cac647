"""Opening a jackpot."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter
from fastapi import Body as InBody
from pydantic import Field

from api import openapi
from api.auth import ADMIN, scopes
from api.shapes import AccountClass, AmountOrZero, Answer, Body, Currency, JackpotId
from api.writing import WriteRoute
from domain import commands as c

router = APIRouter(route_class=WriteRoute, tags=["jackpots"])


class JackpotBody(Body):
    """A new jackpot. What hands win, and the stake, come from the rule set of the table."""

    jackpot_id: JackpotId
    currency: Currency
    reset: AmountOrZero
    contribution: Annotated[
        str,
        Field(
            pattern=r"^[01](\.[0-9]{1,4})?$",
            description="The share of each side bet that goes to the meter, with at most four decimals.",
            examples=["0.70"],
        ),
    ]
    account_class: AccountClass = "real"


class JackpotAnswer(Answer):
    """A jackpot in minor units: `meter` rounded down, `meter_exact` as decimal text."""

    jackpot_id: str
    currency: str
    account_class: AccountClass
    meter: int
    meter_exact: str
    contribution: str
    reset: int
    enabled: bool


JACKPOT: Final[dict[str, Any]] = {
    "jackpot_id": "jackpot-1",
    "currency": "USD",
    "account_class": "real",
    "meter": 1_000_070,
    "meter_exact": "1000070.5",
    "contribution": "0.70",
    "reset": 1_000_000,
    "enabled": True,
}


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
def open_jackpot(body: Annotated[JackpotBody, InBody()]) -> c.Command:
    """Open a progressive jackpot at its reset, which the house pays in."""
    return c.OpenJackpot(body.jackpot_id, body.currency, body.reset, body.contribution, body.account_class)

"""Jackpots: what requests and answers look like."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from api.shapes import AccountClass, AmountOrZero, Answer, Body, Currency, JackpotId, Note
from domain.events import Pool
from domain.money import BALANCE_MAX

Contribution = Annotated[
    str,
    Field(
        pattern=r"^[01](\.[0-9]{1,4})?$",
        description="The share of each side bet that goes to the meter, with at most four decimals.",
        examples=["0.70"],
    ),
]
Diversion = Annotated[
    str,
    Field(
        pattern=r"^[01](\.[0-9]{1,4})?$",
        description="The share of each side bet that is put aside for the next restart, beside the "
        "contribution; the two are at most 1 together.",
        examples=["0.05"],
    ),
]
Ceiling = Annotated[
    int,
    Field(
        ge=1,
        le=BALANCE_MAX,
        description="Minor units. What a meter there cannot take waits for its next restart.",
        examples=[250_000_000],
    ),
]


class JackpotBody(Body):
    """A new jackpot. What hands win, and the stake, come from the rule set of the table."""

    jackpot_id: JackpotId
    currency: Currency
    reset: AmountOrZero
    contribution: Contribution
    account_class: AccountClass = "real"
    ceiling: Ceiling | None = None
    diversion: Diversion | None = None


class WhyBody(Body):
    """Why the jackpot is disabled, or enabled again."""

    note: Note


class ParametersBody(Body):
    """What is to be in force once the meter has been won."""

    contribution: Contribution
    reset: AmountOrZero
    ceiling: Ceiling | None = None
    diversion: Diversion | None = None
    note: Note


class TransferBody(Body):
    """Which jackpot is to get all that this one holds."""

    to: JackpotId
    note: Note


class AdjustmentBody(Body):
    """By how much a pool is to be put right."""

    pool: Pool = "meter"
    amount: Annotated[
        int, Field(description="Minor units, negative to take out of the pool.", examples=[-1_250])
    ]
    reason: Note


class ParametersAnswer(Answer):
    """Parameters by their number and the SHA-256 of their document."""

    version: int
    sha256: str
    contribution: str
    reset: int
    ceiling: int | None = None
    diversion: str | None = None


class JackpotAnswer(Answer):
    """A jackpot in minor units: `meter` rounded down, `meter_exact` as decimal text.

    `overflow_exact` was contributed while the meter stood at its ceiling, `diversion_exact` was put aside;
    both wait for the next restart. `scheduled` is in force once the meter has been won. One that is `retired`
    never takes a bet again.
    """

    jackpot_id: str
    currency: str
    account_class: AccountClass
    meter: int
    meter_exact: str
    contribution: str
    reset: int
    enabled: bool
    retired: bool
    overflow_exact: str
    diversion_exact: str
    parameters_version: int
    ceiling: int | None = None
    diversion: str | None = None
    scheduled: ParametersAnswer | None = None


class JackpotThenAnswer(Answer):
    """What a jackpot's pools held as of a position, minor units."""

    jackpot_id: str
    currency: str
    account_class: AccountClass
    position: int
    meter: int
    meter_exact: str
    overflow_exact: str
    diversion_exact: str


JACKPOT: Final[dict[str, Any]] = {
    "jackpot_id": "jackpot-1",
    "currency": "USD",
    "account_class": "real",
    "meter": 1_000_070,
    "meter_exact": "1000070.5",
    "contribution": "0.70",
    "reset": 1_000_000,
    "enabled": True,
    "retired": False,
    "overflow_exact": "0",
    "diversion_exact": "0",
    "parameters_version": 1,
}

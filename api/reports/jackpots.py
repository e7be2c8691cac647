"""The roll-forward of jackpots: opening, movements, closing amount, for each pool (ES; GLI-19 2.8.7)."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from psycopg.rows import DictRow
from starlette.responses import Response

from api import openapi
from api.paging import Cursor, Fresh, MinPosition, answer, key_of, page, projected
from api.problems import Problem, validation_failed
from api.reports.shapes import REPORT_SCOPES, Caller, ReportAnswer, exact, report
from api.shapes import Answer, JackpotPath
from api.times import FirstDay, LastDay, require_days
from domain.jackpots import Jackpot
from infrastructure.projections.jackpot_days import DIVERSION_POOL, METER_POOL, OUTGOING, OVERFLOW_POOL
from infrastructure.reading import Reading

router = APIRouter(tags=["reports"])

JACKPOTS_A_PAGE: Final = 20
DAYS_OF_ALL_MAX: Final = 400
"""Of how many days a page of jackpots is told day by day: a year, and some."""
Every = Annotated[
    Literal["day", "month"], Query(description="How long the intervals of the roll-forward are.")
]

_POOLS: Final = {
    "meter": (METER_POOL, "meter_net"),
    "overflow": (OVERFLOW_POOL, "overflow_net"),
    "diversion": (DIVERSION_POOL, "diversion_net"),
}
_DAY_CHARACTERS: Final = {"day": 10, "month": 7}


class PoolMovements(Answer):
    """One pool over an interval, decimal text of minor units: `opening`, each movement signed, `closing`."""

    opening: str
    closing: str


class JackpotInterval(Answer):
    """One interval in which something moved; its closing amounts are the next one's opening amounts."""

    interval: str
    hits: int
    paid: str
    paid_by_house: str
    meter: PoolMovements
    overflow: PoolMovements
    diversion: PoolMovements


class RollForward(Answer):
    """A jackpot's roll-forward."""

    jackpot_id: str
    currency: str
    account_class: str
    intervals: list[JackpotInterval]


class RollForwardAnswer(ReportAnswer):
    """One jackpot's roll-forward over UTC dates."""

    items: list[RollForward]


class JackpotsAnswer(RollForwardAnswer):
    """A page of all jackpots' roll-forwards."""

    next_cursor: str | None = None


_POOL: Final = {"opening": "0", "closing": "0"}
_INTERVAL: Final[dict[str, Any]] = {
    "interval": "2026-11-29",
    "hits": 1,
    "paid": "50000",
    "paid_by_house": "0",
    "meter": {
        "opening": "1000000",
        "contributions": "70.5",
        "awards": "-50000",
        "closing": "950070.5",
    },
    "overflow": _POOL,
    "diversion": _POOL,
}
_REPORT: Final[dict[str, Any]] = {
    "title": "Jackpot roll-forward",
    "from": "2026-11-29",
    "to": "2026-11-29",
    "generated_at": "2026-11-30T06:00:00.000000Z",
    "no_activity": False,
    "items": [
        {"jackpot_id": "jackpot-1", "currency": "USD", "account_class": "real", "intervals": [_INTERVAL]}
    ],
}


@router.get(
    "/v1/jackpots/{jackpot_id}/roll-forward",
    summary="A jackpot's roll-forward",
    response_model=RollForwardAnswer,
    dependencies=[REPORT_SCOPES],
    responses=openapi.problems("jackpot_not_found", "validation_failed"),
    openapi_extra=openapi.read(_REPORT),
)
async def read_roll_forward(
    _: Caller,
    reading: Fresh,
    jackpot_id: JackpotPath,
    first: FirstDay,
    last: LastDay,
    every: Every = "day",
    min_position: MinPosition = None,
) -> Response:
    """By UTC date: opening, what moved, closing, for the meter, the overflow and the diversion pool.

    Intervals in which nothing moved are left out.
    """
    require_days(first, last)
    jackpot = await reading.jackpot(jackpot_id)
    if jackpot is None:
        raise Problem("jackpot_not_found", f"There is no jackpot {jackpot_id}.")
    await projected(reading, min_position, "jackpot_days")
    found = await _roll_forward(reading, jackpot, first, last, every)
    value = report("Jackpot roll-forward", [found], **{"from": first, "to": last})
    return answer({**value, "no_activity": not found["intervals"]})


@router.get(
    "/v1/reports/jackpots",
    summary="All jackpots' roll-forwards",
    response_model=JackpotsAnswer,
    dependencies=[REPORT_SCOPES],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read(_REPORT),
)
async def read_jackpots(
    request: Request,
    _: Caller,
    reading: Fresh,
    first: FirstDay,
    last: LastDay,
    every: Every = "day",
    min_position: MinPosition = None,
    cursor: Cursor = None,
) -> Response:
    """A page of jackpots in the order of their ids, each with its intervals; 400 days at most by day."""
    require_days(first, last)
    if every == "day" and (last - first).days >= DAYS_OF_ALL_MAX:
        detail = f"day by day they are told of {DAYS_OF_ALL_MAX} days at once: ask by month"
        raise validation_failed([{"pointer": "/every", "detail": detail}])
    await projected(reading, min_position, "jackpot_days")
    jackpots = await reading.jackpots(key_of(cursor, ""), JACKPOTS_A_PAGE + 1)
    shown = jackpots[:JACKPOTS_A_PAGE]
    items = [await _roll_forward(reading, jackpot, first, last, every) for jackpot in shown]
    value = report("Jackpot roll-forward", items, **{"from": first, "to": last})
    value["no_activity"] = not any(item["intervals"] for item in items)
    return page(request, value, shown[-1].jackpot_id if len(jackpots) > JACKPOTS_A_PAGE else None)


async def _roll_forward(
    reading: Reading, jackpot: Jackpot, first: date, last: date, every: Literal["day", "month"]
) -> dict[str, Any]:
    rows = await reading.models.jackpot_days(
        jackpot.jackpot_id, first.isoformat(), last.isoformat(), _DAY_CHARACTERS[every]
    )
    balances = dict.fromkeys(_POOLS, 0)
    if rows and not rows[0]["part"]:
        before = rows.pop(0)
        balances = {pool: int(before[net]) for pool, (_, net) in _POOLS.items()}
    return {
        "jackpot_id": jackpot.jackpot_id,
        "currency": jackpot.currency,
        "account_class": jackpot.account_class,
        "intervals": [_interval(row, balances) for row in rows],
    }


def _interval(row: DictRow, balances: dict[str, int]) -> dict[str, Any]:
    """One interval; `balances` are the opening amounts before it and the closing ones after."""
    interval: dict[str, Any] = {
        "interval": row["part"],
        "hits": int(row["hits"]),
        "paid": exact(row["paid"]),
        "paid_by_house": exact(row["paid_by_house"]),
    }
    for pool, (figures, net) in _POOLS.items():
        opening = balances[pool]
        balances[pool] += int(row[net])
        signed = {
            figure.removeprefix(f"{pool}_"): exact(-row[figure] if figure in OUTGOING else row[figure])
            for figure in figures
            if row[figure]
        }
        interval[pool] = {"opening": exact(opening), **signed, "closing": exact(balances[pool])}
    return interval

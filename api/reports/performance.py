"""Game performance: what was wagered and won, by game."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from psycopg.rows import DictRow
from starlette.responses import Response

from api import openapi
from api.paging import Fresh, MinPosition, answer, projected
from api.problems import validation_failed
from api.reports import decided
from api.reports.shapes import REPORT_SCOPES, Caller, ReportAnswer, exact, report
from api.shapes import Answer
from api.times import FirstDay, LastDay, require_days, told
from infrastructure.projections.performance import FIGURES
from infrastructure.read_models import GAME, Breakdown

ITEMS_MAX: Final = 5_000

router = APIRouter(tags=["reports"])


class PerformanceItem(Answer):
    """One game over the period, or a part of it. Minor units, `contributions` and `diversions` exact text.

    A round counts where it opened. `handle` is what was wagered on hands that have ended: antes, raises, side
    bets and fees. `ggr` is the handle less what was returned and won, jackpots apart. `unfinished` lies on
    hands that have not ended. `theoretical` is what the main bet of this version should return, absent until
    that has been computed or where it cannot be; `decisions` what the decisions on closed hands were worth,
    which may come a moment later than the rest.
    """

    ruleset_id: str
    ruleset_version: int
    jackpot_id: str | None = None
    jackpot_version: int | None = None
    currency: str
    account_class: str
    gaming_day: str | None = None
    hour: str | None = None
    table_id: str | None = None
    rounds_opened: int
    rounds_finished: int
    rounds_voided: int
    rounds_expired: int
    hands: int
    hands_refunded: int
    antes: int
    raises: int
    side_bets: int
    fees: int
    handle: int
    returned: int
    game_wins: int
    jackpot_wins: int
    refunded: int
    unfinished: int
    contributions: str
    diversions: str
    ggr: int
    theoretical: decided.Theoretical | None = None
    decisions: decided.Decided | None = None


class PerformanceAnswer(ReportAnswer):
    """The report. Test accounts have items of their own."""

    items: list[PerformanceItem]


_ITEM: Final[dict[str, Any]] = {
    "ruleset_id": "us-casino",
    "ruleset_version": 1,
    "jackpot_id": "jackpot-1",
    "jackpot_version": 1,
    "currency": "USD",
    "account_class": "real",
    "gaming_day": "2026-11-29",
    "rounds_opened": 1204,
    "rounds_finished": 1200,
    "rounds_voided": 1,
    "rounds_expired": 2,
    "hands": 1200,
    "hands_refunded": 1,
    "antes": 1_200_000,
    "raises": 1_240_000,
    "side_bets": 90_000,
    "fees": 0,
    "handle": 2_530_000,
    "returned": 1_310_000,
    "game_wins": 1_080_000,
    "jackpot_wins": 40_000,
    "refunded": 1000,
    "unfinished": 1100,
    "contributions": "63000.5",
    "diversions": "0",
    "ggr": 140_000,
    "theoretical": decided.EXAMPLE_OF_THEORY,
    "decisions": decided.EXAMPLE,
}
_REPORT: Final[dict[str, Any]] = {
    "title": "Game performance",
    "from": "2026-11-29",
    "to": "2026-11-29",
    "by": "day",
    "generated_at": "2026-11-30T06:00:00.000000Z",
    "no_activity": False,
    "items": [_ITEM],
}


@router.get(
    "/v1/reports/game-performance",
    summary="What games took and paid",
    response_model=PerformanceAnswer,
    dependencies=[REPORT_SCOPES],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read(_REPORT),
)
async def read_performance(
    _: Caller,
    reading: Fresh,
    first: FirstDay,
    last: LastDay,
    by: Annotated[Breakdown | None, Query(description="What it is broken down by, beside the game.")] = None,
    min_position: MinPosition = None,
) -> Response:
    """By rule-set version, jackpot parameters, currency and class of account, over gaming days.

    Another version of the rules or of the jackpot's parameters is another game (GLI-19 A.6.1).
    """
    require_days(first, last)
    await projected(reading, min_position, "performance")
    days = first.isoformat(), last.isoformat()
    rows = await reading.models.performance(*days, by, ITEMS_MAX + 1)
    if len(rows) > ITEMS_MAX:
        raise validation_failed([{"pointer": "/to", "detail": f"gives more than {ITEMS_MAX} items"}])
    decisions = {_cell(row): row for row in await reading.models.decision_figures(*days, by, ITEMS_MAX + 1)}
    theory = await decided.theories(reading) if rows else {}
    items = []
    for row in rows:
        told = {
            "theoretical": decided.theoretical(theory.get((row["ruleset_id"], row["ruleset_version"]))),
            "decisions": decided.decided(decisions.get(_cell(row))),
        }
        items.append(_item(row) | {name: value for name, value in told.items() if value is not None})
    return answer(report("Game performance", items, **{"from": first, "to": last, "by": by or "game"}))


def _cell(row: DictRow) -> tuple[Any, ...]:
    """What a row is about: the game, and what it is broken down by."""
    return tuple(row.get(name) for name in (*GAME, "gaming_day", "hour_us", "table_id"))


def _item(row: DictRow) -> dict[str, Any]:
    item = {name: row[name] for name in GAME}
    if not item["jackpot_id"]:
        del item["jackpot_id"], item["jackpot_version"]
    if "gaming_day" in row:
        item["gaming_day"] = row["gaming_day"]
    if "hour_us" in row:
        item["hour"] = told(row["hour_us"])
    if "table_id" in row:
        item["table_id"] = row["table_id"]
    item |= {name: row[name] for name in FIGURES}
    item["handle"] = row["antes"] + row["raises"] + row["side_bets"] + row["fees"]
    item["ggr"] = item["handle"] - row["returned"] - row["game_wins"]
    item |= {name: exact(row[name]) for name in ("contributions", "diversions")}
    return item

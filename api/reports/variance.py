"""Variance: expected against recorded, with the reason, and whether chance explains it (GLI-19 2.9).

What was recorded differs from what theory expects for five reasons, and they add up exactly: the cards that
were dealt, what a cap takes, decisions that were not the best, and luck, in the cards drawn and in the
dealer's. The watch over each version's whole life says where luck is no explanation any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, Literal

from fastapi import APIRouter
from psycopg.rows import DictRow
from starlette.responses import Response

from api import openapi
from api.paging import Fresh, MinPosition, answer, projected
from api.problems import validation_failed
from api.reports.decided import Exact, amount, theories
from api.reports.shapes import REPORT_SCOPES, Caller, ReportAnswer, report
from api.shapes import Answer
from api.times import FirstDay, LastDay, require_days
from domain.odds import document
from domain.odds.monitoring import ERROR_RATE, Sums, Theory, monitor, rounds_to_flag
from infrastructure.odds.theory import Expected
from infrastructure.read_models import GAME

ITEMS_MAX: Final = 5_000
DEVIATION: Final = Fraction(1, 100)
"""Of a unit staked: how soon such a deviation would be flagged is told beside each series."""

router = APIRouter(tags=["reports"])


class Reasons(Answer):
    """Why the recorded result is not the expected one, in minor units; together they are the difference.

    `cards`: what the hands as dealt were worth, best played and without a cap, beside what theory expects.
    `cap`: what the table's cap took from that. `decisions` and `forced_decisions`: what players, and the
    clock or an operator, gave up. `luck`: what came after the decisions, and the cards that were drawn.
    """

    cards: Exact
    cap: Exact
    decisions: Exact
    forced_decisions: Exact
    luck: Exact


class VarianceItem(Answer):
    """A game over the period, its main bet on hands with exact odds; amounts in minor units.

    `recorded` is what players won or lost, `expected` what theory expects of their antes, absent where it is
    not known.
    """

    ruleset_id: str
    ruleset_version: int
    jackpot_id: str | None = None
    jackpot_version: int | None = None
    currency: str
    account_class: str
    hands: int
    antes: int
    recorded: int
    expected: Exact | None = None
    reasons: Reasons | None = None


class WatchItem(Answer):
    """What a series of a version has come to in all its life, per unit staked; rounds count alike.

    `game` is the main bet, the cost of decisions and of a cap added; `cards` what hands were worth as dealt;
    beside them side bets whose return no decision changes. `low` to `high` holds the true mean of `actual` at
    every moment of the version's life, but for the error rate. `alarm` says on which side of the theory
    the results are where that is not between these. `rounds_to_flag`: after how many rounds a deviation of a
    hundredth of the stake would be flagged.
    """

    ruleset_id: str
    ruleset_version: int
    account_class: str
    series: str
    rounds: int
    actual: Exact
    theoretical: Exact | None = None
    low: float | None = None
    high: float | None = None
    alarm: Literal["above", "below"] | None = None
    rounds_to_flag: int | None = None


class VarianceAnswer(ReportAnswer):
    """The report: the period's games, and the watch over all versions' lives."""

    error_rate: float
    items: list[VarianceItem]
    watch: list[WatchItem]


def _whole(number: int) -> dict[str, str]:
    return document.exact(number)


_EXAMPLE: Final[dict[str, Any]] = {
    "title": "Variance",
    "from": "2026-11-29",
    "to": "2026-11-29",
    "generated_at": "2026-11-30T06:00:00.000000Z",
    "no_activity": False,
    "error_rate": ERROR_RATE,
    "items": [
        {
            "ruleset_id": "us-casino",
            "ruleset_version": 1,
            "currency": "USD",
            "account_class": "real",
            "hands": 1200,
            "antes": 1_200_000,
            "recorded": -40_000,
            "expected": _whole(-62_500),
            "reasons": {
                "cards": _whole(-2_500),
                "cap": _whole(0),
                "decisions": _whole(-2_250),
                "forced_decisions": _whole(-250),
                "luck": _whole(27_500),
            },
        }
    ],
    "watch": [
        {
            "ruleset_id": "us-casino",
            "ruleset_version": 1,
            "account_class": "real",
            "series": "game",
            "rounds": 120_000,
            "actual": document.exact(Fraction(-51, 1000)),
            "theoretical": document.exact(Fraction(-52, 1000)),
            "low": -0.082,
            "high": 0.008,
            "rounds_to_flag": 2_931_027,
        }
    ],
}


@router.get(
    "/v1/reports/variance",
    summary="Expected against recorded results",
    response_model=VarianceAnswer,
    dependencies=[REPORT_SCOPES],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read(_EXAMPLE),
)
async def read_variance(
    _: Caller, reading: Fresh, first: FirstDay, last: LastDay, min_position: MinPosition = None
) -> Response:
    """By game over gaming days, why results differ from theory; and of every version's life, if by chance.

    A round counts in the watch once, however many bet on its dealer. The error rate is how probable a
    false alarm is, at most, in all the life of a series.
    """
    require_days(first, last)
    await projected(reading, min_position, "decisions")
    rows = await reading.models.decision_figures(first.isoformat(), last.isoformat(), None, ITEMS_MAX + 1)
    returns = await reading.models.returns(ITEMS_MAX + 1)
    if max(len(rows), len(returns)) > ITEMS_MAX:
        raise validation_failed([{"pointer": "/to", "detail": f"gives more than {ITEMS_MAX} items"}])
    theory = await theories(reading)
    items = [_item(row, theory.get((row["ruleset_id"], row["ruleset_version"]))) for row in rows]
    # In a thread: each takes a millisecond, and there may be many.
    watch = await asyncio.to_thread(_watch, returns, theory)
    about = {"from": first, "to": last, "error_rate": ERROR_RATE, "watch": watch}
    return answer(report("Variance", items, **about))


def _item(row: DictRow, theory: Expected | None) -> dict[str, Any]:
    item = {name: row[name] for name in GAME}
    if not item["jackpot_id"]:
        del item["jackpot_id"], item["jackpot_version"]
    item |= {"hands": row["hands"], "antes": row["antes"], "recorded": row["net"]}
    if theory is None:
        return item
    expected = theory.per_ante * row["antes"]
    uncapped, worth, cost, forced = (
        amount(row, name) for name in ("uncapped", "worth", "cost", "forced_cost")
    )
    reasons = {
        "cards": uncapped - expected,
        "cap": worth - uncapped,
        "decisions": -cost,
        "forced_decisions": -forced,
        "luck": row["net"] - worth + cost + forced,
    }
    return item | {
        "expected": document.exact(expected),
        "reasons": {name: document.exact(reason) for name, reason in reasons.items()},
    }


def _watch(rows: Sequence[DictRow], theory: Mapping[tuple[str, int], Expected]) -> list[dict[str, Any]]:
    return [_watched(row, theory.get((row["ruleset_id"], row["ruleset_version"]))) for row in rows]


def _watched(row: DictRow, expected: Expected | None) -> dict[str, Any]:
    sums = Sums(row["rounds"], int(row["results"]), int(row["squares"]))
    told: dict[str, Any] = {
        name: row[name] for name in ("ruleset_id", "ruleset_version", "account_class", "series", "rounds")
    }
    told["actual"] = document.exact(sums.mean)
    theory = None if expected is None else expected.series.get(row["series"])
    return told if theory is None else told | _compared(sums, theory)


def _compared(sums: Sums, theory: Theory) -> dict[str, Any]:
    told: dict[str, Any] = {"theoretical": document.exact(theory.mean)}
    found = monitor(sums, theory)
    if found is not None:
        told |= {"low": found.low, "high": found.high}
        if found.alarm is not None:
            told["alarm"] = found.alarm
    rounds = rounds_to_flag(DEVIATION, theory)
    return told if rounds is None else told | {"rounds_to_flag": rounds}

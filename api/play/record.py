"""The record of a round's hands (GLI-19 2.8.2, 4.3.3): one for each seat, of finished and of open rounds."""

from __future__ import annotations

import asyncio
import time
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

import orjson
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api import openapi
from api.auth import reader, scopes
from api.paging import PAGE_MAX, Cursor, Fresh, MinPosition, number_of, page, projected
from api.play.answers import ROUND_ID
from api.play.reads import no_round
from api.reports.decided import amount
from api.reports.shapes import exact
from api.shapes import Answer, RoundPath
from api.times import told
from api.tokens import Token
from domain.odds import document
from infrastructure.projections.happened import happened
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.round_records import round_record, status
from infrastructure.reading import Reading

router = APIRouter(tags=["rounds"])

SEE_RECORDS: Final = frozenset(("reports", "audit", "disputes"))
_Caller = Annotated[Token, Depends(reader(SEE_RECORDS))]


class RecordAnswer(Answer):
    """A page of a round's records, by seat."""

    round_id: str
    status: Literal["in_progress", "complete", "interrupted", "cancelled"]
    items: list[dict[str, Any]]
    next_cursor: str | None = None


_RECORD: Final[dict[str, Any]] = {
    "round_id": ROUND_ID,
    "status": "complete",
    "items": [
        {
            "seat": 1,
            "player_id": "anna",
            "status": "complete",
            "table_id": "table-1",
            "ruleset_id": "us-casino",
            "ruleset_version": 1,
            "ruleset_sha256": "5d1c…",
            "currency": "USD",
            "account_class": "real",
            "gaming_day": "2026-11-29",
            "opened_at": "2026-11-29T21:24:01.123456Z",
            "ended_at": "2026-11-29T21:24:05.654321Z",
            "balance_before": 50_000,
            "balance_after": 52_000,
            "wagered": 3000,
            "returned": 3000,
            "game_win": 2000,
            "jackpot_win": 0,
            "contribution": "0",
            "decision": "raise",
            "decided_by": "player",
            "cards": ["As", "Ad", "7c", "5d", "2h"],
            "result": "win",
            "bets": [{"bet": "ante", "stake": 1000, "returned": 1000, "won": 1000, "odds": 1}],
            "decision_cost": {
                "best": "raise",
                "worth": document.exact(Fraction(2001, 2)),
                "expected": document.exact(Fraction(2001, 2)),
                "cost": document.exact(0),
                "forced_cost": document.exact(0),
            },
        }
    ],
}
_EXACT: Final = ("contribution", "diversion", "reversed")
_CARDS: Final = ("cards", "dealer_up_cards", "dealer_cards")
_WORTHS: Final = ("worth", "expected", "cost", "forced_cost")
_SEAT_MAX: Final = 2**15 - 1
_MEMBERS_OF_BET: Final = ("bet", "stake", "returned", "won", "odds")


@router.get(
    "/v1/rounds/{round_id}/record",
    summary="The record of a round's hands",
    response_model=RecordAnswer,
    dependencies=[scopes(SEE_RECORDS)],
    responses=openapi.problems("round_not_found", "round_archived", "validation_failed"),
    openapi_extra=openapi.read(_RECORD),
)
async def read_record(
    request: Request,
    _: _Caller,
    reading: Fresh,
    round_id: RoundPath,
    cursor: Cursor = None,
    min_position: MinPosition = None,
) -> Response:
    """When, where and by which rules; who staked what on which seat, who decided, what it came to.

    Amounts are minor units, `contribution`, `diversion` and `reversed` decimal text of them. A stake, a
    contribution, what was returned, what the game paid and what a jackpot paid stay apart. While the round is
    open its hands are not told; `interrupted` is one in which nothing has happened for too long.

    `decision_cost` comes when the round has closed, a moment after the record: what the main bet's decisions
    were worth against the best ones, by exact odds of the hand's own cards and the dealer's up-cards.
    `worth` is what the hand as dealt was worth, `expected` what was expected when all was decided, `cost`
    what the player's decisions fell short by, `forced_cost` those of others. `unjudged` says why there is
    none.
    """
    after = number_of(cursor)
    await projected(reading, min_position, "round_records", "decisions")
    rows = await reading.models.records(round_id, min(after, _SEAT_MAX), PAGE_MAX + 1)
    state = rows[0]["status"] if rows else None
    if state is None:
        state, rows = await _from_events(reading, round_id, after)
    shown = rows[:PAGE_MAX]
    names = await reading.names(sorted({row["player"] for row in shown}))
    items = [_item(row, names[row["player"]]) for row in shown]
    costs = await reading.models.decisions(round_id, min(after, _SEAT_MAX), PAGE_MAX) if rows else []
    by_seat = {row["seat"]: _cost(row) for row in costs}
    for item in items:
        if item["seat"] in by_seat:
            item["decision_cost"] = by_seat[item["seat"]]
    value = {"round_id": round_id, "status": state, "items": items}
    return page(request, value, shown[-1]["seat"] if len(rows) > PAGE_MAX else None)


async def _from_events(reading: Reading, round_id: str, after: int) -> tuple[str, list[dict[str, Any]]]:
    """Status and records as the events have them now: of a round that is open, or has just ended.

    So is one that ended without a seat, which has no rows, and a page beyond the last seat.
    """
    stored = await reading.events(round_id)
    if not stored or happened(stored[0]).version != 1:
        raise await no_round(reading, round_id)
    # In a thread: a round of thousands of seats takes a while, in which others are answered.
    return await asyncio.to_thread(_folded, stored, after)


def _folded(stored: list[bytes], after: int) -> tuple[str, list[dict[str, Any]]]:
    facts = RoundFacts()
    for each in stored:
        facts.fold(happened(each))
    now_us = time.time_ns() // 1_000
    seats = sorted(seat for seat in facts.seats if seat > after)[: PAGE_MAX + 1]
    return status(facts, now_us), [round_record(facts, seat, now_us) for seat in seats]


def _cost(row: dict[str, Any]) -> dict[str, Any]:
    """What a seat's decisions cost; of a round that has not closed there is no such row (G5)."""
    if row["unjudged"] is not None:
        return {"unjudged": row["unjudged"]}
    told = {name: row[name] for name in ("best", "then_best") if row[name] is not None}
    return told | {name: document.exact(amount(row, name)) for name in _WORTHS}


def _item(row: dict[str, Any], player_id: str | None) -> dict[str, Any]:
    """A record without what does not apply, moments and cards as they are told everywhere."""
    item: dict[str, Any] = {"seat": row["seat"], "player_id": player_id}
    for name, value in row.items():
        if name == "bets":
            item["bets"] = [dict(zip(_MEMBERS_OF_BET, bet, strict=False)) for bet in orjson.loads(value)]
        elif value is None or name in ("player", "round_id", "seat"):
            continue
        elif name.endswith("_us"):
            item[name.removesuffix("_us") + "_at"] = told(value)
        elif name in _EXACT:
            item[name] = exact(value)
        elif name in _CARDS:
            item[name] = [value[place : place + 2] for place in range(0, len(value), 2)]
        else:
            item[name] = value
    return item

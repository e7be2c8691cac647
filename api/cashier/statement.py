"""A player's statement: every movement of the wallet, the balance before and after (GLI-19 2.5.7, 2.8.5)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Request
from psycopg.rows import DictRow
from starlette.responses import Response

from api import openapi
from api.auth import SEE_PLAYERS, reader, scopes
from api.cashier.reads import wallet_of
from api.paging import PAGE_MAX, Cursor, Fresh, MinPosition, number_of, page, projected
from api.play.answers import ROUND_ID
from api.shapes import Answer, PlayerPath
from api.times import From, To, period, told
from api.tokens import Token
from infrastructure.projections.postings import KINDS

router = APIRouter(tags=["players"])

_Caller = Annotated[Token, Depends(reader(SEE_PLAYERS))]

Type = Literal[
    "deposit",
    "withdrawal",
    "ante",
    "side_bet",
    "raise",
    "exchange_fee",
    "settlement",
    "jackpot_award",
    "refund",
]
TYPES: Final[dict[str, Type]] = {
    "Deposited": "deposit",
    "Withdrawn": "withdrawal",
    "AntePlaced": "ante",
    "SideBetPlaced": "side_bet",
    "Raised": "raise",
    "CardExchanged": "exchange_fee",
    "Settled": "settlement",
    "JackpotHit": "jackpot_award",
    "StakeRefunded": "refund",
}
"""What a statement calls a movement, by the type of its event."""


class StatementItem(Answer):
    """One movement, minor units: `balance_after` = `balance_before` + `amount`.

    `on_game` lies on unfinished rounds after it; `handler` sent the command; `position` is the ledger's.
    """

    position: int
    transaction_id: str
    at: str
    type: Type
    status: Literal["complete"]
    amount: int
    balance_before: int
    balance_after: int
    on_game: int
    handler: str
    round_id: str | None = None
    seat: int | None = None


class StatementAnswer(Answer):
    """A page of a statement, the oldest movement first."""

    player_id: str
    currency: str
    items: list[StatementItem]
    next_cursor: str | None = None


_ITEM: Final[dict[str, Any]] = {
    "position": 4711,
    "transaction_id": "p4711",
    "at": "2026-11-29T21:24:01.123456Z",
    "type": "ante",
    "status": "complete",
    "amount": -1000,
    "balance_before": 50_000,
    "balance_after": 49_000,
    "on_game": 1000,
    "handler": "operator",
    "round_id": ROUND_ID,
    "seat": 1,
}
_STATEMENT: Final[dict[str, Any]] = {"player_id": "anna", "currency": "USD", "items": [_ITEM]}


@router.get(
    "/v1/players/{player_id}/statement",
    summary="A player's statement",
    response_model=StatementAnswer,
    dependencies=[scopes(SEE_PLAYERS)],
    responses=openapi.problems("player_not_found", "validation_failed"),
    openapi_extra=openapi.read(_STATEMENT),
)
async def read_statement(
    request: Request,
    _: _Caller,
    reading: Fresh,
    player_id: PlayerPath,
    since: From = None,
    until: To = None,
    min_position: MinPosition = None,
    cursor: Cursor = None,
) -> Response:
    """Every movement of the player's wallet in a period, all of them where none is given.

    A settlement has an item of its own, also where nothing came back; what a jackpot paid is apart from it.
    """
    wallet = await wallet_of(reading, player_id)
    await projected(reading, min_position, "postings")
    asked_for = await period(reading, number_of(cursor), since, until)
    found = await reading.models.statement(wallet.player, asked_for, PAGE_MAX + 1)
    value = {
        "player_id": player_id,
        "currency": wallet.currency,
        "items": [_item(row) for row in found[:PAGE_MAX]],
    }
    return page(request, value, found[PAGE_MAX - 1]["position"] if len(found) > PAGE_MAX else None)


def _item(row: DictRow) -> dict[str, Any]:
    kind = KINDS[row["kind"]]
    in_round = row["seat"] is not None
    item = {
        "position": row["position"],
        # The cashier's transfers have ids of their own; what moves in a round is named by its position.
        "transaction_id": f"p{row['position']}" if in_round else row["reference"],
        "at": told(row["at_us"]),
        "type": TYPES[kind],
        "status": "complete",
        "amount": row["wallet"],
        "balance_before": row["balance"] - row["wallet"],
        "balance_after": row["balance"],
        "on_game": row["on_game_after"],
        "handler": row["actor"],
    }
    return {**item, "round_id": row["reference"], "seat": row["seat"]} if in_round else item

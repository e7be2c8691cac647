"""Reading wallets, and which rounds a player has staked on."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from psycopg.rows import DictRow
from starlette.responses import Response

from api import openapi
from api.auth import SEE_PLAYERS, reader, scopes
from api.cashier.answers import ROUNDS, WALLET, PlayerRoundsAnswer, WalletAnswer
from api.paging import PAGE_MAX, Cursor, Fresh, MinPosition, answer, key_of, page, projected
from api.problems import Problem
from api.shapes import PlayerPath
from api.times import Moment, Position, asked, then, told
from api.tokens import Token
from domain.wallets import wallet_answer
from domain.work import Wallet
from infrastructure.reading import AFTER_ALL_ROUNDS, Reading

router = APIRouter(tags=["players"])

_Caller = Annotated[Token, Depends(reader(SEE_PLAYERS))]


@router.get(
    "/v1/players/{player_id}",
    summary="A player's wallet",
    response_model=WalletAnswer,
    dependencies=[scopes(SEE_PLAYERS)],
    responses=openapi.problems("player_not_found", "validation_failed"),
    openapi_extra=openapi.read(WALLET),
)
async def read_player(
    _: _Caller, reading: Fresh, player_id: PlayerPath, at: Moment = None, position: Position = None
) -> Response:
    """The player's money as of the last command, or as it was at a moment or a position."""
    wallet = await wallet_of(reading, player_id)
    past = await then(reading, at, position)
    if past is None:
        return answer(wallet_answer(wallet))
    money = await asked(reading.then.wallet, wallet.player, past)
    if money is None:
        raise Problem("player_not_found", f"There was no player {player_id} at position {past}.")
    was = {"balance": money.balance, "on_game": money.on_game, "position": past}
    return answer({**wallet_answer(wallet), **was})


@router.get(
    "/v1/players/{player_id}/rounds",
    summary="A player's rounds",
    response_model=PlayerRoundsAnswer,
    dependencies=[scopes(SEE_PLAYERS)],
    responses=openapi.problems("player_not_found", "validation_failed"),
    openapi_extra=openapi.read(ROUNDS),
)
async def read_player_rounds(
    request: Request,
    _: _Caller,
    reading: Fresh,
    player_id: PlayerPath,
    min_position: MinPosition = None,
    cursor: Cursor = None,
) -> Response:
    """The rounds the player has staked on, the newest first; listed a moment after the ledger has them."""
    wallet = await wallet_of(reading, player_id)
    await projected(reading, min_position, "player_rounds")
    found = await reading.models.player_rounds(wallet.player, key_of(cursor, AFTER_ALL_ROUNDS), PAGE_MAX + 1)
    items = [_round(row) for row in found[:PAGE_MAX]]
    return page(request, {"items": items}, items[-1]["round_id"] if len(found) > PAGE_MAX else None)


async def wallet_of(reading: Reading, player_id: str) -> Wallet:
    """The wallet the operator calls `player_id`. Raises Problem player_not_found."""
    wallet = await reading.wallet(player_id)
    if wallet is None:
        raise Problem("player_not_found", f"There is no player {player_id}.")
    return wallet


def _round(row: DictRow) -> dict[str, str | None]:
    return {
        "round_id": row["round_id"],
        "table_id": row["table_id"],
        "ruleset": row["ruleset_id"],
        "gaming_day": row["gaming_day"],
        "opened_at": told(row["opened_us"]),
    }

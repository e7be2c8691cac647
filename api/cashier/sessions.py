"""A player's sessions at tables."""

from __future__ import annotations

import time
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Request
from psycopg.rows import DictRow
from starlette.responses import Response

from api import openapi
from api.auth import SEE_PLAYERS, reader, scopes
from api.cashier.reads import wallet_of
from api.paging import PAGE_MAX, POSITION_MAX, Cursor, Fresh, MinPosition, number_of, page, projected
from api.shapes import Answer, PlayerPath
from api.times import told
from api.tokens import Token
from infrastructure.projections.sessions import ending

router = APIRouter(tags=["players"])

_Caller = Annotated[Token, Depends(reader(SEE_PLAYERS))]


class SessionItem(Answer):
    """One session, minor units. `ended` is absent while it goes on.

    A session ends when the player leaves, or has done nothing for half an hour. A round counts as won where
    it brought the player more than it cost. `stakes` are those of finished hands.
    """

    table_id: str
    began_at: str
    last_at: str
    rounds: int
    rounds_won: int
    rounds_void: int
    stakes: int
    returned: int
    game_wins: int
    jackpot_wins: int
    session_id: str | None = None
    ended: Literal["left", "timeout"] | None = None
    ended_at: str | None = None


class SessionsAnswer(Answer):
    """A page of a player's sessions, the newest first."""

    items: list[SessionItem]
    next_cursor: str | None = None


_SESSION: Final[dict[str, Any]] = {
    "table_id": "table-1",
    "began_at": "2026-11-29T21:24:01.123456Z",
    "last_at": "2026-11-29T21:50:11.000001Z",
    "rounds": 12,
    "rounds_won": 5,
    "rounds_void": 0,
    "stakes": 36_000,
    "returned": 14_000,
    "game_wins": 16_000,
    "jackpot_wins": 0,
    "session_id": "session-77",
    "ended": "left",
    "ended_at": "2026-11-29T21:50:11.000001Z",
}
_FIGURES: Final = (
    "rounds",
    "rounds_won",
    "rounds_void",
    "stakes",
    "returned",
    "game_wins",
    "jackpot_wins",
)


@router.get(
    "/v1/players/{player_id}/sessions",
    summary="A player's sessions at tables",
    response_model=SessionsAnswer,
    dependencies=[scopes(SEE_PLAYERS)],
    responses=openapi.problems("player_not_found", "validation_failed"),
    openapi_extra=openapi.read({"items": [_SESSION]}),
)
async def read_sessions(
    request: Request,
    _: _Caller,
    reading: Fresh,
    player_id: PlayerPath,
    min_position: MinPosition = None,
    cursor: Cursor = None,
) -> Response:
    """From sitting down, or a first ante, to leaving or half an hour of nothing; the newest first."""
    wallet = await wallet_of(reading, player_id)
    await projected(reading, min_position, "sessions")
    found = await reading.models.sessions(wallet.player, number_of(cursor) or POSITION_MAX, PAGE_MAX + 1)
    now_us = time.time_ns() // 1_000
    items = [_item(row, now_us) for row in found[:PAGE_MAX]]
    more = len(found) > PAGE_MAX
    return page(request, {"items": items}, found[PAGE_MAX - 1]["began_position"] if more else None)


def _item(row: DictRow, now_us: int) -> dict[str, Any]:
    item = {
        "table_id": row["table_id"],
        "began_at": told(row["began_us"]),
        "last_at": told(row["last_us"]),
        **{name: row[name] for name in _FIGURES},
    }
    if row["session_id"] is not None:
        item["session_id"] = row["session_id"]
    ended = ending(tuple(row.values()), now_us)
    return item if ended is None else {**item, "ended": ended[0], "ended_at": told(ended[1])}

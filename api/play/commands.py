"""Playing a round: each request turned into a command."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body

from api import openapi
from api.auth import ADMIN, PLAY, scopes
from api.play.answers import CLOSED, OPENED, VOIDED, RoundAnswer
from api.play.bodies import (
    AntesBody,
    DealBody,
    DecisionBody,
    OpenRoundBody,
    RevealBody,
    SeatBody,
    VoidBody,
)
from api.shapes import RoundPath
from api.writing import WithNote, WriteRoute
from domain import commands as c
from infrastructure import ids
from infrastructure.clock import system_clock

router = APIRouter(route_class=WriteRoute, tags=["rounds"])

_SEAT = {"seat": 1, "player_id": "anna", "ante": 1000, "side_bets": {"jackpot": 100}}
_STAKES = (
    "player_not_found",
    "seat_taken",
    "table_full",
    "round_unfinished",
    "ante_out_of_limits",
    "unknown_side_bet",
    "side_bet_stake",
    "jackpot_disabled",
    "insufficient_funds",
    "amount_out_of_range",
    "currency_mismatch",
    "account_class_mismatch",
)


@router.post(
    "/v1/rounds/{round_id}/decisions",
    summary="Raise, fold or exchange",
    response_model=RoundAnswer,
    dependencies=[scopes(PLAY)],
    responses=openapi.write_problems(
        "round_not_found", "wrong_phase", "already_decided", "not_your_seat", "insufficient_funds", "misdeal"
    ),
    openapi_extra=openapi.write(
        CLOSED,
        {"seat": 1, "action": "raise"},
        {"seat": 1, "action": "fold", "open_next": True},
        {"seat": 1, "action": "exchange", "discard": "2s"},
        {"seat": 1, "action": "exchange", "discard": "2s", "drawn": "Ac"},
    ),
)
def decide(round_id: RoundPath, body: Annotated[DecisionBody, Body()]) -> c.Command:
    """Take one seat's decision.

    The last decision of an `rng` round reveals the dealer and settles. With `open_next`, the next round is
    opened for its players in the same command and answered as `next_round`.
    """
    next_round_id = _new_round_id() if body.open_next else None
    return c.Decide(round_id, body.seat, body.action, body.discard, body.drawn, body.open_next, next_round_id)


@router.post(
    "/v1/rounds",
    status_code=201,
    summary="Open a round",
    response_model=RoundAnswer,
    dependencies=[scopes(PLAY)],
    responses=openapi.write_problems(
        "table_not_found", "table_closed", "round_open", "software_mismatch", *_STAKES
    ),
    openapi_extra=openapi.write(
        OPENED,
        {"table_id": "table-1", "seats": [_SEAT], "deal": True},
        {"table_id": "table-1", "seats": []},
        status=201,
    ),
)
def open_round(body: Annotated[OpenRoundBody, Body()]) -> c.Command:
    """Open a round at a table: with `seats`, place their stakes; with `deal`, close betting and deal.

    Without seats the round's commitment is known before anybody stakes on it.
    """
    return c.OpenRound(_new_round_id(), body.table_id, _stakes(body.seats), body.deal)


@router.post(
    "/v1/rounds/{round_id}/antes",
    summary="Place stakes",
    response_model=RoundAnswer,
    dependencies=[scopes(PLAY)],
    responses=openapi.write_problems("round_not_found", "wrong_phase", *_STAKES),
    openapi_extra=openapi.write(OPENED, {"seats": [{**_SEAT, "client_seed": "lucky-7"}], "deal": True}),
)
def place_antes(round_id: RoundPath, body: Annotated[AntesBody, Body()]) -> c.Command:
    """Place stakes in a round that is betting; with `deal`, close betting and deal."""
    return c.PlaceAntes(round_id, _stakes(body.seats), body.deal)


@router.post(
    "/v1/rounds/{round_id}/deal",
    summary="Close betting and deal",
    response_model=RoundAnswer,
    dependencies=[scopes(PLAY)],
    responses=openapi.write_problems("round_not_found", "wrong_phase", "misdeal"),
    openapi_extra=openapi.write(
        OPENED,
        {},
        {"seats": {"1": ["As", "Ah", "7c", "4d", "2s"]}, "dealer_up": ["Kd"]},
        {"player": ["As", "Ah", "7c", "4d", "2s"], "dealer_up": ["Kd"]},
    ),
)
def deal(round_id: RoundPath, body: Annotated[DealBody, Body()]) -> c.Command:
    """Close betting and deal: from the round's deck, or as a physical table's scanner names the cards."""
    hands = None if body.seats is None else {int(seat): tuple(cards) for seat, cards in body.seats.items()}
    return c.DealCards(round_id, hands, _cards(body.player), _cards(body.dealer_up))


@router.post(
    "/v1/rounds/{round_id}/reveal",
    summary="Name the dealer's other cards",
    response_model=RoundAnswer,
    dependencies=[scopes(PLAY)],
    responses=openapi.write_problems("round_not_found", "wrong_phase", "misdeal"),
    openapi_extra=openapi.write(CLOSED, {"dealer": ["9s", "8h", "3c", "Ac"]}),
)
def reveal(round_id: RoundPath, body: Annotated[RevealBody, Body()]) -> c.Command:
    """Turn up a physical table's dealer hand and settle the round. An `rng` round does so by itself."""
    return c.RevealDealer(round_id, tuple(body.dealer))


@router.post(
    "/v1/rounds/{round_id}/void",
    summary="Declare a round void",
    response_model=RoundAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems("round_not_found", "wrong_phase"),
    openapi_extra=openapi.write(VOIDED, {"cause": "malfunction", "note": "The shuffler jammed."}),
)
def void(round_id: RoundPath, body: Annotated[VoidBody, Body()]) -> WithNote:
    """Declare an unfinished round void: every stake is returned, the jackpot's contributions are reversed."""
    return WithNote(c.VoidRound(round_id, body.cause), body.note)


def _new_round_id() -> str:
    return ids.round_id(system_clock())


def _cards(cards: list[str] | None) -> tuple[str, ...] | None:
    return None if cards is None else tuple(cards)


def _stakes(seats: list[SeatBody]) -> tuple[c.SeatStake, ...]:
    return tuple(
        c.SeatStake(s.seat, s.player_id, s.ante, s.side_bets, s.session_id, s.channel, s.client_seed)
        for s in seats
    )

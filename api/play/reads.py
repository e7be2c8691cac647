"""Reading a round: as it stands, and its events."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api import openapi
from api.auth import SEE_ROUNDS, reader, scopes
from api.paging import PAGE_MAX, Cursor, Fresh, number_of, page
from api.play.answers import CLOSED, EVENTS, EventsAnswer, RoundAnswer
from api.play.visible import hides_cards, shown_event
from api.problems import Problem
from api.shapes import RoundPath
from api.tokens import Token
from domain.views import round_view
from infrastructure.reading import FoundRound, Reading

router = APIRouter(tags=["rounds"])

_Caller = Annotated[Token, Depends(reader(SEE_ROUNDS))]


@router.get(
    "/v1/rounds/{round_id}",
    summary="A round",
    response_model=RoundAnswer,
    dependencies=[scopes(SEE_ROUNDS)],
    responses=openapi.problems("round_not_found", "round_archived", "validation_failed"),
    openapi_extra=openapi.read(CLOSED),
)
async def read_round(
    request: Request, token: _Caller, reading: Fresh, round_id: RoundPath, cursor: Cursor = None
) -> Response:
    """The round as its events tell it, with only what this token may see now.

    The game server (`play`) sees each seat's cards; others see a face-down card once the round is finished. A
    round with more than 100 seats is paged by seats, with its totals.
    """
    found = await found_round(reading, round_id)
    round_ = found.round
    after = number_of(cursor)
    numbers = sorted(number for number in round_.seats if number > after)
    shown = numbers[:PAGE_MAX]
    names = await reading.names([round_.seats[number].player for number in shown])
    whole = len(round_.seats) <= PAGE_MAX and not after
    view = round_view(
        round_, found.rules, names, game_server="play" in token.scopes, seats=None if whole else shown
    )
    state = await reading.registers.log()
    if (checkpoint := request.app.state.service.checkpoint(state.generation)) is not None:
        view["checkpoint"] = checkpoint
    return page(request, view, shown[-1] if len(numbers) > PAGE_MAX else None)


@router.get(
    "/v1/rounds/{round_id}/events",
    summary="A round's events",
    response_model=EventsAnswer,
    dependencies=[scopes(SEE_ROUNDS)],
    responses=openapi.problems("round_not_found", "round_archived", "validation_failed"),
    openapi_extra=openapi.read(EVENTS),
)
async def read_events(
    request: Request, _: _Caller, reading: Fresh, round_id: RoundPath, cursor: Cursor = None
) -> Response:
    """The round's events as they are stored, a page at a time.

    While the round is open an event with a face-down card keeps its place but is withheld from everybody.
    """
    found = await found_round(reading, round_id)
    after = number_of(cursor)
    stored = await reading.events(round_id, after, PAGE_MAX + 1)
    hides = hides_cards(found)
    items = [shown_event(data, hides=hides) for data in stored[:PAGE_MAX]]
    return page(request, {"items": items}, items[-1]["version"] if len(stored) > PAGE_MAX else None)


async def found_round(reading: Reading, round_id: str) -> FoundRound:
    """The round. Raises Problem round_not_found, or round_archived where it may have been there once."""
    found = await reading.round(round_id)
    if found is None:
        raise await no_round(reading, round_id)
    return found


async def no_round(reading: Reading, round_id: str) -> Problem:
    """Why a round cannot be read whose first event is not there: round_not_found or round_archived."""
    horizon = await reading.horizon()
    if not horizon.may_hide(round_id):
        return Problem("round_not_found", f"There is no round {round_id}.")
    return Problem(
        "round_archived",
        f"Events up to position {horizon.position} are archived: if there was a round {round_id}, "
        "it is among them.",
        position=horizon.position,
    )

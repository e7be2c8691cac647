"""The front page's routes: one page to look at, and the forms on it, each of which is one command.

After a form has acted the browser is sent to the page of its round (Post/Redirect/Get); one that was refused
is shown again as it was filled in, with the reason. A button that is pressed twice acts once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

import orjson
from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from api.demo import player_of
from api.page import forms, guard
from api.page.desk import DemoRound, Desk
from api.page.forms import FormError
from api.page.guard import not_here
from api.page.house import House
from api.page.page_route import DOCS, PageRoute, plain
from api.page.refusals import Told, refusal, trouble
from api.page.rendering import STYLE, STYLE_URL
from api.page.screen import table_page, top_up
from api.play.finished import Since
from api.problems import RETRY_AFTER_SECONDS, Problem
from api.shapes import ID_PATTERN
from domain import commands as c
from domain.cards import DECK
from infrastructure import ids
from infrastructure.clock import system_clock
from infrastructure.evidence.unavailable import LogUnavailable
from infrastructure.ledger.submission import ACCEPTED

HOME: Final = "us-casino"
_ID: Final = re.compile(ID_PATTERN)
_SEAT: Final = re.compile(r"[0-9]{1,5}")
_UNPROCESSABLE: Final = 422

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.api_route("/", methods=["GET", "HEAD"])
async def front(request: Request, house: str | None = None, round: str | None = None) -> Response:  # noqa: A002 - the address says it
    """The page: of a round, or of a house's table."""
    desk = Desk(request)
    if not await desk.is_demo():
        return plain(
            200,
            "Stud Ledger",
            "This is an event-sourced ledger for Caribbean Stud Poker, used over HTTP.",
            "It is not marked as a demonstration, so nobody can play on this page.",
            links=(DOCS,),
        )
    if round is not None:
        found = await _round(desk, round)
        return HTMLResponse(await table_page(desk, found.house, round_=found))
    here = await _house(desk, house)
    unfinished = await desk.unfinished(here)
    if unfinished is not None:
        return _to_round(unfinished)
    return HTMLResponse(await table_page(desk, here))


@router.get(STYLE_URL)
async def style() -> Response:
    """The style sheet; its address changes with its content."""
    return Response(
        STYLE, headers={"Cache-Control": "public, max-age=31536000, immutable"}, media_type="text/css"
    )


@router.post("/play/rounds")
async def start(request: Request) -> Response:
    """Open a round: with the stakes, and dealt; or only its deck, so that the commitment is known before."""
    desk, fields = await _desk(request), await _fields(request)
    house = await _house(desk, fields.get("house"))
    round_id = ids.round_id(system_clock())
    try:
        if fields.get("intent") == "open":
            command = c.OpenRound(round_id, house.table_id)
        else:
            stakes = forms.stakes_of(fields, house, player_of(house.currency), forms.free_seats(house, ()))
            command = c.OpenRound(round_id, house.table_id, stakes, deal=True)
    except FormError as error:
        return await _again(desk, house, fields, Told("Not yet.", str(error), _UNPROCESSABLE))
    return await _act(request, desk, house, command, fields)


@router.post("/play/rounds/{round_id}/antes")
async def antes(request: Request, round_id: str) -> Response:
    """Place the stakes in a round whose deck is fixed, and deal."""
    desk, fields = await _desk(request), await _fields(request)
    found = await _round(desk, round_id)
    house = found.house
    try:
        free = forms.free_seats(house, found.taken)
        stakes = forms.stakes_of(fields, house, player_of(house.currency), free)
    except FormError as error:
        return await _again(desk, house, fields, Told("Not yet.", str(error), _UNPROCESSABLE), found)
    return await _act(request, desk, house, c.PlaceAntes(round_id, stakes, deal=True), fields)


@router.post("/play/rounds/{round_id}/deal")
async def deal(request: Request, round_id: str) -> Response:
    """Deal a round whose stakes were placed elsewhere, the demo player's among them."""
    desk, fields = await _desk(request), await _fields(request)
    found = await _round(desk, round_id)
    if not found.view["seats"]:
        raise not_here("The demonstration player has no seat in that round.")
    return await _act(request, desk, found.house, c.DealCards(round_id), fields)


@router.post("/play/rounds/{round_id}/decisions")
async def decide(request: Request, round_id: str) -> Response:
    """Raise, fold, or buy a card."""
    desk, fields = await _desk(request), await _fields(request)
    found = await _round(desk, round_id)
    try:
        command = _decision(round_id, fields, found)
    except FormError as error:
        return await _again(desk, found.house, fields, Told("Not yet.", str(error), _UNPROCESSABLE), found)
    return await _act(request, desk, found.house, command, fields)


@router.post("/play/deposits")
async def deposit(request: Request) -> Response:
    """Put play money into the demo player's wallet."""
    desk, fields = await _desk(request), await _fields(request)
    house = await _house(desk, fields.get("house"))
    reference = f"page-{forms.key_of(fields)}"
    command = c.Deposit(player_of(house.currency), top_up(house), reference, ids.transaction_id())
    return await _act(request, desk, house, command, fields)


@router.get("/play/rounds/{round_id}/evidence.json")
async def evidence_file(request: Request, round_id: str, since: Since = None) -> Response:
    """The evidence of a finished round, for `scripts/verify.py`."""
    desk = await _desk(request)
    try:
        document = await desk.evidence(await _round(desk, round_id), since)
    except (Problem, LogUnavailable):
        sentence = "The log signs a round within seconds of its end, and has not come to this one: try again."
        back = ("Back to the round", f"/?round={round_id}#proof")
        response = plain(503, "One moment, please", sentence, links=(back,))
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return response
    if document is None:
        raise not_here("The round has not ended: it can be downloaded and verified afterwards.")
    headers = {"Content-Disposition": f'attachment; filename="round-{round_id}.json"'}
    return Response(document, headers=headers, media_type="application/json")


@router.get("/play/rounds")
@router.get("/play/deposits")
async def form_address() -> Response:
    """Where a form's address is loaded without the form, lead to the page."""
    return RedirectResponse("/", 303)


@router.get("/play/rounds/{round_id}/{_form}")
async def round_form_address(round_id: str, _form: str) -> Response:
    """The same for the forms of a round."""
    return _to_round(round_id) if _ID.fullmatch(round_id) else RedirectResponse("/", 303)


async def _desk(request: Request) -> Desk:
    """The desk of a demonstration. Raises Refused on any other ledger."""
    desk = Desk(request)
    if not await desk.is_demo():
        raise not_here("This ledger is not marked as a demonstration: nobody can play on its page.")
    return desk


async def _fields(request: Request) -> dict[str, str]:
    fields = forms.fields_of(await guard.read_form(request))
    forms.key_of(fields)
    return fields


async def _house(desk: Desk, ruleset_id: str | None) -> House:
    """The house of that name, or the one to begin with. Raises Refused."""
    tables = {table.house.ruleset.id: table.house for table in await desk.tables()}
    if ruleset_id is None and tables:
        return tables.get(HOME) or next(iter(tables.values()))
    house = tables.get(ruleset_id or HOME)
    if house is None:
        raise not_here("No demonstration table plays by that house's rules.")
    return house


async def _round(desk: Desk, round_id: str) -> DemoRound:
    found = await desk.round(round_id) if _ID.fullmatch(round_id) else None
    if found is None:
        raise not_here("No round of the demonstration player has that name.")
    return found


def _decision(round_id: str, fields: Mapping[str, str], found: DemoRound) -> c.Decide:
    seat, action = fields.get("seat", ""), fields.get("action", "")
    own = [view["seat"] for view in found.view["seats"]]
    if not _SEAT.fullmatch(seat) or int(seat) not in own or action not in ("raise", "fold", "exchange"):
        raise FormError("That is no decision for one of your hands: use the buttons below.")
    discard = fields.get("discard") if action == "exchange" else None
    if action == "exchange" and discard not in DECK:
        raise FormError("Choose the card to give up: tick the circle below it.")
    return c.Decide(round_id, int(seat), cast("Literal['raise', 'fold', 'exchange']", action), discard)


async def _act(
    request: Request, desk: Desk, house: House, command: c.Command, fields: dict[str, str]
) -> Response:
    """Send the command; then to the round's page, or the form again with the reason."""
    round_id: str | None = getattr(command, "round_id", None)
    asked = {name: value for name, value in fields.items() if name != "key"}
    try:
        result = await desk.act(command, fields["key"], request.url.path, asked)
    except Problem as problem:
        return await _again(desk, house, fields, trouble(problem), await _known(desk, round_id))
    body: dict[str, Any] = orjson.loads(result.body)
    if result.outcome != ACCEPTED:
        known = await _known(desk, body.get("round_id", round_id))
        return await _again(desk, house, fields, refusal(body, house), known)
    if "round_id" in body:
        return _to_round(body["round_id"])
    return RedirectResponse(f"/?house={house.ruleset.id}#table", 303)


async def _known(desk: Desk, round_id: str | None) -> DemoRound | None:
    return None if round_id is None else await desk.round(round_id)


async def _again(
    desk: Desk, house: House, fields: Mapping[str, str], told: Told, round_: DemoRound | None = None
) -> Response:
    """The page the form was on, as it was filled in, with what is wrong."""
    betting = round_ is None or round_.view["phase"] == "betting"
    typed = fields if betting else None
    return HTMLResponse(await table_page(desk, house, round_=round_, error=told, typed=typed), told.status)


def _to_round(round_id: str) -> Response:
    return RedirectResponse(f"/?round={round_id}#table", 303)

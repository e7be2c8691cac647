"""What a rule set returns by the best decisions, exactly, and the chart of these."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api import openapi
from api.auth import SEE_TABLES, reader, scopes
from api.paging import Fresh, answer
from api.problems import Problem
from api.rulesets import svg
from api.rulesets.chart import draw, heading
from api.rulesets.choosing import Asked, Found, choose, terms_document, terms_words
from api.shapes import Answer, RulesetPath
from api.tokens import Token
from domain.money import AMOUNT_MAX
from domain.odds.chart import Chart
from infrastructure.reading import Reading

VERSION_MAX: Final = 2**31 - 1
CACHE: Final = "private, max-age=60"

router = APIRouter(tags=["rulesets"])

_Caller = Annotated[Token, Depends(reader(SEE_TABLES))]
_PROBLEMS: Final = ("ruleset_not_found", "odds_not_counted", "odds_not_ready", "validation_failed")
_EXACT: Final = {"num": "-1041372912372", "den": "19933230517200", "dec": "-0.0522430599232943"}
_EXAMPLE: Final[dict[str, Any]] = {
    "ruleset": {"id": "nordic", "version": 1, "sha256": "3f79bb7b435b0532…"},
    "currency": "USD",
    "ante": 1000,
    "returns": {"ante": {"denominator": "ante", "expected": _EXACT}},
    "favours_player": [],
    "notes": [{"code": "own_cards", "text": "A hand is decided on its own five cards …"}],
    "computed": [{"currency": "USD", "ante": 1000}],
}


_DRAWING: Final = '<svg xmlns="http://www.w3.org/2000/svg"><title>Strategy chart: …</title>…</svg>'


class OddsAnswer(Answer):
    """Exact figures: every number is a fraction `{num, den, dec}`, every return under its denominator's name.

    `favours_player` names the bets at which the player wins in the long run, `computed` what else there are
    figures for: `ante`, `currency` and the limits of a table choose among them.
    """

    ruleset: dict[str, Any]
    currency: str
    ante: int
    returns: dict[str, Any]
    favours_player: list[str]
    notes: list[dict[str, str]]
    computed: list[dict[str, Any]]


def _asked(
    version: Annotated[
        int | None, Query(ge=1, le=VERSION_MAX, description="Which version; the newest.")
    ] = None,
    currency: Annotated[
        str | None, Query(pattern=r"^[A-Z]{3}$", description="ISO 4217 code; the house's first.")
    ] = None,
    ante: Annotated[
        int | None, Query(ge=1, le=AMOUNT_MAX, description="Minor units; the lowest computed.")
    ] = None,
    raise_win_cap: Annotated[
        int | None, Query(ge=1, le=AMOUNT_MAX, description="The table's limit on a raise's win, minor units.")
    ] = None,
    bonus_stake: Annotated[
        int | None, Query(ge=1, le=AMOUNT_MAX, description="The table's stake of the bonus, minor units.")
    ] = None,
) -> Asked:
    return Asked(version, currency, ante, raise_win_cap, bonus_stake)


Question = Annotated[Asked, Depends(_asked)]
"""Which odds are asked for, as the query of a request tells."""


@router.get(
    "/v1/rulesets/{ruleset_id}/odds",
    summary="What a rule set returns",
    response_model=OddsAnswer,
    dependencies=[scopes(SEE_TABLES)],
    responses=openapi.problems(*_PROBLEMS),
    openapi_extra=openapi.read(_EXAMPLE),
)
async def read_odds(_: _Caller, reading: Fresh, ruleset_id: RulesetPath, asked: Question) -> Response:
    """Expected values, probabilities and side bets by the best decisions, as exact fractions.

    A hand is decided on its own cards and the dealer's up-cards: what other hands show is ignored.
    """
    found = await choose(reading, ruleset_id, asked)
    computed = [terms_document(odds.terms) for odds in found.all]
    return answer({**found.odds.figures, "ruleset": _ruleset(found), "computed": computed})


@router.get(
    "/v1/rulesets/{ruleset_id}/chart",
    summary="The strategy chart of a rule set",
    response_class=Response,
    dependencies=[scopes(SEE_TABLES)],
    responses={
        **openapi.problems(*_PROBLEMS),
        200: {
            "content": {svg.MEDIA_TYPE: {"schema": {"type": "string"}, "example": _DRAWING}},
            "description": "A drawing that needs nothing else; its ETag is known by `If-None-Match`.",
        },
    },
)
async def read_chart(
    request: Request, _: _Caller, reading: Fresh, ruleset_id: RulesetPath, asked: Question
) -> Response:
    """Fold, raise or exchange, by hand and up-card, as an SVG."""
    found = await choose(reading, ruleset_id, asked)
    return await chart_response(request, reading, found, CACHE)


async def chart_response(request: Request, reading: Reading, found: Found, caching: str) -> Response:
    """The chart of what was found, or that whoever asks has it (RFC 9110 section 13.1.2).

    Raises Problem odds_not_ready where it is gone in between.
    """
    document = await reading.odds.chart(found.odds.terms)
    if document is None:
        raise Problem("odds_not_ready", "The chart is being computed again.")
    ref, terms = found.published.ref, found.odds.terms
    around = heading(
        found.published.ruleset, f" version {ref.version}", terms_words(terms), found.odds.figures
    )
    drawn = draw(Chart.from_document(document), around)
    tag = f'"{ref.sha256}-{hashlib.sha256(drawn).hexdigest()[:16]}"'
    headers = {
        "ETag": tag,
        "Cache-Control": caching,
        "Content-Security-Policy": svg.POLICY,
        "X-Content-Type-Options": "nosniff",
    }
    asked = request.headers.get("if-none-match", "")
    known = {each.strip().removeprefix("W/") for each in asked.split(",")}
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(drawn, headers=headers, media_type=svg.MEDIA_TYPE)


def _ruleset(found: Found) -> dict[str, Any]:
    ref = found.published.ref
    return {"id": ref.id, "version": ref.version, "sha256": ref.sha256}

"""The page of a rule set: what it returns, how it is best played, and how its source was read.

It is open to everybody: these are the rules that a house plays by, and what follows from them.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from api.page.amounts import money
from api.page.guard import not_here
from api.page.page_route import DOCS, TABLE, PageRoute, plain
from api.page.rendering import render
from api.paging import reading_of
from api.problems import Problem
from api.rulesets.choosing import Found, choose, terms_words, version_of
from api.rulesets.odds import Question, chart_response
from api.rulesets.tables import tables_of
from api.rulesets.warnings import warnings_of
from api.shapes import ID_PATTERN
from domain.rulesets.schema import RuleSet
from domain.work import PublishedRuleset
from infrastructure.odds.store import Odds

_ID: Final = re.compile(ID_PATTERN)
_CACHE: Final = "public, max-age=60"
_OTHERS_MAX: Final = 24

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/rules/{ruleset_id}")
async def ruleset_page(request: Request, ruleset_id: str, asked: Question) -> Response:
    """The page of a version, the newest where none is named."""
    reading = reading_of(request)
    published = await _published(request, ruleset_id, asked.version)
    try:
        found = await choose(reading, ruleset_id, asked)
    except Problem as problem:
        if problem.code == "validation_failed":
            return plain(422, "No such odds", problem.extra["errors"][0]["detail"], links=(TABLE, DOCS))
        return HTMLResponse(_page(published, waiting=problem.detail))
    return HTMLResponse(_with_odds(found))


@router.get("/rules/{ruleset_id}/chart.svg")
async def ruleset_chart(request: Request, ruleset_id: str, asked: Question) -> Response:
    """The chart on that page."""
    await _published(request, ruleset_id, asked.version)
    reading = reading_of(request)
    try:
        return await chart_response(request, reading, await choose(reading, ruleset_id, asked), _CACHE)
    except Problem as problem:
        raise not_here(problem.detail) from None


async def _published(request: Request, ruleset_id: str, version: int | None) -> PublishedRuleset:
    """The version. Raises Refused where there is none."""
    try:
        return await version_of(
            reading_of(request), ruleset_id if _ID.fullmatch(ruleset_id) else "-", version
        )
    except Problem as problem:
        raise not_here(problem.detail) from None


def _with_odds(found: Found) -> str:
    figures, terms = found.odds.figures, found.odds.terms
    warnings = warnings_of(found.published, [found.odds] if figures["favours_player"] else [])
    others = [odds for odds in found.all if odds.terms != terms and "unsupported" not in odds.figures]
    return _page(
        found.published,
        terms=terms_words(terms),
        warnings=[warning["text"] for warning in warnings],
        tables=tables_of(figures, _names(found.published.ruleset)),
        others=[(_short(odds), _address(odds)) for odds in others[:_OTHERS_MAX]],
        chart=_address(found.odds, "/chart.svg"),
        exchange=figures["exchange_fee"] is not None,
        notes=[note["text"] for note in figures["notes"]],
    )


def _page(published: PublishedRuleset, **more: Any) -> str:
    readings = published.ruleset.readings
    values: dict[str, Any] = {
        "title": published.ruleset.title,
        "ref": published.ref,
        "terms": "",
        "waiting": "",
        "warnings": [],
        "tables": [],
        "others": [],
        "chart": "",
        "exchange": False,
        "notes": [],
        "flagged": [" ".join(reading.text.split()) for reading in readings if reading.flagged],
    }
    return render("returns.html", **values | more)


def _names(ruleset: RuleSet) -> dict[str, str]:
    return {what: text for what, text in ruleset.names.items()}  # noqa: C416 - plain strings as keys


def _short(odds: Odds) -> str:
    return f"an ante of {money(odds.terms.ante, odds.terms.currency)}"


def _address(odds: Odds, end: str = "") -> str:
    """The address of odds."""
    terms = odds.terms
    asked = {
        "version": terms.version,
        "currency": terms.currency,
        "ante": terms.ante,
        "raise_win_cap": terms.raise_win_cap,
        "bonus_stake": terms.bonus_stake,
    }
    query = urlencode({name: value for name, value in asked.items() if value})
    return f"/rules/{terms.ruleset_id}{end}?{query}"

"""Reading rule sets: every version that was ever published, with its hash."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends
from starlette.responses import Response

from api import openapi
from api.auth import SEE_TABLES, reader, scopes
from api.paging import Fresh, answer
from api.problems import Problem
from api.rulesets.warnings import warnings_of
from api.shapes import Answer, RulesetPath
from api.tokens import Token
from domain.work import PublishedRuleset
from infrastructure.odds.store import Odds

router = APIRouter(tags=["rulesets"])

_Caller = Annotated[Token, Depends(reader(SEE_TABLES))]

_RULESET: Final[dict[str, Any]] = {
    "id": "us-casino",
    "version": 1,
    "sha256": "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
    "title": "Caribbean Stud as American casinos play it",
    "currencies": ["USD"],
    "warnings": [],
}


class RulesetAnswer(Answer):
    """The newest version of a rule set. `sha256` is of the canonical JSON of `document`.

    `warnings` say where its exact odds favour the player; there are none until they are computed.
    """

    id: str
    version: int
    sha256: str
    title: str
    currencies: list[str]
    warnings: list[dict[str, Any]]
    document: dict[str, Any] | None = None
    versions: list[dict[str, Any]] | None = None


class RulesetsAnswer(Answer):
    """All rule sets; a service has a few."""

    items: list[RulesetAnswer]


@router.get(
    "/v1/rulesets",
    summary="All rule sets",
    response_model=RulesetsAnswer,
    dependencies=[scopes(SEE_TABLES)],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read({"items": [_RULESET]}),
)
async def read_rulesets(_: _Caller, reading: Fresh) -> Response:
    """The newest version of every published rule set."""
    favouring = await reading.odds.favouring()
    return answer({"items": [_short(published, favouring) for published in await reading.rulesets()]})


@router.get(
    "/v1/rulesets/{ruleset_id}",
    summary="A rule set",
    response_model=RulesetAnswer,
    dependencies=[scopes(SEE_TABLES)],
    responses=openapi.problems("ruleset_not_found", "validation_failed"),
    openapi_extra=openapi.read({**_RULESET, "document": {"id": "us-casino"}, "versions": []}),
)
async def read_ruleset(_: _Caller, reading: Fresh, ruleset_id: RulesetPath) -> Response:
    """The newest version with its whole content, and the hashes of all versions."""
    versions = await reading.versions(ruleset_id)
    if not versions:
        raise Problem("ruleset_not_found", f"There is no published rule set {ruleset_id}.")
    known = [{"version": each.ref.version, "sha256": each.ref.sha256} for each in versions]
    short = _short(versions[-1], await reading.odds.favouring())
    return answer({**short, "document": versions[-1].document, "versions": known})


def _short(published: PublishedRuleset, favouring: Iterable[Odds]) -> dict[str, Any]:
    ref, ruleset = published.ref, published.ruleset
    return {
        "id": ref.id,
        "version": ref.version,
        "sha256": ref.sha256,
        "title": ruleset.title,
        "currencies": list(ruleset.currencies),
        "warnings": warnings_of(published, favouring),
    }

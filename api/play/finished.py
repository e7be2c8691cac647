"""A finished round looked at again: derived from its events alone, and handed out as evidence."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from api import openapi
from api.auth import SEE_ROUNDS, reader, scopes
from api.paging import Fresh, answer
from api.play.answers import EVIDENCE, REPLAYED, ReplayAnswer
from api.play.reads import found_round
from api.play.visible import evidence_events
from api.problems import Problem
from api.shapes import ID_PATTERN, RoundPath
from api.tokens import Token
from domain.jackpots import parameters_document
from domain.money import exponent
from domain.replay import replay
from infrastructure.reading import FoundRound, Reading

EVIDENCE_FORMAT: Final = "stud-ledger/evidence/1"

router = APIRouter(tags=["rounds"])

_Caller = Annotated[Token, Depends(reader(SEE_ROUNDS))]
_OnePlayer = Annotated[
    str | None, Query(pattern=ID_PATTERN, description="Withhold what the round has of other players.")
]


@router.get(
    "/v1/rounds/{round_id}/replay",
    summary="Derive a finished round again",
    response_model=ReplayAnswer,
    dependencies=[scopes(SEE_ROUNDS)],
    responses=openapi.problems("round_not_found", "round_archived", "round_unfinished", "validation_failed"),
    openapi_extra=openapi.read(REPLAYED),
)
async def read_replay(_: _Caller, reading: Fresh, round_id: RoundPath) -> Response:
    """Derive the round again from its events alone, with code that shares nothing with the writer's (G8)."""
    found = await _finished(reading, round_id)
    stored = await reading.events(round_id)
    return answer(await asyncio.to_thread(_replay, found, stored))


@router.get(
    "/v1/rounds/{round_id}/evidence",
    summary="A finished round as a file to verify",
    response_model=dict[str, Any],
    dependencies=[scopes(SEE_ROUNDS)],
    responses=openapi.problems(
        "round_not_found", "round_archived", "round_unfinished", "player_not_found", "validation_failed"
    ),
    openapi_extra=openapi.read(EVIDENCE),
)
async def read_evidence(
    _: _Caller, reading: Fresh, round_id: RoundPath, player_id: _OnePlayer = None
) -> Response:
    """Everything that `python3 scripts/verify.py FILE` needs, in one file."""
    found = await _finished(reading, round_id)
    player = None if player_id is None else await _player(reading, found, player_id)
    stored = await reading.events(round_id)
    headers = {"Content-Disposition": f'attachment; filename="round-{round_id}.json"'}
    return Response(
        await asyncio.to_thread(evidence, found, stored, player),
        headers=headers,
        media_type="application/json",
    )


async def _finished(reading: Reading, round_id: str) -> FoundRound:
    found = await found_round(reading, round_id)
    if not found.round.finished:
        detail = f"Round {round_id} is {found.round.phase}: it can be verified when it is finished."
        raise Problem("round_unfinished", detail, phase=found.round.phase)
    return found


async def _player(reading: Reading, found: FoundRound, player_id: str) -> str:
    """The pseudonym of a player of the round. Raises Problem player_not_found."""
    wallet = await reading.wallet(player_id)
    if wallet is None or all(seat.player != wallet.player for seat in found.round.seats.values()):
        raise Problem("player_not_found", f"Player {player_id} has no seat in round {found.round.id}.")
    return wallet.player


def _replay(found: FoundRound, stored: list[bytes]) -> dict[str, Any]:
    events = [orjson.loads(data) for data in stored]
    return replay(events, found.ruleset.document, _jackpot_document(found)).as_json()


def _jackpot_document(found: FoundRound) -> dict[str, Any] | None:
    pinned = found.round.opened.jackpot
    if pinned is None:
        return None
    currency = found.round.opened.currency
    return parameters_document(
        pinned.id,
        currency,
        pinned.contribution,
        pinned.reset,
        pinned.version,
        pinned.ceiling,
        pinned.diversion,
    )


def evidence(found: FoundRound, stored: list[bytes], player: str | None) -> bytes:
    """A finished round's evidence file; with a player's pseudonym, without what is other players'."""
    currency = found.round.opened.currency
    jackpot = _jackpot_document(found)
    document = {
        "format": EVIDENCE_FORMAT,
        "round_id": found.round.id,
        "player": player,
        "events": evidence_events(stored, player),
        "ruleset": found.ruleset.document,
        "currency": {"code": currency, "exponent": exponent(currency)},
        **({} if jackpot is None else {"jackpot": jackpot}),
    }
    return orjson.dumps(document)

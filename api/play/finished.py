"""A finished round looked at again: derived from its events alone, and handed out as evidence."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api import openapi
from api.auth import SEE_ROUNDS, reader, scopes
from api.composition import Service
from api.log.checkpoints import sealed
from api.paging import POSITION_MAX, Fresh, answer
from api.play.answers import EVIDENCE, REPLAYED, ReplayAnswer
from api.play.evidence import evidence, jackpot_document
from api.play.reads import found_round
from api.problems import Problem
from api.shapes import ID_PATTERN, RoundPath
from api.tokens import Token
from domain.replay import replay
from infrastructure.ledger.stored_form import decode
from infrastructure.reading import FoundRound, Reading

router = APIRouter(tags=["rounds"])

_Caller = Annotated[Token, Depends(reader(SEE_ROUNDS))]
_OnePlayer = Annotated[
    str | None, Query(pattern=ID_PATTERN, description="Withhold what the round has of other players.")
]
Since = Annotated[
    int | None,
    Query(
        ge=0,
        le=POSITION_MAX,
        description="The size of a checkpoint that was kept: the file proves that nothing up to it has "
        "changed. Absent: of the log as it was before the round began.",
    ),
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
        "round_not_found",
        "round_archived",
        "round_unfinished",
        "player_not_found",
        "evidence_not_ready",
        "validation_failed",
    ),
    openapi_extra=openapi.read(EVIDENCE),
)
async def read_evidence(
    request: Request,
    _: _Caller,
    reading: Fresh,
    round_id: RoundPath,
    player_id: _OnePlayer = None,
    since: Since = None,
) -> Response:
    """Everything that `python3 scripts/verify.py FILE` needs, in one file.

    The log signs a round seconds after it has ended: until then `evidence_not_ready`, after a short wait.
    """
    found = await _finished(reading, round_id)
    player = None if player_id is None else await _player(reading, found, player_id)
    document = await evidence_of(request.app.state.service, found, player, since)
    headers = {"Content-Disposition": f'attachment; filename="round-{round_id}.json"'}
    return Response(document, headers=headers, media_type="application/json")


async def evidence_of(
    service: Service, found: FoundRound, player: str | None = None, since: int | None = None
) -> bytes:
    """A finished round's evidence file, once the log has signed it; waits for that, a bounded time.

    Raises Problem evidence_not_ready, LogUnavailable, ReadingUnavailable.
    """
    stored = await service.reading.events(found.round.id)
    last = decode(stored[-1])
    size = max(last.position, since or 0)
    state = await service.reading.registers.log()
    log, note = await sealed(service.log, state, size, last.recorded_at, service.clock)
    return await asyncio.to_thread(evidence, found, stored, player, log, note, since)


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
    return replay(stored, found.ruleset.document, jackpot_document(found)).as_json()

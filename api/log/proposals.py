"""Who signs the evidence log: what takes two people. Each of these proposes; another person approves."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Body

from api import openapi
from api.approvals.answers import PROPOSED, ApprovalAnswer
from api.approvals.proposing import propose
from api.auth import ADMIN, scopes
from api.log import starting
from api.log.bodies import GENERATION_EFFECT, KEY_EFFECT, VKEY, VKEY_2, GenerationBody, KeyBody
from api.writing import Later, WithNote, WriteRoute
from domain.evidence_log import GENERATION, KEY
from infrastructure import log_keys
from infrastructure.evidence.notes import NoteError, parse_checkpoint, parse_note, parse_vkey, verify
from infrastructure.keys import KeysError

if TYPE_CHECKING:
    from api.composition import Service
    from api.settings import ServiceSettings
    from domain import commands as c
    from domain.registers import LogState

router = APIRouter(route_class=WriteRoute, tags=["evidence log"])


def _example(kind: str, vkey: str, effect: dict[str, Any]) -> dict[str, Any]:
    return {**PROPOSED, "kind": kind, "payload": {"vkey": vkey}, "effect": effect}


@router.post(
    "/v1/log/keys",
    status_code=201,
    summary="Propose another key for the evidence log",
    response_model=ApprovalAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems("approvals_full"),
    openapi_extra=openapi.write(
        _example(KEY, VKEY, KEY_EFFECT), {"vkey": VKEY, "note": "A year has gone by."}, status=201
    ),
)
def propose_key(body: Annotated[KeyBody, Body()]) -> Later:
    """Propose that this key signs from now on. What the keys before have signed is verified with them."""
    return Later(partial(_key, body))


@router.post(
    "/v1/log/generations",
    status_code=201,
    summary="Propose a new evidence log in place of one that the ledger disagrees with",
    response_model=ApprovalAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems("approvals_full"),
    openapi_extra=openapi.write(
        _example(GENERATION, VKEY_2, GENERATION_EFFECT),
        {"vkey": VKEY_2, "note": "Restored from Sunday's backup."},
        status=201,
    ),
)
def propose_generation(body: Annotated[GenerationBody, Body()]) -> Later:
    """Propose a new log, with a key of its own, for a ledger that is halted; approving it ends that.

    The event that starts it names the old log, its last checkpoint and what was lost. Where the ledger does
    not know that checkpoint, somebody may have it: whoever was served it, or a witness.
    """
    return Later(partial(_generation, body))


async def _key(body: KeyBody, service: Service) -> c.Propose | WithNote:
    unusable = await asyncio.to_thread(_without_secret_half, service.settings, body.vkey)
    return propose(KEY, {"vkey": body.vkey, "unusable": unusable}, body.note)


async def _generation(body: GenerationBody, service: Service) -> c.Propose | WithNote:
    state = await service.reading.registers.log()
    payload: dict[str, Any] = {"origin": body.vkey.partition("+")[0], "vkey": body.vkey}
    if body.old_checkpoint is not None:
        payload |= _checkpoint(body.old_checkpoint, state)
    unusable = await asyncio.to_thread(_without_secret_half, service.settings, body.vkey)
    if unusable is not None:
        payload["unusable"] = unusable
    name, _, generation = payload["origin"].rpartition("/")
    if state.halted is not None and name == state.origin.rpartition("/")[0] and generation.isdecimal():
        # Before the ledger can say that it has begun: see `api.log.starting`.
        await asyncio.to_thread(starting.begin, service.settings.log, int(generation))
    return propose(GENERATION, payload, body.note)


def _without_secret_half(settings: ServiceSettings, vkey: str) -> str | None:
    """What is wrong with a key that nothing here could sign with; None: nothing is.

    The ledger is told and decides, so that the same request sent again is answered as the first time.
    """
    try:
        log_keys.load_for(settings.keys, vkey)
    except KeysError:
        return "The service has no such key: `scripts/log new-key` makes one and prints it."
    return None


def _checkpoint(text: str, state: LogState) -> dict[str, Any]:
    """What a checkpoint of the old log says, or what is wrong with it."""
    try:
        note = parse_note(text.encode())
        checkpoint = parse_checkpoint(note.text)
        keys = [state.signed_vkey] if state.signed_vkey else state.keys
        verify(note, map(parse_vkey, keys))
    except NoteError as error:
        return {"unusable": f"The old log has not signed that checkpoint: {error}."}
    if checkpoint.origin != (state.signed_origin or state.origin):
        return {"unusable": "That is a checkpoint of another log."}
    return {"size": checkpoint.size, "root": checkpoint.root_text}

"""Registering and revoking people."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Body as InBody

from api import openapi
from api.approvals.proposing import new_approval_id
from api.auth import ADMIN, scopes
from api.people.bodies import PERSON, PersonAnswer, PersonBody, PersonPath, RevokeBody
from api.writing import WithNote, WriteRoute
from domain import commands as c

router = APIRouter(route_class=WriteRoute, tags=["approvals"])

_BODY = {name: PERSON[name] for name in ("person_id", "public_key", "scopes")}


@router.post(
    "/v1/people",
    status_code=201,
    summary="Register a person",
    response_model=PersonAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems("person_exists", "approvals_full"),
    openapi_extra=openapi.write(PERSON, _BODY, status=201),
)
def register_person(body: Annotated[PersonBody, InBody()]) -> c.RegisterPerson | WithNote:
    """Register somebody who may approve, by the public half of a key that only they hold.

    Once two people have been registered who hold `admin`, and as long as one of them is there, this is a
    proposal, which another person approves.
    """
    command = c.RegisterPerson(body.person_id, body.public_key, tuple(body.scopes), new_approval_id())
    return command if body.note is None else WithNote(command, body.note)


@router.post(
    "/v1/people/{person_id}/revoke",
    status_code=201,
    summary="Revoke a person",
    response_model=PersonAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems("person_not_found", "approvals_full"),
    openapi_extra=openapi.write({**PERSON, "active": False}, {"note": "Left the house."}, status=201),
)
def revoke_person(person_id: PersonPath, body: Annotated[RevokeBody, InBody()]) -> c.RevokePerson | WithNote:
    """Take nothing more that the person signs: at once where it is decided, within a second where it is read.

    A proposal where registering is one. The id and the key are never given to another.
    """
    command = c.RevokePerson(person_id, new_approval_id())
    return command if body.note is None else WithNote(command, body.note)

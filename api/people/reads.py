"""Who is registered."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api import openapi
from api.auth import SEE_PEOPLE, reader, scopes
from api.paging import PAGE_MAX, Cursor, Fresh, key_of, page
from api.people.bodies import PERSON, PeopleAnswer
from api.tokens import Token
from domain.people import person_answer

router = APIRouter(tags=["approvals"])

_Caller = Annotated[Token, Depends(reader(SEE_PEOPLE))]


@router.get(
    "/v1/people",
    summary="The people who may approve",
    response_model=PeopleAnswer,
    dependencies=[scopes(SEE_PEOPLE)],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read({"items": [PERSON]}),
)
async def read_people(request: Request, _: _Caller, reading: Fresh, cursor: Cursor = None) -> Response:
    """Everybody who was ever registered, in the order of their ids; who was revoked is not active."""
    found = await reading.registers.people(key_of(cursor, "-"), PAGE_MAX + 1)
    items = [person_answer(person) for person in found[:PAGE_MAX]]
    return page(request, {"items": items}, items[-1]["person_id"] if len(found) > PAGE_MAX else None)

"""Reading tables."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api import openapi
from api.auth import SEE_TABLES, reader, scopes
from api.paging import PAGE_MAX, Cursor, Fresh, answer, key_of, page
from api.problems import Problem
from api.shapes import TablePath
from api.tables.bodies import TABLE, TableAnswer, TablesAnswer
from api.tokens import Token
from domain.tables import table_answer

router = APIRouter(tags=["tables"])

_Caller = Annotated[Token, Depends(reader(SEE_TABLES))]


@router.get(
    "/v1/tables",
    summary="All tables",
    response_model=TablesAnswer,
    dependencies=[scopes(SEE_TABLES)],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read({"items": [TABLE]}),
)
async def read_tables(request: Request, _: _Caller, reading: Fresh, cursor: Cursor = None) -> Response:
    """The tables in the order of their ids."""
    found = await reading.tables(key_of(cursor, ""), PAGE_MAX + 1)
    items = [table_answer(table) for table in found[:PAGE_MAX]]
    return page(request, {"items": items}, items[-1]["table_id"] if len(found) > PAGE_MAX else None)


@router.get(
    "/v1/tables/{table_id}",
    summary="A table",
    response_model=TableAnswer,
    dependencies=[scopes(SEE_TABLES)],
    responses=openapi.problems("table_not_found", "validation_failed"),
    openapi_extra=openapi.read(TABLE),
)
async def read_table(_: _Caller, reading: Fresh, table_id: TablePath) -> Response:
    """The table as of the last command."""
    table = await reading.table(table_id)
    if table is None:
        raise Problem("table_not_found", f"There is no table {table_id}.")
    return answer(table_answer(table))

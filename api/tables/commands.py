"""Tables: each request turned into a command."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body

from api import openapi
from api.auth import ADMIN, JOIN, scopes
from api.shapes import TablePath
from api.tables.bodies import (
    TABLE,
    ActivateBody,
    JoinBody,
    LeaveBody,
    NothingBody,
    TableAnswer,
    TableBody,
)
from api.writing import WriteRoute
from domain import commands as c

router = APIRouter(route_class=WriteRoute, tags=["tables"])

_OPEN = {
    "table_id": "table-1",
    "ruleset": "us-casino",
    "currency": "USD",
    "min_ante": 500,
    "max_ante": 100_000,
    "deal_source": "rng",
    "jackpot_id": "jackpot-1",
}
_JOIN = {"player_id": "anna", "seat": 1}


@router.post(
    "/v1/tables",
    status_code=201,
    summary="Open a table",
    response_model=TableAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems(
        "table_exists",
        "ruleset_not_found",
        "jackpot_not_found",
        "currency_mismatch",
        "account_class_mismatch",
        "amount_out_of_range",
    ),
    openapi_extra=openapi.write(TABLE, _OPEN, status=201),
)
def open_table(body: Annotated[TableBody, Body()]) -> c.Command:
    """Open a table on the newest version of a rule set."""
    own = body.parameters
    return c.OpenTable(
        table_id=body.table_id,
        ruleset=body.ruleset,
        currency=body.currency,
        min_ante=body.min_ante,
        max_ante=body.max_ante,
        deal_source=body.deal_source,
        jackpot_id=body.jackpot_id,
        parallel_rounds=body.parallel_rounds,
        account_class=body.account_class,
        raise_win_cap=own.raise_win_cap,
        bonus_stake=own.bonus_stake,
        zone=own.zone,
        cutoff_hour=own.cutoff_hour,
        decision_seconds=own.decision_seconds,
        min_side_bet=own.min_side_bet,
        max_side_bet=own.max_side_bet,
    )


@router.post(
    "/v1/tables/{table_id}/open",
    summary="Take rounds again",
    response_model=TableAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems("table_not_found"),
    openapi_extra=openapi.write(TABLE, {}),
)
def reopen_table(table_id: TablePath, body: Annotated[NothingBody, Body()]) -> c.Command:  # noqa: ARG001 - its shape
    """Take rounds again at a closed table."""
    return c.ReopenTable(table_id)


@router.post(
    "/v1/tables/{table_id}/close",
    summary="Take no new rounds",
    response_model=TableAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems("table_not_found"),
    openapi_extra=openapi.write({**TABLE, "open": False}, {}),
)
def close_table(table_id: TablePath, body: Annotated[NothingBody, Body()]) -> c.Command:  # noqa: ARG001 - its shape
    """Take no new rounds; those that are open go on."""
    return c.CloseTable(table_id)


@router.post(
    "/v1/tables/{table_id}/ruleset",
    summary="Activate a published rule set",
    response_model=TableAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems(
        "table_not_found", "ruleset_not_found", "currency_mismatch", "amount_out_of_range"
    ),
    openapi_extra=openapi.write(TABLE, {"ruleset": "us-casino", "version": 1}),
)
def activate_ruleset(table_id: TablePath, body: Annotated[ActivateBody, Body()]) -> c.Command:
    """Play the table's new rounds by a published version; open rounds keep theirs (G7)."""
    return c.ActivateRuleset(table_id, body.ruleset, body.version)


@router.post(
    "/v1/tables/{table_id}/join",
    summary="Take a place",
    response_model=TableAnswer,
    dependencies=[scopes(JOIN)],
    responses=openapi.write_problems(
        "table_not_found",
        "table_closed",
        "player_not_found",
        "seat_taken",
        "table_full",
        "currency_mismatch",
        "account_class_mismatch",
    ),
    openapi_extra=openapi.write({**TABLE, "players": 1}, _JOIN),
)
def join_table(table_id: TablePath, body: Annotated[JoinBody, Body()]) -> c.Command:
    """Take a place at the table, or another seat. A seat that is joined takes nobody else's stakes."""
    return c.JoinTable(table_id, body.player_id, body.seat, body.session_id)


@router.post(
    "/v1/tables/{table_id}/leave",
    summary="Give up a place",
    response_model=TableAnswer,
    dependencies=[scopes(JOIN)],
    responses=openapi.write_problems("table_not_found", "player_not_found", "round_unfinished"),
    openapi_extra=openapi.write(TABLE, {"player_id": "anna"}),
)
def leave_table(table_id: TablePath, body: Annotated[LeaveBody, Body()]) -> c.Command:
    """Give up the place; who has none changes nothing."""
    return c.LeaveTable(table_id, body.player_id)

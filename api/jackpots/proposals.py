"""Jackpots: what takes two people. Each of these proposes; another person approves."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body

from api import openapi
from api.approvals.answers import PROPOSED, ApprovalAnswer
from api.approvals.proposing import propose
from api.auth import ADMIN, scopes
from api.jackpots.bodies import AdjustmentBody, ParametersBody, TransferBody
from api.shapes import JackpotPath
from api.writing import WithNote, WriteRoute
from domain import commands as c
from domain.jackpot_life import ADJUSTMENT, TRANSFER
from domain.jackpot_parameters import PARAMETERS

router = APIRouter(route_class=WriteRoute, tags=["jackpots"])

_SHA256 = "b7c5f1e0ad0a0a6b0a6b3b7a3c3c2a7c0f6a9d0d2f4d5b6a7c8d9e0f1a2b3c4d"
_PARAMETERS = {"contribution": "0.65", "reset": 2_000_000, "ceiling": 250_000_000, "diversion": "0.05"}
_IN_FORCE = {"version": 1, "sha256": _SHA256, "contribution": "0.70", "reset": 1_000_000}
_TRANSFER = {
    "jackpot_id": "jackpot-1",
    "to": "jackpot-2",
    "amount_exact": "1000070.5",
    "overflow_exact": "0",
    "diversion_exact": "0",
    "above_ceiling_exact": "0",
    "to_meter_before_exact": "2000000",
    "to_meter_after_exact": "3000070.5",
}
_ADJUSTMENT = {
    "jackpot_id": "jackpot-1",
    "pool": "meter",
    "amount": -1_250,
    "before_exact": "1000070.5",
    "after_exact": "998820.5",
}


def _example(kind: str, payload: dict[str, Any], effect: dict[str, Any]) -> dict[str, Any]:
    return {**PROPOSED, "kind": kind, "payload": {"jackpot_id": "jackpot-1", **payload}, "effect": effect}


@router.post(
    "/v1/jackpots/{jackpot_id}/parameters",
    status_code=201,
    summary="Propose new parameters for after the next win",
    response_model=ApprovalAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems(
        "jackpot_not_found", "jackpot_retired", "amount_out_of_range", "approvals_full"
    ),
    openapi_extra=openapi.write(
        _example(
            PARAMETERS,
            _PARAMETERS,
            {
                "jackpot_id": "jackpot-1",
                "in_force": _IN_FORCE,
                "scheduled": {"version": 2, "sha256": _SHA256, **_PARAMETERS},
            },
        ),
        {**_PARAMETERS, "note": "A higher start for the summer."},
        status=201,
    ),
)
def parameters(jackpot_id: JackpotPath, body: Annotated[ParametersBody, Body()]) -> c.Propose | WithNote:
    """Propose parameters that are to be in force once the meter has been won, in place of any that wait.

    A ceiling is above what the meter holds, and above the reset.
    """
    new = body.model_dump(include={"contribution", "reset", "ceiling", "diversion"})
    return propose(PARAMETERS, {"jackpot_id": jackpot_id, **new}, body.note)


@router.post(
    "/v1/jackpots/{jackpot_id}/transfers",
    status_code=201,
    summary="Propose to retire a jackpot and give what it holds to another",
    response_model=ApprovalAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems(
        "jackpot_not_found",
        "jackpot_retired",
        "jackpot_enabled",
        "jackpot_unsettled",
        "currency_mismatch",
        "account_class_mismatch",
        "amount_out_of_range",
        "approvals_full",
    ),
    openapi_extra=openapi.write(
        _example(TRANSFER, {"to": "jackpot-2"}, _TRANSFER),
        {"to": "jackpot-2", "note": "The house closes its second room."},
        status=201,
    ),
)
def transfer(jackpot_id: JackpotPath, body: Annotated[TransferBody, Body()]) -> c.Propose | WithNote:
    """Propose to give all three pools to another jackpot and to retire this one for good.

    It must be disabled, with every bet on it settled.
    """
    return propose(TRANSFER, {"jackpot_id": jackpot_id, "to": body.to}, body.note)


@router.post(
    "/v1/jackpots/{jackpot_id}/adjustments",
    status_code=201,
    summary="Propose to put a pool right",
    response_model=ApprovalAnswer,
    dependencies=[scopes(ADMIN)],
    responses=openapi.write_problems(
        "jackpot_not_found", "jackpot_retired", "amount_out_of_range", "approvals_full"
    ),
    openapi_extra=openapi.write(
        _example(ADJUSTMENT, {"pool": "meter", "amount": -1_250}, _ADJUSTMENT),
        {"amount": -1_250, "reason": "A contribution was counted twice."},
        status=201,
    ),
)
def adjustment(jackpot_id: JackpotPath, body: Annotated[AdjustmentBody, Body()]) -> c.Propose | WithNote:
    """Propose to add to a pool, or to take out of it, at the house's cost; never below zero."""
    payload = {"jackpot_id": jackpot_id, "pool": body.pool, "amount": body.amount}
    return propose(ADJUSTMENT, payload, body.reason)

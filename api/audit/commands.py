"""Starting an audit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

import psycopg
from fastapi import APIRouter
from fastapi import Body as InBody

from api import openapi
from api.audit.bodies import STARTED, RunAnswer, RunBody
from api.auth import AUDIT, scopes
from api.problems import overloaded, validation_failed
from api.writing import Later, WriteRoute
from domain import commands as c
from infrastructure import ids
from infrastructure.audit.bounds import BoundsError, bounds
from infrastructure.audit.database import Database
from infrastructure.reading import AFTER_ALL_ROUNDS

if TYPE_CHECKING:
    from api.composition import Service

WAITING_MAX: Final = 8
"""So many audits may wait for the one that is made."""

router = APIRouter(route_class=WriteRoute, tags=["audit"])


@router.post(
    "/v1/audit/runs",
    status_code=201,
    summary="Start an audit",
    response_model=RunAnswer,
    dependencies=[scopes(AUDIT)],
    responses=openapi.write_problems(),
    openapi_extra=openapi.write(STARTED, {}, {"from": "2026-11-29T00:00:00Z"}, status=201),
)
def start(body: Annotated[RunBody, InBody()]) -> Later:
    """Have all rounds derived again, and balances, meters and the log checked; one audit is made at a time.

    That it was started, and what it finds, is recorded in the ledger.
    """

    async def make(service: Service) -> c.Command:
        recent = await service.reading.registers.audits(AFTER_ALL_ROUNDS, 2 * WAITING_MAX)
        if sum(audit.verdict is None for audit in recent) > WAITING_MAX:
            raise overloaded(f"{WAITING_MAX} audits wait already.")
        after, up_to = await asyncio.to_thread(_bounds, service, body)
        return c.StartAudit(ids.approval_id(service.clock()), "database", after + 1, up_to)

    return Later(make)


def _bounds(service: Service, body: RunBody) -> tuple[int, int]:
    """What is to be audited. Raises Problem validation_failed, overloaded."""
    first, last = (None if bound is None else str(bound) for bound in (body.first, body.last))
    try:
        return bounds(Database(service.audited.dsn, service.audited.schema), first, last)
    except BoundsError as problem:
        raise validation_failed([{"pointer": "", "detail": str(problem)}]) from None
    except psycopg.OperationalError:
        raise overloaded("The ledger cannot be read now; ask again.") from None

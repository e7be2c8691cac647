"""Watching an audit, and reading its report."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, Response

from api import openapi
from api.audit.bodies import FINISHED, RUNNING, RunAnswer, RunPath, RunsAnswer
from api.audit.rendering import html
from api.auth import AUDIT, reader, scopes
from api.paging import PAGE_MAX, Cursor, Fresh, answer, key_of, page
from api.problems import Problem
from api.tokens import Token
from domain.records import audit_view
from domain.registers import AuditState
from infrastructure.audit.store import Progress
from infrastructure.reading import AFTER_ALL_ROUNDS, Reading

router = APIRouter(tags=["audit"])

_Caller = Annotated[Token, Depends(reader(AUDIT))]
_PAGE = '<!DOCTYPE html>\n<html lang="en">…</html>\n'
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


@router.get(
    "/v1/audit/runs",
    summary="Audits",
    response_model=RunsAnswer,
    dependencies=[scopes(AUDIT)],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read({"items": [RUNNING, FINISHED]}),
)
async def read_runs(request: Request, _: _Caller, reading: Fresh, cursor: Cursor = None) -> Response:
    """Audits that were started here or with `scripts/audit`, the newest first."""
    found = await reading.registers.audits(key_of(cursor, AFTER_ALL_ROUNDS), PAGE_MAX + 1)
    shown = found[:PAGE_MAX]
    progress = await reading.audits.progress([each.run_id for each in shown])
    items = [_shown(each, progress.get(each.run_id)) for each in shown]
    return page(request, {"items": items}, shown[-1].run_id if len(found) > PAGE_MAX else None)


@router.get(
    "/v1/audit/runs/{run_id}",
    summary="An audit, and its report",
    response_model=RunAnswer,
    dependencies=[scopes(AUDIT)],
    responses=openapi.problems("not_found", "validation_failed"),
    openapi_extra=openapi.read(FINISHED),
)
async def read_run(_: _Caller, reading: Fresh, run_id: RunPath) -> Response:
    """How far it has come; once it has finished, with its whole report, if it was made by this service."""
    audit = await _found(reading, run_id)
    progress = await reading.audits.progress([run_id])
    view = _shown(audit, progress.get(run_id))
    stored = await reading.audits.report(run_id) if audit.verdict is not None else None
    if stored is not None:
        view["report"] = orjson.Fragment(stored)  # the very bytes that were hashed
    return answer(view)


@router.get(
    "/v1/audit/runs/{run_id}/report.html",
    summary="An audit's report as a page",
    response_class=HTMLResponse,
    dependencies=[scopes(AUDIT)],
    responses=openapi.problems("not_found", "validation_failed"),
    openapi_extra={"responses": {"200": {"content": {"text/html": {"example": _PAGE}}}}},
)
async def read_report(_: _Caller, reading: Fresh, run_id: RunPath) -> Response:
    """One file, without scripts, that needs nothing from anywhere."""
    audit = await _found(reading, run_id)
    stored = await reading.audits.report(run_id) if audit.verdict is not None else None
    if stored is None:
        raise Problem("not_found", f"The audit {run_id} has no report here.")
    headers = {"Content-Security-Policy": _POLICY}
    return HTMLResponse(html(orjson.loads(stored)), headers=headers)


async def _found(reading: Reading, run_id: str) -> AuditState:
    audit = await reading.registers.audit(run_id)
    if audit is None:
        raise Problem("not_found", f"There is no audit {run_id}.")
    return audit


def _shown(audit: AuditState, progress: Progress | None) -> dict[str, Any]:
    view = audit_view(audit)
    if progress is not None and audit.verdict is None:
        view["progress"] = progress._asdict()
    return view

"""Whether the service lives, whether it can be given work, and how it is doing."""

from __future__ import annotations

import time
from typing import Any, Final

import orjson
from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from api import near, openapi
from api.composition import Service
from api.problems import Problem, overloaded, read_only
from infrastructure import metrics
from infrastructure.evidence.asking import WitnessAddress
from infrastructure.evidence.sealing import BESIDE_THE_LEDGER
from infrastructure.evidence.unavailable import LogUnavailable
from infrastructure.odds.returns import PREFIX

router = APIRouter(tags=["service"])

_OK: Final = orjson.dumps({"status": "ok"})
_EXAMPLE: Final[dict[str, Any]] = {"status": "ok"}
_READY: Final[dict[str, Any]] = {"status": "ok", "position": 4711, "lag": {"postings": 0, "round_records": 0}}
_METRICS: Final = {
    "200": {
        "description": "Every metric, in Prometheus' text format.",
        "content": {"text/plain": {"schema": {"type": "string"}, "example": "stud_ledger_position 4711.0\n"}},
    }
}


@router.get("/healthz", summary="The process is up", openapi_extra=openapi.read(_EXAMPLE))
async def healthz() -> Response:
    """Answer: that is the statement."""
    return Response(_OK, media_type="application/json")


@router.get(
    "/readyz",
    summary="The service can be given work",
    responses=openapi.only("overloaded", "ledger_read_only", "ledger_alarm"),
    openapi_extra=openapi.read(_READY),
)
async def readyz(request: Request) -> Response:
    """The database can be reached, the threads live, and nothing was found wrong with the ledger; else 503.

    What keeps the evidence log alone from going on is told in the metrics, and so is a version of a rule set
    that does not return what it should. `ledger_read_only`: the ledger is
    not what its evidence log has signed, and only reads and the way out of that are answered. `ledger_alarm`
    names what was found, with the first position from which something is not as it should be; what exactly is
    told to this machine and to administrators. `lag` is in events, by projection.
    """
    service: Service | None = getattr(request.app.state, "service", None)
    if service is None or not service.started:
        raise overloaded("The service is starting or stopping.")
    for what, part in (
        ("writer", service.writer),
        ("thread for time-outs", service.jobs),
        ("thread for projections", service.projections),
        ("thread that checks", service.checker),
        ("thread that seals", service.sealer),
    ):
        if part is not None and not part.alive:
            raise overloaded(f"The {what} has ended.")
    position = await service.reading.position()
    state = await service.reading.registers.log()
    if state.halted is not None:
        raise read_only(reason=state.halted, generation=state.generation)
    await _require_no_alarm(request, service)
    lag = {name: behind for name, behind, _ in await service.reading.lags()}
    body = orjson.dumps({"status": "ok", "position": position, "lag": lag})
    return Response(body, media_type="application/json")


async def _require_no_alarm(request: Request, service: Service) -> None:
    alarms = [
        each
        for each in await service.reading.alarms()
        if each.name not in BESIDE_THE_LEDGER and not each.name.startswith(PREFIX)
    ]
    if not alarms:
        return
    inside = await near.may_see_inside(request)
    told = [
        {"name": alarm.name, "position": alarm.position} | ({"detail": alarm.detail} if inside else {})
        for alarm in alarms
    ]
    raise Problem(
        "ledger_alarm", "The ledger, or what is derived from it, is not what it should be.", alarms=told
    )


@router.get(
    "/metrics",
    summary="Metrics",
    response_class=PlainTextResponse,
    responses=openapi.only("unauthenticated", "scope_missing", "overloaded"),
    openapi_extra={"responses": _METRICS},
)
async def read_metrics(request: Request) -> Response:
    """What is written and refused, how long that takes, how far the projections are, what was found wrong.

    For this machine itself, or with a token of scope `admin`. A request that a proxy forwards is not this
    machine's, wherever the proxy runs.
    """
    await near.require_near_or_admin(request)
    service: Service = request.app.state.service
    reading = service.reading
    now = time.time()
    known = metrics.Known(
        position=await reading.position(),
        lags=[
            metrics.Lag(name, behind, 0.0 if since is None else max(0.0, now - since.timestamp()))
            for name, behind, since in await reading.lags()
        ],
        alarms=[(alarm.name, alarm.position) for alarm in await reading.alarms()],
        halted=(await reading.software()).halted,
        read_only=(await reading.registers.log()).halted is not None,
        sealed=await _sealed(service, now),
    )
    return Response(metrics.exposition(known), media_type=metrics.CONTENT_TYPE)


async def _sealed(service: Service, now: float) -> metrics.Sealed | None:
    """How far the evidence log is; None while nothing of it can be read."""
    witnesses = [WitnessAddress.parse(witness).verifier for witness in service.settings.witnesses]
    try:
        log = service.log.current
        newest = None if log is None else log.newest()
        if log is None or newest is None:
            return None
        cosigned = log.cosigned_by(witnesses)
    except LogUnavailable:
        return None
    since = await service.reading.recorded_at(newest.size + 1)
    seconds = 0.0 if since is None else max(0.0, now - since.timestamp())
    return metrics.Sealed(newest.size, seconds, cosigned)

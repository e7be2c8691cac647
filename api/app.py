"""The application: the routes, and what surrounds them all."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from http import HTTPStatus
from typing import Any, Final

import structlog
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from api import demo, first_start, health, logs, page
from api.approvals import commands as approval_commands
from api.approvals import reads as approval_reads
from api.audit import commands as audit_commands
from api.audit import reads as audit_reads
from api.cashier import commands as cashier_commands
from api.cashier import reads as cashier_reads
from api.cashier import sessions as cashier_sessions
from api.cashier import statement as cashier_statement
from api.composition import Service, compose
from api.guard import Guard
from api.jackpots import commands as jackpot_commands
from api.jackpots import proposals as jackpot_proposals
from api.jackpots import reads as jackpot_reads
from api.json_body import shape_problem
from api.log import proposals as log_proposals
from api.log import reads as log_reads
from api.log import serving as log_serving
from api.openapi import ProblemDocument
from api.people import commands as people_commands
from api.people import reads as people_reads
from api.play import commands as play_commands
from api.play import finished as play_finished
from api.play import reads as play_reads
from api.play import record as play_record
from api.problems import Problem, overloaded
from api.reports import balances, jackpots, performance, significant, variance
from api.rulesets import odds as ruleset_odds
from api.rulesets import page as ruleset_page
from api.rulesets import reads as ruleset_reads
from api.settings import ServiceSettings
from api.software import commands as software_commands
from api.software import reads as software_reads
from api.tables import commands as table_commands
from api.tables import reads as table_reads
from api.writing import NOT_FOUND
from infrastructure.evidence.unavailable import LogUnavailable
from infrastructure.reading import ReadingUnavailable

log = structlog.get_logger(__name__)

TITLE: Final = "Stud Ledger"
VERSION: Final = "0.4.0"
DESCRIPTION: Final = """\
An event-sourced ledger for Caribbean Stud Poker: players and money, tables and rounds, and proof of every
payout.

Amounts are integers in minor units. Cards are rank and suit: `As`, `Td`, `2c`. Every POST needs an
`Idempotency-Key`: the same request sent again acts once and is answered as the first time.
Every failure is a problem document (RFC 9457) with a stable `code`.
"""

ROUTERS: Final[Sequence[APIRouter]] = (
    play_commands.router,  # first what is asked most: routes are tried in order
    play_reads.router,
    play_finished.router,
    play_record.router,
    cashier_commands.router,
    cashier_reads.router,
    cashier_statement.router,
    cashier_sessions.router,
    table_commands.router,
    table_reads.router,
    jackpot_commands.router,
    jackpot_proposals.router,
    jackpot_reads.router,
    ruleset_reads.router,
    ruleset_odds.router,
    approval_commands.router,
    approval_reads.router,
    people_commands.router,
    people_reads.router,
    performance.router,
    variance.router,
    balances.router,
    jackpots.router,
    significant.router,
    audit_commands.router,
    audit_reads.router,
    software_commands.router,
    software_reads.router,
    log_proposals.router,
    log_reads.router,
    log_serving.router,
    ruleset_page.router,
    health.router,
    page.router,
)


def create_app(
    settings: ServiceSettings | None = None, composer: Callable[[ServiceSettings], Service] = compose
) -> FastAPI:
    """Return the application. `settings`: the environment's, where none are given."""
    logs.configure()
    known = ServiceSettings.from_environment() if settings is None else settings

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = composer(known)
        app.state.service = service
        await service.start()
        try:
            await first_start.begin(service)
            if known.demo and await service.reading.is_demo():
                await demo.furnish(service)
            yield
        finally:
            await service.stop()

    app: FastAPI = FastAPIOffline(
        title=TITLE,
        version=VERSION,
        description=DESCRIPTION,
        lifespan=lifespan,
        redirect_slashes=False,
        # Its own would tell paths, which name players: `api.tracing` has ours.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    # The routers' own routes, not copies with another handler, which `include_router` would make.
    app.router.routes[:0] = [route for router in ROUTERS for route in router.routes]
    app.add_middleware(Guard)
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(RequestValidationError, _shape)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ReadingUnavailable, _unavailable)
    app.add_exception_handler(LogUnavailable, _log_unavailable)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign] # FastAPI's documented way to extend it
    return app


async def _problem(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)  # noqa: S101 - it is registered for this type
    return problem.response()


async def _shape(_: Request, error: Exception) -> Response:
    """What a read was asked with: a path that can name nothing, or a query that is none."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - it is registered for this type
    errors = error.errors()
    for each in errors:
        place = each["loc"]
        if place[0] == "path" and place[-1] in NOT_FOUND:
            return Problem(NOT_FOUND[place[-1]], "The path names nothing that can exist.").response()
    return shape_problem([{**each, "loc": each["loc"][1:]} for each in errors]).response()


async def _http(request: Request, error: Exception) -> Response:
    """What the framework itself refuses."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for this type
    if error.status_code == HTTPStatus.NOT_FOUND:
        return Problem("not_found", "No route has this path: /docs lists those there are.").response()
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(_methods(request))
        headers = {"Allow": allowed}
        return Problem("method_not_allowed", f"This path takes {allowed}.", headers=headers).response()
    codes = {413: "body_too_large", 400: "malformed_json"}
    code = codes.get(error.status_code, "internal_error")
    return Problem(code, f"{error.detail}.", headers=error.headers).response()


def _methods(request: Request) -> list[str]:
    """The methods of all routes of a path (RFC 9110 section 10.2.1); the framework names the first one's."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    found = (route.methods or () for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    return sorted({method for methods in found for method in methods})


async def _unavailable(_: Request, __: Exception) -> Response:
    return overloaded("The ledger cannot be read now; ask again.").response()


async def _log_unavailable(_: Request, error: Exception) -> Response:
    log.error("log_unavailable", error=str(error))
    return overloaded("The evidence log cannot be read now; ask again.").response()


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The documentation, with the form of problems, which no route answers as its own."""
    if app.openapi_schema is None:
        schema = get_openapi(title=TITLE, version=VERSION, description=DESCRIPTION, routes=app.routes)
        problem = ProblemDocument.model_json_schema()
        schemas = schema.setdefault("components", {}).setdefault("schemas", {})
        schemas["ProblemDocument"] = problem
        _say_which_bodies_may_be_left_out(schema["paths"], schemas)
        app.openapi_schema = schema
    return app.openapi_schema


def _say_which_bodies_may_be_left_out(paths: dict[str, Any], schemas: dict[str, Any]) -> None:
    """A request without a body has an empty object for one: that will do where nothing in it is required."""
    for path in paths.values():
        body = path.get("post", {}).get("requestBody", {})
        reference = body.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
        if not schemas.get(reference.rpartition("/")[2], {"required": True}).get("required"):
            body["required"] = False

"""The way of a POST: token, key, shape, ledger, answer.

A write route's function only turns a request into a command; `WriteRoute` does the rest, the same for all. It
takes the place of FastAPI's own handler, which would validate and serialise again what the ledger has decided
as bytes. What documents the route (path parameters, body, answer, scopes) is the function's signature, as
FastAPI reads it.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import structlog
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from api import json_body, problems
from api.idempotency import key_of
from api.problems import Problem
from api.shapes import ID_PATTERN
from api.tracing import trace_of
from domain.commands import (
    Approve,
    Command,
    DisableJackpot,
    EnableJackpot,
    Propose,
    Refuse,
    RegisterPerson,
    RevokePerson,
    VoidRound,
)
from infrastructure import metrics
from infrastructure.ledger.submission import (
    ACCEPTED,
    CommandFailed,
    Overloaded,
    ReadOnly,
    Result,
    Reused,
    Submission,
    command_id,
    fingerprint,
)

if TYPE_CHECKING:
    from api.composition import Service

log = structlog.get_logger(__name__)

NOT_FOUND: Final = {
    "round_id": "round_not_found",
    "player_id": "player_not_found",
    "table_id": "table_not_found",
    "jackpot_id": "jackpot_not_found",
    "ruleset_id": "ruleset_not_found",
    "approval_id": "approval_not_found",
    "person_id": "person_not_found",
    "run_id": "not_found",
}
"""What a path parameter that can be nobody's id answers."""

_ID: Final = re.compile(ID_PATTERN)

Header = tuple[bytes, bytes]


class WithNote(NamedTuple):
    """A command with free text, which is kept outside the log; the command is to carry its salted hash."""

    command: (
        VoidRound
        | DisableJackpot
        | EnableJackpot
        | Propose
        | Approve
        | Refuse
        | RegisterPerson
        | RevokePerson
    )
    note: str


class Later(NamedTuple):
    """A command that takes a while to make."""

    make: Callable[[Service], Awaitable[Command | WithNote]]


class WriteRoute(APIRoute):
    """A POST.

    Its function takes path parameters and `body`, and returns a command, perhaps `WithNote` or `Later`.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        write = _Write(self, endpoint)
        self.body_type = write.body
        self.app = write


class _Write:
    """The ASGI application behind a write route."""

    def __init__(self, route: APIRoute, endpoint: Callable[..., Command | WithNote | Later]) -> None:
        hints = typing.get_type_hints(endpoint)
        self._endpoint = endpoint
        self.body: type[BaseModel] = hints["body"]
        self._parameters: Sequence[str] = [name for name in hints if name in NOT_FOUND]
        self._scopes = frozenset(
            s for dependency in route.dependencies for s in getattr(dependency, "scopes", ()) or ()
        )
        self._status = route.status_code or 200
        if not self._scopes:
            raise TypeError(f"the route {route.path} names no scope")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            status, headers, body = await self._answer(scope, receive)
        except json_body.ClientGone:
            return
        except Problem as problem:
            metrics.refused(problem.code)
            await problem.response()(scope, receive, send)
            return
        headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[int, list[Header], bytes]:
        service: Service = scope["app"].state.service
        authorization = trace_parent = None
        keys: list[bytes] = []
        for name, value in scope["headers"]:
            if name == b"authorization":
                authorization = value
            elif name == b"idempotency-key":
                keys.append(value)
            elif name == b"traceparent":
                trace_parent = value
        token = await service.tokens.verify(authorization)
        token.require(self._scopes)
        id_ = command_id(token.client_id, key_of(keys))
        value = json_body.parse(await json_body.read_body(receive))
        body = json_body.validate(self.body, value)
        parameters = {name: _known_id(name, scope["path_params"][name]) for name in self._parameters}
        command = self._endpoint(**parameters, body=body)
        if isinstance(command, Later):
            command = await command.make(service)
        note = None
        if isinstance(command, WithNote):
            note = service.notes.of(id_, command.note)
            command = replace(command.command, note_sha256=note.sha256)
        asked = fingerprint(scope["method"], scope["path"], json_body.canonical(value))
        submission = Submission(
            id_, asked, command, token.actor, trace_of(trace_parent), token.person, token.scopes
        )
        result = await submit(service, submission)
        if note is not None and result.outcome == ACCEPTED:
            await service.notes.keep(note)
        return self._told(result)

    def _told(self, result: Result) -> tuple[int, list[Header], bytes]:
        headers: list[Header] = [(b"ledger-position", b"%d" % result.position)]
        if result.replayed:
            headers.append((b"idempotent-replayed", b"true"))
        if result.outcome == ACCEPTED:
            headers.append((b"content-type", b"application/json"))
            return self._status, headers, result.body
        headers.append((b"content-type", problems.MEDIA_TYPE.encode()))
        status, document = problems.rejected(result.body)
        return status, headers, document


async def submit(service: Service, submission: Submission) -> Result:
    """Hand over a command and wait.

    Raises Problem idempotency_key_reused, overloaded, ledger_read_only, internal_error.
    """
    try:
        return await service.submit(submission)
    except Reused:
        detail = "The Idempotency-Key was used for another request: a new request needs a new key."
        raise Problem("idempotency_key_reused", detail) from None
    except Overloaded:
        raise problems.overloaded(
            "The ledger has no room for the request now; send the same one again."
        ) from None
    except ReadOnly:
        raise problems.read_only() from None
    except CommandFailed:
        detail = "The command failed and nothing of it happened; send the same one again."
        raise Problem("internal_error", detail) from None


def _known_id(name: str, value: str) -> str:
    """Return a path parameter. Raises the problem of what does not exist for a text that can be no id."""
    if not _ID.fullmatch(value):
        raise Problem(NOT_FOUND[name], "The path names nothing that can exist.")
    return value

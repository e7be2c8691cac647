"""What stands around every request: a bound on its body, and an answer even where the service fails."""

from __future__ import annotations

from typing import Final

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.json_body import BODY_BYTES_MAX, too_large
from api.problems import Problem
from infrastructure import defects

log = structlog.get_logger(__name__)

_DIGITS_MAX: Final = 18


class Guard:
    """An ASGI application around another; a `BaseHTTPMiddleware` would make a task of every request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; answer with a problem where that raises."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, _bounded(scope, receive), watched)
        except Problem as problem:
            await problem.response()(scope, receive, send)
        except ClientDisconnect:
            return  # nobody is there to be answered, and nothing has failed
        except Exception as error:
            # The text of an error may hold what it was about: only its kind and its place are logged.
            log.error(  # noqa: TRY400
                "request_failed", error=type(error).__name__, at=defects.place(error), path=_route(scope)
            )
            if started:
                raise
            detail = "The service has met a defect of its own; it has been logged."
            await Problem("internal_error", detail).response()(scope, receive, send)


def _bounded(scope: Scope, receive: Receive) -> Receive:
    """Refuse a body that says it is too large at once, and count one that does not say how large it is."""
    length = None
    for name, value in scope["headers"]:
        if name == b"content-length":
            length = value
        elif name == b"transfer-encoding":
            return _counted(receive)
    if length is not None and (len(length) > _DIGITS_MAX or int(length) > BODY_BYTES_MAX):
        raise too_large()
    return receive


def _counted(receive: Receive) -> Receive:
    total = 0

    async def counting() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > BODY_BYTES_MAX:
            raise too_large()
        return message

    return counting


def _route(scope: Scope) -> str:
    """The route's pattern: a path itself would name players."""
    return str(getattr(scope.get("route"), "path", ""))

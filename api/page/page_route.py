"""What all routes of the page share: whose forms are taken, how a refusal looks, which headers go out."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import HTMLResponse, Response

from api.page import guard
from api.page.forms import FormError
from api.page.guard import Refused
from api.page.rendering import render
from api.problems import RETRY_AFTER_SECONDS
from infrastructure.reading import ReadingUnavailable

TABLE: Final = ("To the table", "/")
DOCS: Final = ("The HTTP interface", "/docs")

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route of the page."""

    def get_route_handler(self) -> Handler:
        """Wrap FastAPI's handler."""
        handler = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            response = await _answer(request, handler)
            for name, value in guard.HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        return guarded


def plain(
    status: int, title: str, *sentences: str, links: tuple[tuple[str, str], ...] = (TABLE, DOCS)
) -> Response:
    """A page of a few sentences."""
    return HTMLResponse(render("plain.html", title=title, sentences=sentences, links=links), status)


async def _answer(request: Request, handler: Handler) -> Response:
    try:
        if request.method == "POST":
            guard.require_same_site(request)
        return await handler(request)
    except Refused as refused:
        return plain(refused.status, refused.title, refused.sentence)
    except FormError as error:
        return plain(422, "That form cannot be read", str(error))
    except ReadingUnavailable:
        sentence = "The ledger's database cannot be reached now. What was answered before stands; try again."
        response = plain(503, "One moment, please", sentence)
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return response

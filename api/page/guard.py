"""What stands before the page: who may post a form, and what a browser may do with the answer."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from api.page.forms import BODY_BYTES_MAX

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""On every answer of the page. The policy allows no script at all."""

_FORM: Final = "application/x-www-form-urlencoded"


class Refused(Exception):
    """A request is answered by a page that says why not: `title` and one `sentence`."""

    def __init__(self, status: int, title: str, sentence: str) -> None:
        super().__init__(title)
        self.status = status
        self.title = title
        self.sentence = sentence


def not_here(sentence: str) -> Refused:
    """What was asked for is not part of the demonstration."""
    return Refused(404, "There is nothing here", sentence)


def require_same_site(request: Request) -> None:
    """Let only this page's own forms act. Raises Refused.

    Browsers say where a request comes from (Fetch Metadata), older ones by Origin; a client that is none says
    neither, and carries nobody's authority.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        own = site in ("same-origin", "none")
    else:
        own = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if not own:
        raise Refused(403, "Refused", "This form was sent by another site's page. Nothing was done.")


async def read_form(request: Request) -> bytes:
    """The body of a form, within a bound. Raises Refused for a larger one and for what is no form."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise Refused(415, "Refused", "Only the page's own forms are taken here. Nothing was done.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > BODY_BYTES_MAX:
            raise Refused(413, "Refused", "That is more than the page's forms can hold. Nothing was done.")
    return bytes(body)

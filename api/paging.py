"""Pages: opaque cursors, and how long a read waits for what its caller has just written."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated, Any, Final

import orjson
from fastapi import Depends, Query, Request
from starlette.responses import Response

from api.problems import overloaded, validation_failed
from infrastructure.reading import Reading

PAGE_MAX: Final = 100
POSITION_MAX: Final = 2**53 - 1
CURSOR_CHARACTERS_MAX: Final = 200
_KEY: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")

MinPosition = Annotated[
    int | None,
    Query(
        ge=0, le=POSITION_MAX, description="Wait, a bounded time, until the ledger has come to this position."
    ),
]
Cursor = Annotated[
    str | None,
    Query(max_length=CURSOR_CHARACTERS_MAX, description="Where the page before ended: its `next_cursor`."),
]


def reading_of(request: Request) -> Reading:
    """The service's read side."""
    reading: Reading = request.app.state.service.reading
    return reading


async def _fresh(request: Request, min_position: MinPosition = None) -> Reading:
    """The read side, once it has come to `min_position`.

    Raises Problem validation_failed where it has not: no answer has ever named that position.
    """
    reading = reading_of(request)
    if min_position is not None and not await reading.wait_for(min_position):
        error = {"pointer": "/min_position", "detail": "is beyond the ledger's last event"}
        raise validation_failed([error])
    return reading


Fresh = Annotated[Reading, Depends(_fresh)]


async def projected(reading: Reading, min_position: int | None, *names: str) -> None:
    """Wait, a bounded time, until these projections have come to `min_position`, where it is given.

    Raises Problem overloaded where they have not.
    """
    if min_position is not None and not await reading.wait_for_projections(min_position, names):
        raise overloaded(f"The read side has not come to position {min_position} yet.")


def cursor_after(key: str | int) -> str:
    """The cursor of the page that begins after `key`."""
    return urlsafe_b64encode(str(key).encode()).decode().rstrip("=")


def key_of(cursor: str | None, default: str) -> str:
    """The key that a cursor stands for. Raises Problem validation_failed for one that no page gave out."""
    if cursor is None:
        return default
    try:
        key = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
    except ValueError:
        key = ""
    if not _KEY.fullmatch(key):
        raise validation_failed([{"pointer": "/cursor", "detail": "is not a cursor of this list"}])
    return key


def number_of(cursor: str | None) -> int:
    """The same where the key is a number; 0 where there is no cursor."""
    key = key_of(cursor, "0")
    if not key.isdigit() or int(key) > POSITION_MAX:
        raise validation_failed([{"pointer": "/cursor", "detail": "is not a cursor of this list"}])
    return int(key)


def answer(value: Any, headers: dict[str, str] | None = None) -> Response:
    """A read's answer."""
    return Response(orjson.dumps(value), headers=headers, media_type="application/json")


def page(request: Request, value: dict[str, Any], next_key: str | int | None) -> Response:
    """A page's answer, with `next_cursor` and the link (RFC 8288) to the next page where there is one."""
    if next_key is None:
        return answer(value)
    cursor = cursor_after(next_key)
    link = request.url.include_query_params(cursor=cursor)
    target = f"{link.path}?{link.query}"
    return answer({**value, "next_cursor": cursor}, {"Link": f'<{target}>; rel="next"'})

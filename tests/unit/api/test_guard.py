"""Whatever fails inside, the client gets a problem and the log a line without any value."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from starlette.requests import Request
from structlog.testing import capture_logs

from api.guard import Guard
from api.json_body import ClientGone, read_body
from api.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECRET = "As Kd 000102"


def call(app: ASGIApp, *messages: Message, headers: list[tuple[bytes, bytes]] | None = None) -> list[Message]:
    """Send a request through the guard; return what was sent back."""
    waiting, sent = list(messages), []

    async def receive() -> Message:
        return waiting.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "http", "method": "POST", "path": "/x", "headers": headers or []}
    asyncio.run(Guard(app)(scope, receive, send))
    return sent


def problem(sent: list[Message]) -> dict[str, Any]:
    """Return the problem that was sent."""
    document: dict[str, Any] = orjson.loads(sent[1]["body"])
    assert sent[0]["status"] == document["status"]
    return document


async def fails(_: Scope, __: Receive, ___: Send) -> None:
    """Meet a defect."""
    raise KeyError(SECRET)


async def reads(_: Scope, receive: Receive, send: Send) -> None:
    """Read the whole body, however long."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})


def test_a_defect_is_a_problem_and_a_line_in_the_log() -> None:
    """The answer says that the service failed; the log says where, and neither what it was about."""
    with capture_logs() as lines:
        sent = call(fails)
    assert problem(sent)["code"] == "internal_error"
    assert SECRET not in str(sent)
    (line,) = lines
    assert (line["event"], line["error"]) == ("request_failed", "KeyError")
    assert line["at"].startswith("test_guard.py:")
    assert SECRET not in str(line)


def test_a_defect_after_the_answer_began_ends_the_connection() -> None:
    """What has begun cannot become a problem: the server is told, and cuts it off."""

    async def begins(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await fails(scope, receive, send)

    with capture_logs(), pytest.raises(KeyError):
        call(begins)


def test_a_problem_that_nobody_caught_is_answered() -> None:
    """A problem is a problem wherever it was raised."""

    async def refuses(_: Scope, __: Receive, ___: Send) -> None:
        raise Problem("not_found", "Nothing.")

    assert problem(call(refuses))["code"] == "not_found"


@pytest.mark.parametrize("length", [b"262145", b"9" * 30])
def test_a_body_that_says_it_is_too_long_is_not_read(length: bytes) -> None:
    """The header is enough."""
    assert problem(call(reads, headers=[(b"content-length", length)]))["code"] == "body_too_large"


def test_a_body_that_does_not_say_how_long_it_is_is_counted() -> None:
    """Reading ends where the bound is crossed."""
    part = {"type": "http.request", "body": b"x" * 100_000, "more_body": True}
    headers = [(b"transfer-encoding", b"chunked")]
    assert problem(call(reads, part, part, part, headers=headers))["code"] == "body_too_large"
    last = {"type": "http.request", "body": b"x", "more_body": False}
    assert call(reads, part, part, last, headers=headers)[0]["status"] == 204


def test_a_client_that_leaves_in_the_middle_of_a_form_is_not_a_defect() -> None:
    """Nobody is answered, and nothing is logged: it is nothing that an operator could mend."""

    async def form(scope: Scope, receive: Receive, _: Send) -> None:
        await Request(scope, receive).body()

    half = {"type": "http.request", "body": b"key=", "more_body": True}
    with capture_logs() as lines:
        assert call(form, half, {"type": "http.disconnect"}) == []
    assert lines == []


def test_a_client_that_left_before_its_body_was_there_is_not_answered() -> None:
    """Half a body is nobody's request."""
    messages = [
        {"type": "http.request", "body": b'{"amount":', "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Message:
        return messages.pop(0)

    with pytest.raises(ClientGone):
        asyncio.run(read_body(receive))

"""What a write answers where the ledger does not decide: too much to do, a command that fails alone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from api.app import create_app
from api.settings import ServiceSettings
from api.tokens import Tokens, mint
from domain.commands import OpenPlayer
from infrastructure.ledger.submission import (
    ACCEPTED,
    CommandFailed,
    Overloaded,
    ReadOnly,
    Result,
    Submission,
)

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = b"k" * 32
TOKEN = mint(KEY, "cashier", client_id="operator", actor="teller", ttl_seconds=86_400)
HEADERS = {
    "Authorization": f"Bearer {TOKEN}",
    "Idempotency-Key": "one",
}
PLAYER = {"player_id": "anna", "currency": "USD"}


def send(submit: Callable[[Submission], Result], headers: dict[str, str] | None = None) -> httpx.Response:
    """Open a player on a service whose ledger does what `submit` does."""

    async def submitted(submission: Submission) -> Result:
        return submit(submission)

    async def sent() -> httpx.Response:
        app = create_app(ServiceSettings("", Path()))
        app.state.service = SimpleNamespace(tokens=Tokens(KEY), submit=submitted)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://ledger") as client:
            return await client.post("/v1/players", json=PLAYER, headers={**HEADERS, **(headers or {})})

    return asyncio.run(sent())


def test_the_ledgers_own_bytes_are_the_answer() -> None:
    """What was decided is told byte for byte, with where the ledger is."""
    answer = send(lambda _: Result(ACCEPTED, b'{"as":"it is"}', 41))
    assert (answer.status_code, answer.content) == (201, b'{"as":"it is"}')
    assert answer.headers["ledger-position"] == "41"
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("raised", "status", "code"),
    [
        (Overloaded, 503, "overloaded"),
        (ReadOnly, 503, "ledger_read_only"),
        (CommandFailed, 500, "internal_error"),
    ],
)
def test_a_ledger_that_does_not_decide_is_told(raised: type[Exception], status: int, code: str) -> None:
    """An overload asks to come back, a failure says that nothing happened, a halted ledger what to do."""

    def refuse(_: Submission) -> Result:
        raise raised

    answer = send(refuse)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert ("retry-after" in answer.headers) == (raised is Overloaded)
    assert "ledger-position" not in answer.headers


@pytest.mark.parametrize(
    ("header", "trace"),
    [
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "0af7651916cd43dd8448eb211c80319c"),
        ("00-nonsense-b7ad6b7169203331-01", None),
    ],
)
def test_a_command_carries_who_asked_and_the_trace(header: str, trace: str | None) -> None:
    """The token's subject is the actor; a W3C trace context is taken along, anything else is left."""
    asked: list[Any] = []

    def remember(submission: Submission) -> Result:
        asked.append(submission)
        return Result(ACCEPTED, b"{}", 1)

    send(remember, {"traceparent": header})
    (submission,) = asked
    assert (submission.actor, submission.trace) == ("teller", trace)
    assert isinstance(submission.command, OpenPlayer)
    assert (submission.command.player_id, submission.command.currency) == ("anna", "USD")

"""What is answered while the database cannot be reached or the service is not whole."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.settings import ServiceSettings
from api.tokens import Tokens, mint
from infrastructure.reading import Reading, ReadingUnavailable

KEY = b"k" * 32
TOKEN = mint(KEY, "play audit", client_id="operator", actor="operator", ttl_seconds=86_400)


def get(path: str, service: Any) -> httpx.Response:
    """Ask a service that is put together of what the test gives."""

    async def sent() -> httpx.Response:
        app = create_app(ServiceSettings("", Path()))
        if service is not None:
            app.state.service = service
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://ledger") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(sent())


def cut_off(**changes: Any) -> Any:
    """Return a service whose read side has no connection."""
    writer = SimpleNamespace(alive=True)
    jobs = SimpleNamespace(alive=True)
    reading = Reading("host=/nowhere", "ledger")
    parts = {"tokens": Tokens(KEY), "started": True, "writer": writer, "jobs": jobs, "reading": reading}
    parts |= {"projections": None, "checker": None, "sealer": None}
    return SimpleNamespace(**{**parts, **changes})


def overloaded(answer: httpx.Response) -> bool:
    """Whether an answer asks to come back."""
    return (
        answer.status_code == 503
        and answer.json()["code"] == "overloaded"
        and "retry-after" in answer.headers
    )


@pytest.mark.parametrize(
    "path", ["/v1/tables", "/v1/rounds/one", "/v1/players/anna?min_position=5", "/v1/jackpots/one/meter"]
)
def test_a_read_without_a_database_asks_to_come_back(path: str) -> None:
    """No database is an overload to the client, not a defect."""
    assert overloaded(get(path, cut_off()))


def test_readiness_says_what_is_missing() -> None:
    """Not started, no writer, no jobs, no database: each is not ready, while the process is healthy."""
    assert overloaded(get("/readyz", None))
    assert overloaded(get("/readyz", cut_off(started=False)))
    without = get("/readyz", cut_off(writer=SimpleNamespace(alive=False)))
    assert overloaded(without)
    assert "writer" in without.json()["detail"]
    without = get("/readyz", cut_off(jobs=SimpleNamespace(alive=False)))
    assert overloaded(without)
    assert "time-outs" in without.json()["detail"]
    without = get("/readyz", cut_off(checker=SimpleNamespace(alive=False)))
    assert "checks" in without.json()["detail"]
    assert overloaded(get("/readyz", cut_off()))
    assert get("/healthz", None).status_code == 200


def test_a_round_cannot_be_folded_without_a_database() -> None:
    """The library's repository meets the same end."""
    with pytest.raises(ReadingUnavailable):
        asyncio.run(Reading("host=/nowhere", "ledger").round("one"))

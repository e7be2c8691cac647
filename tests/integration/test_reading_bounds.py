"""What a read can take of the database: a bounded time, whatever is asked."""

from __future__ import annotations

import asyncio
import time

import pytest
from psycopg import sql

from infrastructure import reading
from infrastructure.bootstrap import prepare
from infrastructure.reading import Reading, ReadingUnavailable

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}


def test_a_query_that_takes_too_long_is_given_up(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody keeps one of the few connections for long: the caller is put off, and others are served."""
    monkeypatch.setattr(reading, "QUERY_SECONDS_MAX", 0.2)
    logins = prepare(database, "bounded_reading", passwords=PASSWORDS)

    async def ask() -> None:
        asked = Reading(logins.app, logins.schema, connections_max=1)
        await asked.open()
        try:
            with pytest.raises(ReadingUnavailable, match="QueryCanceled"):
                await asked._ask(sql.SQL("SELECT pg_sleep(30)").format(), [])
            assert await asked.position() == 0
        finally:
            await asked.close()

    began = time.monotonic()
    asyncio.run(ask())
    assert time.monotonic() - began < 15

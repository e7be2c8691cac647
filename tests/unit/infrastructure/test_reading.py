"""Waiting for a position: many wait, one asks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from infrastructure.reading import Reading, ReadingUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

WAITING = 200


class Database:
    """Answers with a position that grows by one each time it is asked; fails where it `is_down`."""

    def __init__(self) -> None:
        self.asked = 0
        self.at_once = 0
        self.most_at_once = 0
        self.is_down = False

    async def rows(self, query: str, *_parameters: Any) -> list[tuple[Any, ...]]:
        """Take the place of `Reading._rows`."""
        self.asked += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0.001)
        self.at_once -= 1
        if self.is_down:
            raise ReadingUnavailable
        if query == "projected":
            return [("one", self.asked), ("two", self.asked + 7)]
        return [(self.asked,)]


def run(monkeypatch: pytest.MonkeyPatch, test: Callable[[Reading, Database], Awaitable[None]]) -> Database:
    """Run a test on a read side whose database is not there but for its numbers; return that."""
    database = Database()

    async def running() -> None:
        reading = Reading("host=/nowhere", "ledger")
        monkeypatch.setattr(reading, "_rows", database.rows)
        await test(reading, database)

    asyncio.run(running())
    return database


def wait_for_two(reading: Reading, position: int) -> Awaitable[bool]:
    """Wait for two projections."""
    return reading.wait_for_projections(position, ("one", "two"))


@pytest.mark.parametrize("wait", [Reading.wait_for, wait_for_two])
def test_those_who_wait_ask_together(
    monkeypatch: pytest.MonkeyPatch, wait: Callable[[Reading, int], Awaitable[bool]]
) -> None:
    """However many wait, the database is asked one question at a time, and all of them see the answer."""

    async def many(reading: Reading, _: Database) -> None:
        found = await asyncio.gather(*(wait(reading, 3) for _ in range(WAITING)))
        assert found == [True] * WAITING

    database = run(monkeypatch, many)
    assert database.most_at_once == 1
    assert database.asked < WAITING / 10


def test_who_leaves_takes_nobody_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one who asked may be gone before the answer is there: the others get it."""

    async def leaving(reading: Reading, _: Database) -> None:
        first = asyncio.create_task(reading.position())
        second = asyncio.create_task(reading.position())
        await asyncio.sleep(0)
        first.cancel()
        assert await second == 1
        assert first.cancelled()

    assert run(monkeypatch, leaving).asked == 1


def test_who_asks_later_asks_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is shared with those who were waiting for it, a failure too; nobody gets an old one."""

    async def again(reading: Reading, database: Database) -> None:
        assert [await reading.position(), await reading.position()] == [1, 2]
        database.is_down = True
        failed = await asyncio.gather(reading.position(), reading.position(), return_exceptions=True)
        assert [type(error) for error in failed] == [ReadingUnavailable] * 2
        database.is_down = False
        assert await reading.position() == 4

    run(monkeypatch, again)

"""The registered people, as a process knows them to check tokens: half a second old at most."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from domain.registers import Person

FRESH_SECONDS: Final = 0.5
"""How old what is known may be: who is revoked anywhere is refused everywhere within a second."""
ASKED_AGAIN_SECONDS: Final = 0.05
"""How soon the database is asked again for somebody who is not known, however often they are named."""

Changed = Callable[[int], Awaitable[Sequence[tuple[int, Person]]]]
"""The people who changed after a position, each with the position of their change."""


class KnownPeople:
    """People by their ids. `changed` reads them from the ledger; it may raise what it likes."""

    def __init__(self, changed: Changed) -> None:
        self._changed = changed
        self._people: dict[str, Person] = {}
        self._position = 0
        self._read_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None

    async def find(self, person_id: str) -> Person | None:
        """The person, revoked or not; None where nobody of that id was ever registered."""
        age_max = FRESH_SECONDS if person_id in self._people else ASKED_AGAIN_SECONDS
        if time.monotonic() - self._read_at > age_max:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._read())
            await asyncio.shield(self._reading)
        return self._people.get(person_id)

    async def _read(self) -> None:
        """Read what has changed; those who ask meanwhile wait for the same answer."""
        began_at = time.monotonic()
        for position, person in await self._changed(self._position):
            self._people[person.person_id] = person
            self._position = max(self._position, position)
        self._read_at = began_at

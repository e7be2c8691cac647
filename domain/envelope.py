"""The envelope every event is kept in: where it stands, when it was recorded, who asked for it.

`Recorded` is also what the ``eventsourcing`` library calls a domain event: it has an originator id and
version and a timestamp, and it inherits from nothing. The timestamp is given by the writer, never read here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.events import Event


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event in its place.

    `position` counts the ledger's events from 1, `version` the stream's; `recorded_at` is UTC.

    `meta` holds ``actor``, ``command``, ``schema`` and, where there is one, ``trace`` and ``shown``: the
    SHA-256 (base64url) of a salt, kept with the answer, and of the bytes that the client was answered with.
    `salt` is 16 random bytes in base64url, 22 characters.
    """

    position: int
    recorded_at: datetime
    stream: str
    version: int
    event: Event
    meta: dict[str, Any]
    salt: str

    @property
    def originator_id(self) -> str:
        """The stream, as the library names it."""
        return self.stream

    @property
    def originator_version(self) -> int:
        """The version within the stream, as the library names it."""
        return self.version

    @property
    def timestamp(self) -> datetime:
        """When it was recorded, as the library names it."""
        return self.recorded_at

"""What is known of builds in which something failed: how far they may go, and how slowly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from infrastructure.projections.sink import Move

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Care:
    """A build that goes alone.

    Either it goes up to `until` and stops there, because of `why` at position `at`; or rows were refused
    somewhere up to `suspect`, and it goes `limit` events at a time to find the event.
    """

    until: int | None = None
    at: int = 0
    why: str = ""
    suspect: int = 0
    limit: int = 0

    def is_over(self, position: int) -> bool:
        """Whether a build at a position is where it has to stop, or past what was suspected."""
        return position >= (self.suspect if self.until is None else self.until)


class Cares:
    """The builds that need care, by key."""

    def __init__(self) -> None:
        self._cares: dict[Key, Care] = {}

    def of(self, key: Key) -> Care | None:
        """What is known of a build; None for one in which nothing failed."""
        return self._cares.get(key)

    def end(self, key: Key) -> None:
        """Nothing is the matter any more."""
        self._cares.pop(key, None)

    def failed(self, keys: Iterable[Key], position: int, why: str) -> None:
        """The event at a position cannot be taken in by these."""
        for key in keys:
            self._cares[key] = Care(until=position - 1, at=position, why=why)

    def refused(self, moves: Sequence[Move], why: str) -> None:
        """Rows of a batch cannot be kept: halve it, for each of its builds alone, down to one event."""
        first, last = moves[0].before + 1, moves[0].after
        for move in moves:
            key = move.name, move.build
            if len(moves) == 1 and first == last:
                self.failed([key], first, why)
            else:
                limit = last - first + 1 if len(moves) > 1 else (last - first + 1) // 2
                self._cares[key] = Care(suspect=last, limit=limit)

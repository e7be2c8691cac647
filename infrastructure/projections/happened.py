"""From stored bytes to what a projection is given: each event is decoded once, whoever is to see it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple

from infrastructure.ledger.stored_form import NotReadableError, raw
from infrastructure.projections.kinds import Happened, Poison

_SECOND_CHARACTERS: Final = 19
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Batch(NamedTuple):
    """Consecutive events; `poison` is what stands behind them, where that cannot be read.

    `start` is the position before the first.
    """

    start: int
    events: Sequence[Happened]
    poison: Poison | None

    @property
    def end(self) -> int:
        """The position of the last event."""
        return self.start + len(self.events)


def batch_from(start: int, stored: Sequence[bytes]) -> Batch:
    """Return the events of the stored bytes that follow position `start`, up to one that cannot be read."""
    events: list[Happened] = []
    try:
        for position, event in enumerate(map(happened, stored), start + 1):
            if event[0] != position:
                return Batch(start, events, Poison(position, f"the event here says it is at {event[0]}"))
            events.append(event)
    except NotReadableError:
        # Not the error's text: it quotes the event, which may hold a card nobody may see yet (G5).
        position = start + len(events) + 1
        return Batch(start, events, Poison(position, "not an event this software reads"))
    return Batch(start, events, None)


def happened(stored: bytes) -> Happened:
    """Return one event of stored bytes. Raises NotReadableError."""
    row = raw(stored)
    try:
        at: str = row["recorded_at"]
        return Happened(
            row["position"],
            _second(at[:_SECOND_CHARACTERS]) + int(at[_SECOND_CHARACTERS + 1 : -1]),
            row["stream"],
            row["version"],
            row["type"],
            row["data"],
            row["meta"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NotReadableError(f"not an envelope: {error!r}") from error


@lru_cache(maxsize=64)
def _second(text: str) -> int:
    """Return the microseconds since the epoch of ``2026-11-29T21:24:01``, which many events share."""
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return round((moment - _EPOCH).total_seconds()) * 1_000_000

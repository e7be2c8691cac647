"""The time in a chunk: as dense as play is, with pauses that spread it over the days to fill."""

from __future__ import annotations

from typing import Final

PACE_US_MAX: Final = 250_000
"""How much time passes with an event while guests play: about that of a table."""
PAUSE_US: Final = 6 * 3_600 * 1_000_000
"""As soon as play is so much denser than the days to fill, there is a pause."""


class ChunkClock:
    """Tells the time of a chunk's event number n: `begin_us` + n · `step_us` at the latest.

    So a chunk's time ends where the next one's begins. `step_us` is at least one microsecond.
    """

    def __init__(self, begin_us: int, step_us: int) -> None:
        self._begin_us = begin_us
        self._offset_us = begin_us
        self._step_us = step_us
        self._pace_us = min(step_us, PACE_US_MAX)

    def at(self, number: int) -> int:
        """The time of the event with that number, from 0; microseconds since the epoch."""
        return self._offset_us + number * self._pace_us

    def pause_due(self, number: int) -> bool:
        """Whether play is far ahead of the days to fill."""
        return self._begin_us + number * self._step_us - self.at(number) > PAUSE_US

    def pause(self, number: int) -> None:
        """Let the time pass that play is ahead."""
        self._offset_us = self._begin_us + number * (self._step_us - self._pace_us)

"""How far a long command has come, on standard error."""

from __future__ import annotations

import sys
import time
from typing import Final

PROGRESS_SECONDS: Final = 0.5
LOGGED_PROGRESS_SECONDS: Final = 10.0
BAR_CHARACTERS: Final = 30


class Progress:
    """A bar that changes where a person watches, else now and then a line for a log.

    `unit` is what is counted.
    """

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._live = sys.stderr.isatty()
        self._seconds = PROGRESS_SECONDS if self._live else LOGGED_PROGRESS_SECONDS
        self._began = time.monotonic()
        self._next = self._began + self._seconds
        self._told = -1

    def __call__(self, done: int, whole: int) -> None:
        """Tell it, if it is time; the end is told once."""
        now = time.monotonic()
        if done == self._told or (now < self._next and done < whole):
            return
        self._next, self._told = now + self._seconds, done
        line = f"{done} of {whole} {self._unit}"
        if not self._live:
            print(line, file=sys.stderr, flush=True)
            return
        filled = BAR_CHARACTERS * done // max(whole, 1)
        bar = "#" * filled + "." * (BAR_CHARACTERS - filled)
        rate = done / max(now - self._began, 0.001)
        left = f", {(whole - done) / rate:.0f} s left" if 0 < done < whole else ""
        # Spaces, for what is told may be shorter than what stood there.
        print(f"\r[{bar}] {line}{left}      ", end="" if done < whole else "\n", file=sys.stderr, flush=True)

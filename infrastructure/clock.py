"""The ledger's clock: microseconds since the epoch, UTC. Whoever needs the time is given a `Clock`."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Returns microseconds since 1970-01-01T00:00:00Z. It may go backwards; the writer sees to that."""


def system_clock() -> int:
    """Return the operating system's time in microseconds since the epoch, UTC."""
    return time.time_ns() // 1_000

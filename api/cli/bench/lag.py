"""How far the projections are behind, as seen from outside, while rounds are played."""

from __future__ import annotations

import time
from collections import deque

import psycopg

from api.cli.bench.figures import Spread, spread
from api.cli.bench.projecting import standing


class LagWatch:
    """Looks now and then. The lag is the age of the oldest event that is not projected, as far as was seen.

    What is told is never more than the time between two looks too little.
    """

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._heads: deque[tuple[float, int]] = deque()
        self._last = 0
        self.seconds: list[float] = []
        self.positions: list[int] = []

    def look(self) -> None:
        """Look once."""
        head, projected = standing(self._connection)
        now = time.perf_counter()
        if head > self._last:
            self._heads.append((now, head))
            self._last = head
        while self._heads and self._heads[0][1] <= projected:
            self._heads.popleft()
        self.seconds.append(now - self._heads[0][0] if self._heads else 0.0)
        self.positions.append(head - projected)

    def spread(self) -> Spread:
        """What was seen, in milliseconds."""
        return spread(self.seconds)

"""What is known of the rounds a batch touches: folded from their events, kept while they are played.

The cache is bounded by the events it has folded. A round that is not in it, because it is old, because we
have just begun or because there are many, is folded again from its stream: all those a batch misses in one
query, before the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from infrastructure import defects
from infrastructure.ledger.stored_form import NotReadableError
from infrastructure.projections.happened import happened
from infrastructure.projections.kinds import Facts, Happened, Poison
from infrastructure.projections.source import Earlier

STREAM_OF_ROUND: Final = "round-"
EVENTS_MAX: Final = 50_000
"""How many folded events' worth of rounds stays in memory between batches: some 45 MB."""


class Rounds:
    """The facts of rounds, as of the event that was folded last. `make` makes those of a new round."""

    def __init__(self, source: Earlier, make: Callable[[], Facts], events_max: int = EVENTS_MAX) -> None:
        self._source = source
        self._make = make
        self._events_max = events_max
        self._known: dict[str, Facts] = {}
        self._weight = 0
        self._over: list[str] = []

    def prepare(self, batch: Sequence[Happened]) -> None:
        """Have every round of the batch as it was before it. Raises Poison where its events do not fold."""
        first: dict[str, int] = {}
        positions: dict[str, int] = {}
        for each in batch:
            stream = each[2]
            if stream not in first and stream.startswith(STREAM_OF_ROUND):
                first[stream] = each[3]
                positions[stream] = each[0]
        known = self._known
        missing = {
            stream: version for stream, version in first.items() if version > 1 and stream not in known
        }
        # The batch's rounds go to the end of the order in which they are forgotten.
        for stream in first:
            if (kept := known.pop(stream, None)) is not None:
                known[stream] = kept
        if missing:
            self._read(missing, positions)

    def fold(self, event: Happened) -> Facts:
        """Take in a round's event and return its facts. Raises Poison."""
        stream = event[2]
        facts = self._known.get(stream)
        if facts is None:
            facts = self._known[stream] = self._make()
        try:
            facts.fold(event)
        except Poison:
            raise
        except Exception as error:
            # The error's text may hold what nobody may see: only its kind and place are told.
            raise Poison(event[0], f"{type(error).__name__} at {defects.place(error)}") from error
        self._weight += 1
        if facts.finished:
            self._over.append(stream)
        return facts

    def tidy(self) -> None:
        """Forget, after a batch, the rounds that are over, and the oldest where there are too many.

        The latest stays, however many seats it has: it would be read whole again for each batch.
        """
        for stream in self._over:
            if stream in self._known:
                self._forget(stream)
        self._over.clear()
        while self._weight > self._events_max and len(self._known) > 1:
            self._forget(next(iter(self._known)))

    def _forget(self, stream: str) -> None:
        self._weight -= self._known.pop(stream).version

    def _read(self, missing: dict[str, int], positions: dict[str, int]) -> None:
        known = self._known
        for stored in self._source.older(missing):
            try:
                event = happened(stored)
            except NotReadableError:
                stream = ""
            else:
                stream = event.stream
            if stream not in missing:
                where = min(positions[each] for each in missing)
                raise Poison(where, "an earlier event of a round cannot be read")
            self.fold(event)
        for stream, version in missing.items():
            last = known[stream].version if stream in known else 0
            if last != version - 1:
                raise Poison(positions[stream], f"version {version} of its stream follows version {last}")

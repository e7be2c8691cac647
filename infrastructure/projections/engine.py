"""The engine: it takes all builds of all projections forward, batch by batch.

Builds that stand at one position go on together: their events are read and decoded once. What a batch puts
out is written while the next one is read and projected; a projection that reads its own rows waits for that.

Whatever goes wrong on the way to the database, all that is in memory is thrown away and taken up again at the
checkpoints. What goes wrong with an event, or with the rows it makes, concerns the projection it happens in:
the others go on, and it goes on alone up to that event and stops before it, with an alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Final

import structlog

from infrastructure import defects
from infrastructure.projections.group import Failed, Group, Member, SettledShelf
from infrastructure.projections.happened import Batch, batch_from
from infrastructure.projections.kinds import Facts, Projection
from infrastructure.projections.rounds import Rounds
from infrastructure.projections.sink import RUNNING, STOPPED, Checkpoint, Move, Refused, Sink, Stale
from infrastructure.projections.source import Source

BATCH_EVENTS_MAX: Final = 5_000

Key = tuple[str, int]
log = structlog.get_logger(__name__)


class _Again(Exception):
    """Somebody has failed and is known; everybody begins again at the checkpoints."""


@dataclass(slots=True)
class _Care:
    """What is known of a build in which something failed: it goes alone.

    Either it goes up to `until` and stops there, because of `why` at the position after it; or rows were
    refused somewhere up to `suspect`, and it goes `limit` events at a time to find the event.
    """

    until: int | None = None
    at: int = 0
    why: str = ""
    suspect: int = 0
    limit: int = 0


class _Earlier:
    """Where rounds read their earlier events: on the way on which events are read ahead, so one at a time."""

    def __init__(self, source: Source, wait: Callable[[], None]) -> None:
        self._source = source
        self._wait = wait

    def older(self, below: Mapping[str, int]) -> Iterator[bytes]:
        """The events of these streams whose version is below the one given, each stream's in order."""
        self._wait()
        return self._source.older(below)


class Engine:
    """Takes builds forward. `facts` makes those of a new round; `executor` (two threads) works meanwhile.

    Without an executor everything happens in the caller's thread, one step after the other. `load` comes
    first, and again after any error that `turn` raises.
    """

    def __init__(
        self,
        source: Source,
        sink: Sink,
        projections: Iterable[Callable[[], Projection]],
        facts: Callable[[], Facts],
        *,
        executor: Executor | None = None,
        batch_events_max: int = BATCH_EVENTS_MAX,
    ) -> None:
        self._source = source
        self._sink = sink
        self._makers = {make().name: make for make in projections}
        self._facts = facts
        self._executor = executor
        self._batch_events_max = batch_events_max
        self._groups: list[Group] = []
        self._next_behind = 0
        self._care: dict[Key, _Care] = {}
        self._stopped: set[Key] = set()
        self._writing: tuple[list[Move], Future[None]] | None = None
        self._ahead: tuple[int, int, Future[tuple[Sequence[bytes], bool]]] | None = None

    # ── What there is ───────────────────────────────────────────────────────────────────────────────────────
    def load(self) -> None:
        """Begin at the checkpoints. A live projection that was stopped is tried once more."""
        if self._writing is not None:
            self._writing[1].exception()  # whatever it came to: the checkpoints tell
            self._writing = None
        self._wait_for_reading()
        self._ahead = None
        self._groups = []
        for checkpoint in self._sink.checkpoints():
            if checkpoint.state == RUNNING or (checkpoint.live and checkpoint.state == STOPPED):
                self.take(checkpoint)

    def take(self, checkpoint: Checkpoint) -> None:
        """Take a build forward, unless it is of another software or was stopped before our eyes."""
        key = checkpoint.key
        if not self.knows(checkpoint) or key in self._stopped:
            return
        care = self._care.get(key)
        if care is not None and care.until is not None and care.until <= checkpoint.position:
            self._stop(key, care)
            return
        shelf = SettledShelf(self._sink.shelf(*key), self._settle)
        projection = self._makers[checkpoint.name]()
        try:
            projection.restore(shelf, checkpoint.position)
        except Exception as error:
            if error is shelf.trouble:
                raise
            why = f"{type(error).__name__} at {defects.place(error)}"
            self._stop(key, _Care(at=checkpoint.position + 1, why=why))
            return
        member = Member(projection, key, checkpoint.live, checkpoint.error_position, shelf)
        rounds = Rounds(_Earlier(self._source, self._wait_for_reading), self._facts)
        self._groups.append(Group([member], checkpoint.position, rounds))
        self._merge()

    def leave(self, key: Key) -> None:
        """No longer take a build forward. Raises as `turn`."""
        self.settled()
        for group in self._groups:
            group.leave(key)
        self._groups = [group for group in self._groups if group.members]
        self._stopped.discard(key)
        self._care.pop(key, None)

    def promote(self, key: Key) -> None:
        """A build has become the live one."""
        for group in self._groups:
            for member in group.members:
                member.live |= member.key == key

    def knows(self, checkpoint: Checkpoint) -> bool:
        """Whether this software has the projection in the version that a build is of."""
        make = self._makers.get(checkpoint.name)
        return make is not None and make().version == checkpoint.version

    def position(self, key: Key) -> int | None:
        """Where a build has come to in memory; None for one that is not taken forward."""
        found = (group for group in self._groups if any(member.key == key for member in group.members))
        return next((group.position for group in found), None)

    def front(self) -> int:
        """The furthest position of any live build that is taken forward; of any at all where none is live."""
        live = [group.position for group in self._groups if group.live]
        return max(live or [group.position for group in self._groups], default=0)

    # ── Going forward ───────────────────────────────────────────────────────────────────────────────────────
    def turn(self) -> bool:
        """Take the front one batch forward, then one of the groups behind it.

        Returns whether there is more to do at once; where there is not, everything is written. Raises errors
        of the source and the sink.
        """
        try:
            more = self._turn()
            if not more:
                self._settle()
        except (_Again, Stale):
            self.load()
            return True
        return more

    def settled(self) -> None:
        """Have everything written that was projected. Raises as `turn`."""
        try:
            self._settle()
        except (_Again, Stale):
            self.load()

    def _settle(self) -> None:
        if self._writing is None:
            return
        (moves, future), self._writing = self._writing, None
        try:
            future.result()
        except Refused as refused:
            self._refused(moves, str(refused))
            raise _Again from refused
        self._written(moves)

    def _turn(self) -> bool:
        front = self.front()
        first = [group for group in self._groups if group.position == front and self._is_front(group)]
        others = [group for group in self._groups if group not in first]
        more = False
        for group in first:
            more |= self._advance(group, None)
        if others:
            self._next_behind = (self._next_behind + 1) % len(others)
            group = others[self._next_behind]
            # Up to the front and not beyond, so that they meet and go on together.
            more |= self._advance(group, front if group.position < front else None)
            more |= any(each.position < front for each in others)
        self._merge()
        return more

    def _is_front(self, group: Group) -> bool:
        return group.live or not any(each.live for each in self._groups)

    def _advance(self, group: Group, until: int | None) -> bool:
        """Take a group one batch forward; return whether the batch was cut off."""
        limit = self._batch_events_max
        care = self._care_of(group)
        if care is not None and care.until is None:
            limit = min(limit, care.limit)
        elif care is not None:
            until = care.until if until is None or care.until is None else min(until, care.until)
        if until is not None:
            limit = min(limit, until - group.position)
        batch, cut = self._read(group.position, limit)
        try:
            moves = group.project(batch)
        except Failed as failed:
            self._failed(group, failed)
            raise _Again from failed
        if cut and self._executor is not None and len(self._groups) == 1:
            position = group.position
            self._ahead = position, limit, self._executor.submit(self._source.after, position, limit)
        if moves:
            self._write(moves)
        if care is not None:
            self._take_less_care(group, care)
        return cut

    def _read(self, position: int, limit: int) -> tuple[Batch, bool]:
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[:2] == (position, limit):
            stored, cut = ahead[2].result()
        else:
            if ahead is not None:
                ahead[2].exception()  # one at a time; what it read is of no use
            stored, cut = self._source.after(position, limit)
        return batch_from(position, stored), cut

    def _wait_for_reading(self) -> None:
        """Wait until nothing is read ahead any more; what was read, or went wrong, is kept."""
        if self._ahead is not None:
            self._ahead[2].exception()

    def _write(self, moves: list[Move]) -> None:
        self._settle()
        if self._executor is not None:
            self._writing = moves, self._executor.submit(self._sink.apply, moves)
            return
        try:
            self._sink.apply(moves)
        except Refused as refused:
            self._refused(moves, str(refused))
            raise _Again from refused
        self._written(moves)

    def _written(self, moves: list[Move]) -> None:
        after = {(move.name, move.build): move.after for move in moves}
        for group in self._groups:
            for member in group.members:
                if member.error_position is not None and after.get(member.key, 0) >= member.error_position:
                    self._sink.resume(*member.key)
                    member.error_position = None
                    log.info("projection_resumed", projection=member.key[0])

    def _merge(self) -> None:
        """Let groups that have met go on as one."""
        merged: dict[int, Group] = {}
        alone = []
        for group in self._groups:
            if self._care_of(group) is not None:
                alone.append(group)
            elif (met := merged.get(group.position)) is not None:
                met.join(group)
            else:
                merged[group.position] = group
        self._groups = [*merged.values(), *alone]

    # ── What went wrong ─────────────────────────────────────────────────────────────────────────────────────
    def _care_of(self, group: Group) -> _Care | None:
        return self._care.get(group.members[0].key)

    def _failed(self, group: Group, failed: Failed) -> None:
        self._settle()
        known = {each.key: each.position for each in self._sink.checkpoints()}
        if any(known.get(member.key) != group.position for member in group.members):
            # Another process has moved it: what was read of its rows was of after the batch, not before.
            raise Stale("the checkpoint was moved") from failed
        for key in failed.keys:
            self._care[key] = _Care(until=failed.position - 1, at=failed.position, why=failed.why)

    def _refused(self, moves: list[Move], why: str) -> None:
        """Halve the batch in which rows were refused, for each of its builds alone, down to one event."""
        first, last = moves[0].before + 1, moves[0].after
        for move in moves:
            key = move.name, move.build
            if len(moves) == 1 and first == last:
                self._care[key] = _Care(until=first - 1, at=first, why=why)
            else:
                limit = last - first + 1 if len(moves) > 1 else (last - first + 1) // 2
                self._care[key] = _Care(suspect=last, limit=limit)

    def _take_less_care(self, group: Group, care: _Care) -> None:
        key = group.members[0].key
        if care.until is not None and group.position >= care.until:
            self._settle()
            self._stop(key, care)
            self._groups.remove(group)
        elif care.until is None and group.position >= care.suspect:
            self._settle()
            self._care.pop(key, None)

    def _stop(self, key: Key, care: _Care) -> None:
        self._sink.stop(*key, care.why, care.at)
        self._stopped.add(key)
        self._care.pop(key, None)
        log.error("projection_stopped", projection=key[0], position=care.at, why=care.why)

"""The engine: it takes all builds of all projections forward, batch by batch.

Builds that stand at one position go on together: their events are read and decoded once. What a batch puts
out is written while the next one is read and projected.

Whatever goes wrong on the way to the database, all that is in memory is thrown away and taken up again at the
checkpoints. What goes wrong with an event, or with the rows it makes, concerns the projection it happens in:
the others go on, and it goes on alone up to that event and stops before it, with an alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from typing import Final

import structlog

from infrastructure import defects
from infrastructure.projections.ahead import ReadingAhead
from infrastructure.projections.care import Care, Cares, Key
from infrastructure.projections.current_shelf import CurrentShelf
from infrastructure.projections.group import Failed, Group, Member
from infrastructure.projections.happened import batch_from
from infrastructure.projections.kinds import Facts, Projection, Row
from infrastructure.projections.rounds import Rounds
from infrastructure.projections.sink import RUNNING, STOPPED, Checkpoint, EngineSink, Move, Refused, Stale
from infrastructure.projections.source import Source

BATCH_EVENTS_MAX: Final = 5_000

log = structlog.get_logger(__name__)


class _Again(Exception):
    """Somebody has failed and is known; everybody begins again at the checkpoints."""


class Engine:
    """Takes builds forward. `facts` makes those of a new round; `executor` (two threads) works meanwhile.

    Without an executor everything happens in the caller's thread, one step after the other. `load` comes
    first, and again after any error that `turn` raises. Projections that are `held` by their names stay
    where they are until they are released.
    """

    def __init__(
        self,
        source: Source,
        sink: EngineSink,
        projections: Iterable[Callable[[], Projection]],
        facts: Callable[[], Facts],
        *,
        executor: Executor | None = None,
        batch_events_max: int = BATCH_EVENTS_MAX,
        held: Iterable[str] = (),
    ) -> None:
        self._held = set(held)
        self._source = ReadingAhead(source, executor)
        self._sink = sink
        self._makers = {make().name: make for make in projections}
        self._facts = facts
        self._executor = executor
        self._batch_events_max = batch_events_max
        self._groups: list[Group] = []
        self._next_behind = 0
        self._cares = Cares()
        self._stopped: set[Key] = set()
        self._writing: tuple[list[Move], Future[None]] | None = None

    # ── What there is ───────────────────────────────────────────────────────────────────────────────────────
    def load(self) -> None:
        """Begin at the checkpoints. A live projection that was stopped is tried once more."""
        if self._writing is not None:
            self._writing[1].exception()  # whatever it came to: the checkpoints tell
            self._writing = None
        self._source.forget()
        self._groups = []
        self._load(None)

    def _load(self, name: str | None) -> None:
        """Begin at the checkpoints of a projection, or of all."""
        for checkpoint in self._sink.checkpoints():
            if name not in (None, checkpoint.name):
                continue
            if checkpoint.state == RUNNING or (checkpoint.live and checkpoint.state == STOPPED):
                self.take(checkpoint)

    def release(self, name: str) -> None:
        """Let a projection that was held go on: it comes after the others, and then goes with them."""
        if name in self._held:
            self._held.remove(name)
            self._load(name)

    def take(self, checkpoint: Checkpoint) -> None:
        """Take a build forward, unless it is held, of another software or was stopped before our eyes."""
        key = checkpoint.key
        if not self.knows(checkpoint) or key in self._stopped or checkpoint.name in self._held:
            return
        care = self._cares.of(key)
        if care is not None and care.until is not None and care.is_over(checkpoint.position):
            self._stop(key, care)
            return
        projection = self._makers[checkpoint.name]()
        shelf = CurrentShelf(
            self._sink.shelf(*key), projection.tables, lambda: self._on_the_way(key), self._settle
        )
        try:
            projection.restore(shelf, checkpoint.position)
        except Exception as error:
            if error is shelf.trouble:
                raise
            why = f"{type(error).__name__} at {defects.place(error)}"
            self._stop(key, Care(at=checkpoint.position + 1, why=why))
            return
        member = Member(projection, key, checkpoint.live, checkpoint.error_position, shelf)
        rounds = Rounds(self._source, self._facts)
        self._groups.append(Group([member], checkpoint.position, rounds))
        self._merge()

    def leave(self, key: Key) -> None:
        """No longer take a build forward. Raises as `turn`."""
        self.settled()
        for group in self._groups:
            group.leave(key)
        self._groups = [group for group in self._groups if group.members]
        self._stopped.discard(key)
        self._cares.end(key)

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

    def _on_the_way(self, key: Key) -> Mapping[str, Sequence[Row]]:
        """A build's rows that are being written."""
        moves = () if self._writing is None else self._writing[0]
        return next((move.rows for move in moves if (move.name, move.build) == key), {})

    def _settle(self) -> None:
        if self._writing is None:
            return
        (moves, future), self._writing = self._writing, None
        try:
            future.result()
        except Refused as refused:
            self._cares.refused(moves, str(refused))
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
        stored, cut = self._source.after(group.position, limit)
        batch = batch_from(group.position, stored)
        del stored
        if cut and len(self._groups) == 1:
            self._source.begin(batch.end, limit)
        try:
            moves = group.project(batch)
        except Failed as failed:
            self._failed(group, failed)
            raise _Again from failed
        if moves:
            self._write(moves)
        if care is not None and care.is_over(group.position):
            self._end_care(group, care)
        return cut

    def _write(self, moves: list[Move]) -> None:
        self._settle()
        if self._executor is not None:
            self._writing = moves, self._executor.submit(self._sink.apply, moves)
            return
        try:
            self._sink.apply(moves)
        except Refused as refused:
            self._cares.refused(moves, str(refused))
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
    def _care_of(self, group: Group) -> Care | None:
        return self._cares.of(group.members[0].key)

    def _failed(self, group: Group, failed: Failed) -> None:
        self._settle()
        known = {each.key: each.position for each in self._sink.checkpoints()}
        if any(known.get(member.key) != group.position for member in group.members):
            # Another process has moved it: what was read of its rows was of after the batch, not before.
            raise Stale("the checkpoint was moved") from failed
        self._cares.failed(failed.keys, failed.position, failed.why)

    def _end_care(self, group: Group, care: Care) -> None:
        """Stop a build that has come to where it cannot go on; let go free what has shown nothing wrong."""
        key = group.members[0].key
        self._settle()
        if care.until is None:
            self._cares.end(key)
        else:
            self._stop(key, care)
            self._groups.remove(group)

    def _stop(self, key: Key, care: Care) -> None:
        self._sink.stop(*key, care.why, care.at)
        self._stopped.add(key)
        self._cares.end(key)
        log.error("projection_stopped", projection=key[0], position=care.at, why=care.why)

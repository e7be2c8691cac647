"""Rebuilding a projection beside the live one: begun, brought to the same position, compared, switched.

Nothing is remembered here that is needed after a restart: what was asked for and how far it has come stands
in the registry. A comparison that was interrupted is made again.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Final

import structlog

from infrastructure.projections.care import Key
from infrastructure.projections.engine import Engine
from infrastructure.projections.sink import DROPPED, REQUESTED, RUNNING, Checkpoint, Difference, Sink, Stale

LOOK_SECONDS: Final = 0.5
"""How often the registry is looked at.

A rebuild is switched one look after it has caught up, at the earliest: who
reads several tables in one snapshot then finds all rows of the snapshot's positions in either build.
"""
SLICE_SECONDS: Final = 0.1
"""How long a comparison goes on before the live projections have their turn."""

log = structlog.get_logger(__name__)


class Rebuilds:
    """What is rebuilt by the engine's process."""

    def __init__(self, engine: Engine, sink: Sink, *, look_seconds: float = LOOK_SECONDS) -> None:
        self._engine = engine
        self._sink = sink
        self._look_seconds = look_seconds
        self._next_look = 0.0
        self._comparison: tuple[Key, Generator[Difference | None, None, None]] | None = None
        self._compared: dict[Key, Difference | None] = {}

    def turn(self) -> bool:
        """Do a bounded part of what there is to do; return whether more follows at once.

        Raises what the engine and the sink raise.
        """
        if self._comparison is not None:
            return self._compare()
        now = time.monotonic()
        if now < self._next_look:
            return False
        self._next_look = now + self._look_seconds
        self._engine.settled()
        checkpoints = self._sink.checkpoints()
        live = {each.name: each for each in checkpoints if each.live}
        for each in checkpoints:
            if each.state == DROPPED:
                self._drop(each)
            elif not each.live and self._engine.knows(each):
                self._go_on(each, live.get(each.name))
        return self._comparison is not None

    def _go_on(self, rebuilt: Checkpoint, live: Checkpoint | None) -> None:
        if rebuilt.state == REQUESTED:
            self._sink.begin(*rebuilt.key)
            self._engine.take(rebuilt._replace(state=RUNNING))
            log.info("rebuild_begun", projection=rebuilt.name, build=rebuilt.build)
            return
        position = self._engine.position(rebuilt.key)
        if rebuilt.state != RUNNING or position is None or live is None:
            return
        live_position = self._engine.position(live.key)
        # Where there is no live position it was stopped, or an older software made it: there is nothing to
        # compare with.
        is_there = position >= self._engine.front() if live_position is None else position == live_position
        if rebuilt.key in self._compared:
            if is_there:
                self._switch(live, rebuilt, self._compared[rebuilt.key])
        elif live_position is None:
            if is_there:
                self._compared[rebuilt.key] = None
        elif position == live_position:
            compared = self._sink.compare(rebuilt.name, live.build, rebuilt.build)
            self._comparison = rebuilt.key, compared

    def _compare(self) -> bool:
        if self._comparison is None:
            return False
        key, comparison = self._comparison
        end = time.monotonic() + SLICE_SECONDS
        difference = None
        try:
            while difference is None and time.monotonic() < end:
                difference = next(comparison)
        except StopIteration:
            pass
        except Stale:
            self._comparison = None  # cancelled, or begun while one of them was being written
            return False
        else:
            if difference is None:
                return True
        comparison.close()
        self._comparison = None
        self._compared[key] = difference
        return True

    def _switch(self, live: Checkpoint, rebuilt: Checkpoint, difference: Difference | None) -> None:
        try:
            if not self._sink.switch(rebuilt.name, live.build, rebuilt.build, difference):
                return
        except Stale:
            return  # cancelled in the last moment
        self._compared.pop(rebuilt.key, None)
        self._engine.leave(live.key)
        self._engine.promote(rebuilt.key)
        self._next_look = 0.0
        if difference is None:
            log.info("rebuild_switched", projection=rebuilt.name, build=rebuilt.build)
        else:
            log.error("rebuild_differed", projection=rebuilt.name, table=difference.table, key=difference.key)

    def _drop(self, dropped: Checkpoint) -> None:
        self._engine.leave(dropped.key)
        self._compared.pop(dropped.key, None)
        self._sink.drop(*dropped.key)

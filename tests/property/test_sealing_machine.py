"""A ledger and its log under all that can happen: growth, deaths, restores, damage, other keys, other logs.

Whatever was published once is part of all that is published later under the same name. Where the ledger has
all of it, it is never halted and all of it gets sealed; where it has not, it is halted.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from infrastructure.evidence import bundles, comparing
from infrastructure.evidence.events import Row
from infrastructure.evidence.notes import Checkpoint
from infrastructure.evidence.sealing import Sealing
from tests.unit.infrastructure.evidence.sealing_tools import Died, DyingDisk, Ledger


class Machine(RuleBasedStateMachine):
    """One ledger, sealed by one process after the other. `published` has the events of each log, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.ledger = Ledger(self.home / "log", may_be_restored=True)
        self.published: dict[str, list[Row]] = {}
        self.sealing: Sealing | None = None
        self.disk = DyingDisk(published=self.hold)
        self.seeds = iter(range(100, 10_000))
        self.patches = [
            mock.patch.object(comparing, "TURN_SECONDS", 60.0),
            mock.patch.object(comparing, "SHARE", 0),
            mock.patch.object(bundles, "LOOK_SHARE", 0),
        ]
        for patch in self.patches:
            patch.start()

    def teardown(self) -> None:
        """Clean up."""
        for patch in self.patches:
            patch.stop()
        shutil.rmtree(self.home)

    def hold(self, checkpoint: Checkpoint) -> None:
        """Fail where a tree is published that does not go on with those before."""
        before = self.published.get(checkpoint.origin, [])
        rows = self.ledger.rows[: checkpoint.size]
        if checkpoint.size == len(before):  # what was published is told again, whatever the ledger is now
            rows = before
        assert rows[: len(before)] == before
        assert checkpoint.size == len(rows)
        assert checkpoint.root == Ledger.root_of(rows)
        self.published[checkpoint.origin] = rows

    @property
    def sealed(self) -> list[Row]:
        """What was published of the log that is."""
        return self.published.get(self.ledger.state.origin, [])

    @property
    def agrees(self) -> bool:
        """Whether the ledger has all that was published."""
        return self.ledger.rows[: len(self.sealed)] == self.sealed

    @rule(count=st.sampled_from([1, 2, 100, 255, 256, 257, 700]), stream=st.sampled_from(["a", "b", "c"]))
    def grow(self, count: int, stream: str) -> None:
        """Events are committed."""
        self.ledger.append(count, stream)

    @rule(streams=st.sets(st.sampled_from(["a", "b"])))
    def open_and_finish(self, streams: set[str]) -> None:
        """Rounds are open, others are finished."""
        self.ledger.unfinished = streams

    @precondition(lambda self: self.ledger.state.halted is None)
    @rule()
    def rotate(self) -> None:
        """Another key signs."""
        self.ledger.rotate(next(self.seeds))

    @precondition(lambda self: self.ledger.rows)
    @rule(share=st.floats(0, 1), count=st.integers(0, 300))
    def restore(self, share: float, count: int) -> None:
        """The database is put back, and goes on from there; that it was halted may be forgotten with it."""
        self.ledger.restore(int(len(self.ledger.rows) * share))
        self.ledger.append(count)
        self.ledger.state.halted = None

    @precondition(lambda self: self.ledger.state.halted is not None)
    @rule()
    def begin_another(self) -> None:
        """Two people start a new log."""
        self.ledger.start_log(self.ledger.state.generation + 1)

    @rule(choice=st.randoms(use_true_random=False))
    def damage(self, choice: random.Random) -> None:
        """A tile or a bundle of the log is changed or taken away."""
        files = sorted(
            path
            for path in (self.ledger.generation.place / "tile").rglob("*")
            if path.is_file() and path.stat().st_size
        )
        if files:
            path = choice.choice(files)
            data = path.read_bytes()
            path.write_bytes(choice.choice([b"", data[:-1], bytes([data[0] ^ 4]) + data[1:]]))

    @rule(dies_at=st.integers(1, 40), choice=st.randoms(use_true_random=False), cut=st.booleans())
    def die(self, dies_at: int, choice: random.Random, *, cut: bool) -> None:
        """The process seals until it is killed, or the machine stops under it; another one takes over."""
        disk = DyingDisk(dies_at, self.hold)
        self.sealing = None
        with suppress(Died):
            self.run(self.ledger.sealing(disk, 300))
        if cut:
            disk.cut(choice)

    @rule(anew=st.booleans())
    def settle(self, *, anew: bool) -> None:
        """Sealing goes on to the end: of everything, or of everything there will be."""
        if self.sealing is None or anew:
            self.sealing = self.ledger.sealing(self.disk, 300)
        agrees, halted = self.agrees, self.ledger.state.halted
        self.run(self.sealing)
        if halted is not None:
            assert self.ledger.state.halted == halted
        elif agrees:
            assert self.ledger.state.halted is None, self.ledger.alarms
            assert self.sealed == self.ledger.rows
            assert set(self.ledger.alarms) <= {"log_tiles"}
        else:
            assert self.ledger.state.halted is not None

    @invariant()
    def a_halt_names_the_place(self) -> None:
        """A halt is at a position on which ledger and log do agree, and its alarm is raised."""
        if self.ledger.state.halted is not None:
            assert f"log_{self.ledger.state.halted}" in self.ledger.alarms

    @staticmethod
    def run(sealing: Sealing) -> None:
        """Let it turn until there is nothing more to do."""
        while sealing.turn():
            pass


Machine.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
TestSealingMachine = Machine.TestCase
TestSealingMachine.__doc__ = "What was published stays part of all that is published, whatever happens."

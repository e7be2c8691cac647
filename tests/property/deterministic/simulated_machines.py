"""The processes of the simulation, and what is sent to them."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infrastructure.ledger.store import Changes
from infrastructure.ledger.submission import Result, Submission
from infrastructure.ledger.writer import Writer
from infrastructure.seals import Seals
from tests.property.deterministic.simulated_stores import FaultyStore

if TYPE_CHECKING:
    from tests.property.deterministic.simulated_world import World

SEALS = Seals(b"k" * 32)


@dataclass(eq=False)
class Sent:
    """A command of a client, or of the ledger's jobs: where it is, and what was answered so far."""

    submission: Submission
    underway: list[tuple[Machine, Future[Result]]] = field(default_factory=list)
    answered: bool = False


@dataclass(eq=False)
class Machine:
    """A process with a writer. `read_us` is what its clock said last."""

    world: World
    skew_us: int
    read_us: int = 0

    def __post_init__(self) -> None:
        """Start it."""
        inner = self.world.ledger.new_store(self.world.cut)
        self.store = FaultyStore(inner, self.world.fault, self.committed)
        self.writer = Writer(
            self.store, SEALS, self.clock, "build", settle_seats_max=self.world.model.seats_at_once
        )

    def committed(self, changes: Changes) -> None:
        """Something was committed."""
        self.world.oracle.committed(changes, self.read_us)

    def clock(self) -> int:
        """Return the time as this process sees it."""
        self.read_us = self.world.now_us + self.skew_us
        return self.read_us

    @property
    def busy(self) -> bool:
        """Whether its writer has something to do."""
        return self.writer._on_its_way is not None or not self.writer._queue.empty()


def ended(future: Future[Result]) -> Result | BaseException | None:
    """Return what a future that is done has come to."""
    return future.exception() or future.result()

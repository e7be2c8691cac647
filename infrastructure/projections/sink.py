"""Where projections' rows and checkpoints are kept: what the engine and a rebuild need of it.

A projection has one live build, whose tables readers see, and while it is rebuilt a second one beside it.
`infrastructure.projections.memory` and `infrastructure.projections.postgres` both pass
``tests/integration/test_projection_sinks.py``.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from infrastructure.projections.kinds import Row, Shelf

RUNNING: Final = "running"
STOPPED: Final = "stopped"
"""At an event that cannot be projected; the live tables stay as they were before it."""
REQUESTED: Final = "requested"
"""A rebuild that somebody asked for and nobody has begun."""
DROPPED: Final = "dropped"
"""No longer wanted: its tables are to go."""


class Checkpoint(NamedTuple):
    """How far a build has come, and how it is.

    `version` is the projection's when the build was begun. `error` and `error_position` are there where the
    state is `STOPPED`.
    """

    name: str
    build: int
    version: int
    live: bool
    position: int
    state: str
    error: str | None
    error_position: int | None

    @property
    def key(self) -> tuple[str, int]:
        """What names it."""
        return self.name, self.build


class Move(NamedTuple):
    """A build's step from one checkpoint to the next, with what it puts into its tables."""

    name: str
    build: int
    before: int
    after: int
    rows: Mapping[str, Sequence[Row]]


class Difference(NamedTuple):
    """The first row in which a rebuilt table is not the live one: its key as text."""

    table: str
    key: str


class Stale(Exception):
    """A checkpoint is not where it was left: another process has moved it, or the build is gone."""


class Refused(Exception):
    """The rows cannot be kept: a constraint, a value without a place. Nothing of it was written."""


class EngineSink(Protocol):
    """What the engine writes to.

    Not thread safe. Errors of a lost connection pass through; what was under way may have happened.
    """

    def checkpoints(self) -> list[Checkpoint]:
        """All builds, by name, the live one of each first."""

    def shelf(self, name: str, build: int) -> Shelf:
        """The rows of a build."""

    def apply(self, moves: Sequence[Move]) -> None:
        """Write all the rows and move all the checkpoints, or nothing. Raises Stale, Refused."""

    def stop(self, name: str, build: int, why: str, position: int) -> None:
        """Note that a build cannot go on, and raise the alarm."""

    def resume(self, name: str, build: int) -> None:
        """Note that a build goes on; its alarm goes away. Harmless where it was not stopped."""


class Sink(EngineSink, Protocol):
    """One that keeps several builds of a projection, so that one can be built anew beside the live one."""

    def request(self, name: str) -> bool:
        """Ask for a rebuild; return False where one is under way. One that has failed makes room."""

    def cancel(self, name: str) -> bool:
        """Have a rebuild dropped; return False where there is none."""

    def begin(self, name: str, build: int) -> None:
        """Make the empty tables of a build that was requested."""

    def compare(self, name: str, live: int, rebuilt: int) -> Generator[Difference | None, None, None]:
        """Compare two builds that stand at one position; None now and then on the way.

        What is compared is that position's rows, whatever is written meanwhile. At most one difference.
        """

    def switch(self, name: str, live: int, rebuilt: int, difference: Difference | None) -> bool:
        """Make the rebuilt tables the live ones, in one transaction; a difference raises an alarm.

        The old ones are `DROPPED`. Returns False where readers did not let us within a moment: try again.
        """

    def drop(self, name: str, build: int) -> bool:
        """Remove the tables of a dropped build, then its row. Returns False as `switch` does."""

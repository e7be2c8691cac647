"""What is said between the process that gives out chunks and those that play them."""

from __future__ import annotations

from dataclasses import dataclass, field

from api.cli.simulate.bulk.tally import Tally

CHUNK_EVENTS = 60_000
"""Some seconds of work, and about 25 MB of events."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a process needs to know once. `dsn` holds a password: it is not printed.

    `alone`: no round has more than one guest.
    """

    dsn: str = field(repr=False)
    run: str
    rulesets: tuple[str, ...]
    seed: str
    players: int
    build: str
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk to play: after `position_before`, from `begin_us` on, `step_us` for each event on average.

    Exactly `size` events, or, where that is None, exactly `rounds` rounds: the last chunk of all.
    """

    position_before: int
    begin_us: int
    step_us: int
    size: int | None
    rounds: int | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """The chunk is decided and sent: it can be committed as soon as the one before is."""


@dataclass(frozen=True, slots=True)
class Go:
    """It is this chunk's turn to be committed."""


@dataclass(frozen=True, slots=True)
class Done:
    """The chunk is committed. `recorded_at_us` is its last event's time."""

    tally: Tally
    position: int
    recorded_at_us: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The process cannot go on: one line that says why."""

    reason: str

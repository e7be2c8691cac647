"""Builds that stand at one position, and how a batch goes through them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from infrastructure import defects
from infrastructure.projections.current_shelf import CurrentShelf
from infrastructure.projections.happened import Batch
from infrastructure.projections.kinds import Happened, Poison, Projection, Row
from infrastructure.projections.rounds import STREAM_OF_ROUND, Rounds
from infrastructure.projections.sink import Move


class Failed(Exception):
    """Some members cannot take the event at `position`, or the one that comes first in a batch."""

    def __init__(self, keys: Sequence[tuple[str, int]], position: int, why: str) -> None:
        super().__init__(why)
        self.keys = keys
        self.position = position
        self.why = why


class Rows:
    """An `Out`: the rows of a batch by table."""

    __slots__ = ("by_table",)

    def __init__(self, projection: Projection) -> None:
        self.by_table: dict[str, list[Row]] = {table.name: [] for table in projection.tables}

    def put(self, table: str, row: Row) -> None:
        """Take a row."""
        self.by_table[table].append(row)

    def taken(self) -> Mapping[str, Sequence[Row]]:
        """Return what was put since the last time."""
        rows, self.by_table = self.by_table, {table: [] for table in self.by_table}
        return rows


@dataclass(slots=True)
class Member:
    """A build as it is taken forward. `error_position` is where it was stopped before, if it was."""

    projection: Projection
    key: tuple[str, int]
    live: bool
    error_position: int | None
    shelf: CurrentShelf
    out: Rows = field(init=False)

    def __post_init__(self) -> None:
        self.out = Rows(self.projection)


Call = tuple[Member, Callable[[Happened, Any, Rows], None], bool]


class Group:
    """Members at `position`. `rounds` holds the facts as of there."""

    def __init__(self, members: Sequence[Member], position: int, rounds: Rounds) -> None:
        self.members = list(members)
        self.position = position
        self.rounds = rounds
        self._calls: dict[str, list[Call]] = {}

    @property
    def live(self) -> bool:
        """Whether readers see any of it."""
        return any(member.live for member in self.members)

    def join(self, other: Group) -> None:
        """Take in another group at the same position."""
        if not any(member.projection.rounds for member in self.members):
            self.rounds = other.rounds
        self.members += other.members
        self._calls = {}

    def leave(self, key: tuple[str, int]) -> None:
        """Let a member go, if it is here."""
        self.members = [member for member in self.members if member.key != key]
        self._calls = {}

    def project(self, batch: Batch) -> list[Move]:
        """Take all members through a batch; return none where it is empty.

        Raises Failed, and what reading from the database raises.
        """
        events = batch.events
        if not events:
            if batch.poison is not None:
                raise self._failed(self.members, batch.poison.position, batch.poison)
            return []
        with_rounds = [member for member in self.members if member.projection.rounds]
        for member in self.members:
            self._begin(member, batch)
        if with_rounds:
            try:
                self.rounds.prepare(events)
            except Poison as poison:
                raise self._failed(with_rounds, poison.position, poison) from poison
        self._take(events, with_rounds)
        last = events[-1]
        for member in self.members:
            try:
                member.projection.finish(last, member.out)
            except Exception as error:
                raise self._failed([member], last.position, error) from error
        if with_rounds:
            self.rounds.tidy()
        self.position = batch.end
        return [Move(*member.key, batch.start, batch.end, member.out.taken()) for member in self.members]

    def _begin(self, member: Member, batch: Batch) -> None:
        try:
            member.projection.begin(batch.events, member.shelf)
        except Exception as error:
            if error is member.shelf.trouble:
                raise
            raise self._failed([member], batch.start + 1, error) from error

    def _take(self, events: Sequence[Happened], with_rounds: Sequence[Member]) -> None:
        """Let every event through. What fails is known by where the loop stands: it costs nothing before."""
        calls, fold = self._calls, self.rounds.fold
        has_rounds = bool(with_rounds)
        member: Member | None = None
        happened = events[0]
        try:
            for happened in events:
                member = None
                facts = fold(happened) if has_rounds and happened[2].startswith(STREAM_OF_ROUND) else None
                to_call = calls.get(happened[4])
                if to_call is None:
                    to_call = calls[happened[4]] = self._calls_for(happened[4])
                for member, call, takes_facts in to_call:
                    call(happened, facts if takes_facts else None, member.out)
        except Exception as error:
            failing = with_rounds if member is None else [member]
            raise self._failed(failing, happened.position, error) from error

    def _calls_for(self, type_: str) -> list[Call]:
        return [
            (member, member.projection.event, member.projection.rounds)
            for member in self.members
            if member.projection.types is None or type_ in member.projection.types
        ]

    def _failed(self, members: Sequence[Member], position: int, error: Exception) -> Failed:
        if isinstance(error, Poison):
            return Failed([member.key for member in members], error.position, error.why)
        # The error's text may hold what nobody may see: only its kind and place are told.
        why = f"{type(error).__name__} at {defects.place(error)}"
        return Failed([member.key for member in members], position, why)

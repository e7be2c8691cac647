"""What a projection is: rows that are derived from the events, in the ledger's order, and from nothing else.

The engine reads and decodes each event once, folds it into what is known of its round, and hands both to
every projection that takes events of its type. What a projection puts out is written in one transaction with
its checkpoint. Between two events a projection may remember what it likes, within bounds: it must be able to
come back to any checkpoint from its own rows (`restore`, `begin`), for whatever it remembered is gone after a
restart, and after a batch that could not be written.

So that the rows do not depend on how the events were cut into batches, and a rebuild gives what the live
projection gave, a projection looks at nothing but the events, its round's facts and its own rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

Row: TypeAlias = tuple[Any, ...]
"""A row's values in the order of its table's columns: int, str, bool, None; for jsonb a dict or a list."""

Key: TypeAlias = tuple[Any, ...]
"""The values of a table's key columns, in the key's order; or of the first few of them."""


class Column(NamedTuple):
    """A column and its PostgreSQL type, one of `COLUMN_TYPES` or ``numeric(n,0)``, which holds an int."""

    name: str
    type: str


class Table(NamedTuple):
    """A table of a projection. Key columns are never null.

    `mode` says what a row that is put does: ``insert``: it is new, and its key was never put before (rows
    never change); ``add``: its numbers are added to those that stand under its key, and every column outside
    the key is a number; ``replace``: it takes the place of the row under its key. `indexes` are the columns
    of further indexes.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    mode: Literal["insert", "add", "replace"]
    indexes: tuple[tuple[str, ...], ...] = ()


COLUMN_TYPES = frozenset({"bigint", "integer", "smallint", "text", "boolean", "jsonb"})


class Happened(NamedTuple):
    """One event as it is stored, its data brought up to the present schema.

    `at_us` is when it was recorded, in microseconds since the epoch, UTC.
    """

    position: int
    at_us: int
    stream: str
    version: int
    type: str
    data: dict[str, Any]
    meta: dict[str, Any]


class Poison(Exception):
    """An event that cannot be projected: something in it or before it is not as it must be.

    `position` is the event's, `why` one sentence without secrets. The projection stops there; others go on.
    """

    def __init__(self, position: int, why: str) -> None:
        super().__init__(f"position {position}: {why}")
        self.position = position
        self.why = why


class Facts(Protocol):
    """What the engine needs of the facts of a round: it folds each of its events once, in order.

    Made without arguments. `finished` says that no further event will come: the engine may then forget the
    round.
    """

    def fold(self, happened: Happened) -> None:
        """Take in the round's next event.

        Raises Poison for a version that does not follow, and for what contradicts what went before.
        """

    @property
    def version(self) -> int:
        """The version of the last event that was folded; 0 before the first."""

    @property
    def finished(self) -> bool:
        """Whether the round is over, with everything it pays."""


class Shelf(Protocol):
    """A projection's own rows as of its checkpoint: before the batch that begins.

    Each call is one query. Give no more than some thousand keys at once.
    """

    def rows(self, table: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """The rows under these full keys, by key; those that are not there are left out."""

    def latest(self, table: str, prefixes: Sequence[Key]) -> Mapping[Key, Row]:
        """For each prefix (the first columns of the key, as many in each) its row with the greatest key.

        The empty prefix is that of all rows.
        """

    def whole(self, table: str) -> Sequence[Row]:
        """Every row in the order of the key: for tables of which it is known that they stay small."""


class Out(Protocol):
    """Takes a projection's rows."""

    def put(self, table: str, row: Row) -> None:
        """Put a row: its values in the order of the table's columns. What it does is the table's mode."""


class Projection(Protocol):
    """A projection. Its class is made without arguments; an instance lives as long as its checkpoint moves.

    A new `version` has the tables built anew beside the old ones and switched when they have caught up.
    """

    @property
    def name(self) -> str:
        """Its name: a-z and _, at most 30 characters."""

    @property
    def version(self) -> int:
        """Counts what changes its rows or its tables, from 1."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its tables. Names are unique among all projections, at most 40 characters."""

    @property
    def types(self) -> frozenset[str] | None:
        """The types of the events it is called for; None for every event."""

    @property
    def rounds(self) -> bool:
        """Whether it is given the facts of the round; without them a batch costs less."""

    def restore(self, shelf: Shelf, position: int) -> None:
        """Forget everything, and be as after the event at `position` (0: none yet)."""

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:
        """Get ready for a batch: here, and in `restore`, is where own rows are read.

        `batch` holds all its events, those of other types too.
        """

    def event(self, happened: Happened, facts: Any, out: Out) -> None:
        """Take in one event of `types`, in order. Raises Poison.

        `facts` are the round's, this event included, or None where it is no round's event or `rounds` is
        not set; they change with the round's next event.
        """

    def finish(self, last: Happened, out: Out) -> None:
        """Put what is put once a batch; `last` is the batch's last event, of whatever type."""

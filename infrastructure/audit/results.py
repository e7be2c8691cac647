"""What the audit of one partition comes to: everything the merging needs of it, and no more.

All of it can be pickled. Money is in minor units where nothing else is said; *exact* amounts are in 1/10 000
of a minor unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from infrastructure.evidence.merkle import Frontier

StoredRow: TypeAlias = tuple[int, str, int, bytes]
"""An event as it is kept: position, stream, version, bytes. A plain tuple: there are very many of them."""

FINDINGS_MAX: Final = 1_000
"""One edited event can put everything after it out: so many are kept, the others are counted."""

TEXT_MAX: Final = 500
"""Characters of what an exception expected and found."""

House: TypeAlias = tuple[str, str, str]
"""Account class, currency, game: a rule set's id, or ``jackpots`` for what is moved outside rounds."""


class Finding(NamedTuple):
    """An exception of the audit: where, what (``replay.settled.seat_1.ante``), what it had to be, what it is.

    `position` is that of the event at fault, or of the first one from which the ledger is not what it should
    be.
    """

    position: int
    what: str
    expected: str
    found: str


class Context(NamedTuple):
    """What every partition has to know; the same for all of them.

    `rulesets` maps the SHA-256 of a rule set (hexadecimal) to its canonical bytes. Rounds whose rule set is
    not there are left to the merging, which knows those that were published in the partitions before.
    `roots_at` are the sizes of the log whose roots are wanted, beside that of the whole.
    """

    rulesets: Mapping[str, bytes]
    roots_at: tuple[int, ...] = ()


@dataclass(slots=True)
class Leaves:
    """The part of the evidence log's tree over a partition's events.

    `range` is all of it, `cuts` the same up to each size of `Context.roots_at` that lies within. `tiles` are
    the hashes of the whole tiles of 256 leaves from tile number `first_tile` on: what the log's hash tiles of
    level 1 hold.
    """

    range: Frontier = field(default_factory=Frontier)
    cuts: list[Frontier] = field(default_factory=list)
    first_tile: int = 0
    tiles: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class WalletPart:
    """What happened to one wallet: its balance before and after, and what the cashier put in.

    `opened` is (account class, currency) where the wallet begins here. `played` is that of the rounds its
    player staked in. `first` and `last` are positions.
    """

    opening: int
    closing: int
    first: int
    last: int
    transferred: int = 0
    opened: tuple[str, str] | None = None
    played: tuple[str, str] | None = None


class Claim(NamedTuple):
    """What the events of a partition say, or imply, of a jackpot as it was before them.

    `what` is ``meter``, ``overflow``, ``diversion`` (exact), ``meter_at_most``, ``meter_at_least``,
    ``no_overflow`` (the round has no ceiling), ``moved_at`` (a position) or ``hits``.
    """

    position: int
    what: str
    value: int


@dataclass(slots=True)
class PotPart:
    """What happened to one jackpot: its pools as they were moved, and what had to be true before.

    The pools are meter, overflow and diversion, exact. `opened` is (account class, currency) where it begins
    here. `moved` is what was added to each pool, `lowest` the least that it came to on the way, never above
    0; `known` is what the events say that it held before. `moved_at` is the last movement of the meter, 0
    for none, `house` what the house got outside rounds.
    """

    first: int
    last: int
    opened: tuple[str, str] | None = None
    moved: list[int] = field(default_factory=lambda: [0, 0, 0])
    lowest: list[int] = field(default_factory=lambda: [0, 0, 0])
    known: list[int | None] = field(default_factory=lambda: [None, None, None])
    claims: dict[str, Claim] = field(default_factory=dict)
    moved_at: int = 0
    hits: int = 0
    house: int = 0


class BetElsewhere(NamedTuple):
    """A side bet on a jackpot in a round that began before the partition, where its ceiling is.

    `meter` is what had been added to the meter in the partition before it. All amounts are exact.
    """

    position: int
    stream: str
    jackpot: str
    meter: int
    contribution: int
    overflow: int


@dataclass(slots=True)
class Figures:
    """What was played at one house, in one account class and currency."""

    rounds: int = 0
    void: int = 0
    hands: int = 0
    staked: int = 0
    returned: int = 0
    won: int = 0
    jackpot_won: int = 0
    refunded: int = 0

    def add(self, other: Figures) -> None:
        """Add another's figures."""
        self.rounds += other.rounds
        self.void += other.void
        self.hands += other.hands
        self.staked += other.staked
        self.returned += other.returned
        self.won += other.won
        self.jackpot_won += other.jackpot_won
        self.refunded += other.refunded


class Span(NamedTuple):
    """The first and the last position at which something was relied on."""

    first: int
    last: int


class StreamPart(NamedTuple):
    """The versions of a stream that is no round's: the first one here, its position, and the last one."""

    first: int
    first_version: int
    last_version: int


class Published(NamedTuple):
    """Rules or parameters that are known from a position on. `content` are a rule set's canonical bytes."""

    position: int
    kind: str
    id: str
    version: int
    sha256: str
    content: bytes = b""


@dataclass(slots=True)
class PartResult:
    """What the audit of consecutive events came to. `first` is 0 where there were none.

    `began` and `ended` are when the first and last were recorded, as they say it. `fragments` are the rows of
    rounds that do not both begin and end here. `pinned` is where rounds named rules or parameters: by kind
    (``ruleset``, ``jackpot``), id, version and SHA-256. `house` is exact. `places` are those of the
    rounds that were derived (`infrastructure.audit.repeats`).
    """

    first: int = 0
    last: int = 0
    began: str = ""
    ended: str = ""
    events: int = 0
    found: int = 0
    findings: list[Finding] = field(default_factory=list)
    leaves: Leaves = field(default_factory=Leaves)
    wallets: dict[str, WalletPart] = field(default_factory=dict)
    pots: dict[str, PotPart] = field(default_factory=dict)
    streams: dict[str, StreamPart] = field(default_factory=dict)
    fragments: dict[str, list[StoredRow]] = field(default_factory=dict)
    figures: dict[House, Figures] = field(default_factory=dict)
    house: dict[House, int] = field(default_factory=dict)
    pinned: dict[tuple[str, str, int, str], Span] = field(default_factory=dict)
    published: list[Published] = field(default_factory=list)
    bets_elsewhere: list[BetElsewhere] = field(default_factory=list)
    places: bytearray = field(default_factory=bytearray)

    def differs(self, position: int, what: str, expected: object, found: object) -> None:
        """Note an exception."""
        self.found += 1
        if len(self.findings) < FINDINGS_MAX:
            self.findings.append(Finding(position, what, _short(expected), _short(found)))


@dataclass(slots=True)
class Opening:
    """What a ledger held before the first event of an audit that does not begin at position 1.

    As recorded in an archive. `wallets` are balances by player, `pots` (meter, overflow, diversion), exact,
    by jackpot. `rounds` are the events before of rounds that were open, by stream, `leaves` is the log's tree
    over all events before. None, or a round that is not there: it is not known, and what depends on it is not
    checked.
    """

    position: int
    wallets: dict[str, int] | None = None
    pots: dict[str, tuple[int, int, int]] | None = None
    rounds: dict[str, list[StoredRow]] = field(default_factory=dict)
    leaves: Frontier | None = None


@dataclass(slots=True)
class Outcome:
    """What all partitions together came to.

    `findings` are in the order of positions, the first `FINDINGS_MAX` of `found`. `accounts` maps full names
    of accounts (``house:real:nordic``) and currencies to exact amounts. `roots` are those of the log's tree
    at its whole size and at `Context.roots_at` (none where the tree of the events before is not known).
    `pots` are exact: meter, overflow, diversion. `open_rounds` are rounds that have not ended,
    `unchecked_rounds` those that began before the audit's first event and are not known, `unopened_wallets`
    those whose balance before it is not known.
    """

    first: int
    last: int
    began: str
    ended: str
    events: int
    findings: list[Finding]
    found: int
    figures: dict[House, Figures]
    accounts: dict[tuple[str, str], int]
    roots: dict[int, bytes]
    wallets: int
    unopened_wallets: int
    pots: dict[str, tuple[int, int, int]]
    open_rounds: list[str]
    unchecked_rounds: int


def _short(value: object) -> str:
    return value[:TEXT_MAX] if isinstance(value, str) else str(value)[:TEXT_MAX]

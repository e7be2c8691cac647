"""What the writer needs of a store: the two readings and the one writing of a batch.

A batch is one transaction. `begin` opens it, takes the lock on the ledger's head row (that lock *is* the
order of the ledger) and reads, always after the lock; `read` may follow once; then `commit` or `rollback`.
The number of statements never depends on the size of the batch. `infrastructure.ledger.memory` and
`infrastructure.ledger.postgres` both pass ``tests/integration/test_store_contract.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CommandRecord:
    """What the ledger decided on a command, remembered for ever.

    `id` is 16 bytes (from client and idempotency key), `fingerprint` 16 bytes (of method, path and body).
    `outcome`: 0 accepted, 1 rejected. `body` is the answer (JSON bytes, bounded); `position` the ledger's
    after the command.
    `salt` (8 bytes) is there where an event tells the answer's hash.
    """

    id: bytes
    fingerprint: bytes
    outcome: int
    body: bytes
    position: int
    salt: bytes | None = None


@dataclass(frozen=True, slots=True)
class WalletRow:
    """A player's wallet as of the last commit.

    `unfinished` maps table id → id of the player's open round there (JSON text).
    """

    player: str
    player_id: str | None
    currency: str
    account_class: str
    version: int
    balance: int
    on_game: int
    unfinished: str


@dataclass(frozen=True, slots=True)
class JackpotRow:
    """A jackpot as of the last commit.

    `meter` in 1/10000 minor units; `state` is JSON: parameters and counters.
    """

    jackpot_id: str
    position: int
    meter: int
    enabled: bool
    state: bytes


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table as of the last commit; `state` is JSON."""

    table_id: str
    position: int
    state: bytes


@dataclass(frozen=True, slots=True)
class RulesetRow:
    """A published version of a rule set; `content` is the canonical JSON that `sha256` hashes."""

    ruleset_id: str
    version: int
    position: int
    sha256: str
    content: bytes


@dataclass(frozen=True, slots=True)
class RegisterRow:
    """A small fact that every writer always has: ``person-<id>``, ``approval-<id>``, ``software``.

    `state` is JSON. `active`: to be known from the start; what is not is read by its name.
    """

    name: str
    position: int
    active: bool
    state: bytes


@dataclass(frozen=True, slots=True)
class OpenRoundRow:
    """A round that is not finished.

    `sealed` is the encrypted seed (None at a physical table); `answer_sha256` what `meta.shown` needs
    next.

    `deadline_us`: when the time-out job must look at it, microseconds since the epoch; None: never.
    `unsettled`: the round waits for a further settling or refunding command.
    """

    round_id: str
    table_id: str
    sealed: bytes | None
    answer_sha256: str | None
    deadline_us: int | None
    unsettled: bool


@dataclass(frozen=True, slots=True)
class TransferRow:
    """A cashier's transfer by its reference: unique per player and direction (``in`` or ``out``)."""

    player: str
    direction: str
    reference: str
    amount: int
    answer: bytes


@dataclass(frozen=True, slots=True)
class StoredEventRow:
    """One event as it is stored: `data` is the canonical bytes."""

    position: int
    stream: str
    version: int
    data: bytes


@dataclass(frozen=True, slots=True)
class FirstReading:
    """What `begin` reads.

    `known_position`: the head as this writer last left it. Tables, jackpots and rule sets that changed
    after `known_position` are returned (all of them when it is 0). `cached_rounds` maps round id →
    version in memory: later events are returned, and only looked for when the head has moved from
    `known_position`; then their open-round rows are returned too. `new_rounds` are not in memory: their
    events and their open-round rows are returned. `player_ids`: wallets by the operator's id.
    `transfers`: (player_id, direction, reference). `registers`: names. Those that changed after
    `known_position` are returned besides (all active ones when it is 0).
    """

    known_position: int
    command_ids: Sequence[bytes] = ()
    cached_rounds: dict[str, int] = field(default_factory=dict)
    new_rounds: Sequence[str] = ()
    player_ids: Sequence[str] = ()
    transfers: Sequence[tuple[str, str, str]] = ()
    registers: Sequence[str] = ()


@dataclass(slots=True)
class FirstAnswer:
    """What `begin` found. Rounds and commands that do not exist are absent; events are in version order."""

    position: int
    recorded_at_us: int
    commands: dict[bytes, CommandRecord] = field(default_factory=dict)
    tables: list[TableRow] = field(default_factory=list)
    jackpots: list[JackpotRow] = field(default_factory=list)
    rulesets: list[RulesetRow] = field(default_factory=list)
    wallets: list[WalletRow] = field(default_factory=list)
    events: dict[str, list[bytes]] = field(default_factory=dict)
    open_rounds: dict[str, OpenRoundRow] = field(default_factory=dict)
    transfers: list[TransferRow] = field(default_factory=list)
    registers: list[RegisterRow] = field(default_factory=list)


@dataclass(slots=True)
class Changes:
    """What a batch writes; every list is one bulk statement, an empty list none.

    `accounts` are deltas in 1/10000 minor units of accounts that are not players' (house, cashier), by
    (account, currency). `wallets` and the other rows replace what is there. `closed_rounds` leave the
    open ones, and their sealed seeds are gone.
    """

    position: int
    recorded_at_us: int
    events: list[StoredEventRow] = field(default_factory=list)
    commands: list[CommandRecord] = field(default_factory=list)
    wallets: list[WalletRow] = field(default_factory=list)
    accounts: dict[tuple[str, str], int] = field(default_factory=dict)
    jackpots: list[JackpotRow] = field(default_factory=list)
    tables: list[TableRow] = field(default_factory=list)
    rulesets: list[RulesetRow] = field(default_factory=list)
    open_rounds: list[OpenRoundRow] = field(default_factory=list)
    closed_rounds: list[str] = field(default_factory=list)
    transfers: list[TransferRow] = field(default_factory=list)
    registers: list[RegisterRow] = field(default_factory=list)


class StoreRefused(Exception):
    """The database refused the batch (a constraint, a value): nothing of it happened."""


class StoreLost(Exception):
    """The connection was lost: whether the batch happened is known only after asking for its command ids."""


def refuse_gaps(position_before: int, recorded_at_us_before: int, changes: Changes) -> None:
    """Raise StoreRefused unless a batch goes on where the head stands.

    Positions without a gap, time not going back.

    The writer numbers the events; a store that wrote them on trust could lose the one order (G4) to a
    mistake there.
    """
    positions = [event.position for event in changes.events]
    if positions != list(range(position_before + 1, changes.position + 1)):
        raise StoreRefused(f"the batch does not go on from position {position_before} to {changes.position}")
    if changes.recorded_at_us < recorded_at_us_before:
        raise StoreRefused("the batch is earlier than the last")


class Store(Protocol):
    """One writer's connection to the ledger's state. Not thread safe: it belongs to the writer's thread."""

    def begin(self, reading: FirstReading) -> FirstAnswer:
        """Open the transaction, lock the head, read. Raises StoreLost, StoreRefused."""

    def read_wallets(self, players: Sequence[str], player_ids: Sequence[str]) -> list[WalletRow]:
        """Wallets by pseudonym or by the operator's id, inside the open transaction, in one statement.

        Raises StoreLost.
        """

    def send(self, changes: Changes) -> None:
        """Send what is to be written and the commit, and do not wait: `finish` is the next call.

        Raises StoreRefused (rolled back) or StoreLost.
        """

    def finish(self) -> None:
        """Wait until what was sent is durable. Raises StoreRefused (rolled back) or StoreLost."""

    def commit(self, changes: Changes) -> None:
        """Write and commit durably: `send` and `finish`. Raises StoreRefused (rolled back) or StoreLost."""

    def rollback(self) -> None:
        """End the transaction without effect."""

    def find_commands(self, ids: Sequence[bytes]) -> dict[bytes, CommandRecord]:
        """Outside a transaction, on a fresh connection if need be.

        Which of these commands happened. Raises StoreLost.
        """

    def statements(self) -> int:
        """How many statements this store has sent so far, transaction control included."""

    def close(self) -> None:
        """Give the connection back."""

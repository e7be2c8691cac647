"""The ledger's state in memory: for tests it behaves as PostgreSQL does, but for surviving a restart.

`MemoryLedger` is the database; each `MemoryStore` on it is one process's connection. The head row's lock is a
lock here, held from `begin` to `commit` or `rollback`, so that several stores take turns just as several
processes do.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from infrastructure.ledger.rows import STREAM_OF_ROUND
from infrastructure.ledger.store import FirstAnswer, StoreLost, StoreRefused, refuse_gaps
from infrastructure.ledger.stored_form import EVENT_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infrastructure.ledger.store import (
        Changes,
        CommandRecord,
        FirstReading,
        JackpotRow,
        OpenRoundRow,
        RegisterRow,
        RulesetRow,
        StoredEventRow,
        TableRow,
        TransferRow,
        WalletRow,
    )

_BALANCE_MAX: Final = 9 * 10**15
_METER_MAX: Final = _BALANCE_MAX * 10_000
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(slots=True)
class MemoryLedger:
    """What is committed. Read it freely; only a store that holds `lock` writes it.

    `fail_commits` is for tests of what happens when a connection is lost: with ``before`` the next commit is
    lost and has not happened, with ``after`` it is lost and has.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    position: int = 0
    recorded_at_us: int = 0
    events: list[StoredEventRow] = field(default_factory=list)
    streams: dict[str, list[StoredEventRow]] = field(default_factory=dict)
    commands: dict[bytes, CommandRecord] = field(default_factory=dict)
    wallets: dict[str, WalletRow] = field(default_factory=dict)
    accounts: dict[tuple[str, str], int] = field(default_factory=dict)
    jackpots: dict[str, JackpotRow] = field(default_factory=dict)
    tables: dict[str, TableRow] = field(default_factory=dict)
    rulesets: dict[tuple[str, int], RulesetRow] = field(default_factory=dict)
    open_rounds: dict[str, OpenRoundRow] = field(default_factory=dict)
    transfers: dict[tuple[str, str, str], TransferRow] = field(default_factory=dict)
    registers: dict[str, RegisterRow] = field(default_factory=dict)
    fail_commits: list[str] = field(default_factory=list)


class MemoryStore:
    """A `Store` over a `MemoryLedger`. `lock_seconds_max` bounds how long `begin` waits for the head."""

    def __init__(self, ledger: MemoryLedger, *, lock_seconds_max: float = 10.0) -> None:
        self._ledger = ledger
        self._lock_seconds_max = lock_seconds_max
        self._open = False
        self._statements = 0
        self._sent = False
        self._end_of_commit: StoreRefused | StoreLost | None = None

    def begin(self, reading: FirstReading) -> FirstAnswer:
        """Take the head, read. Raises StoreLost where the head is not free in time."""
        if self._open:
            raise RuntimeError("a transaction is open already")
        self._take_head()
        self._open = True
        self._statements += 1
        ledger = self._ledger
        moved = ledger.position != reading.known_position
        since = reading.known_position if moved else ledger.position
        players = {
            w.player_id: w.player for w in ledger.wallets.values() if w.player_id in set(reading.player_ids)
        }
        return FirstAnswer(
            position=ledger.position,
            recorded_at_us=ledger.recorded_at_us,
            commands={key: ledger.commands[key] for key in reading.command_ids if key in ledger.commands},
            tables=[row for row in ledger.tables.values() if row.position > since],
            jackpots=[row for row in ledger.jackpots.values() if row.position > since],
            rulesets=[row for row in ledger.rulesets.values() if row.position > since],
            wallets=[ledger.wallets[player] for player in players.values()],
            events=self._events(reading, moved=moved),
            open_rounds={
                key: ledger.open_rounds[key]
                for key in (*reading.new_rounds, *(reading.cached_rounds if moved else ()))
                if key in ledger.open_rounds
            },
            transfers=self._transfers(reading),
            registers=[
                row
                for row in ledger.registers.values()
                if row.name in reading.registers
                or (row.position > since and (row.active or reading.known_position))
            ],
        )

    def read_wallets(self, players: Sequence[str], player_ids: Sequence[str]) -> list[WalletRow]:
        """Wallets by pseudonym or by the operator's id, inside the open transaction."""
        self._require_transaction()
        self._statements += 1
        wanted, wanted_ids = set(players), set(player_ids)
        return [
            wallet
            for wallet in self._ledger.wallets.values()
            if wallet.player in wanted or wallet.player_id in wanted_ids
        ]

    def send(self, changes: Changes) -> None:
        """Commit, and keep how it ended for `finish`."""
        self._require_transaction()
        self._sent = True
        try:
            self._commit(changes)
        except (StoreRefused, StoreLost) as end:
            self._end_of_commit = end

    def finish(self) -> None:
        """Say how the commit ended. Raises StoreRefused, StoreLost."""
        if not self._sent:
            raise RuntimeError("nothing was sent")
        end, self._end_of_commit, self._sent = self._end_of_commit, None, False
        if end is not None:
            raise end

    def commit(self, changes: Changes) -> None:
        """Write all of it: `send` and `finish`."""
        self.send(changes)
        self.finish()

    def _commit(self, changes: Changes) -> None:
        """Write all of it or raise StoreRefused; free the head. Raises StoreLost where a test said so."""
        self._require_transaction()
        self._statements += 1
        try:
            refuse_gaps(self._ledger.position, self._ledger.recorded_at_us, changes)
            self._refuse_violations(changes)
            failure = self._ledger.fail_commits.pop(0) if self._ledger.fail_commits else None
            if failure != "before":
                self._write(changes)
            if failure is not None:
                raise StoreLost("the connection was lost")
        finally:
            self._end()

    def rollback(self) -> None:
        """Free the head; harmless when there is no transaction."""
        if self._open:
            self._statements += 1
            self._end()

    def find_commands(self, ids: Sequence[bytes]) -> dict[bytes, CommandRecord]:
        """Return which of these commands happened. Raises StoreLost where the head is not free in time."""
        if self._open:
            raise RuntimeError("a transaction is open")
        self._take_head()
        self._statements += 1
        try:
            return {key: self._ledger.commands[key] for key in ids if key in self._ledger.commands}
        finally:
            self._ledger.lock.release()

    def statements(self) -> int:
        """How often this store was called."""
        return self._statements

    def close(self) -> None:
        """End an open transaction without effect."""
        self.rollback()

    # ── Reading ─────────────────────────────────────────────────────────────────────────────────────────────
    def _take_head(self) -> None:
        if not self._ledger.lock.acquire(timeout=self._lock_seconds_max):
            raise StoreLost(f"the head was not free within {self._lock_seconds_max} s")

    def _end(self) -> None:
        self._open = False
        self._ledger.lock.release()

    def _require_transaction(self) -> None:
        if not self._open:
            raise RuntimeError("no transaction is open")

    def _events(self, reading: FirstReading, *, moved: bool) -> dict[str, list[bytes]]:
        versions = dict.fromkeys(reading.new_rounds, 0)
        if moved:
            versions = reading.cached_rounds | versions
        found = {
            round_id: [e.data for e in self._ledger.streams.get(STREAM_OF_ROUND + round_id, ())[version:]]
            for round_id, version in versions.items()
        }
        return {round_id: events for round_id, events in found.items() if events}

    def _transfers(self, reading: FirstReading) -> list[TransferRow]:
        players = {wallet.player_id: wallet.player for wallet in self._ledger.wallets.values()}
        keys = ((players.get(player_id), way, reference) for player_id, way, reference in reading.transfers)
        return [self._ledger.transfers[key] for key in keys if key in self._ledger.transfers]

    # ── Writing ─────────────────────────────────────────────────────────────────────────────────────────────
    def _refuse_violations(self, changes: Changes) -> None:
        """Raise StoreRefused for what a constraint of the database refuses."""
        ledger = self._ledger
        _refuse_known("command", (row.id for row in changes.commands), ledger.commands)
        _refuse_known(
            "transfer",
            ((row.player, row.direction, row.reference) for row in changes.transfers),
            ledger.transfers,
        )
        _refuse_known(
            "rule set", ((row.ruleset_id, row.version) for row in changes.rulesets), ledger.rulesets
        )
        places = {
            (e.stream, e.version)
            for stream in {e.stream for e in changes.events}
            for e in ledger.streams.get(stream, ())
        }
        _refuse_known("place in a stream", ((row.stream, row.version) for row in changes.events), places)
        owners = {row.player_id: row.player for row in ledger.wallets.values()}
        for wallet in changes.wallets:
            if not (0 <= wallet.balance <= _BALANCE_MAX and 0 <= wallet.on_game <= _BALANCE_MAX):
                raise StoreRefused(f"the balance of {wallet.player} is out of range")
            if (
                wallet.player_id is not None
                and owners.setdefault(wallet.player_id, wallet.player) != wallet.player
            ):
                raise StoreRefused("two wallets of one player id")
        if any(not 0 <= row.meter <= _METER_MAX for row in changes.jackpots):
            raise StoreRefused("a meter is out of range")
        if any(not row.data or len(row.data) > EVENT_BYTES_MAX for row in changes.events):
            raise StoreRefused("an event is too long")

    def _write(self, changes: Changes) -> None:
        ledger = self._ledger
        for event in changes.events:
            ledger.streams.setdefault(event.stream, []).append(event)
        ledger.commands.update((row.id, row) for row in changes.commands)
        ledger.wallets.update((row.player, row) for row in changes.wallets)
        for account, delta in changes.accounts.items():
            ledger.accounts[account] = ledger.accounts.get(account, 0) + delta
        ledger.jackpots.update((row.jackpot_id, row) for row in changes.jackpots)
        ledger.tables.update((row.table_id, row) for row in changes.tables)
        ledger.rulesets.update(((row.ruleset_id, row.version), row) for row in changes.rulesets)
        ledger.open_rounds.update((row.round_id, row) for row in changes.open_rounds)
        for round_id in changes.closed_rounds:
            ledger.open_rounds.pop(round_id, None)
        ledger.transfers.update(
            ((row.player, row.direction, row.reference), row) for row in changes.transfers
        )
        ledger.registers.update((row.name, row) for row in changes.registers)
        ledger.recorded_at_us = changes.recorded_at_us
        # The list grows in one step, and readers look at nothing beyond the position, which moves last.
        ledger.events += changes.events
        ledger.position = changes.position


def _refuse_known(what: str, keys: Iterable[_Key], known: Iterable[_Key]) -> None:
    """Raise StoreRefused if one of the keys occurs twice or is known already."""
    seen = list(keys)
    if len(set(seen)) < len(seen) or any(key in known for key in seen):
        raise StoreRefused(f"this {what} is there already")

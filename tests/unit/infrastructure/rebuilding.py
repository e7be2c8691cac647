"""The books rebuilt from nothing but the stored events, to hold a writer's memory against."""

from __future__ import annotations

from dataclasses import dataclass, field

import orjson

from domain import events as ev
from domain.envelope import Recorded
from domain.money import EXACT, parse_exact
from domain.postings import CASHIER, DIVERSION, HOUSE, JACKPOT, ON_GAME, OVERFLOW, WALLET, legs
from domain.round import Round, evolve
from infrastructure.ledger.books import Books
from infrastructure.ledger.memory import MemoryLedger
from infrastructure.ledger.stored_form import decode
from tests.unit.infrastructure.ledgers import SEALS


@dataclass
class Rebuilt:
    """What the events say, as far as they have been read (`position`). Money exact, as `legs` gives it."""

    position: int = 0
    recorded_at: str = ""
    balances: dict[tuple[str, str], int] = field(default_factory=dict)
    rounds: dict[str, Round] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    moved_at: dict[str, int] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)
    bets: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    """Of each jackpot, the bets that are neither settled nor given back."""
    places: dict[str, dict[str, int | None]] = field(default_factory=dict)
    closed_tables: set[str] = field(default_factory=set)
    unfinished: dict[str, dict[str, str]] = field(default_factory=dict)

    def read(self, ledger: MemoryLedger) -> None:
        """Read on to the ledger's end: positions and versions without a gap, time always later (G4)."""
        for row in ledger.events[self.position :]:
            recorded = decode(row.data)
            assert recorded.position == row.position == self.position + 1
            assert recorded.version == row.version == self.versions.get(row.stream, 0) + 1
            stamp = orjson.loads(row.data)["recorded_at"]
            assert stamp > self.recorded_at
            self.position, self.recorded_at = row.position, stamp
            self.versions[row.stream] = row.version
            self._fold(recorded)
        assert self.position == ledger.position

    def _fold(self, recorded: Recorded) -> None:
        event = recorded.event
        for leg in legs(event):
            key = (leg.account, leg.owner)
            self.balances[key] = self.balances.get(key, 0) + leg.amount
            assert leg.account in (HOUSE, CASHIER) or self.balances[key] >= 0
            if leg.account == JACKPOT:
                self.moved_at[leg.owner] = recorded.position
        said = getattr(event, "balance_after", None)
        if said is not None:
            assert said * EXACT == self.balances[WALLET, event.player]  # type: ignore[union-attr]
        match event:
            case ev.SideBetPlaced(jackpot_id=str() as jackpot_id):
                self.bets.setdefault(jackpot_id, set()).add((recorded.stream, event.seat))
            case ev.Settled() | ev.StakeRefunded():
                for bets in self.bets.values():
                    bets.discard((recorded.stream, event.seat))
        if isinstance(event, ev.JackpotHit):
            self.hits[event.jackpot_id] = event.order
            assert parse_exact(event.meter_after) == self.balances[JACKPOT, event.jackpot_id]
        kind, _, name = recorded.stream.partition("-")
        if kind == "round":
            self._fold_round(name, recorded)
        elif kind == "table":
            self._fold_table(event)

    def _fold_table(self, event: ev.Event) -> None:
        match event:
            case ev.TableOpened():
                self.places[event.table_id] = {}
            case ev.PlayerJoined():
                self.places[event.table_id][event.player] = event.seat
            case ev.PlayerLeft():
                del self.places[event.table_id][event.player]
            case ev.TableClosed():
                self.closed_tables.add(event.table_id)
            case ev.TableReopened():
                self.closed_tables.discard(event.table_id)

    def _fold_round(self, round_id: str, recorded: Recorded) -> None:
        command = recorded.meta["command"]
        round_ = evolve(self.rounds.get(round_id), recorded.stream, recorded.event, command)
        self.rounds[round_id] = round_
        if isinstance(recorded.event, ev.AntePlaced):
            self.unfinished.setdefault(recorded.event.player, {})[round_.opened.table_id] = round_id
        elif (
            isinstance(recorded.event, ev.Settled | ev.StakeRefunded)
            and not round_.hands[recorded.event.player]
        ):
            del self.unfinished[recorded.event.player][round_.opened.table_id]

    # ── Holding something against it ────────────────────────────────────────────────────────────────────────
    def check(self, books: Books, ledger: MemoryLedger) -> None:
        """A writer's books that are at the ledger's end agree with the events, in everything they hold."""
        work = books.work
        assert books.known_position == work.position == self.position
        assert work.recorded_at_us == ledger.recorded_at_us
        for player, wallet in work.wallets.items():
            assert wallet.balance * EXACT == self.balances.get((WALLET, player), 0)
            assert wallet.on_game * EXACT == self.balances.get((ON_GAME, player), 0)
            assert wallet.version == self.versions[f"wallet-{player}"]
            assert wallet.unfinished == self.unfinished.get(player, {})
            assert wallet.player_id is not None
            assert work.players[wallet.player_id] == player
        for jackpot_id, jackpot in work.jackpots.items():
            assert jackpot.meter == self.balances[JACKPOT, jackpot_id]
            assert jackpot.moved_at == self.moved_at[jackpot_id]
            assert jackpot.hits == self.hits.get(jackpot_id, 0)
            assert jackpot.overflow == self.balances.get((OVERFLOW, jackpot_id), 0)
            assert jackpot.diverted == self.balances.get((DIVERSION, jackpot_id), 0)
            assert jackpot.unsettled == len(self.bets.get(jackpot_id, ()))
        assert set(work.tables) == set(self.places)
        for table_id, table in work.tables.items():
            assert table.version == self.versions[f"table-{table_id}"]
            assert table.places == self.places[table_id]
            assert table.open == (table_id not in self.closed_tables)
            alone = [r.id for r in self.rounds.values() if r.opened.table_id == table_id and not r.finished]
            assert table.open_round == (None if table.parallel_rounds or not alone else alone[0])
        for round_id in work.rounds:
            self._check_round(books, ledger, round_id)
        left_over = (work.emitted, work.accounts, work.touched_wallets, work.touched_rounds, work.transfers)
        assert not any(left_over)

    def _check_round(self, books: Books, ledger: MemoryLedger, round_id: str) -> None:
        work, truth = books.work, self.rounds[round_id]
        if books.checked_at[round_id] < books.foreign_at:
            assert work.rounds[round_id].version <= truth.version  # it is read on before it is used again
            return
        assert work.rounds[round_id] == truth
        row = ledger.open_rounds[round_id]
        assert not truth.finished
        assert books.sealed[round_id] == row.sealed
        assert work.deadlines.get(round_id) == row.deadline_us
        assert work.shown[f"round-{round_id}"] == row.answer_sha256
        if truth.phase != "voided":
            assert row.sealed is not None
            assert work.secrets[round_id].seed == SEALS.open(round_id, row.sealed)

    def check_rows(self, ledger: MemoryLedger) -> None:
        """The rows of the store agree with the events, and all accounts together hold nothing (G1)."""
        for player, wallet in ledger.wallets.items():
            assert wallet.balance * EXACT == self.balances.get((WALLET, player), 0)
            assert wallet.on_game * EXACT == self.balances.get((ON_GAME, player), 0)
            assert orjson.loads(wallet.unfinished) == self.unfinished.get(player, {})
        for account in (HOUSE, CASHIER):
            rows = sum(amount for (name, _), amount in ledger.accounts.items() if name.startswith(account))
            assert rows == self.balances.get((account, ""), 0)
        assert sum(self.balances.values()) == 0
        assert set(ledger.open_rounds) == {id_ for id_, r in self.rounds.items() if not r.finished}
        for round_id, row in ledger.open_rounds.items():
            round_ = self.rounds[round_id]
            assert row.unsettled == (round_.phase == "voided" or 0 < round_.settled < len(round_.seats))

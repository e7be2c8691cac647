"""What came of a simulation, and whether the ledger's books balance after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import psycopg
from psycopg import sql

from domain.money import EXACT, exact_text


@dataclass(slots=True)
class Summary:
    """Counts, and money by currency in minor units. `round_ids` in the order in which rounds finished."""

    round_ids: list[str] = field(default_factory=list)
    houses: Counter[str] = field(default_factory=Counter)
    results: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    wagered: Counter[str] = field(default_factory=Counter)
    returned: Counter[str] = field(default_factory=Counter)
    cashier: Counter[str] = field(default_factory=Counter)
    awards: int = 0
    chained: int = 0
    timed: int = 0
    joined: int = 0

    def finished(self, round_: dict[str, Any]) -> None:
        """Count a round as it was answered when it finished."""
        self.round_ids.append(round_["round_id"])
        self.houses[round_["ruleset"]["id"]] += 1
        self.awards += len(round_.get("jackpot_hits", ()))
        self.chained += "next_round" in round_
        for seat in round_["seats"]:
            self.results[seat["result"]] += 1
            if seat["result"] != "void":
                self.wagered[round_["currency"]] += sum(bet["stake"] for bet in seat["bets"])
                self.returned[round_["currency"]] += seat["total_returned"]

    def lines(self, seconds: float) -> Iterator[str]:
        """Tell it to a person."""
        rounds = len(self.round_ids)
        yield f"rounds      {rounds} in {seconds:.1f} s, {rounds / seconds:.0f} a second"
        yield f"houses      {counts(self.houses)}"
        yield f"results     {counts(self.results)}"
        yield f"awards      {self.awards} of jackpots"
        yield f"clock       {self.timed} rounds decided by time-outs"
        yield f"places      {self.joined} taken and left"
        yield f"refused     {counts(self.refusals) or 'nothing'}"
        for currency in sorted(self.wagered):
            wagered, returned = self.wagered[currency], self.returned[currency]
            share = f"{returned / wagered:.1%}" if wagered else "-"
            yield f"{currency}         wagered {wagered}, returned {returned} ({share}), minor units"


def counts(counter: Counter[str]) -> str:
    """Tell counts in the order of their names."""
    return ", ".join(f"{name} {count}" for name, count in sorted(counter.items()))


@dataclass(frozen=True, slots=True)
class Trial:
    """The trial balance of a currency and account class, 1/10000 minor units."""

    currency: str
    account_class: str
    wallets: int = 0
    on_game: int = 0
    house: int = 0
    cashier: int = 0
    jackpots: int = 0

    @property
    def off(self) -> int:
        """What all accounts sum to: zero, or money was made or lost (G1)."""
        return self.wallets + self.on_game + self.house + self.cashier + self.jackpots

    def line(self) -> str:
        """Tell it to a person."""
        verdict = f"is off by {exact_text(self.off)}" if self.off else "balances"
        parts = ", ".join(f"{name} {exact_text(getattr(self, name))}" for name in _ACCOUNTS)
        return f"{self.currency} ({self.account_class}) {verdict}: {parts}"


_ACCOUNTS = ("wallets", "on_game", "house", "cashier", "jackpots")


def trial_balance(dsn: str, schema: str) -> list[Trial]:
    """Sum up all accounts of the ledger, as one snapshot of the database has them. Raises psycopg.Error."""
    sums: dict[tuple[str, str], Counter[str]] = {}

    def add(currency: str, account_class: str, **amounts: int) -> None:
        sums.setdefault((currency, account_class), Counter()).update(amounts)

    with psycopg.connect(dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(schema)))
        wallets = connection.execute("SELECT currency, account_class, balance, on_game FROM wallets")
        for currency, account_class, balance, on_game in wallets:
            add(currency, account_class, wallets=balance * EXACT, on_game=on_game * EXACT)
        for account, currency, balance in connection.execute(
            "SELECT account, currency, balance FROM accounts"
        ):
            name, _, account_class = account.partition(":")
            add(currency, account_class, **{name: int(balance)})
        for data, meter in connection.execute("SELECT state, meter FROM jackpots"):
            state = orjson.loads(data)
            pools = int(meter) + int(state.get("overflow", 0)) + int(state.get("diverted", 0))
            add(state["currency"], state["account_class"], jackpots=pools)
    return [Trial(*whose, *(amounts[name] for name in _ACCOUNTS)) for whose, amounts in sorted(sums.items())]

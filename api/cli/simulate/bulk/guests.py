"""The guests of one process: who is free to play, and who needs money for it."""

from __future__ import annotations

from random import Random
from typing import Final

from domain import commands as c
from domain.work import Work
from infrastructure import ids

POCKET: Final = 1_000_000
"""What a guest brings, minor units."""
ENOUGH: Final = 5 * POCKET
"""From here on a guest takes money home."""


class Guests:
    """As many guests for each currency as `players` allow, one at least."""

    def __init__(self, run: str, currencies: set[str], players: int) -> None:
        self._run = run
        each = max(players // len(currencies), 1)
        self._free = {
            currency: [f"{run}-{number}-{currency}" for number in range(each)]
            for currency in sorted(currencies)
        }
        self._each = each
        self._transfers = 0

    def take(self, currency: str, count: int, dice: Random) -> list[str]:
        """Choose guests who are free, as many as asked for or as there are in all; none where too few are."""
        free = self._free[currency]
        count = min(count, self._each)
        if len(free) < count:
            return []
        taken = []
        for _ in range(count):
            place = int(dice.random() * len(free))
            free[place], free[-1] = free[-1], free[place]
            taken.append(free.pop())
        return taken

    def give_back(self, currency: str, guests: list[str]) -> None:
        """They are free again."""
        self._free[currency] += guests

    def transfers(
        self, work: Work, guest: str, currency: str, needed: int
    ) -> list[c.OpenPlayer | c.Deposit | c.Withdraw]:
        """What has to be done before a guest can pay `needed`, and may be nothing.

        A wallet is opened, money brought, or some of a lot of it taken home.
        """
        player = work.players.get(guest)
        if player is None:
            opening = c.OpenPlayer(guest, ids.pseudonym(), currency, "test")
            return [opening, self.deposit(guest, needed + POCKET)]
        balance = work.wallets[player].balance
        if balance < needed:
            return [self.deposit(guest, needed + POCKET)]
        if balance - needed > ENOUGH:
            return [c.Withdraw(guest, ENOUGH - POCKET, self._reference(), ids.transaction_id())]
        return []

    def withdrawal(self, work: Work, guest: str) -> c.Withdraw:
        """A withdrawal of half of what a guest has; who has played has something left."""
        amount = max(work.wallet_of(guest).balance // 2, 1)
        return c.Withdraw(guest, amount, self._reference(), ids.transaction_id())

    def deposit(self, guest: str, amount: int) -> c.Deposit:
        """A deposit with a reference of its own."""
        return c.Deposit(guest, amount, self._reference(), ids.transaction_id())

    def _reference(self) -> str:
        self._transfers += 1
        return f"{self._run}-{self._transfers}"

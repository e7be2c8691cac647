"""The checker's books: every account there is, moved by the events alone.

`Books.move` and `Books.book` are the only ways money changes. Between two events all that was added has to be
zero in every currency (G1): `Books.balanced` says so.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from infrastructure.checking.exact import MINOR
from infrastructure.checking.exact import text as exact_text
from infrastructure.checking.findings import Findings
from infrastructure.checking.shelf import HELD_MAX, Shelf
from infrastructure.checking.state import Jackpot, OpenRound, Table, Wallet

METER: Final = "meter"
OVERFLOW: Final = "overflow"
DIVERSION: Final = "diverted"


Posted = tuple[str, int, int, int, int, int]
"""Player, position, what was added to wallet and on-game account, and what they held then."""


class Books:
    """All accounts as of `position`; `added` is what the present event has added to them so far.

    `accounts` maps (account, currency) to ten-thousandths of minor units, `booked_at` to the event that moved
    it last. `transfers` (player, direction, reference, amount, position), `posted`, `opened` and `finished`
    rounds (id, last position) are what happened since they were last emptied. At most `held_max` wallets, and
    as many open rounds and streams, are in memory. `played` adds up rounds by account class and currency;
    `player_rounds` counts who staked in which round.
    """

    def __init__(self, held_max: int = HELD_MAX) -> None:
        self.findings = Findings()
        self.position = 0
        self.added = 0
        self.wallets: Shelf[Wallet] = Shelf(Wallet.dump, lambda values: Wallet(*values), held_max)
        self.rounds: Shelf[OpenRound] = Shelf(OpenRound.dump, OpenRound.load, held_max)
        self.versions: Shelf[list[int]] = Shelf(list, list, held_max)
        self.registers: Shelf[dict[str, Any]] = Shelf(dict, dict, held_max)
        self.jackpots: dict[str, Jackpot] = {}
        self.tables: dict[str, Table] = {}
        self.rulesets: dict[tuple[str, int], tuple[int, str]] = {}
        self.accounts: dict[tuple[str, str], int] = {}
        self.booked_at: dict[tuple[str, str], int] = {}
        self.transfer_count = 0
        self.played: dict[tuple[str, str], Counter[str]] = {}
        self.player_rounds = 0
        self.opened: list[str] = []
        self.posted: list[Posted] = []
        self.finished: list[tuple[str, int, OpenRound]] = []
        self.transfers: list[tuple[str, str, str, int, int]] = []

    def close(self) -> None:
        """Let go of the temporary files."""
        for shelf in (self.wallets, self.rounds, self.versions, self.registers):
            shelf.close()

    def differs(self, name: str, detail: str) -> None:
        """Note a discrepancy at the present event."""
        self.findings.add(name, self.position, detail)

    def count(self, round_: OpenRound) -> Counter[str]:
        """The figures of all rounds of a round's class and currency, to be added to."""
        key = round_.account_class, round_.currency
        figures = self.played.get(key)
        if figures is None:
            figures = self.played[key] = Counter()
        return figures

    # ── Moving money ────────────────────────────────────────────────────────────────────────────────────────
    def wallet(self, player: str) -> Wallet:
        """A player's wallet; a discrepancy where it was never opened."""
        wallet = self.wallets.get(player)
        if wallet is None:
            self.differs("unknown_wallet", f"the wallet of {player} was never opened")
            wallet = self.open_wallet(player, "XXX", "real")
        return wallet

    def open_wallet(self, player: str, currency: str, account_class: str) -> Wallet:
        """Begin an empty wallet."""
        wallet = Wallet(currency, account_class, moved_at=self.position)
        self.wallets.add(player, wallet)
        return wallet

    def jackpot(self, jackpot_id: str) -> Jackpot | None:
        """A jackpot; None, and a discrepancy, where it was never opened."""
        jackpot = self.jackpots.get(jackpot_id)
        if jackpot is None:
            self.differs("unknown_jackpot", f"the jackpot {jackpot_id} was never opened")
        return jackpot

    def move(self, player: str, balance: int, on_game: int, balance_after: int | None) -> Wallet:
        """Change a wallet by minor units, and compare what the event says it holds then."""
        wallet = self.wallet(player)
        wallet.balance += balance
        wallet.on_game += on_game
        wallet.moved_at = self.position
        self.added += (balance + on_game) * MINOR
        if balance_after is not None and wallet.balance != balance_after:
            self.differs("balance", f"{player} holds {wallet.balance}, the event says {balance_after}")
            wallet.balance = balance_after
        self.posted.append((player, self.position, balance, on_game, wallet.balance, wallet.on_game))
        if wallet.balance < 0 or wallet.on_game < 0:
            self.differs("overdraft", f"{player} holds {wallet.balance} and {wallet.on_game} on game")
        return wallet

    def book(self, account: str, currency: str, amount: int) -> None:
        """Change the house or the cashier by ten-thousandths."""
        key = account, currency
        self.accounts[key] = self.accounts.get(key, 0) + amount
        self.booked_at[key] = self.position
        self.added += amount

    def pool(self, jackpot_id: str, name: str, amount: int) -> None:
        """Change one of a jackpot's pools by ten-thousandths."""
        jackpot = self.jackpots.get(jackpot_id)
        if jackpot is None:
            return
        after = getattr(jackpot, name) + amount
        setattr(jackpot, name, after)
        jackpot.touched_at = self.position
        if name == METER:
            jackpot.moved_at = self.position
        self.added += amount
        if after < 0:
            self.differs("meter", f"the {name} of jackpot {jackpot_id} is {exact_text(after)}")

    def meter_is(self, jackpot_id: str, said: int, when: str) -> None:
        """Compare a jackpot's meter with what an event says of it, and go on with that."""
        jackpot = self.jackpots.get(jackpot_id)
        if jackpot is not None and jackpot.meter != said:
            self.differs(
                "meter",
                f"the meter of {jackpot_id} is {exact_text(jackpot.meter)} {when} the event, which says "
                f"{exact_text(said)}",
            )
            jackpot.meter = said

    def balanced(self) -> None:
        """The event is over: all that it added has to be zero."""
        if self.added:
            self.differs(
                "trial_balance", f"the event's legs add up to {exact_text(self.added)} instead of zero"
            )
            self.added = 0

"""The trial balance: what every account of `domain.accounts` holds, now and at every 1 024th position.

The sum over all accounts of a currency is zero at every position (G1). A snapshot holds only the accounts
that changed since the one before: the balance of an account as of a snapshot is its latest row up to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from domain.accounts import JACKPOTS, account_name
from domain.events import AccountClass
from domain.money import EXACT, parse_exact
from domain.postings import DIVERSION, HOUSE, JACKPOT, ON_GAME, OVERFLOW, WALLET
from infrastructure.projections.kinds import Column, Happened, Out, Poison, Shelf, Table
from infrastructure.projections.movements import MONEY, Movement, movement
from infrastructure.projections.round_facts import RoundFacts

SNAPSHOT_POSITIONS: Final = 1_024
"""How many positions are between two snapshots."""

NOW: Final = Table(
    "trial_balance_now",
    (
        Column("account", "text"),
        Column("currency", "text"),
        Column("balance", "numeric(24,0)"),
        Column("position", "bigint"),
    ),
    key=("account", "currency"),
    mode="replace",
)
"""`balance` in 1/10000 minor units, as of the projection's checkpoint; `position` is of the latest event that
moved it."""

BALANCES: Final = Table(
    "trial_balances",
    (
        Column("account", "text"),
        Column("currency", "text"),
        Column("position", "bigint"),
        Column("balance", "numeric(24,0)"),
    ),
    key=("account", "currency", "position"),
    mode="insert",
)
SNAPSHOTS: Final = Table(
    "snapshots",
    (Column("position", "bigint"), Column("at_us", "bigint")),
    key=("position",),
    mode="insert",
    indexes=(("at_us",),),
)
"""The positions of the snapshots and when the events there were recorded."""

PLAYERS: Final = Table(
    "players",
    (
        Column("player", "text"),
        Column("currency", "text"),
        Column("account_class", "text"),
        Column("position", "bigint"),
        Column("at_us", "bigint"),
    ),
    key=("player",),
    mode="insert",
)
"""Every wallet that was opened, and when."""

PLAYERS_MAX: Final = 20_000
"""Of how many players currency and class are kept between batches."""
_ASKED_MAX: Final = 2_000
_CASHIER: Final = frozenset(("Deposited", "Withdrawn"))
_STATING: Final = {
    "JackpotHit": (("meter_after", "jackpot_id"),),
    "ContributionReversed": (("meter_after", "jackpot_id"),),
    "JackpotParametersActivated": (("meter_after", "jackpot_id"),),
    "JackpotTransferred": (("to_meter_after", "to"),),
    "JackpotAdjusted": (("after", "jackpot_id"),),
}
"""The events that state what they leave in a jackpot's pool: in which field, and of which jackpot."""
_POOLS: Final = {"overflow": OVERFLOW, "diversion": DIVERSION}


@dataclass(slots=True)
class _Account:
    """An account's balance, exact, as of the event at `position`, which moved it last."""

    name: str
    currency: str
    balance: int = 0
    position: int = 0


_Place = tuple[str, str, str]
"""An account class, a currency and a game: with a leg they say which account it is on."""


class TrialBalance:
    """The projection. All accounts are in memory: there are a few for each game, currency and jackpot.

    `players_max` bounds of how many players it keeps currency and class between batches.
    """

    name = "trial_balance"
    version = 1
    tables = (NOW, BALANCES, SNAPSHOTS, PLAYERS)
    types: frozenset[str] | None = MONEY | {"WalletOpened"}
    rounds = True

    def __init__(self, players_max: int = PLAYERS_MAX) -> None:
        self._players_max = players_max
        self._accounts: dict[tuple[str, str], _Account] = {}
        self._money_of: dict[_Place, tuple[_Account, _Account, _Account]] = {}
        self._places: dict[str, _Place] = {}
        self._players: dict[str, tuple[str, str]] = {}
        self._due: list[tuple[int, int]] = []
        self._put_up_to = self._snapshot_up_to = 0

    def restore(self, shelf: Shelf, position: int) -> None:
        """Read all accounts."""
        self._accounts.clear()
        self._money_of.clear()
        self._places.clear()
        self._players.clear()
        self._put_up_to = position
        self._snapshot_up_to = position - position % SNAPSHOT_POSITIONS
        for name, currency, balance, moved_at in shelf.whole(NOW.name):
            self._accounts[name, currency] = _Account(name, currency, balance, moved_at)
            kind, account_class, *owner = name.split(":", 2)
            if kind == JACKPOT:
                self._places[owner[0]] = account_class, currency, JACKPOTS

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:
        """Find the snapshots that are due within the batch, and the players who come to the cashier in it."""
        first = batch[0].position
        due = range(first + -first % SNAPSHOT_POSITIONS, batch[-1].position + 1, SNAPSHOT_POSITIONS)
        self._due = [(position, batch[position - first].at_us) for position in due]
        players = self._players
        if len(players) > self._players_max:
            players.clear()
        missing = sorted({each[5]["player"] for each in batch if each[4] in _CASHIER} - players.keys())
        for start in range(0, len(missing), _ASKED_MAX):
            asked = [(player,) for player in missing[start : start + _ASKED_MAX]]
            for player, currency, account_class, *_ in shelf.rows(PLAYERS.name, asked).values():
                players[player] = account_class, currency

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:
        """Move the accounts of an event. Raises Poison where a meter is not what the event says."""
        position = happened.position
        while self._due and self._due[0][0] < position:
            self._snapshot(*self._due.pop(0), out)
        if facts is None:
            moved, place = movement(happened), self._place(happened, out)
        else:
            moved, place = facts.moved, facts.place
        if moved is not None:
            self._move(position, place, moved)
            if happened.type in _STATING:
                self._check_pools(happened)

    def finish(self, last: Happened, out: Out) -> None:  # noqa: ARG002 - the snapshots due are known
        """Put the accounts that moved, and the snapshots that are left."""
        for due in self._due:
            self._snapshot(*due, out)
        self._due.clear()
        newest = self._put_up_to
        for account in self._accounts.values():
            if account.position > self._put_up_to:
                out.put(
                    "trial_balance_now", (account.name, account.currency, account.balance, account.position)
                )
                newest = max(newest, account.position)
        self._put_up_to = newest

    def _snapshot(self, position: int, at_us: int, out: Out) -> None:
        for account in self._accounts.values():
            if account.position > self._snapshot_up_to:
                out.put("trial_balances", (account.name, account.currency, position, account.balance))
        out.put("snapshots", (position, at_us))
        self._snapshot_up_to = position

    def _place(self, happened: Happened, out: Out) -> _Place:
        """Whose accounts an event outside a round is about; openings are noted."""
        position, at_us, stream, _, type_, data, _ = happened
        kind, _, name = stream.partition("-")
        if type_ == "WalletOpened":
            self._players[data["player"]] = data["account_class"], data["currency"]
            row = data["player"], data["currency"], data["account_class"], position, at_us
            out.put("players", row)
        elif type_ == "JackpotOpened":
            self._places[name] = data["account_class"], data["currency"], JACKPOTS
            self._account(JACKPOT, name, self._places[name]).position = position
        place = (
            self._places.get(name) if kind == "jackpot" else (*self._players.get(name, ("", "")), JACKPOTS)
        )
        if place is None or not place[0]:
            raise Poison(position, f"{type_} is about what was never opened")
        return place

    def _move(self, position: int, place: _Place, moved: Movement) -> None:
        accounts = self._money_of.get(place)
        if accounts is None:
            accounts = self._money_of[place] = (
                self._account(WALLET, "", place),
                self._account(ON_GAME, "", place),
                self._account(HOUSE, "", place),
            )
        wallet, on_game, house = accounts
        if moved.wallet:
            wallet.balance += moved.wallet * EXACT
            wallet.position = position
        if moved.on_game:
            on_game.balance += moved.on_game * EXACT
            on_game.position = position
        for kind, owner, amount in moved.others:
            if amount:
                account = house if kind == HOUSE else self._account(kind, owner, place)
                account.balance += amount
                account.position = position

    def _account(self, kind: str, owner: str, place: _Place) -> _Account:
        account_class, currency, game = place
        name = account_name(kind, owner, account_class=cast("AccountClass", account_class), game=game)
        account = self._accounts.get((name, currency))
        if account is None:
            account = self._accounts[name, currency] = _Account(name, currency)
        return account

    def _check_pools(self, happened: Happened) -> None:
        """Raise Poison where a pool does not hold what the event says it leaves in it."""
        data: dict[str, Any] = happened.data
        for field, owner in _STATING[happened.type]:
            pool = _POOLS.get(data.get("pool", ""), JACKPOT)
            account = self._account(pool, data[owner], self._places[data[owner]])
            if parse_exact(data[field]) != account.balance:
                raise Poison(happened.position, f"{happened.type} leaves another amount in {account.name}")

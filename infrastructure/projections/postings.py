"""What moved a player's money: one row for each event that did, with all its legs and the balances after it.

This is what statements are read from, and a wallet as of any position: the row with the greatest position up
to it. The running balance of every player is kept here while projecting, and every ``balance_after`` that an
event states must be it (G1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from domain.money import EXACT
from domain.postings import CASHIER, HOUSE
from infrastructure.projections.kinds import Column, Happened, Out, Poison, Shelf, Table
from infrastructure.projections.movements import movement
from infrastructure.projections.round_facts import RoundFacts

KINDS: Final = (
    "Deposited",
    "Withdrawn",
    "AntePlaced",
    "SideBetPlaced",
    "Raised",
    "CardExchanged",
    "Settled",
    "JackpotHit",
    "StakeRefunded",
)
"""Types of event that move a player's money. A row's `kind` is the place in this list, from 0: for good."""

POSTINGS: Final = Table(
    "postings",
    (
        Column("position", "bigint"),
        Column("at_us", "bigint"),
        Column("wallet", "bigint"),
        Column("on_game", "bigint"),
        Column("balance", "bigint"),
        Column("on_game_after", "bigint"),
        Column("kind", "smallint"),
        Column("seat", "smallint"),
        Column("player", "text"),
        Column("reference", "text"),
        Column("actor", "text"),
        Column("house", "numeric(24,0)"),
        Column("jackpot", "numeric(24,0)"),
        Column("cashier", "numeric(24,0)"),
    ),
    key=("player", "position"),
    mode="insert",
)
"""`wallet` and `on_game` are what the event added, `balance` and `on_game_after` what there was then, in
minor units. `house`, `jackpot` (all pools of all jackpots) and `cashier` are its other legs in 1/10000 of
them: all together are zero. `reference` is the round's id, or the cashier's transaction id; `seat` is null
outside rounds; `actor` sent the command."""

PLAYERS_MAX: Final = 20_000
"""How many players' balances are kept between batches."""
_ASKED_MAX: Final = 2_000
_FIELD: Final = {column.name: place for place, column in enumerate(POSTINGS.columns)}


class Postings:
    """The projection. `players_max` bounds how many players' balances it keeps between batches."""

    name = "postings"
    version = 1
    tables = (POSTINGS,)
    types: frozenset[str] | None = frozenset(KINDS)
    rounds = True

    def __init__(self, players_max: int = PLAYERS_MAX) -> None:
        self._players_max = players_max
        self._kinds = {kind: number for number, kind in enumerate(KINDS)}
        self._held: dict[str, tuple[int, int]] = {}

    def restore(self, shelf: Shelf, position: int) -> None:  # noqa: ARG002 - balances are read as they are needed
        """Forget the balances."""
        self._held.clear()

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:
        """Read the balances of those who come up in the batch and are not known."""
        if len(self._held) > self._players_max:
            self._held.clear()
        kinds, held = self._kinds, self._held
        missing = sorted({each[5]["player"] for each in batch if each[4] in kinds} - held.keys())
        for start in range(0, len(missing), _ASKED_MAX):
            asked = [(player,) for player in missing[start : start + _ASKED_MAX]]
            found = shelf.latest(POSTINGS.name, asked)
            for key in asked:
                row = found.get(key)
                held[key[0]] = (row[_FIELD["balance"]], row[_FIELD["on_game_after"]]) if row else (0, 0)

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:
        """Put the row of an event. Raises Poison where a balance is not what the event says, or negative."""
        moved = movement(happened) if facts is None else facts.moved
        if moved is None:
            return
        position, at_us, _, _, type_, data, meta = happened
        player, wallet, on_game, others = moved
        balance, playing = self._held[player]
        balance += wallet
        playing += on_game
        house = jackpot = cashier = 0
        for account, _, amount in others:
            if account == HOUSE:
                house += amount
            elif account == CASHIER:
                cashier += amount
            else:
                jackpot += amount
        if data["balance_after"] != balance or balance < 0 or playing < 0:
            raise Poison(
                position,
                f"{type_} leaves {balance} in a wallet, {playing} on game; it says {data['balance_after']}",
            )
        if (wallet + on_game) * EXACT + house + jackpot + cashier:
            raise Poison(position, f"the legs of this {type_} do not sum to zero")
        self._held[player] = balance, playing
        reference = data["transaction_id"] if facts is None else facts.round_id
        seat: Any = None if facts is None else data["seat"]
        out.put(
            "postings",
            (
                position, at_us, wallet, on_game, balance, playing, self._kinds[type_], seat,
                player, reference, meta["actor"], house, jackpot, cashier,
            ),
        )  # fmt: skip

    def finish(self, last: Happened, out: Out) -> None:
        """Nothing is left over."""

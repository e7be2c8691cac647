"""What the events come to: wallets, rounds, jackpots and tables as the checker's own fold holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Wallet:
    """A player's money in minor units. `moved_at`: the last event that had to do with it.

    `unfinished` maps a table's id to the id of the round that the player has not finished there.
    """

    currency: str
    account_class: str
    version: int = 1
    balance: int = 0
    on_game: int = 0
    moved_at: int = 0
    unfinished: dict[str, str] = field(default_factory=dict)

    def dump(self) -> list[Any]:
        """Return the wallet as JSON."""
        return [getattr(self, name) for name in self.__slots__]


@dataclass(slots=True)
class Seat:
    """One seat of an open round: whose, what is staked and what the jackpot's pools got and paid.

    `raised`, `fee`, `side_bets`, `returned`, `game_win` and `balance_after` are what its record has to say.
    """

    player: str
    staked: int
    raised: int = 0
    fee: int = 0
    side_bets: int = 0
    returned: int = 0
    game_win: int = 0
    balance_after: int = 0
    meter: int = 0
    overflow: int = 0
    diversion: int = 0
    award: int = 0
    on_jackpot: bool = False
    settled: bool = False

    def record(self) -> tuple[int, ...]:
        """Ante, raise, fee, side bets, returned, game win, jackpot win, balance after the last of them."""
        ante = self.staked - self.raised - self.fee - self.side_bets
        return (
            ante,
            self.raised,
            self.fee,
            self.side_bets,
            self.returned,
            self.game_win,
            self.award,
            self.balance_after,
        )


@dataclass(slots=True)
class OpenRound:
    """A round that is not finished. `share` and `diversion` in ten-thousandths of a side bet.

    `ceiling`: the meter's, in ten-thousandths of a minor unit; None: it has none.
    """

    table: str
    currency: str
    account_class: str
    sealed: bool
    jackpot: str | None
    share: int
    diversion: int
    ceiling: int | None
    version: int = 1
    seats: dict[int, Seat] = field(default_factory=dict)
    hands: dict[str, int] = field(default_factory=dict)
    settled: int = 0
    refunded: int = 0
    void: bool = False
    moved_at: int = 0

    def dump(self) -> list[Any]:
        """Return the round as JSON."""
        values = {name: getattr(self, name) for name in self.__slots__}
        values["seats"] = [
            [number, [getattr(seat, name) for name in seat.__slots__]] for number, seat in self.seats.items()
        ]
        return list(values.values())

    @classmethod
    def load(cls, values: list[Any]) -> OpenRound:
        """Return the round of `dump`."""
        round_ = cls(*values)
        round_.seats = {number: Seat(*seat) for number, seat in values[cls.__slots__.index("seats")]}
        return round_


@dataclass(slots=True)
class Parameters:
    """A jackpot's parameters: shares in ten-thousandths, `reset` and `ceiling` in minor units."""

    version: int
    share: int
    reset: int
    ceiling: int | None
    diversion: int


@dataclass(slots=True)
class Jackpot:
    """A jackpot's pools in ten-thousandths of a minor unit, and what else its events say."""

    currency: str
    account_class: str
    parameters: Parameters
    meter: int = 0
    overflow: int = 0
    diverted: int = 0
    moved_at: int = 0
    touched_at: int = 0
    hits: int = 0
    unsettled: int = 0
    enabled: bool = True
    retired: bool = False
    scheduled: Parameters | None = None


@dataclass(slots=True)
class Table:
    """A table: who sits there, what it plays by and whether it is open."""

    ruleset: list[Any]
    parallel_rounds: bool
    touched_at: int
    open: bool = True
    places: dict[str, int | None] = field(default_factory=dict)
    open_round: str | None = None

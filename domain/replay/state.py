"""A finished round as its events tell it: the game and its seats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from domain.replay import kinds
from domain.replay.records import Record

# Structs and not dataclasses: a replay makes some of each, and these are made five times as fast.


class Seat(Struct):
    """What the events say about one seat. Absent things are None; amounts in minor units.

    `decided` is whether it `folded` or `raised`.
    """

    number: int
    player: str
    ante: Record[kinds.AntePlaced]
    side_bets: dict[str, kinds.SideBetPlaced] = field(default_factory=dict)
    exchange: kinds.CardExchanged | None = None
    decided: bool = False
    folded: bool = False
    raised: int | None = None
    dealt: tuple[str, ...] | None = None
    final: tuple[str, ...] | None = None
    settled: kinds.Settled | None = None
    hit: Record[kinds.JackpotHit] | None = None
    refund: kinds.StakeRefunded | None = None
    reversal: Record[kinds.ContributionReversed] | None = None

    def stakes(self, side_bets: Sequence[str]) -> list[tuple[str, int]]:
        """Every bet of the seat with its stake, in the order of settlement.

        `side_bets` is the house's order.
        """
        placed: list[tuple[str, int]] = [("ante", self.ante.data.amount)]
        if self.raised is not None:
            placed.append(("raise", self.raised))
        if self.exchange is not None:
            placed.append(("exchange_fee", self.exchange.fee))
        placed += [(bet, self.side_bets[bet].amount) for bet in side_bets if bet in self.side_bets]
        return placed


class Game(Struct):
    """The round as its events tell it.

    `payments` are JackpotHit and Settled, `refunds` the reversals and refunds, in order. `in_seat_order` are
    the seats again, ascending, when all events have been taken.
    """

    phase: str = "new"
    opened: Record[kinds.RoundOpened] | None = None
    seats: dict[int, Seat] = field(default_factory=dict)
    betting_closed: kinds.BettingClosed | None = None
    hands: list[kinds.Dealt] = field(default_factory=list)
    dealer_up: kinds.Dealt | None = None
    actions: list[Record[Any]] = field(default_factory=list)
    decided: int = 0
    dealer: kinds.DealerQualified | None = None
    payments: list[Record[Any]] = field(default_factory=list)
    settled: int = 0
    refunds: list[Record[Any]] = field(default_factory=list)
    refunded: int = 0
    closed: kinds.RoundClosed | None = None
    voided: Record[kinds.RoundVoided] | None = None
    voided_in: str = ""
    last_ante: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)
    in_seat_order: list[Seat] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        """Whether the events reach an end: closed, or void with every seat refunded."""
        return self.closed is not None or (self.voided is not None and self.refunded == len(self.seats))

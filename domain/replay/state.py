"""A finished round as its events tell it: the game and its seats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from domain.replay import kinds
from domain.replay.records import Record

# Structs and not dataclasses: a replay makes some of each, and these are made five times as fast.


class Seat(Struct):
    """What the events say about one seat. Absent things are None; amounts in minor units."""

    number: int
    player: str
    ante: Record[kinds.AntePlaced]
    side_bets: dict[str, kinds.SideBetPlaced] = field(default_factory=dict)
    exchange: kinds.CardExchanged | None = None
    decision: Record[Any] | None = None
    dealt: tuple[str, ...] | None = None
    final: tuple[str, ...] | None = None
    settled: kinds.Settled | None = None
    hit: Record[kinds.JackpotHit] | None = None
    refund: kinds.StakeRefunded | None = None
    reversal: Record[kinds.ContributionReversed] | None = None

    @property
    def folded(self) -> bool:
        """Whether the seat gave up its ante."""
        return self.decision is not None and self.decision.type == "Folded"

    @property
    def raised(self) -> int | None:
        """The raise, or None."""
        if self.decision is None or self.decision.type != "Raised":
            return None
        amount: int = self.decision.data.amount
        return amount

    def stakes(self, side_bets: Sequence[str]) -> list[tuple[str, int]]:
        """Every bet of the seat with its stake, in the order of settlement.

        `side_bets` is the house's order.
        """
        placed: list[tuple[str, int]] = [("ante", self.ante.data.amount)]
        raised = self.raised
        if raised is not None:
            placed.append(("raise", raised))
        if self.exchange is not None:
            placed.append(("exchange_fee", self.exchange.fee))
        placed += [(bet, self.side_bets[bet].amount) for bet in side_bets if bet in self.side_bets]
        return placed


class Game(Struct):
    """The round as its events tell it.

    `payments` are JackpotHit and Settled, `refunds` the reversals and refunds, in order.
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

    @property
    def finished(self) -> bool:
        """Whether the events reach an end: closed, or void with every seat refunded."""
        return self.closed is not None or (self.voided is not None and self.refunded == len(self.seats))

    def in_seat_order(self) -> list[Seat]:
        """The seats that placed an ante, ascending."""
        return [self.seats[number] for number in sorted(self.seats)]

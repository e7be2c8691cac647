"""A finished round as its events tell it: the game and its seats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from domain.replay.fields import Data
from domain.replay.stream import Record


@dataclass(slots=True)
class Seat:
    """What the events say about one seat. Absent things are None; amounts in minor units."""

    number: int
    player: str
    ante: Record
    side_bets: dict[str, Data] = field(default_factory=dict)
    exchange: Data | None = None
    decision: Record | None = None
    dealt: tuple[str, ...] | None = None
    final: tuple[str, ...] | None = None
    settled: Data | None = None
    hit: Record | None = None
    refund: Data | None = None
    reversal: Record | None = None

    @property
    def folded(self) -> bool:
        """Whether the seat gave up its ante."""
        return self.decision is not None and self.decision.type == "Folded"

    @property
    def raised(self) -> int | None:
        """The raise, or None."""
        if self.decision is None or self.decision.type != "Raised":
            return None
        amount: int = self.decision.data["amount"]
        return amount

    def stakes(self, side_bets: Sequence[str]) -> list[tuple[str, int]]:
        """Every bet of the seat with its stake, in the order of settlement.

        `side_bets` is the house's order.
        """
        placed: list[tuple[str, int]] = [("ante", self.ante.data["amount"])]
        raised = self.raised
        if raised is not None:
            placed.append(("raise", raised))
        if self.exchange is not None:
            placed.append(("exchange_fee", self.exchange["fee"]))
        placed += [(bet, self.side_bets[bet]["amount"]) for bet in side_bets if bet in self.side_bets]
        return placed


@dataclass(slots=True)
class Game:
    """The round as its events tell it.

    `payments` are JackpotHit and Settled, `refunds` the reversals and refunds, in order.
    """

    phase: str = "new"
    opened: Record | None = None
    seats: dict[int, Seat] = field(default_factory=dict)
    betting_closed: Data | None = None
    hands: list[Data] = field(default_factory=list)
    dealer_up: Data | None = None
    actions: list[Record] = field(default_factory=list)
    decided: int = 0
    dealer: Data | None = None
    payments: list[Record] = field(default_factory=list)
    settled: int = 0
    refunds: list[Record] = field(default_factory=list)
    refunded: int = 0
    closed: Data | None = None
    voided: Record | None = None
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

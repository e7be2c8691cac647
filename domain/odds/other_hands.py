"""What it is worth to know the other hands of a round: an estimate, from rounds that are dealt at random.

Exact odds decide each hand on its own five cards and the dealer's up-cards. Who sees other hands as well
knows more cards that the dealer cannot have, and now and then decides otherwise for it. How much more that
wins is exact for each round, over all hands that the dealer can have; only the rounds are a sample, made in
`domain.odds.other_hands_sample`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

from domain.odds.payoffs import OddsError
from domain.rules import Rules

_LEAST_ROUNDS: Final = 2


@dataclass(frozen=True, slots=True)
class OtherHands:
    """What knowing all hands won in a sample of rounds, against deciding each of them on its own.

    ``rounds`` of ``hands`` each; ``changed``: how many hands are decided otherwise. ``gained`` is the sum of
    what the rounds gain and ``squares`` that of its squares, where ``ante`` is the worth of one ante:
    everything is counted over all hands that the dealer can have.
    """

    hands: int
    rounds: int
    changed: int
    gained: int
    squares: int
    ante: int

    def __add__(self, other: OtherHands) -> OtherHands:
        """Return both samples as one. Raises ``OddsError`` where they are not of the same game."""
        if (self.hands, self.ante) != (other.hands, other.ante):
            raise OddsError("samples of different games do not add up")
        return OtherHands(
            self.hands,
            self.rounds + other.rounds,
            self.changed + other.changed,
            self.gained + other.gained,
            self.squares + other.squares,
            self.ante,
        )

    @property
    def share_changed(self) -> float:
        """How often a hand is decided otherwise."""
        return self.changed / (self.rounds * self.hands)

    @property
    def per_ante(self) -> float:
        """What each ante wins more, on average."""
        return self.gained / (self.rounds * self.hands * self.ante)

    @property
    def standard_error(self) -> float:
        """That of ``per_ante``; the hands of a round are not independent, rounds are. Infinite for one."""
        n = self.rounds
        if n < _LEAST_ROUNDS:
            return float("inf")
        variance = (n * self.squares - self.gained**2) / (n * (n - 1))
        return sqrt(variance / n) / (self.hands * self.ante)


def hands_seen(rules: Rules) -> int:
    """Return how many hands a player can see in a round, the own ones among them, if all seats are taken."""
    if rules.shared:
        return 1
    return rules.hands_per_player if rules.player_cards_down else rules.seats

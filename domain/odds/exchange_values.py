"""What the exchange of a card is worth in every state, and what is best there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.hands import HAND_SIZE, Qualifier
from domain.odds.hands_table import CARDS, PERMUTATIONS, HandsTable, rank_of
from domain.odds.payoffs import OddsError, Payoffs

Decisions: TypeAlias = NDArray[np.int8]
Longs: TypeAlias = NDArray[np.int64]

NO_STATE, FOLD, RAISE, EXCHANGE = -1, 0, 1, 2
"""What a decision is written as; an exchange is `EXCHANGE` and the place of the card that is given up."""

DRAWS: Final = CARDS - HAND_SIZE - 1
"""How many cards can be drawn in front of one up-card: a burned one is as unseen as the rest."""
DEALS_KEPT: Final = comb(DRAWS, HAND_SIZE - 1)
"""How many hands the dealer can have against a hand that is kept."""
DEALS_DRAWN: Final = comb(DRAWS - 1, HAND_SIZE - 1)
"""How many she can have after an exchange, with one card more seen."""
DENOMINATOR: Final = DRAWS * DEALS_DRAWN
"""What values of exchanges are over: draws and dealer's hands, 42 times `DEALS_KEPT`."""
KEPT_SCALE: Final = DENOMINATOR // DEALS_KEPT


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExchangeValues:
    """The best exchange of every state with one up-card, by class of hands [134 459] and up-card [52].

    ``places``: a bit, 1 << n, for each place n, in the hand that stands for the class, of a card whose
    exchange is worth most: which of equal ones comes first is not the same in all hands of a class;
    `NO_STATE` where the hand has the up-card. ``values``: what that exchange is worth, the fee paid, times
    `DENOMINATOR`, in the unit of ``payoffs``. ``decisions``: what is best of all, `FOLD`, `RAISE`, or
    `EXCHANGE` and the first such place; of equal ones fold before raise before exchange.

    The arrays are not to be written to. ``qualify`` is the hand that the dealer qualifies with.
    """

    payoffs: Payoffs
    qualify: Qualifier
    places: Decisions
    values: Longs
    decisions: Decisions

    def require(self, payoffs: Payoffs, qualify: Qualifier) -> int:
        """Return how many units of such payoffs one of these values' is.

        Raises ``OddsError`` unless they are those of the payoffs, or of the same stakes where a raise wins as
        much or more.
        """
        own = self.payoffs
        times, rest = (1, 0) if not own.ante else divmod(payoffs.ante, own.ante)
        same = (own.raised * times, own.fee and own.fee * times) == (payoffs.raised, payoffs.fee)
        less = any(a * times < b for a, b in zip(own.raise_wins, payoffs.raise_wins, strict=True))
        if rest or not same or less or qualify != self.qualify:
            raise OddsError("the values of exchanges at hand were counted for other rules or stakes")
        return times

    def best(self, tables: HandsTable, hand: Iterable[int], up: int) -> tuple[int, int]:
        """Return the number of the card best exchanged, and its value, in front of the up-card ``up``.

        Of cards of equal worth it is the one of the least number.
        """
        cards = sorted(hand)
        rank = rank_of(cards)
        shown = PERMUTATIONS[tables.permutation_of[rank]]
        state = tables.class_of[rank], shown[up]
        places, standing = int(self.places[state]), tables.class_hands[state[0]].tolist()
        best = next(card for card in cards if places >> standing.index(shown[card]) & 1)
        return best, int(self.values[state])

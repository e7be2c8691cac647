"""Many hands of card numbers, ranked by `domain.hands`.

Suits never matter to a hand's worth but by being the same, so that hands of five are ranked with their suits
renamed in the order in which they occur, and each that results once in a process.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from api.cli.monte_carlo.deals import Cards
from domain.cards import DECK, SUITS
from domain.dealing import HAND
from domain.hands import Hand, best_of_six, rank_five

Values = NDArray[np.int16]

_CHOOSE: Final[NDArray[Any]] = np.array(
    [[comb(card, k) for card in range(len(DECK))] for k in range(1, HAND + 1)]
)


class Ranking:
    """What hands are worth. ``hand_of`` has the `Hand` of every value that has occurred."""

    def __init__(self) -> None:
        self.hand_of: dict[int, Hand] = {}
        self._values: Values = np.zeros(comb(len(DECK), HAND), np.int16)

    def five(self, hands: Cards) -> Values:
        """Return the values of rows of five cards in ascending order."""
        renamed = _renamed(hands)
        places = sum(_CHOOSE[place][renamed[:, place]] for place in range(HAND))
        new = np.flatnonzero(self._values[places] == 0)
        unknown, first = np.unique(places[new], return_index=True)
        self._values[unknown] = [
            self._known(rank_five(_named(cards))) for cards in renamed[new[first]].tolist()
        ]
        return np.asarray(self._values[places])

    def six(self, hands: Cards, ups: Cards) -> Values:
        """Return the values of the best five of rows of five cards and the dealer's first up-card."""
        six = np.column_stack((hands, ups[:, 0])).tolist()
        return np.array([self._known(best_of_six(_named(cards))) for cards in six], np.int16)

    def _known(self, hand: Hand) -> int:
        self.hand_of.setdefault(hand.value, hand)
        return hand.value


@lru_cache(maxsize=1)
def ranking() -> Ranking:
    """Return the process's own."""
    return Ranking()


def _renamed(hands: Cards) -> Cards:
    """Return hands whose first suit is the first, the next one to occur the second, and so on, in order."""
    rows = np.arange(len(hands))
    names = np.full((len(hands), len(SUITS)), len(SUITS), np.uint8)
    used = np.zeros(len(hands), np.uint8)
    renamed = np.empty_like(hands)
    for place in range(HAND):
        rank, suit = np.divmod(hands[:, place], len(SUITS))
        new = names[rows, suit] == len(SUITS)
        names[rows[new], suit[new]] = used[new]
        used += new
        renamed[:, place] = rank * len(SUITS) + names[rows, suit]
    renamed.sort(axis=1)
    return renamed


def _named(cards: list[int]) -> tuple[str, ...]:
    return tuple([DECK[card] for card in cards])

"""The best decisions of many rounds at once, from the exact odds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from api.cli.monte_carlo.deals import Cards
from domain.cards import DECK
from domain.dealing import HAND
from domain.hands import Qualifier
from domain.odds.basis import Basis
from domain.odds.exchange_values import EXCHANGE, FOLD, RAISE, ExchangeValues
from domain.odds.gains import gains_of
from domain.odds.hands_table import CHOOSE, PERMUTATIONS, hands_table
from domain.odds.lookup import Lookup
from domain.odds.one_card import best_raises
from domain.odds.pair_counts import pair_rows
from domain.odds.payoffs import Payoffs
from domain.odds.two_cards import DEALER_HANDS, write_raises
from domain.rules import Rules

Choices = NDArray[np.int8]
Table = NDArray[np.int8] | NDArray[np.uint8]


_PAIRS: Final = comb(len(DECK), 2)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decisions:
    """What is best for these payoffs against a dealer who qualifies with ``qualify``.

    ``table`` has what is best by class of hands and up-card, in the words of `domain.odds.exchange_values`.
    Where there are two up-cards, it has a bit for each pair of them instead, by rank: whether to raise.
    """

    payoffs: Payoffs
    qualify: Qualifier
    up_cards: int
    table: Table

    @classmethod
    def of_one(cls, rules: Rules, payoffs: Payoffs, basis: Basis) -> Decisions:
        """Return what is best where there is one up-card and no card can be bought."""
        raises = np.where(best_raises(basis, payoffs), RAISE, FOLD)
        return cls(payoffs, rules.qualify, 1, raises.astype(np.int8))

    @classmethod
    def of_exchange(cls, rules: Rules, payoffs: Payoffs, values: ExchangeValues) -> Decisions:
        """Return what is best where a card can be bought in front of one up-card."""
        return cls(payoffs, rules.qualify, 1, values.decisions)

    @classmethod
    def of_two(cls, rules: Rules, payoffs: Payoffs) -> Decisions:
        """Count what is best in front of two up-cards, which takes some seconds."""
        table, gains = hands_table(), gains_of(payoffs, DEALER_HANDS)
        packed = []
        for rows in pair_rows(table, rules.qualify):
            categories = table.class_categories[rows.first : rows.first + len(rows.win)]
            raises = np.zeros((len(categories), _PAIRS), np.bool_)
            write_raises(rows, categories, gains, raises)
            packed.append(np.packbits(raises, axis=1, bitorder="little"))
        return cls(payoffs, rules.qualify, 2, np.concatenate(packed))

    def first(self, hands: Cards, ups: Cards) -> Choices:
        """Return what is best with rows of dealt cards, in ascending order, and of the dealer's up-cards.

        An exchange is `EXCHANGE` and the place, in the row, of the card that is given up.
        """
        tables = hands_table()
        ranks = CHOOSE[hands, np.arange(1, HAND + 1)].sum(axis=1)
        classes, shown = tables.class_of[ranks], PERMUTATIONS[tables.permutation_of[ranks]]
        images = np.sort(np.take_along_axis(shown, ups.astype(np.intp), axis=1), axis=1)
        if self.up_cards > 1:
            pairs = CHOOSE[images[:, 1], 2] + images[:, 0]
            raises = self.table[classes, pairs >> 3] >> (pairs & 7) & 1
            return np.where(raises, RAISE, FOLD).astype(np.int8)
        choices: Choices = self.table[classes, images[:, 0]]
        bought = np.flatnonzero(choices >= EXCHANGE)
        # The place is one in the hand that stands for the class: find which of ours that card is.
        given_up = tables.class_hands[classes[bought], choices[bought] - EXCHANGE]
        cards = np.take_along_axis(shown[bought], hands[bought].astype(np.intp), axis=1)
        choices[bought] = EXCHANGE + (cards == given_up[:, np.newaxis]).argmax(axis=1)
        return choices

    def after_exchange(self, hands: Cards, ups: Cards, gone: Cards) -> NDArray[np.bool_]:
        """Return whether to raise with rows of final cards, where the card ``gone`` was given up."""
        counts, payoffs = _lookup(self.qualify).counts, self.payoffs
        raises = np.empty(len(hands), np.bool_)
        for row, seen in enumerate(zip(_names(hands), _names(ups), _names(gone[:, np.newaxis]), strict=True)):
            met = counts(*seen)
            raises[row] = met.raised(payoffs) > -payoffs.ante * met.total
        return raises


@lru_cache(maxsize=1)
def _lookup(qualify: Qualifier) -> Lookup:
    """Return the process's own."""
    return Lookup(qualify)


def _names(rows: Cards) -> list[tuple[str, ...]]:
    return [tuple([DECK[card] for card in row]) for row in rows.tolist()]

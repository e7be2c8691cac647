"""The best decisions of many rounds at once, from the exact odds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.cli.monte_carlo.deals import Cards
from domain.cards import DECK
from domain.dealing import HAND
from domain.hands import Qualifier
from domain.odds.basis import Basis
from domain.odds.exchange_values import EXCHANGE, FOLD, RAISE, ExchangeValues
from domain.odds.hands_table import CHOOSE, PERMUTATIONS, hands_table
from domain.odds.lookup import Lookup
from domain.odds.one_card import best_raises
from domain.odds.payoffs import Payoffs
from domain.rules import Rules

Choices = NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decisions:
    """What is best for these payoffs against a dealer who qualifies with ``qualify``.

    ``table`` has what is best by class of hands and up-card, in the words of `domain.odds.exchange_values`;
    without one, hands are judged one by one.
    """

    payoffs: Payoffs
    qualify: Qualifier
    table: Choices | None

    @classmethod
    def best(
        cls,
        rules: Rules,
        payoffs: Payoffs,
        basis: Basis | None = None,
        exchanges: ExchangeValues | None = None,
    ) -> Decisions:
        """Return what is best by a house's rules at these payoffs.

        ``basis`` where there is one up-card and no exchange, ``exchanges`` where a card can be bought.
        """
        if exchanges is not None:
            return cls(payoffs, rules.qualify, exchanges.decisions)
        if basis is None:
            return cls(payoffs, rules.qualify, None)
        raises = np.where(best_raises(basis, payoffs), RAISE, FOLD)
        return cls(payoffs, rules.qualify, raises.astype(np.int8))

    def first(self, hands: Cards, ups: Cards) -> Choices:
        """Return what is best with rows of dealt cards, in ascending order, and of the dealer's up-cards.

        An exchange is `EXCHANGE` and the place, in the row, of the card that is given up.
        """
        if self.table is None:
            return np.where(self._raises(hands, ups), RAISE, FOLD).astype(np.int8)
        tables = hands_table()
        ranks = CHOOSE[hands, np.arange(1, HAND + 1)].sum(axis=1)
        classes, shown = tables.class_of[ranks], PERMUTATIONS[tables.permutation_of[ranks]]
        rows = np.arange(len(hands))
        choices: Choices = self.table[classes, shown[rows, ups[:, 0]]]
        bought = np.flatnonzero(choices >= EXCHANGE)
        # The place is one in the hand that stands for the class: find which of ours that card is.
        given_up = tables.class_hands[classes[bought], choices[bought] - EXCHANGE]
        images = np.take_along_axis(shown[bought], hands[bought].astype(np.intp), axis=1)
        choices[bought] = EXCHANGE + (images == given_up[:, np.newaxis]).argmax(axis=1)
        return choices

    def after_exchange(self, hands: Cards, ups: Cards, gone: Cards) -> NDArray[np.bool_]:
        """Return whether to raise with rows of final cards, where the card ``gone`` was given up."""
        return self._raises(hands, ups, gone[:, np.newaxis])

    def _raises(self, hands: Cards, ups: Cards, gone: Cards | None = None) -> NDArray[np.bool_]:
        counts, payoffs = _lookup(self.qualify).counts, self.payoffs
        dead: list[Any] = [()] * len(hands) if gone is None else _names(gone)
        raises = np.empty(len(hands), np.bool_)
        for row, (cards, shown, away) in enumerate(zip(_names(hands), _names(ups), dead, strict=True)):
            met = counts(cards, shown, away)
            raises[row] = met.raised(payoffs) > -payoffs.ante * met.total
        return raises


@lru_cache(maxsize=1)
def _lookup(qualify: Qualifier) -> Lookup:
    """Return the process's own."""
    return Lookup(qualify)


def _names(rows: Cards) -> list[tuple[str, ...]]:
    return [tuple([DECK[card] for card in row]) for row in rows.tolist()]

"""What five cards are worth, by `treys`: another author and another method than the evaluator that paid.

This module is the only one that knows it. It tabulates products of primes; its values run from 1 (royal
flush) to 7 462.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from treys import Card, Evaluator

from domain.cards import DECK

CATEGORIES: Final = (
    "royal_flush",
    "straight_flush",
    "four_of_a_kind",
    "full_house",
    "flush",
    "straight",
    "three_of_a_kind",
    "two_pair",
    "pair",
    "high_card",
)
"""From the strongest to the weakest, which is how `treys` numbers its classes."""

ACE_KING: Final = "ace_king"

_EVALUATOR: Final = Evaluator()
_NUMBERS: Final[dict[str, int]] = {card: Card.new(card) for card in DECK}
_FLUSHES: Final[dict[int, int]] = _EVALUATOR.table.flush_lookup
_OTHERS: Final[dict[int, int]] = _EVALUATOR.table.unsuited_lookup
_PRIMES: Final = {card: number & 0xFF for card, number in _NUMBERS.items()}
"""The last byte of treys' numbers: a prime for each rank."""
_FIVE: Final = 5
_STRENGTH: Final[dict[str, int]] = {category: place for place, category in enumerate(CATEGORIES)}


class Hand(NamedTuple):
    """The worth of a hand: `value` 1 (best) to 7 462, equal for hands that tie, and its category."""

    value: int
    category: str


_HANDS: Final = {
    value: Hand(value, CATEGORIES[_EVALUATOR.get_rank_class(value)])
    for value in {*_FLUSHES.values(), *_OTHERS.values()}
}


def rank(cards: Sequence[str]) -> Hand:
    """The worth of five cards, or of the best five of six; they are known to be cards, and different ones."""
    if len(cards) > _FIVE:
        return _HANDS[_EVALUATOR.evaluate([_NUMBERS[card] for card in cards], [])]
    # What `evaluate` does with five cards, without its detours: the product of the cards' primes is the key
    # of its tables, of one for flushes and of another for all else.
    a, b, c, d, e = cards
    product = _PRIMES[a] * _PRIMES[b] * _PRIMES[c] * _PRIMES[d] * _PRIMES[e]
    return _HANDS[(_FLUSHES if a[1] == b[1] == c[1] == d[1] == e[1] else _OTHERS)[product]]


# Source 001: the lowest hand that qualifies is A-K-4-3-2; what it is worth, the evaluator says.
_LOWEST_ACE_KING: Final[int] = _EVALUATOR.evaluate(
    [_NUMBERS[card] for card in ("As", "Kd", "4h", "3c", "2s")], []
)


def qualifies(hand: Hand, least: str) -> bool:
    """Whether the dealer plays with this hand: `least` is ``ace_king`` or a category."""
    if least == ACE_KING:
        return hand.value <= _LOWEST_ACE_KING
    return _STRENGTH[hand.category] <= _STRENGTH[least]

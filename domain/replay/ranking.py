"""What five cards are worth, by `treys`: another author and another method than the evaluator that paid.

This module is the only one that knows it. It tabulates products of primes; its values run from 1 (royal
flush) to 7 462.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
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
# The parts of treys' numbers: bit-rank, suit bits, rank, prime.
_ALL_SUITS: Final = 0xF000
_PRIME: Final = 0xFF
_FIVE: Final = 5
_STRENGTH: Final[dict[str, int]] = {category: place for place, category in enumerate(CATEGORIES)}


class Hand(NamedTuple):
    """The worth of a hand: `value` 1 (best) to 7 462, equal for hands that tie, and its category."""

    value: int
    category: str


def rank(cards: Sequence[str]) -> Hand:
    """The worth of five cards, or of the best five of six; they are known to be cards, and different ones."""
    numbers = [_NUMBERS[card] for card in cards]
    if len(numbers) > _FIVE:
        return _hand(_EVALUATOR.evaluate(numbers, []))
    # What `evaluate` does with five cards, without its detours: the product of the cards' primes is the key
    # of its tables, of one for flushes and of another for all else.
    product, suits = 1, _ALL_SUITS
    for number in numbers:
        product *= number & _PRIME
        suits &= number
    return _hand(_FLUSHES[product] if suits else _OTHERS[product])


@cache
def _hand(value: int) -> Hand:
    return Hand(value, CATEGORIES[_EVALUATOR.get_rank_class(value)])


# Source 001: the lowest hand that qualifies is A-K-4-3-2; what it is worth, the evaluator says.
_LOWEST_ACE_KING: Final[int] = _EVALUATOR.evaluate(
    [_NUMBERS[card] for card in ("As", "Kd", "4h", "3c", "2s")], []
)


def qualifies(hand: Hand, least: str) -> bool:
    """Whether the dealer plays with this hand: `least` is ``ace_king`` or a category."""
    if least == ACE_KING:
        return hand.value <= _LOWEST_ACE_KING
    return _STRENGTH[hand.category] <= _STRENGTH[least]

"""What five cards are worth: the ranking of poker hands, and whether a dealer's hand qualifies.

The evaluator is the ``phevaluator`` library, called with integers: its public functions for
five and six cards then cost 0.4 µs, where its own parsing of strings costs five times as much
and accepts repeated cards. This module is the only one that knows it.

Every hand has a *value*, 1 for a royal flush to 7 462 for 7-5-4-3-2 in mixed suits; hands
that tie have the same value. Suits never break a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from phevaluator.evaluator import evaluate_5cards, evaluate_6cards

from domain.cards import DECK, require_cards

if TYPE_CHECKING:
    from collections.abc import Sequence

HAND_SIZE: Final = 5
BONUS_SIZE: Final = 6


class Category(StrEnum):
    """The kinds of poker hand, from the weakest to the strongest."""

    HIGH_CARD = "high_card"
    PAIR = "pair"
    TWO_PAIR = "two_pair"
    THREE_OF_A_KIND = "three_of_a_kind"
    STRAIGHT = "straight"
    FLUSH = "flush"
    FULL_HOUSE = "full_house"
    FOUR_OF_A_KIND = "four_of_a_kind"
    STRAIGHT_FLUSH = "straight_flush"
    ROYAL_FLUSH = "royal_flush"


CATEGORIES: Final[tuple[Category, ...]] = tuple(Category)
"""All categories, from the weakest to the strongest."""

Qualifier: TypeAlias = Literal["ace_king"] | Category
"""The least hand a dealer plays with: A-K high, or a category."""


@dataclass(frozen=True, slots=True)
class Hand:
    """The worth of a hand: ``value`` 1 (best) to 7 462 (worst), and its category."""

    value: int
    category: Category


# Each category holds the values after those of the stronger one, up to this one.
_WORST_VALUES: Final[dict[Category, int]] = {
    Category.ROYAL_FLUSH: 1,
    Category.STRAIGHT_FLUSH: 10,
    Category.FOUR_OF_A_KIND: 166,
    Category.FULL_HOUSE: 322,
    Category.FLUSH: 1599,
    Category.STRAIGHT: 1609,
    Category.THREE_OF_A_KIND: 2467,
    Category.TWO_PAIR: 3325,
    Category.PAIR: 6185,
    Category.HIGH_CARD: 7462,
}

# A-K-4-3-2 in mixed suits is the least hand with an ace and a king; A-Q-J-10-9, the value
# after it, is the best without (source 001, the dealer's qualifying hand).
_WORST_QUALIFYING: Final[dict[str, int]] = {
    "ace_king": 6349,
    **{category.value: worst for category, worst in _WORST_VALUES.items()},
}


def _every_hand() -> tuple[Hand, ...]:
    """Return all 7 462 hands in the order of their values, the royal flush first."""
    hands: list[Hand] = []
    for category, worst in _WORST_VALUES.items():
        hands.extend(Hand(value, category) for value in range(len(hands) + 1, worst + 1))
    return tuple(hands)


_HANDS: Final = _every_hand()
_EVALUATOR_IDS: Final[dict[str, int]] = {card: number for number, card in enumerate(DECK)}


def rank_five(cards: Sequence[str]) -> Hand:
    """Return the worth of exactly five different cards, in any order.

    Raises ``CardError`` (``WrongCount``, ``UnknownCard`` or ``DuplicateCard``).
    """
    return _ranked(tuple(cards))


# A round's hands are ranked when they are shown, settled and shown again.
@lru_cache(maxsize=4096)
def _ranked(cards: tuple[str, ...]) -> Hand:
    a, b, c, d, e = map(_EVALUATOR_IDS.__getitem__, require_cards(cards, HAND_SIZE))
    value: int = evaluate_5cards(a, b, c, d, e)
    return _HANDS[value - 1]


def best_of_six(cards: Sequence[str]) -> Hand:
    """Return the worth of the best five of exactly six different cards, in any order.

    For the 5+1 Bonus (source 001): a player's five cards and the dealer's first up-card.
    Raises ``CardError`` (``WrongCount``, ``UnknownCard`` or ``DuplicateCard``).
    """
    a, b, c, d, e, f = map(_EVALUATOR_IDS.__getitem__, require_cards(cards, BONUS_SIZE))
    value: int = evaluate_6cards(a, b, c, d, e, f)
    return _HANDS[value - 1]


def qualifies(hand: Hand, minimum: Qualifier) -> bool:
    """Return whether a dealer's hand is at least the qualifying hand of the rule set.

    ``"ace_king"`` means an ace and a king or any better hand; a category means that category
    or any better one.
    """
    return hand.value <= _WORST_QUALIFYING[minimum]


def beats(hand: Hand, other: Hand) -> bool:
    """Return whether ``hand`` is strictly better than ``other``; hands of equal value tie."""
    return hand.value < other.value

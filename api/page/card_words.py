"""Cards and hands in words: what a screen reader says, and what the sentences about a hand are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from domain.cards import RANKS
from domain.hands import rank_five

SUIT_NAMES: Final = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}

_NAMES: Final = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "jack",
    "queen",
    "king",
    "ace",
)
RANK_NAMES: Final = dict(zip(RANKS, _NAMES, strict=True))

CATEGORY_NAMES: Final = {
    "royal_flush": "Royal flush",
    "straight_flush": "Straight flush",
    "four_of_a_kind": "Four of a kind",
    "full_house": "Full house",
    "flush": "Flush",
    "straight": "Straight",
    "three_of_a_kind": "Three of a kind",
    "two_pair": "Two pair",
    "pair": "Pair",
    "high_card": "High card",
}
"""Names of the categories, the strongest first."""

_WITH_ARTICLE: Final = frozenset(("royal_flush", "straight_flush", "full_house", "flush", "straight", "pair"))
_HANDS: Final = {
    "royal_flush": "a royal flush",
    "straight_flush": "a straight flush to the {first}",
    "four_of_a_kind": "four {firsts}",
    "full_house": "a full house, {firsts} over {seconds}",
    "flush": "a flush, {first} high",
    "straight": "a straight to the {first}",
    "three_of_a_kind": "three {firsts}",
    "two_pair": "two pair, {firsts} and {seconds}",
    "pair": "a pair of {firsts}",
    "high_card": "{first} high",
}
_STRAIGHTS: Final = frozenset(("straight", "straight_flush"))
_WHEEL: Final = [12, 3, 2, 1, 0]


def card_name(card: str) -> str:
    """Name a card.

    >>> card_name("Td")
    'ten of diamonds'
    """
    return f"{RANK_NAMES[card[0]]} of {SUIT_NAMES[card[1]]}"


def category_name(category: str, *, article: bool = False) -> str:
    """Name a category as it stands within a sentence.

    >>> category_name("full_house", article=True), category_name("two_pair", article=True)
    ('a full house', 'two pair')
    """
    name = CATEGORY_NAMES[category].lower()
    return f"a {name}" if article and category in _WITH_ARTICLE else name


def deciding_ranks(cards: Sequence[str]) -> list[str]:
    """The five rank names of a hand in the order in which they decide between hands of one category."""
    places = [RANKS.index(card[0]) for card in cards]
    counts = Counter(places)
    order = sorted(places, key=lambda place: (-counts[place], -place))
    if rank_five(cards).category in _STRAIGHTS and order == _WHEEL:
        order = [*_WHEEL[1:], _WHEEL[0]]
    return [_NAMES[place] for place in order]


def hand_name(cards: Sequence[str]) -> str:
    """Say what five cards are, with the ranks that make it.

    >>> hand_name(["9c", "9d", "4s", "4h", "Ks"]), hand_name(["Ac", "Kd", "8s", "4h", "2s"])
    ('two pair, nines and fours', 'ace-king high')

    Raises ``CardError`` for anything but five different cards.
    """
    category = rank_five(cards).category.value
    ranks = deciding_ranks(cards)
    first, second = _next_two(ranks)
    if category == "high_card" and first == "ace":
        return f"ace-{second} high"
    return _HANDS[category].format(first=first, firsts=plural(first), seconds=plural(second))


def kickers(mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, str] | None:
    """The first pair of ranks in which two hands of one category differ, or None where all five are equal."""
    pairs = zip(deciding_ranks(mine), deciding_ranks(theirs), strict=True)
    return next((pair for pair in pairs if pair[0] != pair[1]), None)


def plural(rank: str) -> str:
    """More than one card of a rank.

    >>> plural("six"), plural("ace")
    ('sixes', 'aces')
    """
    return f"{rank}es" if rank == "six" else f"{rank}s"


def _next_two(ranks: Sequence[str]) -> tuple[str, str]:
    """The first rank and the next one that differs from it."""
    first = ranks[0]
    return first, next(rank for rank in ranks if rank != first)

"""Every hand of five cards in one table: its value, and its class under exchange of suits.

Cards are numbered 0 (two of clubs) to 51 (ace of spades), the codes of `domain.cards` less one. A hand is
found by its *rank*: of cards c0 < c1 < c2 < c3 < c4 it is C(c0,1) + C(c1,2) + C(c2,3) + C(c3,4) + C(c4,5),
from 0 to 2 598 959; pairs, triples and quadruples are ranked the same way. Values are those of
`domain.hands`: 1 is a royal flush, 7 462 the weakest hand.

Two hands are of one class where a permutation of the four suits makes one of the other. There are 134 459
classes; they are numbered by strength, the weakest first, and of equal ones by the rank of the hand that
stands for them, the one of least rank.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import comb
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.cards import RANKS, SUITS
from domain.hands import CATEGORIES, HAND_SIZE, Category
from domain.odds.kernel import kernel

Bytes: TypeAlias = NDArray[np.uint8]
Shorts: TypeAlias = NDArray[np.int16]
Ints: TypeAlias = NDArray[np.int32]

CARDS: Final = 52
HANDS: Final = comb(CARDS, HAND_SIZE)
CLASSES: Final = 134_459
VALUES: Final = 7_462

CHOOSE: Final[Ints] = np.array([[comb(n, k) for k in range(HAND_SIZE + 1)] for n in range(CARDS)], np.int32)
"""C(n, k), by n up to 51 and k up to 5: what ranks are made of."""

PERMUTATIONS: Final[Bytes] = np.array(
    [
        [len(SUITS) * rank + suit for rank in range(len(RANKS)) for suit in order]
        for order in permutations(range(len(SUITS)))
    ],
    dtype=np.uint8,
)
"""The 24 permutations of the suits, each as what becomes of the 52 cards; the first changes nothing."""

INVERSES: Final[Bytes] = np.array(
    [
        next(n for n, back in enumerate(PERMUTATIONS) if (back[there] == np.arange(CARDS)).all())
        for there in PERMUTATIONS
    ],
    dtype=np.uint8,
)
"""For each permutation the number of the one that undoes it."""

# A hand's key is its category and then five ranks in the order in which they are compared, in base 13.
_KEYS_A_CATEGORY: Final = len(RANKS) ** HAND_SIZE
_KEYS: Final = len(CATEGORIES) * _KEYS_A_CATEGORY
_NOT_YET: Final = -1

_FIVE: Final = RANKS.index("5")
_TEN: Final = RANKS.index("T")
_ACE: Final = RANKS.index("A")
_STRAIGHT_SPAN: Final = 4
_STRAIGHT: Final = CATEGORIES.index(Category.STRAIGHT)
_FLUSH: Final = CATEGORIES.index(Category.FLUSH)
_STRAIGHT_FLUSH: Final = CATEGORIES.index(Category.STRAIGHT_FLUSH)
_ROYAL_FLUSH: Final = CATEGORIES.index(Category.ROYAL_FLUSH)

# The kinds of hand with equal ranks, by how many cards each of the five is equal to, itself among them: two
# pairs are 2 + 2 + 2 + 2 + 1.
_BY_PAIRED: Final[Bytes] = np.zeros(18, np.uint8)
for _paired, _category in (
    (7, Category.PAIR),
    (9, Category.TWO_PAIR),
    (11, Category.THREE_OF_A_KIND),
    (13, Category.FULL_HOUSE),
    (17, Category.FOUR_OF_A_KIND),
):
    _BY_PAIRED[_paired] = CATEGORIES.index(_category)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HandsTable:
    """Every hand of five cards by its rank, and the classes. The arrays are not to be written to.

    ``hands`` [2 598 960, 5]: cards in ascending order; ``values`` [2 598 960]: 1 to 7 462;
    ``class_of`` [2 598 960]: the class; ``permutation_of`` [2 598 960]: the number in `PERMUTATIONS` of one
    that makes the hand into the one that stands for its class.

    By class, ``class_hands`` [134 459, 5], ``class_values``, ``class_categories`` (indices in
    `domain.hands.CATEGORIES`), and ``weights``: how many hands are of the class, 4, 12 or 24.

    ``by_strength`` [2 598 960]: the ranks of all hands, the weakest first; those of value ``v`` are
    ``by_strength[starts[v] : starts[v - 1]]``. ``value_categories`` [7 463]: categories by value; there is
    no value 0.
    """

    hands: Bytes
    values: Shorts
    class_of: Ints
    permutation_of: Bytes
    class_hands: Bytes
    class_values: Shorts
    class_categories: Bytes
    weights: Bytes
    by_strength: Ints
    starts: Ints
    value_categories: Bytes


@lru_cache(maxsize=1)
def hands_table() -> HandsTable:
    """Return the table, which is made when it is first asked for and then kept: 45 MB."""
    hands = np.empty((HANDS, HAND_SIZE), np.uint8)
    keys = np.empty(HANDS, np.int32)
    _list_hands(hands, keys)
    values, value_categories = _values(keys)
    class_of = np.full(HANDS, _NOT_YET, np.int32)
    permutation_of = np.empty(HANDS, np.uint8)
    leaders = np.empty(CLASSES, np.int32)
    weights = np.zeros(CLASSES, np.uint8)
    _find_classes(hands, PERMUTATIONS, INVERSES, class_of, permutation_of, leaders, weights)
    order = np.argsort(-values[leaders], kind="stable")
    number = np.empty(CLASSES, np.int32)
    number[order] = np.arange(CLASSES, dtype=np.int32)
    leaders = leaders[order]
    return HandsTable(
        hands=hands,
        values=values,
        class_of=number[class_of],
        permutation_of=permutation_of,
        class_hands=hands[leaders],
        class_values=values[leaders],
        class_categories=value_categories[values[leaders]],
        weights=weights[order],
        by_strength=np.argsort(-values, kind="stable").astype(np.int32),
        starts=(HANDS - np.cumsum(np.bincount(values, minlength=VALUES + 1))).astype(np.int32),
        value_categories=value_categories,
    )


def rank_of(cards: Iterable[int]) -> int:
    """Return the rank of a set of card numbers among all sets of as many, in whatever order they are."""
    return sum(comb(card, place) for place, card in enumerate(sorted(cards), start=1))


def _values(keys: Ints) -> tuple[Shorts, Bytes]:
    """Return the hands' values and the values' categories, from keys that are greater for stronger hands."""
    occurs = np.zeros(_KEYS, np.bool_)
    occurs[keys] = True
    by_key = np.cumsum(occurs[::-1], dtype=np.int16)[::-1]
    value_categories = np.zeros(VALUES + 1, np.uint8)
    value_categories[1:] = np.flatnonzero(occurs)[::-1] // _KEYS_A_CATEGORY
    return by_key[keys], value_categories


@kernel
def _list_hands(hands: Bytes, keys: Ints) -> None:
    """Write all hands in the order of their ranks, and their keys."""
    n = 0
    compared = np.empty(5, np.uint8)
    for e in range(4, 52):
        for d in range(3, e):
            for c in range(2, d):
                for b in range(1, c):
                    for a in range(b):
                        hand = hands[n]
                        hand[0], hand[1], hand[2], hand[3], hand[4] = a, b, c, d, e
                        keys[n] = _key(hand, compared)
                        n += 1


@kernel
def _key(hand: Bytes, compared: Bytes) -> int:
    """Return the key of a hand of ascending cards; the other array is for notes."""
    paired = 0
    flush = True
    for i in range(5):
        rank = hand[i] >> 2
        flush = flush and (hand[i] & 3) == (hand[0] & 3)
        same = 0
        for j in range(5):
            same += rank == hand[j] >> 2
        paired += same
        # What occurs more often is compared first, and then what is higher.
        entry = same * 13 + rank
        place = i
        while place > 0 and compared[place - 1] < entry:
            compared[place] = compared[place - 1]
            place -= 1
        compared[place] = entry
    category = _BY_PAIRED[paired]
    low, high = hand[0] >> 2, hand[4] >> 2
    wheel = high == _ACE and hand[3] >> 2 == _FIVE
    if category == 0 and (wheel or high - low == _STRAIGHT_SPAN):
        category = _STRAIGHT
        if flush:
            category = _ROYAL_FLUSH if low == _TEN else _STRAIGHT_FLUSH
        if wheel:  # its highest card is the five
            compared[0] = compared[1]
    elif flush:
        category = _FLUSH
    key = int(category)
    for i in range(5):
        key = key * 13 + int(compared[i] % 13)
    return key


@kernel
def _find_classes(
    hands: Bytes,
    permutations: Bytes,
    inverses: Bytes,
    class_of: Ints,
    permutation_of: Bytes,
    leaders: Ints,
    weights: Bytes,
) -> None:
    """Give each hand its class, numbered as their first hands appear, and a permutation that leads there."""
    found = 0
    image = np.empty(5, np.uint8)
    for n in range(len(hands)):
        if class_of[n] >= 0:
            continue
        leaders[found] = n
        for p in range(len(permutations)):
            for i in range(5):
                card = permutations[p, hands[n, i]]
                place = i
                while place > 0 and image[place - 1] > card:
                    image[place] = image[place - 1]
                    place -= 1
                image[place] = card
            rank = 0
            for i in range(5):
                rank += CHOOSE[image[i], i + 1]
            if class_of[rank] < 0:
                class_of[rank] = found
                permutation_of[rank] = inverses[p]
                weights[found] += 1
        found += 1

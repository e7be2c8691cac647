"""What a decision is worth, counted hand by hand: no inclusion and exclusion, no suit classes.

It shares nothing with `domain.odds` or with any evaluator of hands. Cards are 0 (deuce of clubs) to 51 (ace
of spades), four of a rank side by side. A hand's *strength* is its place among the 7 462 different ones, 0
the weakest. All dealer's hands that a state leaves are looked at one by one, an array at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations, groupby, pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

CARDS, HAND, QUAD = 52, 5, 4
STRENGTHS = 7462
_Array = NDArray[Any]
_SIZES = {  # how many cards of each rank: the category, but for straights and flushes
    (1, 1, 1, 1, 1): 0,
    (2, 1, 1, 1): 1,
    (2, 2, 1): 2,
    (3, 1, 1): 3,
    (3, 2): 6,
    (4, 1): 7,
}
STRAIGHT, FLUSH, STRAIGHT_FLUSH, ROYAL_FLUSH = 4, 5, 8, 9


@dataclass(frozen=True, slots=True)
class Money:
    """One hand's stakes and odds, in any unit; `wins` is what the raise wins, by category."""

    ante: int
    raised: int
    wins: tuple[int, ...]
    fee: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of the dealer's hands do what against a hand of that category."""

    not_qualified: int
    win: int
    tie: int
    lose: int
    category: int

    @property
    def total(self) -> int:
        """All dealer's hands."""
        return self.not_qualified + self.win + self.tie + self.lose

    def raised(self, money: Money) -> Fraction:
        """The expected result of raising."""
        won = self.not_qualified * money.ante + self.win * (money.ante + money.wins[self.category])
        return Fraction(won - self.lose * (money.ante + money.raised), self.total)


def _order(pattern: int) -> tuple[int, list[int]]:
    """Of five cards in order of rank, some with the rank of the one before (a bit each): category, places.

    The places are in the order in which hands of a kind are compared.
    """
    same = [pattern >> place & 1 for place in range(QUAD)]
    number = np.cumsum([0, *(1 - bit for bit in same)]).tolist()
    groups = [list(places) for _, places in groupby(range(HAND), key=number.__getitem__)]
    groups.sort(key=lambda places: (len(places), places), reverse=True)
    return _SIZES.get(tuple(map(len, groups)), -1), list(chain(*groups))


def _keys(hands: _Array) -> _Array:
    """A number for each row of five cards in ascending order: the better hand has the greater one."""
    ranks, suits = hands >> 2, hands & 3
    patterns = sum((ranks[:, b] == ranks[:, a]).astype(np.int8) << a for a, b in pairwise(range(HAND)))
    categories, places = zip(*map(_order, range(16)), strict=True)
    category = np.array(categories)[patterns]
    compared = np.take_along_axis(ranks, np.array(places)[patterns], axis=1).astype(np.int64)
    wheel = (ranks == (0, 1, 2, 3, 12)).all(axis=1)
    compared[wheel] = (3, 2, 1, 0, 0)
    straight = wheel | ((category == 0) & (ranks[:, 4] - ranks[:, 0] == QUAD))
    flush = (suits == suits[:, :1]).all(axis=1)
    category[straight] = STRAIGHT
    category[flush] = FLUSH
    category[straight & flush] = STRAIGHT_FLUSH
    category[straight & flush & (compared[:, 0] == 12)] = ROYAL_FLUSH
    return np.asarray(category * 13**5 + compared @ (13 ** np.arange(QUAD, -1, -1)))


def _subsets(size: int) -> _Array:
    flat = chain.from_iterable(combinations(range(CARDS), size))
    return np.fromiter(flat, np.int8, comb(CARDS, size) * size).reshape(-1, size)


def _quad_number(quads: _Array) -> _Array:
    """The place of each row of four ascending cards in `Everything.quads`."""
    binomials = np.array([[comb(card, size + 1) for card in range(CARDS)] for size in range(QUAD)])
    return np.asarray(sum(binomials[size][quads[:, size]] for size in range(QUAD)))


class Everything:
    """All hands of five cards: a card and a set of four others give a strength.

    `strength[card, number]` is -1 where the card is among the four; `members[number]` has a bit for each.
    """

    def __init__(self) -> None:
        quads = _subsets(QUAD)
        self.members = np.zeros(len(quads), np.int64)
        self.members[_quad_number(quads)] = (1 << quads.astype(np.int64)).sum(axis=1)
        hands = _subsets(HAND)
        kinds, first, strengths = np.unique(_keys(hands), return_index=True, return_inverse=True)
        assert len(kinds) == STRENGTHS
        self.category = (kinds // 13**5).astype(np.int8)
        self.example = hands[first]
        self.strength = np.full((CARDS, len(quads)), -1, np.int16)
        for place in range(HAND):
            others = _quad_number(np.delete(hands, place, axis=1))
            self.strength[hands[:, place], others] = strengths
        self.qualifying = self.of([48, 44, 8, 4, 1])  # A-K-4-3-2: A-Q-J-10-9 is the next one below

    def of(self, hand: Sequence[int]) -> int:
        """The strength of five cards in any order."""
        first, *others = sorted(hand)
        return int(self.strength[first, _quad_number(np.array([others]))[0]])

    def dealt(self, ups: Sequence[int], unavailable: Sequence[int]) -> tuple[_Array, _Array]:
        """All dealer's hands with those up-cards and none of the unavailable cards.

        Their strengths, and the bits of their cards other than the first up-card.
        """
        first, *others = ups
        wanted = sum(1 << card for card in others)
        refused = sum(1 << card for card in {*unavailable, first})
        there = self.members & (wanted | refused) == wanted
        return self.strength[first, there], self.members[there]

    def counts(self, hand: Sequence[int], ups: Sequence[int], dead: Sequence[int] = ()) -> Counts:
        """Count the dealer's hands against a hand; `dead` are cards that the player has seen and not kept."""
        strengths, _ = self.dealt(ups, [*hand, *dead])
        return self.against(_how_many(strengths), hand)

    def against(self, dealt: _Array, hand: Sequence[int]) -> Counts:
        """Count some of the dealer's hands, how many of each strength there are, against a hand."""
        own, least = self.of(hand), self.qualifying
        not_qualified, whole = int(dealt[:least].sum()), int(dealt.sum())
        win, tie = int(dealt[least:own].sum()), int(dealt[own]) if own >= least else 0
        return Counts(not_qualified, win, tie, whole - not_qualified - win - tie, int(self.category[own]))

    def exchanged(self, hand: Sequence[int], ups: Sequence[int], money: Money) -> list[Fraction]:
        """The expected result of exchanging each of the five cards, in the hand's order, fee included.

        One card is burned unseen: the drawn one is any of those not seen. The hand then folds or raises,
        whichever is better.
        """
        unseen = [card for card in range(CARDS) if card not in {*hand, *ups}]
        strengths, members = self.dealt(ups, hand)
        dealt = _how_many(strengths)
        results = [Fraction(0)] * HAND
        for drawn in unseen:
            left = dealt - _how_many(strengths[members >> drawn & 1 == 1])
            for place in range(HAND):
                new = [drawn if at == place else card for at, card in enumerate(hand)]
                results[place] += max(Fraction(-money.ante), self.against(left, new).raised(money))
        return [result / len(unseen) - money.fee for result in results]


def _how_many(strengths: _Array) -> _Array:
    return np.bincount(strengths, minlength=STRENGTHS)


@lru_cache(maxsize=1)
def everything() -> Everything:
    """All hands, ranked once for a process."""
    return Everything()

"""A game with one of the dealer's cards up: the best decisions, and what comes of any.

Whoever has five cards sees one of 47 others, and the dealer has 163 185 hands with it: all 2 598 960 hands
together have 19 933 230 517 200 deals.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.hands import CATEGORIES
from domain.odds.basis import Basis
from domain.odds.gains import gains_of
from domain.odds.outcomes import Branch, Outcomes
from domain.odds.payoffs import Payoffs

Decisions: TypeAlias = NDArray[np.bool_]
"""By class and up-card [134 459, 52]: whether the hand raises. Where there is no state it says nothing."""

DEALER_HANDS: Final = comb(46, 4)
TOTAL: Final = comb(52, 5) * 47 * DEALER_HANDS

_Longs: TypeAlias = NDArray[np.int64]
_BLOCK: Final = 2_048
"""Classes looked at together: their counts fit in a processor's cache."""


def solve_one(basis: Basis, payoffs: Payoffs) -> Outcomes:
    """Return what comes of the best decisions: who gains nothing by a raise folds."""
    return play(basis, best_raises(basis, payoffs))


def best_raises(basis: Basis, payoffs: Payoffs) -> Decisions:
    """Return which hands raise: those that gain by it over a fold, exactly."""
    gains = gains_of(payoffs, DEALER_HANDS)
    raises = np.empty(basis.win.shape, np.bool_)
    for category, rows in _blocks(basis):
        counts = (basis.not_qualified[rows], basis.win[rows], basis.tie[rows])
        total = _sum(counts, gains.high[category])
        if gains.bits:
            rest = _sum(counts, gains.low[category])
            total += rest >> gains.bits
            raises[rows] = (total > 0) | ((total == 0) & (rest & ((1 << gains.bits) - 1) > 0))
        else:
            raises[rows] = total > 0
    return raises


def play(basis: Basis, raises: Decisions) -> Outcomes:
    """Return what comes of any decisions."""
    kept = np.zeros((len(CATEGORIES), 6), np.int64)
    six = np.zeros((2, 2, len(CATEGORIES)), np.int64)
    for category, rows in _blocks(basis):
        weights = basis.weights[rows].astype(np.int64)
        not_qualified = basis.not_qualified[rows]
        states = not_qualified >= 0
        raised = raises[rows] & states
        folded = ~raises[rows] & states
        deals = DEALER_HANDS * (weights @ folded).sum(), DEALER_HANDS * (weights @ raised).sum()
        unqualified = _weigh(weights, not_qualified * folded), _weigh(weights, not_qualified * raised)
        win, tie = (_weigh(weights, counts[rows] * raised) for counts in (basis.win, basis.tie))
        kept[category] += (
            unqualified[0],
            deals[0] - unqualified[0],
            unqualified[1],
            win,
            tie,
            deals[1] - unqualified[1] - win - tie,
        )
        six += _six(basis.six[rows], weights, not_qualified, (folded, raised))
    return Outcomes(
        total=TOTAL,
        kept=Branch(*(tuple(column) for column in kept.T.tolist())),
        exchanged=None,
        six=tuple(tuple(tuple(counts) for counts in half) for half in six.tolist()),
        up_cards=1,
    )


def _blocks(basis: Basis) -> Iterator[tuple[int, slice]]:
    """Yield the classes in blocks of one category each."""
    ends = np.searchsorted(basis.categories, range(len(CATEGORIES)), side="right").tolist()
    start = 0
    for category, end in enumerate(ends):
        for first in range(start, end, _BLOCK):
            yield category, slice(first, min(first + _BLOCK, end))
        start = end


def _sum(counts: tuple[NDArray[Any], ...], factors: _Longs) -> _Longs:
    """Return the counts by their factors, and the last factor, added up."""
    total: _Longs = np.multiply(counts[0], factors[0], dtype=np.int64)
    for count, factor in zip(counts[1:], factors[1:-1], strict=True):
        total += np.multiply(count, factor, dtype=np.int64)
    total += factors[-1]
    return total


def _weigh(weights: _Longs, counts: NDArray[Any]) -> int:
    return int((weights @ counts).sum())


def _six(
    six: NDArray[np.uint8], weights: _Longs, not_qualified: NDArray[Any], decided: tuple[Decisions, Decisions]
) -> _Longs:
    """Return deals by decision, whether the dealer qualifies, and the best five of six cards."""
    found = np.empty((2, 2, len(CATEGORIES)), np.int64)
    for number, chosen in enumerate(decided):
        categories = six[chosen]
        # Sums of integers far below 2^53 are exact in floating point, which is all that bincount offers.
        of_states = np.broadcast_to(weights[:, None].astype(np.float64), chosen.shape)[chosen]
        deals = DEALER_HANDS * np.bincount(categories, of_states, len(CATEGORIES)).astype(np.int64)
        unqualified = np.bincount(categories, of_states * not_qualified[chosen], len(CATEGORIES))
        found[number, 0] = unqualified
        found[number, 1] = deals - found[number, 0]
    return found

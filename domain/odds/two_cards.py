"""A game with two of the dealer's cards up, solved class by class as its counts come.

Bets on the best of six cards count the first up-card only. So every pair of up-cards stands for two orders:
all 2 598 960 hands, 1 081 pairs, 14 190 hands for the dealer and 2 orders are 79 732 922 068 800 deals.
"""

from __future__ import annotations

from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from domain.hands import CATEGORIES, Qualifier
from domain.odds.counts import best_of_six
from domain.odds.gains import Gains, gains_of
from domain.odds.hands_table import Bytes, hands_table
from domain.odds.kernel import kernel
from domain.odds.outcomes import Branch, Outcomes
from domain.odds.pair_counts import PairRows, pair_rows
from domain.odds.payoffs import Payoffs

DEALER_HANDS: Final = comb(45, 3)
ORDERS: Final = 2
TOTAL: Final = comb(52, 5) * comb(47, 2) * DEALER_HANDS * ORDERS


def solve_two(qualify: Qualifier, payoffs: Payoffs) -> Outcomes:
    """Return what comes of the best decisions: who gains nothing by a raise folds. It takes some seconds."""
    table = hands_table()
    gains = gains_of(payoffs, DEALER_HANDS)
    categories, six = table.class_categories, best_of_six(table)
    kept = np.zeros((len(CATEGORIES), 6), np.int64)
    by_six = np.zeros((2, 2, len(CATEGORIES)), np.int64)
    for rows in pair_rows(table, qualify):
        part = slice(rows.first, rows.first + len(rows.win))
        _decide(rows, table.weights[part], categories[part], six[part], gains, kept, by_six)
    return Outcomes(
        total=TOTAL,
        kept=Branch(*(tuple(column) for column in kept.T.tolist())),
        exchanged=None,
        six=tuple(tuple(tuple(counts) for counts in half) for half in by_six.tolist()),
        up_cards=2,
    )


@kernel
def _raises(nq: int, win: int, tie: int, high: NDArray[np.int64], low: NDArray[np.int64], bits: int) -> bool:
    """Whether a raise gains over a fold: `Gains`, for one state."""
    total = nq * high[0] + win * high[1] + tie * high[2] + high[3]
    if bits == 0:
        return bool(total > 0)
    rest = nq * low[0] + win * low[1] + tie * low[2] + low[3]
    total += rest >> bits
    return bool(total > 0 or (total == 0 and rest & ((1 << bits) - 1) > 0))


@kernel
def write_raises(rows: PairRows, categories: Bytes, gains: Gains, raises: NDArray[np.bool_]) -> None:
    """Write for some classes and every pair of up-cards whether a raise is best; nothing of no state."""
    for n in range(len(categories)):
        high, low = gains.high[categories[n]], gains.low[categories[n]]
        for pair in range(rows.win.shape[1]):
            nq = int(rows.not_qualified[n, pair])
            if nq >= 0:
                won, tied = int(rows.win[n, pair]), int(rows.tie[n, pair])
                raises[n, pair] = _raises(nq, won, tied, high, low, gains.bits)


@kernel
def _decide(
    rows: PairRows,
    weights: Bytes,
    categories: Bytes,
    six: Bytes,
    gains: Gains,
    kept: NDArray[np.int64],
    by_six: NDArray[np.int64],
) -> None:
    """Decide in every state of some classes, and add up what comes of it."""
    # By decision and up-card: states, and the dealer's hands in them that do not qualify.
    states = np.empty((2, 52), np.int64)
    unqualified = np.empty((2, 52), np.int64)
    for n in range(len(weights)):
        high, low = gains.high[categories[n]], gains.low[categories[n]]
        states[:] = 0
        unqualified[:] = 0
        win = tie = pair = 0
        for b in range(1, 52):
            for a in range(b):
                nq = int(rows.not_qualified[n, pair])
                if nq >= 0:
                    won, tied = int(rows.win[n, pair]), int(rows.tie[n, pair])
                    raised = int(_raises(nq, won, tied, high, low, gains.bits))
                    states[raised, a] += 1
                    states[raised, b] += 1
                    unqualified[raised, a] += nq
                    unqualified[raised, b] += nq
                    win += won * raised
                    tie += tied * raised
                pair += 1
        weight = int(weights[n])
        _add_up(weight, win, tie, six[n], states, unqualified, kept[categories[n]], by_six)


@kernel
def _add_up(
    weight: int,
    win: int,
    tie: int,
    six: Bytes,
    states: NDArray[np.int64],
    unqualified: NDArray[np.int64],
    kept: NDArray[np.int64],
    by_six: NDArray[np.int64],
) -> None:
    """Add a class's deals to the sums of its category, and of its best six cards."""
    for raised in range(2):
        for u in range(52):
            not_qualified = weight * unqualified[raised, u]
            qualified = weight * states[raised, u] * DEALER_HANDS - not_qualified
            by_six[raised, 0, six[u]] += not_qualified
            by_six[raised, 1, six[u]] += qualified
            # Each pair is met at both of its cards: these are its two orders.
            kept[2 * raised] += not_qualified
            if raised:
                kept[5] += qualified
            else:
                kept[1] += qualified
    both = ORDERS * weight
    kept[3] += both * win
    kept[4] += both * tie
    kept[5] -= both * (win + tie)

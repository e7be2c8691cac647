"""Sets of fewer than five cards, and their classes under exchange of suits."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from domain.odds.hands_table import CARDS, CHOOSE, PERMUTATIONS, Bytes, Ints


class SuitClasses(NamedTuple):
    """The sets of one size, in the order of their ranks.

    ``classes`` [sets]: the class; ``permutations`` [sets]: the number in `PERMUTATIONS` of one that makes the
    set into the one of least rank in its class, which stands for it; ``leaders`` [classes]: that set's rank;
    ``leading`` [classes, size]: its cards in ascending order.
    """

    classes: Ints
    permutations: Bytes
    leaders: Ints
    leading: Bytes


def suit_classes(size: int) -> SuitClasses:
    """Return the classes of all sets of ``size`` cards, one to four."""
    # Combinations of falling numbers are in the order of rank from the greatest on.
    sets = np.array(list(combinations(range(CARDS - 1, -1, -1), size)), np.uint8)[::-1, ::-1]
    least = np.arange(len(sets), dtype=np.int32)
    permutations = np.zeros(len(sets), np.uint8)
    for number, permutation in enumerate(PERMUTATIONS):
        ranks = ranks_of(permutation[sets])
        lower = ranks < least
        least[lower] = ranks[lower]
        permutations[lower] = number
    leaders, classes = np.unique(least, return_inverse=True)
    return SuitClasses(classes.astype(np.int32), permutations, leaders, sets[leaders])


def ranks_of(sets: Bytes) -> Ints:
    """Return the rank of each row of cards, which may be in any order."""
    ascending = np.sort(sets, axis=1)
    ranks: Ints = CHOOSE[ascending, np.arange(1, sets.shape[1] + 1)].sum(axis=1, dtype=np.int32)
    return ranks

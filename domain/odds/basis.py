"""What every pay table has in common: how each hand meets the dealer's hands, for each of her up-cards.

Who qualifies, and which of two hands is better, does not depend on what is paid. These counts are made once
for each qualifying hand and kept on disk (`infrastructure.odds`); what a pay table or a cap returns follows
from them in a moment.
"""

from __future__ import annotations

from dataclasses import dataclass

from domain.hands import Qualifier
from domain.odds.counts import best_of_six, count_one_up
from domain.odds.hands_table import Bytes, Ints, hands_table


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Basis:
    """Counts by class of the player's hand, the weakest first, and the dealer's up-card [134 459, 52].

    ``not_qualified``, ``win`` and ``tie``: how many of the dealer's 163 185 hands do not qualify, qualify and
    are beaten, qualify and tie. ``six``: the index in `domain.hands.CATEGORIES` of the best five of the
    hand and the up-card. Where the up-card is one of the hand's own, ``not_qualified`` is -1 and the others
    are 0.

    By class [134 459], ``weights``: how many hands it has, and ``categories``, in ascending order.
    """

    qualify: Qualifier
    weights: Bytes
    categories: Bytes
    not_qualified: Ints
    win: Ints
    tie: Ints
    six: Bytes


def build_basis(qualify: Qualifier) -> Basis:
    """Count for every class and up-card: some seconds, most of them to compile where nobody has yet."""
    table = hands_table()
    counts = count_one_up(table, qualify)
    return Basis(
        qualify=qualify,
        weights=table.weights,
        categories=table.class_categories,
        not_qualified=counts.not_qualified,
        win=counts.win,
        tie=counts.tie,
        six=best_of_six(table),
    )

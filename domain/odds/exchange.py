"""The exact odds of a house that sells a card: fold, raise, or exchange one card and then fold or raise.

One card is burned and the next one is the player's (source 003). Nobody sees the burned card, so that it is
like any other unseen one: the card drawn is each of the 46 with equal chance. The card given away is
seen, and the dealer cannot have it. The fee is lost whatever happens.

What a final hand is worth with a card i given away and an up-card u follows from hands counted by up-cards:
those of the dealer's with u, less those with u and i, which are counted for two up-cards. An exchange is
worth the sum over what is drawn, which depends on the four cards kept, on i and on u alone. So every class of
final hands is gone through once, and what it is worth is added, for every four of its cards that may have
been kept, to a table by class of four, i and u. From there every dealt hand reads what its exchanges are
worth. Those that are best are then counted in a second such table, and the final hands gone through once
more for what becomes of them.

An up-card leaves the dealer 163 185 hands; there are 42 times as many of draws and hands, 46 times 148 995.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from domain.hands import CATEGORIES, HAND_SIZE
from domain.odds.basis import Basis
from domain.odds.exchange_rounds import (
    Counts,
    Dealt,
    Decided,
    Fours,
    Part,
    Stakes,
    Ways,
    add_worth,
    decide,
    weigh,
)
from domain.odds.exchange_values import DENOMINATOR, NO_STATE, ExchangeValues, Longs
from domain.odds.hands_table import CARDS, CLASSES, HANDS, HandsTable
from domain.odds.outcomes import Branch, Outcomes
from domain.odds.pair_counts import pair_rows
from domain.odds.payoffs import OddsError, Payoffs
from domain.odds.suit_classes import ranks_of, suit_classes

Progress = Callable[[int, int], None]
"""Told how much is done, and of how much."""

TOTAL: Final = HANDS * (CARDS - HAND_SIZE) * DENOMINATOR
"""All deals: hands, up-cards, draws and the dealer's hands."""

_NUMERATOR_MAX: Final = 2**63 - 1
_FATES: Final = len(Branch.__slots__)
# Four kept cards, one given away and an up-card.
_STATES: Final = (CARDS, CARDS)


class Solved(NamedTuple):
    """What becomes of all deals by the best decisions, and what these are."""

    outcomes: Outcomes
    values: ExchangeValues


def solve_exchange(
    basis: Basis, table: HandsTable, payoffs: Payoffs, progress: Progress | None = None
) -> Solved:
    """Count a game by its best decisions.

    ``basis`` has the counts for one up-card, ``table`` is that of `hands_table`. ``progress`` is called a
    thousand times. It takes about ten seconds, and 700 MB that are free again afterwards.

    Raises ``OddsError`` where the payoffs have no fee, and where they are too large for 64 bits: twice the
    ante, the raise, the highest win and the fee together may be up to 1.3 * 10^12 units.
    """
    stakes = _stakes(payoffs)
    fours, ways, how_many = _ways(table)
    tell = progress or _silent
    worth = np.zeros((how_many, *_STATES), np.int64)
    for part in _parts(basis, table, tell, 0):
        add_worth(part, stakes, ways, worth)
    decided = Decided(
        np.full((CLASSES, CARDS), NO_STATE, np.int8),
        np.zeros((CLASSES, CARDS), np.int64),
        np.full((CLASSES, CARDS), NO_STATE, np.int8),
    )
    dealt = Dealt(table.class_hands, table.class_categories, table.weights, _counts(basis, slice(None)))
    chosen = np.zeros((how_many, *_STATES), np.int32)
    kept, exchanged = np.zeros((2, _FATES, len(CATEGORIES)), np.int64)
    decide(dealt, stakes, fours, worth, decided, chosen, kept)
    del worth
    for part in _parts(basis, table, tell, CLASSES):
        weigh(part, stakes, ways, chosen, exchanged)
    outcomes = Outcomes(TOTAL, _branch(kept), _branch(exchanged), (), 1)
    return Solved(outcomes, ExchangeValues(payoffs, basis.qualify, *decided))


def _silent(_: int, __: int) -> None:
    """Tell nobody."""


def _stakes(payoffs: Payoffs) -> Stakes:
    """Return the payoffs as terms. No sum of theirs over the draws and hands of a state is beyond 64 bits."""
    ante, raised, fee = payoffs.ante, payoffs.raised, payoffs.fee
    if fee is None:
        raise OddsError("no card can be exchanged for these payoffs")
    if (2 * ante + raised + max(payoffs.raise_wins) + fee) * DENOMINATOR > _NUMERATOR_MAX:
        raise OddsError("amounts this large, of so small a common divisor, cannot be counted exactly")
    lost = ante + raised
    terms = [(ante + lost, ante + win + lost, lost, lost) for win in payoffs.raise_wins]
    return Stakes(np.array(terms, np.int64), ante, fee)


def _ways(table: HandsTable) -> tuple[Fours, Ways, int]:
    """Return the classes of four cards, how hands are made of them, and how many they are."""
    found = suit_classes(HAND_SIZE - 1)
    kept, drawn = np.divmod(np.arange(len(found.leading) * CARDS, dtype=np.int32), np.int32(CARDS))
    made = np.column_stack([found.leading[kept], drawn.astype(np.uint8)])
    possible = (made[:, :-1] != made[:, -1:]).all(axis=1)
    ranks = ranks_of(made[possible])
    classes = table.class_of[ranks]
    order = np.argsort(classes, kind="stable")
    begins = np.searchsorted(classes[order], np.arange(CLASSES + 1))
    ways = Ways(begins, kept[possible][order], table.permutation_of[ranks][order])
    return Fours(found.classes, found.permutations), ways, len(found.leading)


def _parts(basis: Basis, table: HandsTable, tell: Progress, done: int) -> Iterator[Part]:
    """Yield all classes with their counts, some at a time; there are two rounds of them."""
    for rows in pair_rows(table, basis.qualify):
        end = rows.first + len(rows.win)
        here = slice(rows.first, end)
        two = Counts(rows.not_qualified, rows.win, rows.tie)
        yield Part(
            rows.first, table.class_hands[here], table.class_categories[here], _counts(basis, here), two
        )
        tell(done + end, 2 * CLASSES)


def _counts(basis: Basis, here: slice) -> Counts:
    return Counts(basis.not_qualified[here], basis.win[here], basis.tie[here])


def _branch(counts: Longs) -> Branch:
    return Branch(*(tuple(row) for row in counts.tolist()))

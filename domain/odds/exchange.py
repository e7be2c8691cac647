"""The exact odds of a house that sells a card: fold, raise, or exchange one card and then fold or raise.

One card is burned and the next one is the player's (source 003). Nobody sees the burned card, so it is like any
other unseen one: the card drawn is each of the 46 with equal chance. The card given away is seen, and
the dealer cannot have it. The fee is lost whatever happens.

What a final hand is worth with a card i given away and an up-card u follows from hands counted by up-cards: the
dealer's hands with u, less those with u and i, which are those of two up-cards. An exchange is worth
the sum over the draws, and depends on the four cards kept, on i and on u alone. So every class of final hands
is gone through once, and what it is worth is added, for each way in which four of its cards are kept, to
a table by class of four, i and u. From that table every dealt hand reads what its exchanges are worth. Those
that are best are then weighed in a second such table, and the final hands gone through once more to
count what becomes of them.

One up-card leaves 163 185 dealer's hands, and 42 times as many of draws and hands: 46 times 148 995.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from domain.hands import CATEGORIES, HAND_SIZE
from domain.odds.basis import Basis
from domain.odds.exchange_values import (
    DEALS_DRAWN,
    DENOMINATOR,
    NO_STATE,
    ExchangeValues,
    Longs,
)
from domain.odds.hands_table import CARDS, CHOOSE, CLASSES, HANDS, PERMUTATIONS, Bytes, HandsTable, Ints
from domain.odds.kernel import kernel
from domain.odds.outcomes import Branch, Outcomes
from domain.odds.pair_counts import PairRows, pair_rows
from domain.odds.payoffs import OddsError, Payoffs
from domain.odds.suit_classes import ranks_of, suit_classes

Progress = Callable[[int, int], None]
"""Told how much is done, and of how much."""

_NUMERATOR_MAX: Final = 2**63 - 1
# What becomes of a deal, as the first index of counts by category: the fields of a branch.
_FATES: Final = len(Branch.__slots__)


class _Ways(NamedTuple):
    """How final hands are made of four kept cards and one drawn.

    ``four_classes`` and ``four_permutations`` are by the rank of four cards, as in `suit_classes`. The ways to make
    a class of hands are entries ``begins[class]`` to ``begins[class + 1]`` of ``fours``, the class of the
    four, and of ``permutations``, one that makes the four which stand for their class, and the card drawn to
    them, the hand that stands for its own.
    """

    four_classes: Ints
    four_permutations: Bytes
    begins: Longs
    fours: Ints
    permutations: Bytes
    how_many_fours: int


def solve_exchange(
    basis: Basis, table: HandsTable, payoffs: Payoffs, progress: Progress | None = None
) -> tuple[Outcomes, ExchangeValues]:
    """Return what becomes of all deals by the best decisions, and what they are.

    ``basis`` has the counts of hands that keep their cards, and the dealer's qualifying hand. ``progress`` is called
    from time to time. It takes up to a minute, and 1 GB at most.

    Raises ``OddsError`` where the payoffs have no fee, and where they are too large to be added up
    in 64 bits: twice the ante, the raise, the highest win and the fee together may be 1.3 · 10^12 units.
    """
    terms = _terms(payoffs)
    table_of_ways = _ways(table)
    ways = (table_of_ways.begins, table_of_ways.fours, table_of_ways.permutations)
    folded = -payoffs.ante * DEALS_DRAWN
    worth = np.zeros((table_of_ways.how_many_fours, CARDS, CARDS), np.int64)
    for rows in _rows(basis, table, progress or _silent, 0):
        _add_worth(*_of(rows, basis, table), terms, folded, ways, worth)
    known = ExchangeValues(
        payoffs,
        basis.qualify,
        np.full((CLASSES, CARDS), NO_STATE, np.int8),
        np.zeros((CLASSES, CARDS), np.int64),
        np.full((CLASSES, CARDS), NO_STATE, np.int8),
    )
    chosen = np.zeros(worth.shape, np.int32)
    kept = np.zeros((_FATES, len(CATEGORIES)), np.int64)
    _decide(
        *(table.class_hands, table.class_categories, table.weights),
        *((basis.not_qualified, basis.win, basis.tie), terms),
        *(-payoffs.ante * DENOMINATOR, (payoffs.fee or 0) * DENOMINATOR),
        *((table_of_ways.four_classes, table_of_ways.four_permutations), worth),
        *((known.places, known.values, known.decisions), chosen, kept),
    )
    del worth
    exchanged = np.zeros_like(kept)
    for rows in _rows(basis, table, progress or _silent, CLASSES):
        _weigh(*_of(rows, basis, table), terms, folded, ways, chosen, exchanged)
    total = HANDS * (CARDS - HAND_SIZE) * DENOMINATOR
    return Outcomes(total, _branch(kept), _branch(exchanged), (), 1), known


def _silent(_: int, __: int) -> None:
    """Tell nobody."""


def _branch(counts: Longs) -> Branch:
    return Branch(*(tuple(row) for row in counts.tolist()))


def _terms(payoffs: Payoffs) -> Longs:
    """Return by category what a raise is worth: a term for each hand that does not qualify, loses, ties, and
    one that is taken off for each hand at all.
    """
    ante, raised = payoffs.ante, payoffs.raised
    if payoffs.fee is None:
        raise OddsError("no card can be exchanged for these payoffs")
    most = 2 * ante + raised + max(payoffs.raise_wins) + payoffs.fee
    if most * DENOMINATOR > _NUMERATOR_MAX:
        raise OddsError("these amounts are too large, and have too small a common divisor, to be counted exactly")
    lost = ante + raised
    return np.array([(ante + lost, ante + win + lost, lost, lost) for win in payoffs.raise_wins], np.int64)


def _ways(table: HandsTable) -> _Ways:
    """Return how final hands are made."""
    fours = suit_classes(HAND_SIZE - 1)
    kept, drawn = np.divmod(np.arange(len(fours.leading) * CARDS, dtype=np.int32), CARDS)
    made = np.column_stack([fours.leading[kept], drawn]).astype(np.uint8)
    possible = (made[:, :-1] != made[:, -1:]).all(axis=1)
    ranks = ranks_of(made[possible])
    classes = table.class_of[ranks]
    order = np.argsort(classes, kind="stable")
    begins = np.searchsorted(classes[order], np.arange(CLASSES + 1))
    return _Ways(
        fours.classes,
        fours.permutations,
        begins,
        kept[possible][order],
        table.permutation_of[ranks][order],
        len(fours.leading),
    )


def _rows(basis: Basis, table: HandsTable, progress: Progress, done: int) -> Any:
    """Yield the counts of two up-cards, and tell how far this is; two rounds of all classes are all."""
    for rows in pair_rows(table, basis.qualify):
        yield rows
        progress(done + rows.first + len(rows.win), 2 * CLASSES)


def _of(rows: PairRows, basis: Basis, table: HandsTable) -> tuple[Any, ...]:
    """Return what the two rounds need of some classes: where they begin, their hands, and counts."""
    here = slice(rows.first, rows.first + len(rows.win))
    one = (basis.not_qualified[here], basis.win[here], basis.tie[here])
    return rows.first, table.class_hands[here], table.class_categories[here], one, rows[1:]


@kernel
def _values(hand: Bytes, one: Any, two: Any, terms: Longs, folded: int, values: Longs) -> None:
    """Write what a final hand is worth by the card given away and the up-card; 0 where there is no such state."""
    for u in range(52):
        values[0, u] = terms[0] * one[0][u] + terms[1] * one[1][u] + terms[2] * one[2][u] - terms[3] * 148995
    for i in range(51, -1, -1):
        for u in range(52):
            values[i, u] = values[0, u]
    pair = 0
    for b in range(52):
        for a in range(b):
            less = terms[0] * two[0][pair] + terms[1] * two[1][pair] + terms[2] * two[2][pair]
            values[a, b] = max(folded, values[a, b] - less)
            values[b, a] = max(folded, values[b, a] - less)
            pair += 1
        values[b, b] = 0
    for card in hand:
        values[card] = 0
        values[:, card] = 0


@kernel
def _add_worth(
    first: int,
    hands: Bytes,
    categories: Bytes,
    one: Any,
    two: Any,
    terms: Longs,
    folded: int,
    ways: Any,
    worth: Longs,
) -> None:
    """Add what final hands are worth to the fours they can be made of."""
    begins, fours, permutations = ways
    values = np.empty((52, 52), np.int64)
    for n in range(len(hands)):
        of_one = (one[0][n], one[1][n], one[2][n])
        of_two = (two[0][n], two[1][n], two[2][n])
        _values(hands[n], of_one, of_two, terms[categories[n]], folded, values)
        for way in range(begins[first + n], begins[first + n + 1]):
            shown = PERMUTATIONS[permutations[way]]
            clubs, diamonds, hearts, spades = shown[0], shown[1], shown[2], shown[3]
            sums = worth[fours[way]]
            for i in range(52):
                row, to = values[shown[i]], sums[i]
                for u in range(0, 52, 4):
                    to[u] += row[u + clubs]
                    to[u + 1] += row[u + diamonds]
                    to[u + 2] += row[u + hearts]
                    to[u + 3] += row[u + spades]


@kernel
def _find_fours(hand: Bytes, classes: Ints, permutations: Bytes, fours: Longs, shown: Bytes) -> None:
    """Write for each place of a hand the class of its other cards, and what becomes of cards where they lead."""
    for place in range(5):
        rank = 0
        for k in range(4):
            rank += CHOOSE[hand[k if k < place else k + 1], k + 1]
        fours[place] = classes[rank]
        shown[place] = PERMUTATIONS[permutations[rank]]


@kernel
def _decide(
    hands: Bytes,
    categories: Bytes,
    weights: Bytes,
    one: Any,
    terms: Longs,
    folded: int,
    fee: int,
    of_fours: Any,
    worth: Longs,
    known: Any,
    chosen: Ints,
    kept: Longs,
) -> None:
    """Decide every hand as dealt. Count what becomes of those that are kept, and weigh the fours of the others."""
    not_qualified, win, tie = one
    classes, permutations = of_fours
    places, values, decisions = known
    fours = np.empty(5, np.int64)
    shown = np.empty((5, 52), np.uint8)
    for n in range(len(hands)):
        hand, category = hands[n], categories[n]
        a, b, c, lost = terms[category]
        _find_fours(hand, classes, permutations, fours, shown)
        for u in range(52):
            unqualified, wins, ties = not_qualified[n, u], win[n, u], tie[n, u]
            if unqualified < 0:
                continue
            raised = 42 * (a * unqualified + b * wins + c * ties - lost * 163185)
            best = 0
            most = worth[fours[0], shown[0, hand[0]], shown[0, u]]
            for place in range(1, 5):
                found = worth[fours[place], shown[place, hand[place]], shown[place, u]]
                if found > most:
                    best, most = place, found
            most -= fee
            places[n, u] = best
            values[n, u] = most
            weight = np.int64(weights[n])
            if most > max(folded, raised):
                decisions[n, u] = 2 + best
                chosen[fours[best], shown[best, hand[best]], shown[best, u]] += weight
            elif raised > folded:
                decisions[n, u] = 1
                weight *= 42
                kept[2, category] += weight * unqualified
                kept[3, category] += weight * wins
                kept[4, category] += weight * ties
                kept[5, category] += weight * (163185 - unqualified - wins - ties)
            else:
                decisions[n, u] = 0
                kept[0, category] += 42 * weight * unqualified
                kept[1, category] += 42 * weight * (163185 - unqualified)


@kernel
def _weigh(
    first: int,
    hands: Bytes,
    categories: Bytes,
    one: Any,
    two: Any,
    terms: Longs,
    folded: int,
    ways: Any,
    chosen: Ints,
    exchanged: Longs,
) -> None:
    """Count what becomes of final hands, as often as they come from an exchange that was best."""
    begins, fours, permutations = ways
    times = np.empty((52, 52), np.int64)
    for n in range(len(hands)):
        times[:] = 0
        for way in range(begins[first + n], begins[first + n + 1]):
            shown = PERMUTATIONS[permutations[way]]
            clubs, diamonds, hearts, spades = shown[0], shown[1], shown[2], shown[3]
            weights = chosen[fours[way]]
            for i in range(52):
                row, to = weights[i], times[shown[i]]
                for u in range(0, 52, 4):
                    to[u + clubs] += row[u]
                    to[u + diamonds] += row[u + 1]
                    to[u + hearts] += row[u + 2]
                    to[u + spades] += row[u + 3]
        for card in hands[n]:
            # What was drawn cannot have been given away, nor be the up-card.
            times[card] = 0
            times[:, card] = 0
        counts = exchanged[:, categories[n]]
        a, b, c, lost = terms[categories[n]]
        for i in range(52):
            for u in range(52):
                if times[i, u] == 0:
                    continue
                pair = CHOOSE[max(i, u), 2] + min(i, u)
                unqualified = one[0][n, u] - np.int64(two[0][n, pair])
                wins = one[1][n, u] - np.int64(two[1][n, pair])
                ties = one[2][n, u] - np.int64(two[2][n, pair])
                if a * unqualified + b * wins + c * ties - lost * 148995 > folded:
                    counts[2] += times[i, u] * unqualified
                    counts[3] += times[i, u] * wins
                    counts[4] += times[i, u] * ties
                    counts[5] += times[i, u] * (148995 - unqualified - wins - ties)
                else:
                    counts[0] += times[i, u] * unqualified
                    counts[1] += times[i, u] * (148995 - unqualified)

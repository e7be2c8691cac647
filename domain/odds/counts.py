"""How many of the dealer's hands are weaker than the player's, for every class and up-card.

N(T, v) are the hands that hold all cards of T and are weaker than a hand of value v. The dealer's hands hold
her up-cards U and none of the player's cards P. Of those, by inclusion and exclusion over what sets of the
player's cards a hand holds beside the up-cards,

    the sum over the sets S of P that leave room, |S| + |U| <= 5, of (-1)^|S| N(S + U, v)

are weaker. All hands are gone through from the weakest on. Each is added to tables of N, so that for a
player's hand of value v, when its turn comes, they have exactly the hands that are weaker. A row of a table
has N(S + U, v) for one S and every U; a player's hand adds and subtracts 31 rows for one up-card, 26 for two
(`domain.odds.pair_counts`). Where S and U are a whole hand, that hand's own value is looked at instead.

Of the hands that do not qualify the tables have all at one moment on the way; what is weaker than a player's
hand beyond them qualifies and loses.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.hands import CATEGORIES, Hand, Qualifier, qualifies
from domain.odds.hands_table import CARDS, CHOOSE, VALUES, Bytes, HandsTable, Ints, Shorts
from domain.odds.kernel import kernel

Words: TypeAlias = NDArray[np.uint16]
Masks: TypeAlias = NDArray[np.uint64]

PAIRS: Final = comb(CARDS, 2)
TRIPLES: Final = comb(CARDS, 3)
QUADRUPLES: Final = comb(CARDS, 4)

SPLITS: Final[Bytes] = np.array(
    [[*two, *(place for place in range(5) if place not in two)] for two in combinations(range(5), 2)],
    np.uint8,
)
"""The places of a hand split into two and three in all ten ways, ascending in each part."""


class Dealers(NamedTuple):
    """All hands, the weakest first: ``cards`` [2 598 960, 5], and ``masks``, a bit for each card.

    Those of value ``v`` are from ``starts[v]`` on, up to ``starts[v - 1]``.
    """

    cards: Bytes
    masks: Masks
    starts: Ints


class OneUpCounts(NamedTuple):
    """By class and up-card [134 459, 52]: the dealer's hands that do not qualify, lose and tie, of 163 185.

    Where the up-card is one of the player's, ``not_qualified`` is -1 and the others are 0.
    """

    not_qualified: Ints
    win: Ints
    tie: Ints


class _Tables(NamedTuple):
    """N by the player's cards S and the up-card: for none, one, two and three, and the values of four."""

    none: Ints
    cards: Words
    pairs: Words
    triples: Bytes
    completed: Shorts


def worst_qualifying(qualify: Qualifier) -> int:
    """Return the value of the weakest hand that qualifies."""
    return sum(qualifies(Hand(value, CATEGORIES[0]), qualify) for value in range(1, VALUES + 1))


def dealers_of(table: HandsTable) -> Dealers:
    """Return all hands in the order in which they are gone through."""
    cards = table.hands[table.by_strength]
    return Dealers(cards, masks_of(cards), table.starts)


def masks_of(hands: Bytes) -> Masks:
    """Return hands [n, 5] as sets of bits [n]."""
    masks = np.zeros(len(hands), np.uint64)
    for place in range(hands.shape[1]):
        masks |= np.uint64(1) << hands[:, place].astype(np.uint64)
    return masks


def count_one_up(table: HandsTable, qualify: Qualifier) -> OneUpCounts:
    """Count for every class and up-card."""
    shape = (len(table.class_hands), CARDS)
    counts = OneUpCounts(*(np.zeros(shape, np.int32) for _ in range(3)))
    tables = _Tables(
        none=np.zeros(CARDS, np.int32),
        cards=np.zeros((CARDS, CARDS), np.uint16),
        pairs=np.zeros((PAIRS, CARDS), np.uint16),
        triples=np.zeros((TRIPLES, CARDS), np.uint8),
        completed=_quadruples_completed(table),
    )
    worst = worst_qualifying(qualify)
    dealers = dealers_of(table)
    _add(dealers.cards[: dealers.starts[worst]], tables)
    _write_weaker(table.class_hands, worst, tables, counts.not_qualified)
    masks = masks_of(table.class_hands)
    _write_win_and_tie(table.class_hands, masks, table.class_values, dealers, worst, tables, counts)
    taken = (np.arange(len(table.class_hands))[:, None], table.class_hands)
    counts.not_qualified[taken] = -1
    counts.win[taken] = 0
    return counts


def best_of_six(table: HandsTable) -> Bytes:
    """Return by class and up-card [134 459, 52] the category of the best five of the six cards.

    Where the up-card is one of the player's it is 0.
    """
    hands = table.class_hands
    best = np.zeros((len(hands), CARDS), np.uint8)
    _write_best_of_six(hands, table.class_values, _quadruples_completed(table), table.value_categories, best)
    best[np.arange(len(hands))[:, None], hands] = 0
    return best


def _quadruples_completed(table: HandsTable) -> Shorts:
    """Return by four cards and a fifth [270 725, 52] the hand's value; 0 where they are only four."""
    values = np.zeros((QUADRUPLES, CARDS), np.int16)
    _complete_quadruples(table.hands, table.values, values)
    return values


@kernel
def _pair(a: int, b: int) -> int:
    """The rank of a pair, the lower card first."""
    return int(CHOOSE[b, 2]) + a


@kernel
def _triple(a: int, b: int, c: int) -> int:
    """The rank of three cards in ascending order."""
    return int(CHOOSE[c, 3]) + int(CHOOSE[b, 2]) + a


@kernel
def _quadruple_without(hand: Bytes, left_out: int) -> int:
    """The rank of what a hand of ascending cards is without the one at a place."""
    rank = 0
    for i in range(4):
        rank += int(CHOOSE[hand[i if i < left_out else i + 1], i + 1])
    return rank


@kernel
def _complete_quadruples(hands: Bytes, values: Shorts, completed: Shorts) -> None:
    """Write each hand's value in the rows of the quadruples it holds."""
    for n in range(len(hands)):
        for i in range(5):
            completed[_quadruple_without(hands[n], i), hands[n, i]] = values[n]


@kernel
def _write_best_of_six(
    hands: Bytes, values: Shorts, completed: Shorts, categories: Bytes, best: Bytes
) -> None:
    """Of each class's hand with every further card, write the category of the best five."""
    row = np.empty(52, np.int16)
    for n in range(len(hands)):
        row[:] = values[n]
        for i in range(5):
            other = completed[_quadruple_without(hands[n], i)]
            for u in range(52):
                row[u] = min(row[u], other[u])
        for u in range(52):
            best[n, u] = categories[row[u]]


@kernel
def _add(dealers: Bytes, tables: _Tables) -> None:
    """Count hands of the dealer's in the tables."""
    none, cards, pairs, triples, _ = tables
    for hand in dealers:
        for u in hand:
            none[u] += 1
            for card in hand:
                cards[card, u] += 1
        for s in SPLITS:
            a, b, c, d, e = hand[s[0]], hand[s[1]], hand[s[2]], hand[s[3]], hand[s[4]]
            pair = _pair(a, b)
            pairs[pair, c] += 1
            pairs[pair, d] += 1
            pairs[pair, e] += 1
            triple = _triple(c, d, e)
            triples[triple, a] += 1
            triples[triple, b] += 1


@kernel
def _weaker(hand: Bytes, value: int, tables: _Tables, row: Ints) -> None:
    """For every up-card, count the dealer's hands in the tables that hold none of the player's cards."""
    none, cards, pairs, triples, completed = tables
    for u in range(52):
        row[u] = none[u]
    for i in range(5):
        with_card = cards[hand[i]]
        with_four = completed[_quadruple_without(hand, i)]
        for u in range(52):
            row[u] += (with_four[u] > value) - np.int32(with_card[u])
    for s in SPLITS:
        with_pair = pairs[_pair(hand[s[0]], hand[s[1]])]
        with_triple = triples[_triple(hand[s[2]], hand[s[3]], hand[s[4]])]
        for u in range(52):
            row[u] += np.int32(with_pair[u]) - np.int32(with_triple[u])


@kernel
def _write_weaker(hands: Bytes, value: int, tables: _Tables, rows: Ints) -> None:
    """Write the rows of all classes from the tables as they are."""
    for n in range(len(hands)):
        _weaker(hands[n], value, tables, rows[n])


@kernel
def _write_win_and_tie(
    hands: Bytes,
    masks: Masks,
    values: Shorts,
    dealers: Dealers,
    worst: int,
    tables: _Tables,
    counts: OneUpCounts,
) -> None:
    """Go on through the dealer's hands, and through the classes that beat one that qualifies."""
    passed = dealers.starts[worst]
    for n in range(len(hands)):
        value = values[n]
        if value > worst:
            continue
        there, end = dealers.starts[value], dealers.starts[value - 1]
        if passed < there:
            _add(dealers.cards[passed:there], tables)
            passed = there
        row = counts.win[n]
        _weaker(hands[n], value, tables, row)
        for u in range(52):
            row[u] -= counts.not_qualified[n, u]
        for d in range(there, end):
            if dealers.masks[d] & masks[n] == 0:
                for u in dealers.cards[d]:
                    counts.tie[n, u] += 1

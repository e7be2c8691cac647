"""The same counts for two of the dealer's cards up: too many to keep, they come class by class.

The method is that of `domain.odds.counts`. There are 14 190 hands for the dealer: they fit into 16 bits, and
what is added up on the way may wrap around, as sums modulo a power of two do not mind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from domain.hands import Qualifier
from domain.odds.counts import (
    PAIRS,
    SPLITS,
    TRIPLES,
    Dealers,
    Masks,
    Words,
    dealers_of,
    masks_of,
    worst_qualifying,
)
from domain.odds.hands_table import CARDS, CHOOSE, Bytes, HandsTable, Shorts
from domain.odds.kernel import kernel

PAIR_CARDS: Final[Bytes] = np.array([(a, b) for b in range(CARDS) for a in range(b)], np.uint8)
"""The two cards, the lower one first, of each pair by its rank [1 326, 2]."""

ROWS: Final = 256
"""Classes at a time: their counts of all pairs stay in a processor's cache."""


class PairRows(NamedTuple):
    """Of some classes in a row, from ``first`` on, by pair of up-cards in order of rank [n, 1 326].

    The dealer's hands that do not qualify, lose and tie, of 14 190. Where an up-card is one of the player's,
    ``not_qualified`` is -1 and ``win`` is 0; ``tie`` is 0.
    """

    first: int
    not_qualified: Shorts
    win: Shorts
    tie: Shorts


class _Tables(NamedTuple):
    """N by the player's cards S and the up-cards: for none, one and two, and the values of three."""

    none: Words
    cards: Words
    pairs: Bytes
    completed: Shorts


def pair_rows(table: HandsTable, qualify: Qualifier, rows: int = ROWS) -> Iterator[PairRows]:
    """Count for every class, the weakest first, and every pair of up-cards; yield ``rows`` classes at a time.

    What is yielded is overwritten by the next.
    """
    worst = worst_qualifying(qualify)
    dealers = dealers_of(table)
    completed = np.zeros((TRIPLES, PAIRS), np.int16)
    _complete_triples(table.hands, table.values, completed)
    unqualified, weaker = (
        _Tables(
            none=np.zeros(PAIRS, np.uint16),
            cards=np.zeros((CARDS, PAIRS), np.uint16),
            pairs=np.zeros((PAIRS, PAIRS), np.uint8),
            completed=completed,
        )
        for _ in range(2)
    )
    _add(dealers.cards[: dealers.starts[worst]], unqualified)
    space = [np.empty((rows, PAIRS), np.int16) for _ in range(3)]
    masks = masks_of(table.class_hands)
    passed = 0
    for first in range(0, len(masks), rows):
        part = slice(first, first + rows)
        found = PairRows(first, *(array[: len(masks[part])] for array in space))
        hands, values = table.class_hands[part], table.class_values[part]
        _write_not_qualified(hands, worst, unqualified, found)
        passed = _write_win_and_tie(hands, masks[part], values, dealers, worst, passed, weaker, found)
        _write_no_states(hands, found)
        yield found


@kernel
def _pair(a: int, b: int) -> int:
    """The rank of a pair, the lower card first."""
    return int(CHOOSE[b, 2]) + a


@kernel
def _triple(a: int, b: int, c: int) -> int:
    """The rank of three cards in ascending order."""
    return int(CHOOSE[c, 3]) + int(CHOOSE[b, 2]) + a


@kernel
def _complete_triples(hands: Bytes, values: Shorts, completed: Shorts) -> None:
    """Write each hand's value in the rows of the triples it holds."""
    for n in range(len(hands)):
        hand = hands[n]
        for s in SPLITS:
            pair = _pair(hand[s[0]], hand[s[1]])
            completed[_triple(hand[s[2]], hand[s[3]], hand[s[4]]), pair] = values[n]


@kernel
def _add(dealers: Bytes, tables: _Tables) -> None:
    """Count hands of the dealer's in the tables."""
    none, cards, pairs, _ = tables
    for hand in dealers:
        for s in SPLITS:
            c, d, e = hand[s[2]], hand[s[3]], hand[s[4]]
            pair = _pair(hand[s[0]], hand[s[1]])
            none[pair] += 1
            cards[c, pair] += 1
            cards[d, pair] += 1
            cards[e, pair] += 1
            pairs[_pair(c, d), pair] += 1
            pairs[_pair(c, e), pair] += 1
            pairs[_pair(d, e), pair] += 1


@kernel
def _weaker(hand: Bytes, value: int, tables: _Tables, row: Shorts) -> None:
    """For every pair of up-cards, count the dealer's hands in the tables that hold none of the player's."""
    none, cards, pairs, completed = tables
    for u in range(1326):
        row[u] = none[u]
    for i in range(5):
        with_card = cards[hand[i]]
        for u in range(1326):
            row[u] -= with_card[u]
    for s in SPLITS:
        with_pair = pairs[_pair(hand[s[0]], hand[s[1]])]
        with_triple = completed[_triple(hand[s[2]], hand[s[3]], hand[s[4]])]
        for u in range(1326):
            row[u] += with_pair[u] - np.int16(with_triple[u] > value)


@kernel
def _write_not_qualified(hands: Bytes, worst: int, unqualified: _Tables, found: PairRows) -> None:
    """Write what does not qualify."""
    for n in range(len(hands)):
        _weaker(hands[n], worst, unqualified, found.not_qualified[n])


@kernel
def _write_win_and_tie(
    hands: Bytes,
    masks: Masks,
    values: Shorts,
    dealers: Dealers,
    worst: int,
    passed: int,
    tables: _Tables,
    found: PairRows,
) -> int:
    """Go on through the dealer's hands from where the tables are; return where they are then."""
    for n in range(len(hands)):
        value = values[n]
        found.win[n] = 0
        found.tie[n] = 0
        if value > worst:
            continue
        there, end = dealers.starts[value], dealers.starts[value - 1]
        if passed < there:
            _add(dealers.cards[passed:there], tables)
            passed = there
        _weaker(hands[n], value, tables, found.win[n])
        for u in range(1326):
            found.win[n, u] -= found.not_qualified[n, u]
        for d in range(there, end):
            if dealers.masks[d] & masks[n] == 0:
                hand = dealers.cards[d]
                for s in SPLITS:
                    found.tie[n, _pair(hand[s[0]], hand[s[1]])] += 1
    return passed


@kernel
def _write_no_states(hands: Bytes, found: PairRows) -> None:
    """Mark the pairs with a card of the player's."""
    for n in range(len(hands)):
        for card in hands[n]:
            for other in range(52):
                if other != card:
                    pair = _pair(min(card, other), max(card, other))
                    found.not_qualified[n, pair] = -1
                    found.win[n, pair] = 0

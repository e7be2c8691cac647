"""Dealing rounds at random and deciding their hands twice: with the other hands known, and without.

Whatever the decision, it is judged over all hands that the dealer can have beside every card that is seen.
They are listed by their ranks, as in `domain.odds.hands_table`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.cards import DECK
from domain.hands import HAND_SIZE
from domain.odds.counts import worst_qualifying
from domain.odds.hands_table import CARDS, CHOOSE, Bytes, Ints, Shorts, hands_table
from domain.odds.kernel import kernel
from domain.odds.lookup import Lookup, StateCounts
from domain.odds.other_hands import OtherHands
from domain.odds.payoffs import OddsError, Payoffs

Longs: TypeAlias = NDArray[np.int64]

_PLACES: Final = np.arange(1, HAND_SIZE + 1)
_SEEN, _UNSEEN, _UP = 0, 1, 2


class Deals(NamedTuple):
    """The cards of many rounds, by number: ``hands`` [rounds, hands, 5], ``ups`` [rounds, up-cards].

    Each hand is in ascending order.
    """

    hands: Bytes
    ups: Bytes


def deal(generator: np.random.Generator, rounds: int, hands: int, up_cards: int) -> Deals:
    """Deal rounds at random."""
    decks = generator.permuted(np.tile(np.arange(CARDS, dtype=np.uint8), (rounds, 1)), axis=1)
    own, ups, _ = np.split(decks, (HAND_SIZE * hands, HAND_SIZE * hands + up_cards), axis=1)
    return Deals(np.sort(own.reshape(rounds, hands, HAND_SIZE), axis=2), np.ascontiguousarray(ups))


def estimate(lookup: Lookup, payoffs: Payoffs, deals: Deals) -> OtherHands:
    """Return what knowing all hands wins in some rounds, in front of the dealer of ``lookup``.

    Raises ``OddsError`` where cards are exchanged.
    """
    if payoffs.fee is not None:
        raise OddsError("what other hands are worth is not estimated where a card can be exchanged")
    rounds, hands, _ = deals.hands.shape
    changed = gained = squares = 0
    for cards, up, met in zip(deals.hands.tolist(), deals.ups.tolist(), _met(lookup, deals), strict=True):
        ups = [DECK[card] for card in up]
        gain = 0
        for hand, counts in zip(cards, met, strict=True):
            raised, folded = counts.raised(payoffs), -payoffs.ante * counts.total
            alone = lookup.judge(payoffs, [DECK[card] for card in hand], ups).best
            changed += (alone == "raise") != (raised > folded)
            gain += max(folded, raised) - (raised if alone == "raise" else folded)
        gained += gain
        squares += gain * gain
    return OtherHands(hands, rounds, changed, gained, squares, payoffs.ante * _ways(deals))


def _ways(deals: Deals) -> int:
    """Return how many hands the dealer can have when all the other cards are known."""
    _, hands, _ = deals.hands.shape
    _, up_cards = deals.ups.shape
    return comb(CARDS - HAND_SIZE * hands - up_cards, HAND_SIZE - up_cards)


def _met(lookup: Lookup, deals: Deals) -> Iterator[list[StateCounts]]:
    """Yield for each round how its hands meet the dealer's hands, when all the other cards are known."""
    table, ways = hands_table(), _ways(deals)
    values = table.values[CHOOSE[deals.hands, _PLACES].sum(axis=2)]
    found = np.empty((*values.shape, 3), np.int64)
    count_met(table.values, *deals, values, worst_qualifying(lookup.qualify), ways, found)
    categories = table.value_categories[values].tolist()
    for kinds, counted in zip(categories, found.tolist(), strict=True):
        yield [
            StateCounts(kind, none, win, ways - none - win - lose, lose)
            for kind, (none, win, lose) in zip(kinds, counted, strict=True)
        ]


@kernel
def count_met(
    values: Shorts, hands: Bytes, ups: Bytes, own: Shorts, worst: int, ways: int, found: Longs
) -> None:
    """Count for each hand of each round the dealer's hands of the ``ways`` that all seen cards leave.

    ``found`` [rounds, hands, 3]: how many do not qualify, being above ``worst``, and how many of the others
    are weaker, and stronger, than the hand's ``own`` value.
    """
    ranks = np.empty((6, ways), np.int32)
    dealt = np.empty(ways, np.int16)
    roles = np.empty(52, np.uint8)
    for n in range(len(hands)):
        roles[:] = _UNSEEN
        for hand in hands[n]:
            for card in hand:
                roles[card] = _SEEN
        for card in ups[n]:
            roles[card] = _UP
        _list_ranks(roles, ups.shape[1], ranks)
        for i in range(ways):
            dealt[i] = values[ranks[5, i]]
        for h in range(hands.shape[1]):
            value = own[n, h]
            not_qualified = win = lose = 0
            for i in range(ways):
                not_qualified += dealt[i] > worst
                win += (dealt[i] > value) & (dealt[i] <= worst)
                lose += (dealt[i] < value) & (dealt[i] <= worst)
            found[n, h, 0], found[n, h, 1], found[n, h, 2] = not_qualified, win, lose


@kernel
def _list_ranks(roles: Bytes, up_cards: int, ranks: Ints) -> None:
    """Write the ranks of all hands with all up-cards and otherwise unseen ones to the last row, 5.

    Row by row the ranks of as many cards are built, card by card in ascending order: one that is unseen is
    added to sets that stay as they are, too; an up-card to all, and sets without it are forgotten.
    """
    sizes = np.zeros(6, np.int64)
    sizes[0], ranks[0, 0] = 1, 0
    most = 5 - up_cards  # sets that the up-cards still to come would make too large are not begun
    for card in range(52):
        if roles[card] == _SEEN:
            continue
        is_up = roles[card] == _UP
        most += is_up
        for size in range(most, 0, -1):
            begin = 0 if is_up else sizes[size]
            step = CHOOSE[card, size]
            for i in range(sizes[size - 1]):
                ranks[size, begin + i] = ranks[size - 1, i] + step
            sizes[size] = begin + sizes[size - 1]
        if is_up:
            sizes[0] = 0

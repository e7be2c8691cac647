"""Counting the dealer's hands in front of one hand: the compiled part of `domain.odds.lookup`.

Of the dealer's hands that hold her up-cards and none of the player's cards, those weaker than a value are
counted by inclusion and exclusion: for every set of the player's cards that fits beside the up-cards, the
hands that hold both, with alternating signs. Of one to three held cards the hands are counted in a table, by
the cards' class under exchange of suits; with four or five there are at most 48 hands to look at.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from domain.hands import HAND_SIZE
from domain.odds.hands_table import CARDS, CHOOSE, VALUES, Bytes, HandsTable, Ints, Shorts
from domain.odds.kernel import kernel
from domain.odds.suit_classes import suit_classes

Longs = NDArray[np.int64]

_TABLED: Final = 3
_LOOKED_AT: Final = CARDS - HAND_SIZE + 1


class Held(NamedTuple):
    """How many hands hold one to three cards and are weaker than a value.

    ``weaker`` [1 937, 7 463] has them by row and value; ``rows`` [23 478] gives the row of a set of cards.
    Sets of one card stand first, then those of two and of three, each in the order of rank: they begin at
    ``begins[size]``. ``values`` are those of the table of hands, for sets of four and five.
    """

    values: Shorts
    weaker: Ints
    rows: Shorts
    begins: Ints


def count_held(table: HandsTable) -> Held:
    """Count for all sets of one to three cards: a third of a second, and 58 MB."""
    sizes = [suit_classes(size) for size in range(1, _TABLED + 1)]
    begins = np.cumsum([0, 0, *(len(found.classes) for found in sizes[:-1])], dtype=np.int32)
    first_rows = np.cumsum([0, *(len(found.leaders) for found in sizes)])
    rows = np.concatenate([found.classes + row for found, row in zip(sizes, first_rows[:-1], strict=True)])
    leads = np.concatenate([np.isin(np.arange(len(found.classes)), found.leaders) for found in sizes])
    held = Held(
        values=table.values,
        weaker=np.zeros((first_rows[-1], VALUES + 1), np.int32),
        rows=rows.astype(np.int16),
        begins=begins,
    )
    _count_held(table.hands, leads, held)
    return held


@kernel
def _count_held(hands: Bytes, leads: NDArray[np.bool_], held: Held) -> None:
    """Count hands for those sets that stand for a class."""
    values, weaker, rows, begins = held
    for number in range(len(hands)):
        hand, value = hands[number], values[number]
        for a in range(5):
            one = hand[a]
            if leads[one]:
                weaker[rows[one], value] += 1
            for b in range(a + 1, 5):
                two = one + CHOOSE[hand[b], 2]
                if leads[begins[2] + two]:
                    weaker[rows[begins[2] + two], value] += 1
                for c in range(b + 1, 5):
                    three = begins[3] + two + CHOOSE[hand[c], 3]
                    if leads[three]:
                        weaker[rows[three], value] += 1
    for row in weaker:
        above = 0
        for value in range(row.size - 1, -1, -1):
            here = row[value]
            row[value] = above
            above += here


@kernel
def count_weaker(held: Held, avoided: Longs, ups: Longs, limits: Shorts, found: Longs) -> None:
    """Count the hands with all of ``ups``, none of ``avoided`` and a value above each of ``limits``."""
    found[:] = 0
    cards = np.empty(HAND_SIZE, np.int64)
    completed = np.empty(_LOOKED_AT, np.int16)
    for chosen in range(1 << avoided.size):
        sign, size = 1, ups.size
        for n in range(avoided.size):
            size += chosen >> n & 1
        if size > HAND_SIZE:
            continue
        size = 0
        for card in ups:
            size = _insert(cards, size, card)
        for n in range(avoided.size):
            if chosen >> n & 1:
                size = _insert(cards, size, avoided[n])
                sign = -sign
        _add(held, cards[:size], sign, limits, completed, found)


@kernel
def _insert(cards: Longs, size: int, card: int) -> int:
    """Put a card where it belongs among ascending ones, and return how many they are then."""
    place = size
    while place > 0 and cards[place - 1] > card:
        cards[place] = cards[place - 1]
        place -= 1
    cards[place] = card
    return size + 1


@kernel
def _add(held: Held, cards: Longs, sign: int, limits: Shorts, completed: Shorts, found: Longs) -> None:
    """Add ``sign`` for each hand with all of one to five ascending cards and a value above a limit."""
    rank = 0
    for n in range(cards.size):
        rank += CHOOSE[cards[n], n + 1]
    if cards.size <= _TABLED:
        row = held.weaker[held.rows[held.begins[cards.size] + rank]]
        for k in range(limits.size):
            found[k] += sign * row[limits[k]]
        return
    hands = _LOOKED_AT
    if cards.size == HAND_SIZE:
        hands = 1
        completed[0] = held.values[rank]
    else:
        _complete(held.values, cards, completed)
    for k in range(limits.size):
        above = 0
        for n in range(hands):
            above += completed[n] > limits[k]
        found[k] += sign * above


@kernel
def _complete(values: Shorts, cards: Longs, completed: Shorts) -> None:
    """Write the values of the 48 hands with four ascending cards."""
    begin = hands = 0
    # The fifth card is below the first of them, between two, or above the last.
    for place in range(5):
        end = cards[place] if place < cards.size else CARDS
        rank = 0
        for n in range(4):
            rank += CHOOSE[cards[n], n + 1 + (n >= place)]
        for card in range(begin, end):
            completed[hands] = values[rank + CHOOSE[card, place + 1]]
            hands += 1
        begin = end + 1


@kernel
def can_become(held: Held, kept: Longs, categories: Bytes, wanted: NDArray[np.bool_]) -> bool:
    """Whether one card more, seen or not, makes of four ascending ones a hand of the ``wanted`` categories.

    ``categories`` has them by value.
    """
    completed = np.empty(_LOOKED_AT, np.int16)
    _complete(held.values, kept, completed)
    found = False
    for value in completed:
        found |= wanted[categories[value]]
    return found


@kernel
def count_draws(held: Held, hand: Longs, ups: Longs, places: Longs, worst: int, found: Longs) -> None:
    """Count for each card that can be drawn, and each of the places it can be drawn to.

    ``found`` [draws, places, 4]: the value of the final hand, and how many of the dealer's hands are above
    ``worst``, above that value and above the one before it, the card given away being none of hers.
    """
    avoided = np.empty(HAND_SIZE + 1, np.int64)
    avoided[:HAND_SIZE] = hand
    limits = np.empty(1 + 2 * places.size, np.int16)
    counted = np.empty(limits.size, np.int64)
    limits[0] = worst
    draw = 0
    for card in range(CARDS):
        if (hand == card).any() or (ups == card).any():
            continue
        avoided[HAND_SIZE] = card
        for n in range(places.size):
            final = hand.copy()
            final[places[n]] = card
            final.sort()
            rank = 0
            for k in range(HAND_SIZE):
                rank += CHOOSE[final[k], k + 1]
            value = held.values[rank]
            found[draw, n, 0] = value
            limits[1 + 2 * n] = value
            limits[2 + 2 * n] = value - 1
        count_weaker(held, avoided, ups, limits, counted)
        for n in range(places.size):
            found[draw, n, 1] = counted[0]
            found[draw, n, 2] = counted[1 + 2 * n]
            found[draw, n, 3] = counted[2 + 2 * n]
        draw += 1

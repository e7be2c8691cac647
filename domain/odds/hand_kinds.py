"""The kinds of hands that a player tells apart when deciding: the rows of a strategy chart.

Hands are looked at by their class under exchange of suits (`domain.odds.hands_table`); every class is in
one row of one of the groups that a game needs. Which card is given up in an exchange is told by what is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.cards import RANKS, SUITS
from domain.hands import CATEGORIES, HAND_SIZE
from domain.odds.hands_table import Bytes, HandsTable, Ints

Bools: TypeAlias = NDArray[np.bool_]

RANK_NAMES: Final = tuple(rank.replace("T", "10") for rank in RANKS)
"""By rank, the two first."""
ROWS_OF_DRAWS: Final = (
    "four to a straight flush",
    "four to a flush",
    "four to an open straight",
    "four to an inside straight",
)
NOWHERE: Final = -1
DRAWS: Final = ("straight_flush_draw", "flush_draw", "open_straight_draw", "inside_straight_draw")
"""Four cards that one more can make a straight flush, a flush or a straight; an open one by either end."""
KEPT: Final = (*DRAWS, "four_of_a_kind", "three_of_a_kind", "two_pair", "pair", "high_cards")
"""What the four cards are that stay in an exchange: the first of these that they are."""
GIVEN: Final = ("lowest", "another", "paired")
"""Which card goes: the lowest that is in no pair, another one that is not, or one of a pair or more."""

_HIGH, _PAIR = 0, 1
_ACE, _KING, _TEN = 12, 11, 8
_WHEEL_TOP: Final = 3
_NO_DRAW: Final = len(DRAWS)


class Group(NamedTuple):
    """Rows of a chart: their names in order, and by class of hands its row, or `NOWHERE`."""

    key: str
    rows: tuple[str, ...]
    row_of: Ints


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Kinds:
    """What the classes of hands are. Arrays are by class, and of five by the place of a card in its hand.

    ``ranks`` ascending, 0 for a two; ``paired_rank`` the greatest rank that is there more than once, or
    `NOWHERE`; ``draw`` an index in `DRAWS` of the best that giving up one card leaves, or their number;
    ``kept`` [classes, 5] an index in `KEPT` by the card that is given up, ``given`` [classes, 5] one in
    `GIVEN`.
    """

    ranks: Bytes
    categories: Bytes
    paired_rank: Ints
    draw: Bytes
    kept: Bytes
    given: Bytes


def kinds_of(table: HandsTable) -> Kinds:
    """Look at every class of hands."""
    ranks, suits = table.class_hands // len(SUITS), table.class_hands % len(SUITS)
    same = ranks[:, :, None] == ranks[:, None, :]
    paired = same.sum(axis=2) > 1
    kept = np.stack([_kept(ranks, suits, place) for place in range(HAND_SIZE)], axis=1)
    first_alone = np.where(paired.all(axis=1), HAND_SIZE, np.argmin(paired, axis=1))
    given = np.where(paired, 2, (np.arange(HAND_SIZE) != first_alone[:, None]).astype(np.uint8))
    return Kinds(
        ranks=ranks,
        categories=table.class_categories,
        paired_rank=np.where(paired, ranks.astype(np.int32), NOWHERE).max(axis=1).astype(np.int32),
        draw=np.minimum(kept.min(axis=1), _NO_DRAW).astype(np.uint8),
        kept=kept,
        given=given.astype(np.uint8),
    )


def plain_groups(kinds: Kinds) -> tuple[Group, ...]:
    """The rows where no card can be bought: what a hand could become does not matter.

    Hands with an ace and a king are told apart by their other three cards.
    """
    pairs = _pairs(kinds, np.ones(len(kinds.ranks), np.bool_))
    return (_made(kinds), pairs, _ace_king(kinds), _lower(kinds))


def exchange_groups(kinds: Kinds) -> tuple[Group, ...]:
    """The rows where a card can be bought: by what a hand is, and by what one card could make of it."""
    idle = kinds.draw == _NO_DRAW
    return (_made(kinds), _pairs(kinds, idle), _drawing_pairs(kinds), _drawing(kinds), _idle(kinds, idle))


def coarse_groups(kinds: Kinds) -> tuple[Group, ...]:
    """The rows where several of the dealer's cards are up, and each hand meets many of them."""
    pairs = _pairs(kinds, np.ones(len(kinds.ranks), np.bool_))
    return (_made(kinds), pairs, _high_cards(kinds))


def _kept(ranks: Bytes, suits: Bytes, gone: int) -> Bytes:
    """Return what the four cards are that stay when the one at a place is given up, as indices in `KEPT`."""
    stay = [place for place in range(HAND_SIZE) if place != gone]
    a, b, c, d = (ranks[:, place].astype(np.int8) for place in stay)
    suited = (suits[:, stay] == suits[:, stay[:1]]).all(axis=1)
    distinct = (a < b) & (b < c) & (c < d)
    low_ace = (d == _ACE) & (c <= _WHEEL_TOP)
    straight = distinct & ((d - a < HAND_SIZE) | low_ace)
    open_ended = distinct & (d - a == len(stay) - 1) & (d < _ACE)
    found: Sequence[Bools] = (
        suited & straight,
        suited,
        open_ended,
        straight,
        a == d,
        (a == c) | (b == d),
        (a == b) & (c == d),
        (a == b) | (b == c) | (c == d),
    )
    return np.select(list(found), [np.uint8(n) for n in range(len(found))], np.uint8(len(found)))


def _made(kinds: Kinds) -> Group:
    """Two pair and better, by category, the strongest first."""
    names = [category.value for category in reversed(CATEGORIES[2:])]
    row_of = np.where(
        kinds.categories > _PAIR, len(CATEGORIES) - 1 - kinds.categories.astype(np.int32), NOWHERE
    )
    return Group("made", tuple(name.replace("_", " ") for name in names), row_of.astype(np.int32))


def _pairs(kinds: Kinds, wanted: Bools) -> Group:
    """A pair by its rank, aces first."""
    names = tuple(f"{name}-{name}" for name in reversed(RANK_NAMES))
    wanted = wanted & (kinds.categories == _PAIR)
    row_of = np.where(wanted, len(RANKS) - 1 - kinds.paired_rank, NOWHERE)
    return Group("pairs", names, row_of.astype(np.int32))


def _ace_king(kinds: Kinds) -> Group:
    """Ace and king with three lower cards, by these, the highest first; A-K-Q-J-10 is a straight."""
    others = [low for low in combinations(range(_KING), 3) if low != (_TEN, _TEN + 1, _TEN + 2)]
    others.sort(key=lambda low: low[::-1], reverse=True)
    number = {low: row for row, low in enumerate(others)}
    row_of = np.full(len(kinds.ranks), NOWHERE, np.int32)
    for index in np.flatnonzero(_is_ace_king(kinds)):
        a, b, c = (int(rank) for rank in kinds.ranks[index, :3])
        row_of[index] = number[a, b, c]
    names = tuple("-".join(("A", "K", *(RANK_NAMES[rank] for rank in reversed(low)))) for low in others)
    return Group("ace_king", names, row_of)


def _is_ace_king(kinds: Kinds) -> Bools:
    found: Bools = (kinds.categories == _HIGH) & (kinds.ranks[:, 4] == _ACE) & (kinds.ranks[:, 3] == _KING)
    return found


def _lower(kinds: Kinds) -> Group:
    """No pair and no ace-king: by the two highest cards where the first is an ace, else by the first."""
    tops = [f"A-{name}" for name in reversed(RANK_NAMES[_TEN:_KING])]
    names = (*tops, "A-9 or lower", *(f"{name} high" for name in reversed(RANK_NAMES[5:_ACE])))
    top, second = kinds.ranks[:, 4].astype(np.int32), kinds.ranks[:, 3].astype(np.int32)
    by_second = np.minimum(_KING - 1 - second, len(tops))
    by_top = len(tops) + _ACE - top
    row_of = np.where(top == _ACE, by_second, by_top)
    wanted = (kinds.categories == _HIGH) & ~_is_ace_king(kinds)
    return Group("lower", names, np.where(wanted, row_of, NOWHERE).astype(np.int32))


def _high_cards(kinds: Kinds) -> Group:
    """No pair: ace-king by its third card, and the lower ones."""
    lower, third = _lower(kinds), kinds.ranks[:, 2].astype(np.int32)
    names = ("A-K-Q", "A-K-J", "A-K-10", "A-K-9 or lower")
    by_third = np.minimum(_KING - 1 - third, len(names) - 1)
    below = np.where(lower.row_of == NOWHERE, NOWHERE, lower.row_of + len(names))
    row_of = np.where(_is_ace_king(kinds), by_third, below)
    return Group("high_cards", (*names, *lower.rows), row_of.astype(np.int32))


def _drawing_pairs(kinds: Kinds) -> Group:
    """A pair beside four cards to something better, by what that is."""
    wanted = (kinds.categories == _PAIR) & (kinds.draw < _NO_DRAW)
    return Group(
        "drawing_pairs",
        tuple(f"pair, {draw}" for draw in ROWS_OF_DRAWS),
        np.where(wanted, kinds.draw.astype(np.int32), NOWHERE).astype(np.int32),
    )


def _drawing(kinds: Kinds) -> Group:
    """No pair and four cards to something better: by what that is, and ace-king, another ace, or neither."""
    tops = ("ace-king", "ace high", "lower")
    top = np.where(_is_ace_king(kinds), 0, np.where(kinds.ranks[:, 4] == _ACE, 1, 2))
    wanted = (kinds.categories == _HIGH) & (kinds.draw < _NO_DRAW)
    row_of = np.where(wanted, kinds.draw.astype(np.int32) * len(tops) + top, NOWHERE)
    names = tuple(f"{name}, {draw}" for draw in ROWS_OF_DRAWS for name in tops)
    return Group("drawing", names, row_of.astype(np.int32))


def _idle(kinds: Kinds, idle: Bools) -> Group:
    """No pair and nothing to draw to: by the highest cards."""
    high = _high_cards(kinds)
    return Group("high_cards", high.rows, np.where(idle, high.row_of, NOWHERE).astype(np.int32))

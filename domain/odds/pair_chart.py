"""The strategy chart of a house that shows two of the dealer's cards.

What a hand without a pair does depends on how likely the dealer is to play, and that on three things: whether
her up-cards are a pair, whether an ace or a king is among them, and how many of their ranks the hand
holds. A pair is compared with hers. Ace-king is shown once more by the ranks of both up-cards, where it holds
none of them but the ace or the king: only there they decide by themselves.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from domain.cards import RANKS, SUITS
from domain.hands import Qualifier
from domain.odds.chart import ACTIONS, Chart, Row, Section
from domain.odds.exchange_values import EXCHANGE
from domain.odds.gains import gains_of
from domain.odds.hand_kinds import RANK_NAMES, Group, Kinds, coarse_groups
from domain.odds.hands_table import Bytes, HandsTable, Ints
from domain.odds.kernel import kernel
from domain.odds.one_card_chart import UP_CARDS, Longs
from domain.odds.pair_counts import PAIR_CARDS, PairRows, pair_rows
from domain.odds.payoffs import Payoffs
from domain.odds.two_cards import DEALER_HANDS, write_raises

MATCHES: Final = 3
HEIGHTS: Final = ("A+K", "A/K", "low")
"""Two up-cards that are no pair: ace and king, one of these, or lower ones."""
UNPAIRED: Final = tuple(f"{height} {count}" for height in HEIGHTS for count in range(MATCHES))
"""Columns: how high the up-cards are, and how many of their ranks the hand holds."""

_KING: Final = RANKS.index("K")
_ACE_KING: Final = 4  # rows, the first ones of the last group


def two_card_chart(table: HandsTable, kinds: Kinds, qualify: Qualifier, payoffs: Payoffs) -> Chart:
    """Return the chart of a house with two up-cards. It takes some seconds."""
    groups = coarse_groups(kinds)
    row_of = np.zeros(len(table.weights), np.int32)
    first = 0
    for group in groups:
        row_of += np.where(group.row_of < 0, 0, group.row_of + first).astype(np.int32)
        first += len(group.rows)
    states = np.zeros((first, len(RANKS), len(RANKS), MATCHES, EXCHANGE), np.int64)
    gains = gains_of(payoffs, DEALER_HANDS)
    ranks = table.class_hands // len(SUITS)
    for rows in pair_rows(table, qualify):
        part = slice(rows.first, rows.first + len(rows.win))
        raises = np.zeros(rows.win.shape, np.bool_)
        write_raises(rows, table.class_categories[part], gains, raises)
        _add(rows, raises, ranks[part], table.weights[part], row_of[part], states)
    return Chart(ACTIONS[:EXCHANGE], 2, tuple(_sections(groups, states)))


def _sections(groups: tuple[Group, ...], states: Longs) -> list[Section]:
    unpaired, paired = _unpaired(states), _paired(states)
    sections: tuple[list[Section], list[Section]] = [], []
    first = 0
    for group in groups:
        part = slice(first, first + len(group.rows))
        sections[0].append(Section(group.key, "unpaired", UNPAIRED, _rows(group.rows, unpaired[part])))
        sections[1].append(Section(group.key, "pair", UP_CARDS, _rows(group.rows, paired[part])))
        first += len(group.rows)
    last = groups[-1]
    ace_king = states[first - len(last.rows) :][:_ACE_KING]
    details = [_by_ranks(name, cells) for name, cells in zip(last.rows, ace_king, strict=False)]
    return [*sections[0], *sections[1], *details]


def _unpaired(states: Longs) -> Longs:
    """Return states by row, column of `UNPAIRED` and action."""
    cells = np.zeros((len(states), len(HEIGHTS), MATCHES, EXCHANGE), np.int64)
    for high in range(len(RANKS)):
        for low in range(high):
            height = 2 - (high >= _KING) - (low >= _KING)
            cells[:, height] += states[:, high, low]
    return cells.reshape(len(states), len(UNPAIRED), EXCHANGE)


def _paired(states: Longs) -> Longs:
    """Return states by row, rank of the dealer's pair, aces first, and action."""
    ranks = np.arange(len(RANKS))[::-1]
    cells: Longs = states[:, ranks, ranks].sum(axis=2)
    return cells


def _by_ranks(name: str, states: Longs) -> Section:
    """Return those states of one row in which no up-card below the king is matched, by the ranks of both."""
    rows = []
    lows = range(_KING, -1, -1)
    for high in range(len(RANKS) - 1, 0, -1):
        cells = [states[high, low, int(high >= _KING) + int(low >= _KING)] for low in lows]
        cells = [cell if low < high else np.zeros_like(cell) for low, cell in zip(lows, cells, strict=True)]
        rows.append(Row(RANK_NAMES[high], tuple(tuple(cell.tolist()) for cell in cells)))
    return Section(name, "ranks", tuple(RANK_NAMES[low] for low in lows), tuple(rows))


def _rows(names: tuple[str, ...], cells: Longs) -> tuple[Row, ...]:
    return tuple(Row(name, tuple(map(tuple, cell))) for name, cell in zip(names, cells.tolist(), strict=True))


@kernel
def _add(
    rows: PairRows, raises: NDArray[np.bool_], ranks: Bytes, weights: Bytes, row_of: Ints, states: Longs
) -> None:
    """Add the states of some classes: by row, higher and lower rank, matched ranks and decision."""
    for n in range(len(weights)):
        held = 0
        for rank in ranks[n]:
            held |= 1 << rank
        for pair in range(raises.shape[1]):
            if rows.not_qualified[n, pair] >= 0:
                # Cards ascend, and ranks with them.
                low, high = PAIR_CARDS[pair, 0] >> 2, PAIR_CARDS[pair, 1] >> 2
                matched = (held >> high & 1) + (held >> low & 1 if low != high else 0)
                states[row_of[n], high, low, matched, int(raises[n, pair])] += weights[n]

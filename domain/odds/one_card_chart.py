"""The strategy chart of a house that shows one of the dealer's cards, whether a card can be bought or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.cards import RANKS, SUITS
from domain.hands import HAND_SIZE
from domain.odds.basis import Basis
from domain.odds.chart import ACTIONS, Chart, GivenUp, Row, Section
from domain.odds.exchange_values import EXCHANGE, FOLD, NO_STATE, RAISE, Decisions
from domain.odds.hand_kinds import (
    GIVEN,
    KEPT,
    NOWHERE,
    RANK_NAMES,
    Group,
    Kinds,
    exchange_groups,
    plain_groups,
)
from domain.odds.hands_table import Bytes
from domain.odds.one_card import best_raises
from domain.odds.payoffs import Payoffs

Longs: TypeAlias = NDArray[np.int64]

UP_CARDS: Final = tuple(reversed(RANK_NAMES))
"""The columns' names, by the rank of the dealer's up-card, an ace first."""


def best_decisions(basis: Basis, payoffs: Payoffs) -> Decisions:
    """Return the best decisions where no card can be bought, by class of hands and up-card [classes, 52]."""
    best = np.where(best_raises(basis, payoffs), RAISE, FOLD).astype(np.int8)
    best[basis.not_qualified < 0] = NO_STATE
    return best


def one_card_chart(kinds: Kinds, weights: Bytes, best: Decisions, *, exchange: bool) -> Chart:
    """Return the chart of a house with one up-card, with or without ``exchange`` among its decisions.

    ``best`` [classes, 52]: the best decisions by class of hands and up-card. ``weights``: how many hands are
    of a class.
    """
    actions = ACTIONS if exchange else ACTIONS[:EXCHANGE]
    states = _by_rank(weights, best, len(actions))
    groups = exchange_groups(kinds) if exchange else plain_groups(kinds)
    sections = [
        Section(group.key, "one", UP_CARDS, _rows(group, states, _given_up(group, kinds, weights, best)))
        for group in groups
    ]
    return Chart(actions, 1, tuple(sections))


def _by_rank(weights: Bytes, best: Decisions, actions: int) -> Longs:
    """Count states by class, rank of the up-card (an ace first) and action."""
    by_suit = best.reshape(len(best), len(RANKS), len(SUITS))[:, ::-1]
    of_action = [
        (by_suit >= action) if action == EXCHANGE else (by_suit == action) for action in range(actions)
    ]
    counts = np.stack([found.sum(axis=2) for found in of_action], axis=2)
    return counts * weights.astype(np.int64)[:, None, None]


def _rows(group: Group, states: Longs, given_up: Sequence[tuple[GivenUp, ...]]) -> tuple[Row, ...]:
    cells = np.zeros((len(group.rows), *states.shape[1:]), np.int64)
    here = group.row_of != NOWHERE
    np.add.at(cells, group.row_of[here], states[here])
    return tuple(
        Row(name, tuple(map(tuple, cell)), gone)
        for name, cell, gone in zip(group.rows, cells.tolist(), given_up, strict=True)
        if any(map(sum, cell))  # no seven high is without four to a straight
    )


def _given_up(group: Group, kinds: Kinds, weights: Bytes, best: Decisions) -> list[tuple[GivenUp, ...]]:
    """Return by row which cards are given up, the most frequent first."""
    counts = np.zeros((len(group.rows), len(KEPT), len(GIVEN)), np.int64)
    here = np.flatnonzero(group.row_of != NOWHERE)
    for place in range(HAND_SIZE):
        times = (best[here] == EXCHANGE + place).sum(axis=1) * weights[here].astype(np.int64)
        np.add.at(counts, (group.row_of[here], kinds.kept[here, place], kinds.given[here, place]), times)
    return [tuple(_sorted(row)) for row in counts]


def _sorted(counts: Longs) -> Iterable[GivenUp]:
    found = [
        GivenUp(KEPT[keeps], GIVEN[gives], int(counts[keeps, gives])) for keeps, gives in np.argwhere(counts)
    ]
    return sorted(found, key=lambda each: -each.states)

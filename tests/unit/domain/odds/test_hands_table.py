"""Every hand has its value and its class, and they are those that combinatorics and the evaluator know."""

from __future__ import annotations

import random

import numpy as np
import pytest

from domain.cards import DECK
from domain.hands import CATEGORIES, rank_five
from domain.odds.hands_table import INVERSES, PERMUTATIONS, HandsTable, hands_table, rank_of


@pytest.fixture(scope="module")
def table() -> HandsTable:
    """Return the table."""
    return hands_table()


def test_categories_have_their_known_numbers_of_hands(table: HandsTable) -> None:
    """Of 2 598 960 hands, 1 302 540 have nothing and 4 are royal flushes."""
    hands = np.bincount(table.value_categories[table.values])
    assert hands.tolist() == [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4]
    classes = np.bincount(table.class_categories, table.weights)
    assert classes.tolist() == hands.tolist()


def test_categories_have_their_known_numbers_of_values(table: HandsTable) -> None:
    """There are 7 462 different ones."""
    values = np.bincount(table.value_categories[1:])
    assert values.tolist() == [1277, 2860, 858, 858, 10, 1277, 156, 156, 9, 1]
    assert sorted(set(table.values.tolist())) == list(range(1, 7463))


def test_values_are_those_of_the_evaluator(table: HandsTable) -> None:
    """A hand of each value, and some drawn at random, are worth what settlement takes them for."""
    draw = random.Random(5)
    for rank in (*table.by_strength[table.starts[1:]].tolist(), *draw.sample(range(len(table.hands)), 2000)):
        hand = rank_five([DECK[card] for card in table.hands[rank]])
        assert hand.value == table.values[rank]
        assert hand.category is CATEGORIES[table.value_categories[hand.value]]


def test_a_hand_is_found_by_its_rank(table: HandsTable) -> None:
    """The cards may come in any order."""
    draw = random.Random(6)
    for rank in (0, 2598959, *draw.sample(range(len(table.hands)), 200)):
        cards = table.hands[rank].tolist()
        assert cards == sorted(set(cards))
        draw.shuffle(cards)
        assert rank_of(cards) == rank
    assert (rank_of([0]), rank_of([51, 50]), rank_of([49, 51, 50])) == (0, 1325, 22099)


def test_there_are_134_459_classes_of_all_hands(table: HandsTable) -> None:
    """Each has 4, 12 or 24 hands, and the one of least rank stands for it."""
    assert len(table.class_hands) == len(table.weights) == 134459
    assert np.bincount(table.class_of).tolist() == table.weights.tolist()
    assert set(table.weights.tolist()) == {4, 12, 24}
    classes, first = np.unique(table.class_of, return_index=True)
    assert len(classes) == 134459
    assert (table.hands[first] == table.class_hands).all()
    assert (table.values == table.class_values[table.class_of]).all()


def test_a_permutation_of_suits_makes_a_hand_the_one_of_its_class(table: HandsTable) -> None:
    """Of every ninth hand, and the permutation that undoes it makes the hand again."""
    hands, permutation = table.hands[::9], table.permutation_of[::9, None]
    there = PERMUTATIONS[permutation, hands]
    assert (np.sort(there, axis=1) == table.class_hands[table.class_of[::9]]).all()
    assert (PERMUTATIONS[INVERSES[permutation], there] == hands).all()


def test_permutations_move_suits_and_keep_ranks() -> None:
    """There are 24 different ones, and the first changes nothing."""
    assert len({tuple(cards) for cards in PERMUTATIONS.tolist()}) == 24
    assert (np.arange(52) // 4 == PERMUTATIONS // 4).all()
    assert (PERMUTATIONS[0] == np.arange(52)).all()
    assert all(len({tuple(row) for row in cards.reshape(13, 4) % 4}) == 1 for cards in PERMUTATIONS)


def test_hands_and_classes_are_in_the_order_of_their_strength(table: HandsTable) -> None:
    """The weakest first, and the hands of a value between where it and the next one start."""
    values = table.values[table.by_strength]
    assert (np.diff(values) <= 0).all()
    assert (np.diff(table.class_values) <= 0).all()
    assert (values[table.starts[1:]] == np.arange(1, 7463)).all()
    assert (table.starts[0], table.starts[1], table.starts[7462]) == (2598960, 2598956, 0)

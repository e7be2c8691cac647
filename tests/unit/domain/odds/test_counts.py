"""How a hand meets the dealer's: the states that are known from elsewhere, and others counted one by one."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from domain.cards import DECK
from domain.hands import CATEGORIES, Category, Qualifier, best_of_six
from domain.odds.basis import Basis
from domain.odds.counts import count_one_up, worst_qualifying
from domain.odds.hands_table import hands_table, rank_of
from domain.odds.pair_counts import PAIR_CARDS, PairRows, pair_rows
from tests.unit.domain.odds.brute_force import Counts, everything
from tests.unit.domain.odds.states import numbers, place

KNOWN = [
    ("Ac Kc Qc Jc Tc", "2d", "royal_flush", 74334, 88851, 0, 0),
    ("9c 9d 9h 9s 2c", "Ad", "four_of_a_kind", 47983, 115153, 0, 49),
    ("2c 4c 6c 8c Tc", "Kd", "flush", 51004, 111366, 0, 815),
    ("Ac Kd Qh Js Tc", "6d", "straight", 73689, 88846, 0, 650),
    ("6c 6d 5c 5d Ah", "Kc", "two_pair", 55683, 94178, 0, 13324),
    ("2c 2d 3h 4s 6c", "As", "pair", 50760, 28733, 0, 83692),
    ("Ac Kd Qh Js 9c", "2s", "high_card", 74490, 5499, 0, 83196),
    ("Ac Kd 4h 3s 2c", "9s", "high_card", 73725, 0, 0, 89460),
    ("Ac Kd Jh 8s 3c", "7s", "high_card", 74025, 4024, 0, 85136),
    ("Ac Kd Qh 8s 3c", "9s", "high_card", 74073, 4589, 0, 84523),
    ("Ac Kd 9h 8s 3c", "As", "high_card", 62735, 7393, 81, 92976),
    ("7c 5d 4h 3s 2c", "As", "high_card", 51234, 0, 0, 111951),
    ("2h 3h 6d Kc Ac", "6h", "high_card", 81533, 0, 81, 81571),
    ("2h 6d Qc Kc Ac", "4h", "high_card", 74266, 4884, 0, 84035),
    ("2h 6d Qd Kc Ac", "4h", "high_card", 74266, 4884, 0, 84035),
    ("2h 3h 6c Kd Ac", "6h", "high_card", 81533, 0, 81, 81571),
    ("2s 3s 6h Kd Ac", "6s", "high_card", 81533, 0, 81, 81571),
    ("2h 5d Qc Kd Ac", "4d", "high_card", 74384, 4806, 0, 83995),
]


@pytest.fixture(scope="module")
def sampled() -> list[PairRows]:
    """Return copies of some rows for two up-cards: four classes of every 20 000."""
    found = []
    for rows in pair_rows(hands_table(), "ace_king", rows=500):
        if rows.first % 20_000 == 0:
            some = [array[::125].copy() for array in rows[1:]]
            found.append(PairRows(rows.first, *some))
    return found


@pytest.mark.parametrize(("hand", "up", "category", "not_qualified", "win", "tie", "lose"), KNOWN)
def test_known_states_are_counted_as_they_are_known(
    basis: Basis, hand: str, up: str, category: str, not_qualified: int, win: int, tie: int, lose: int
) -> None:
    """Eighteen states, among them those closest to where a raise is worth a fold."""
    state = place(hand, up)
    counts = (int(basis.not_qualified[state]), int(basis.win[state]), int(basis.tie[state]))
    assert counts == (not_qualified, win, tie)
    assert sum(counts) + lose == 163185
    assert CATEGORIES[basis.categories[state[0]]] == category


def test_dealers_who_do_not_qualify_are_as_many_as_there_are_such_hands(basis: Basis) -> None:
    """Of all hands 1 135 260 do not qualify, whatever the player sees."""
    states = np.maximum(basis.not_qualified, 0).sum(axis=1, dtype=np.int64)
    assert int(states @ basis.weights.astype(np.int64)) * 2598960 == 2598960 * 47 * 163185 * 1135260
    assert (np.count_nonzero(basis.not_qualified < 0, axis=1) == 5).all()


def test_six_cards_have_the_category_that_the_evaluator_finds(basis: Basis) -> None:
    """In states drawn at random."""
    draw = random.Random(7)
    for _ in range(1000):
        *hand, up = draw.sample(DECK, 6)
        six = basis.six[place(" ".join(hand), up)]
        assert CATEGORIES[six] is best_of_six([*hand, up]).category


@pytest.mark.parametrize(
    ("qualify", "value"),
    [("ace_king", 6349), (Category.HIGH_CARD, 7462), (Category.PAIR, 6185), (Category.ROYAL_FLUSH, 1)],
)
def test_a_dealer_qualifies_from_a_value_on(qualify: Qualifier, value: int) -> None:
    """A-K-4-3-2 has the value 6349, a pair of twos with 5-4-3 the value 6185."""
    assert worst_qualifying(qualify) == value


@pytest.mark.parametrize("qualify", [Category.HIGH_CARD, Category.TWO_PAIR])
def test_any_hand_can_be_the_one_to_qualify_with(qualify: Qualifier) -> None:
    """Counts for other qualifying hands are those of a count one by one."""
    counts, draw, every = count_one_up(hands_table(), qualify), random.Random(8), everything()
    least = 1277 + 2860 if qualify == Category.TWO_PAIR else 0
    for _ in range(20):
        *hand, up = draw.sample(DECK, 6)
        state = place(" ".join(hand), up)
        own = every.of(numbers(" ".join(hand)))
        dealt, _ = every.dealt(numbers(up), numbers(" ".join(hand)))
        played = dealt[dealt >= least]
        assert counts.not_qualified[state] == len(dealt) - len(played)
        assert counts.win[state] == np.count_nonzero(played < own)
        assert counts.tie[state] == np.count_nonzero(played == own)


def test_with_one_up_card_counts_are_those_of_a_count_one_by_one(basis: Basis) -> None:
    """In states drawn at random from all classes alike, so that strong hands are among them."""
    draw, every, table = random.Random(9), everything(), hands_table()
    for _ in range(100):
        number = draw.randrange(len(table.class_hands))
        hand = table.class_hands[number].tolist()
        up = draw.choice([card for card in range(52) if card not in hand])
        expected = every.counts(hand, [up])
        found = (basis.not_qualified[number, up], basis.win[number, up], basis.tie[number, up])
        assert found == (expected.not_qualified, expected.win, expected.tie)


def test_with_two_up_cards_counts_are_those_of_a_count_one_by_one(sampled: list[PairRows]) -> None:
    """In states of classes of every strength."""
    draw, every, table = random.Random(10), everything(), hands_table()
    for rows in sampled:
        for n in range(len(rows.win)):
            hand = table.class_hands[rows.first + 125 * n].tolist()
            for ups in draw.sample(list(combinations(sorted({*range(52)} - {*hand}), 2)), 4):
                pair = rank_of(ups)
                assert tuple(PAIR_CARDS[pair]) == ups
                found = [int(array[n, pair]) for array in rows[1:]]
                expected = every.counts(hand, ups)
                assert Counts(*found, 14190 - sum(found), expected.category) == expected


def test_two_up_cards_leave_the_hands_that_one_of_them_leaves(basis: Basis, sampled: list[PairRows]) -> None:
    """The dealer's hands with one up-card are those with each second one, each counted for four of them."""
    holds = (PAIR_CARDS[:, :1] == np.arange(52)) | (PAIR_CARDS[:, 1:] == np.arange(52))
    for rows in sampled:
        part = slice(rows.first, rows.first + 500, 125)
        there = basis.not_qualified[part] >= 0
        for pairs, ones in zip(rows[1:], (basis.not_qualified, basis.win, basis.tie), strict=True):
            of_ones = np.where(there, ones[part], 0)
            assert (np.maximum(pairs, 0).astype(np.int64) @ holds == 4 * of_ones).all()

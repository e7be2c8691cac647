"""A game with two up-cards is counted whole, and decided as each of its states is."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from domain.odds.basis import Basis
from domain.odds.figures import figures_of
from domain.odds.gains import gains_of
from domain.odds.hands_table import hands_table
from domain.odds.one_card import solve_one
from domain.odds.outcomes import Outcomes
from domain.odds.pair_counts import pair_rows
from domain.odds.payoffs import Payoffs
from domain.odds.two_cards import TOTAL, _raises, solve_two
from tests.unit.domain.odds.counted import BEST_OF_SIX, HANDS

USUAL = Payoffs(1, 2, (2, 2, 4, 6, 8, 10, 14, 40, 100, 200), None, 100)


@pytest.fixture(scope="module")
def solved() -> Outcomes:
    """Return the outcomes of the house with two up-cards."""
    return solve_two("ace_king", USUAL)


def test_every_deal_is_counted_once(solved: Outcomes) -> None:
    """By category of the hand, by that of six cards, and by whether the dealer qualifies."""
    kept = solved.kept
    by_category = [
        sum(counts)
        for counts in zip(
            kept.folded_not_qualified,
            kept.folded_qualified,
            kept.not_qualified,
            kept.win,
            kept.tie,
            kept.lose,
            strict=True,
        )
    ]
    assert by_category == [hands * TOTAL // 2598960 for hands in HANDS]
    of_six = [sum(half[c] for decision in solved.six for half in decision) for c in range(10)]
    assert of_six == [Fraction(count * TOTAL, 122151120) for count in BEST_OF_SIX]
    not_qualified = sum(kept.folded_not_qualified) + sum(kept.not_qualified)
    assert not_qualified == Fraction(1135260, 2598960) * TOTAL
    assert (solved.total, solved.exchanged, solved.up_cards) == (TOTAL, None, 2)


def test_six_cards_follow_the_decision(solved: Outcomes) -> None:
    """Folded and raised deals, with dealers who qualify and who do not, are the same whoever counts them."""
    kept = solved.kept
    qualified = sum(kept.win) + sum(kept.tie) + sum(kept.lose)
    assert [[sum(half) for half in decision] for decision in solved.six] == [
        [sum(kept.folded_not_qualified), sum(kept.folded_qualified)],
        [sum(kept.not_qualified), qualified],
    ]


def test_what_is_expected_is_the_sum_over_all_states(solved: Outcomes) -> None:
    """A fold's loss everywhere, and in each state what a raise gains where it does."""
    table, gained = hands_table(), 0
    wins = np.array(USUAL.raise_wins, np.int32)[table.class_categories][:, None]
    weights = table.weights.astype(np.int64)
    for rows in pair_rows(table, "ace_king"):
        part = slice(rows.first, rows.first + len(rows.win))
        gains = rows.not_qualified * np.int32(4) + rows.win * (wins[part] + 4) + rows.tie * np.int32(3)
        gains -= 2 * 14190
        gained += int(
            weights[part] @ np.maximum(gains, 0, where=rows.not_qualified >= 0, out=gains * 0).sum(1)
        )
    expected = Fraction(2 * gained - TOTAL, TOTAL)
    assert figures_of(solved, USUAL).per_ante.expected == expected == Fraction(-2558246932, 415275635775)


def test_who_sees_more_loses_less(basis: Basis, solved: Outcomes) -> None:
    """With the same pay table, a second up-card is worth more than four hundredths of an ante."""
    one = figures_of(solve_one(basis, USUAL), USUAL).per_ante.expected
    two = figures_of(solved, USUAL).per_ante.expected
    assert Fraction(4, 100) < two - one < Fraction(5, 100)


def test_the_largest_amounts_are_decided_exactly() -> None:
    """As integers without bounds decide, where the sums need more than 64 bits, down to the last unit."""
    draw = random.Random(12)
    for _ in range(3_000):
        not_qualified, win, tie = sorted(draw.choices(range(14190 // 3), k=3))
        lose = 14190 - not_qualified - win - tie
        ante, raised = draw.randrange(1, 10**12), draw.randrange(1, 10**12)
        # What makes a raise worth about a fold, if that is a payout at all.
        needed = (lose * (ante + raised) - not_qualified * ante - 14190 * ante) // max(win, 1) - ante
        wins = (*[max(needed, 1) + draw.randrange(-1, 2)] * 9, 10**17)
        worth = not_qualified * ante + win * (ante + wins[0]) - lose * (ante + raised)
        high, low, bits = gains_of(Payoffs(ante, raised, wins, None, 1), 14190)
        assert bits > 0
        assert _raises(not_qualified, win, tie, high[0], low[0], bits) == (worth > -14190 * ante)

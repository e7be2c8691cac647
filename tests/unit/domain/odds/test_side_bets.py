"""What side bets return: 5+1 and the bonus, and which of them still stand at settlement."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt

import pytest

from domain.odds.figures import Expectation
from domain.odds.house import TableSettings, rules_for
from domain.odds.payoffs import OddsError
from domain.odds.side_bets import SideBetFigures, alone, bonus, five_plus_one, standing_counts
from domain.rules import Rules
from tests.unit.domain.odds.counted import BUYING, HANDS, STANDARD, TOTAL, changed, shipped

LIVE = rules_for(shipped("evolution-live"), "EUR", TableSettings())
CZECH = rules_for(shipped("czech"), "CZK", TableSettings(bonus_stake=5_000))
QUARTERS = tuple(
    tuple(tuple(4 * 2**n if c == 9 else 0 for c in range(10)) for n in pair) for pair in ((0, 1), (2, 3))
)


def test_five_plus_one_returns_what_its_source_says() -> None:
    """001 states 91.44 %: exactly, 12 816 of 149 695 are lost."""
    figures = five_plus_one(STANDARD, LIVE.side_bets["five_plus_one"])
    assert figures.per_stake == Expectation(Fraction(-12816, 149695), "side_bet")
    assert f"{float(figures.per_stake.returned):.4f}" == "0.9144"
    assert float(figures.win) == pytest.approx(0.07279821912398347, rel=1e-14)
    assert sqrt(figures.variance) == pytest.approx(5.448390682043107, rel=1e-14)
    assert next(iter(figures.paid)) == "royal_flush"
    assert figures.paid["straight"] == Fraction(2169720, 122151120)
    assert "two_pair" not in figures.paid


@pytest.mark.parametrize(
    ("survives_fold", "needs_dealer_to_qualify", "standing"),
    [(True, False, 60), (True, True, 40), (False, False, 48), (False, True, 32)],
)
def test_five_plus_one_stands_as_its_rules_say(
    *, survives_fold: bool, needs_dealer_to_qualify: bool, standing: int
) -> None:
    """Of royal flushes that fold or raise, with dealers that qualify or not, those that stand are paid."""
    outcomes = replace(STANDARD, total=60, six=QUARTERS)
    bet = changed(
        LIVE, "five_plus_one", survives_fold=survives_fold, needs_dealer_to_qualify=needs_dealer_to_qualify
    )
    figures = five_plus_one(outcomes, bet)
    assert figures.win == Fraction(standing, 60)
    assert figures.per_stake.expected == Fraction(standing * 1000 - (60 - standing), 60)


def test_five_plus_one_needs_its_hands_to_be_counted() -> None:
    """Outcomes without the best five of six cards say nothing of it."""
    with pytest.raises(OddsError, match="not counted where a card can be bought"):
        five_plus_one(BUYING, LIVE.side_bets["five_plus_one"])


def test_a_bet_that_survives_everything_stands_in_every_deal() -> None:
    """The jackpot's categories are those of five dealt cards, whatever is decided (000)."""
    bet = changed(CZECH, "bonus")
    standing = standing_counts(STANDARD, bet, forfeited_by_exchange=False)
    assert standing == tuple(count * 47 * 163185 for count in HANDS)


@pytest.mark.parametrize(
    ("survives_fold", "needs_dealer_to_qualify", "kept", "all_hands"),
    [
        (True, False, (30, 6, 4, 0), (36, 16, 28, 20)),
        (True, True, (20, 2, 4, 0), (20, 2, 28, 20)),
        (False, False, (0, 6, 4, 0), (0, 16, 24, 20)),
        (False, True, (0, 2, 4, 0), (0, 2, 24, 20)),
    ],
)
def test_a_bet_stands_where_fold_exchange_and_dealer_leave_it(
    *,
    survives_fold: bool,
    needs_dealer_to_qualify: bool,
    kept: tuple[int, ...],
    all_hands: tuple[int, ...],
) -> None:
    """By category high card, pair, flush and royal flush, of hands that kept their cards and of all."""
    bet = changed(
        CZECH, "bonus", survives_fold=survives_fold, needs_dealer_to_qualify=needs_dealer_to_qualify
    )
    for forfeited, expected in ((True, kept), (False, all_hands)):
        counts = standing_counts(BUYING, bet, forfeited_by_exchange=forfeited)
        assert tuple(counts[index] for index in (0, 1, 5, 9)) == expected
        assert sum(counts) == sum(expected)


def test_a_bonus_pays_fixed_amounts_for_its_stake() -> None:
    """By hand: of 100 deals 4 stand with a flush, which pays 1 000 crowns for a stake of 50."""
    odds = bonus(BUYING, CZECH.side_bets["bonus"], forfeited_by_exchange=True)
    assert odds.paid["flush"] == Fraction(4, 100)
    assert odds.fair_stake == Fraction(4 * 100_000, 100)
    paid = {name: Fraction(4 if name == "flush" else 0, 100) for name in list(odds.paid)}
    assert odds.figures == SideBetFigures(
        "bonus",
        Expectation(Fraction(4 * 20 - 100, 100), "side_bet"),
        Fraction(4, 100),
        paid,
        Fraction(4 * 19**2 + 96, 100) - Fraction(-20, 100) ** 2,
    )


def test_a_bonus_without_a_stake_has_the_stake_that_would_be_fair() -> None:
    """What it pays on average is known before a table sets what it costs (003)."""
    open_stake = rules_for(shipped("czech"), "CZK", TableSettings())
    odds = bonus(STANDARD, open_stake.side_bets["bonus"], forfeited_by_exchange=True)
    assert odds.figures is None
    awards = {"flush": 1_000, "full_house": 2_000, "four_of_a_kind": 6_000, "straight_flush": 10_000}
    counted = {"flush": 5108, "full_house": 3744, "four_of_a_kind": 624, "straight_flush": 36}
    mean = sum(100 * awards[name] * counted[name] for name in awards) + 100 * 50_000 * 4
    assert odds.fair_stake == Fraction(mean, 2598960)
    assert sum(odds.paid.values()) == Fraction(9516, 2598960)


@pytest.mark.parametrize(
    ("reveal", "needs_dealer_to_qualify", "survives"),
    [(True, True, True), (True, False, True), (False, False, True), (False, True, False)],
)
def test_a_dealer_who_is_not_turned_up_does_not_qualify(
    *, reveal: bool, needs_dealer_to_qualify: bool, survives: bool
) -> None:
    """A hand alone that folds may end the round with the dealer unseen: what needs her loses."""
    house: Rules = replace(LIVE, reveal_if_all_fold=reveal)
    bet = changed(house, "five_plus_one", needs_dealer_to_qualify=needs_dealer_to_qualify)
    assert alone(bet, house).survives_fold is survives
    assert not alone(replace(bet, survives_fold=False), house).survives_fold


def test_the_total_of_what_stands_is_the_total() -> None:
    """Nothing is counted twice."""
    assert sum(standing_counts(STANDARD, CZECH.side_bets["bonus"], forfeited_by_exchange=False)) == TOTAL

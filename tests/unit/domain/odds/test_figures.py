"""Counts become returns, and every return names what it is divided by."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt

import pytest

from domain.odds.figures import Expectation, Figures, deals, figures_of
from domain.odds.payoffs import Payoffs
from tests.unit.domain.odds.counted import (
    BUYING,
    FOLDED,
    HANDS,
    LOSE,
    NOT_QUALIFIED,
    STANDARD,
    TIE,
    TOTAL,
    WIN,
)

USUAL = Payoffs(1, 2, (2, 2, 4, 6, 8, 10, 14, 40, 100, 200), None, 100)
LIVE = Payoffs(1, 2, (2, 2, 4, 6, 10, 14, 20, 50, 100, 200), None, 100)
BOUGHT = Payoffs(2, 4, (4, 4, 8, 12, 16, 20, 28, 80, 200, 400), 3, 50)


@pytest.fixture(scope="module")
def usual() -> Figures:
    """Return the figures of the usual pay table."""
    return figures_of(STANDARD, USUAL)


def test_the_usual_table_returns_what_others_found(usual: Figures) -> None:
    """The exact loss of 1 041 372 912 372 antes in all deals is the published one, and the rest follows."""
    assert usual.per_ante == Expectation(Fraction(-1041372912372, TOTAL), "ante")
    assert usual.per_ante.house_edge == Fraction(142031221, 2718662100)
    assert usual.per_total_wagered.denominator == "total_wagered"
    assert usual.element_of_risk == Fraction(86781076031, 3396139966890)
    assert usual.average_wager == Fraction(10405797, 5089630)
    assert float(usual.per_ante.returned) == pytest.approx(0.947756942284221, abs=1e-15)
    assert float(usual.per_total_wagered.returned) == pytest.approx(0.974447143852416, abs=1e-15)


def test_the_live_table_returns_what_its_source_says() -> None:
    """001 states 96.30 % and 98.19 %: the first is of the ante, the second of everything wagered."""
    live = figures_of(STANDARD, LIVE)
    assert live.per_ante.expected == Fraction(-738262709372, TOTAL) == Fraction(-184565677343, 4983307629300)
    assert live.element_of_risk == Fraction(184565677343, 10188419900670)
    assert (
        f"{float(live.per_ante.returned):.6f} {float(live.per_total_wagered.returned):.6f}"
        == "0.962963 0.981885"
    )


@pytest.mark.parametrize(
    ("payoffs", "net", "excess"),
    [
        (USUAL, 2.242950269130694, 2.253388005710058),
        (LIVE, 2.354782220796404, 2.361919254343406),
    ],
)
def test_the_spread_of_a_round_is_known(payoffs: Payoffs, net: float, excess: float) -> None:
    """Both standard deviations, of the net result and of the payout beyond its mean share of the wager."""
    figures = figures_of(STANDARD, payoffs)
    assert sqrt(figures.variance) == pytest.approx(net, rel=1e-14)
    assert sqrt(figures.excess_variance) == pytest.approx(excess, rel=1e-14)


def test_every_result_has_its_probability(usual: Figures) -> None:
    """Fold, dealer not qualified, win, tie and lose are the known counts, and nothing is exchanged."""
    total = usual.total
    assert total.dealt == 1
    assert total.fold == Fraction(FOLDED, TOTAL)
    assert total.not_qualified == Fraction(4532514033720, TOTAL)
    assert total.win == Fraction(3150796158408, TOTAL)
    assert total.tie == Fraction(321623100, TOTAL)
    assert total.lose == Fraction(2726592727512, TOTAL)
    assert usual.exchange == 0


@pytest.mark.parametrize("index", range(10))
def test_every_category_has_its_row(usual: Figures, index: int) -> None:
    """A row is dealt as often as its hands are, and its parts make it up."""
    row = usual.rows[index]
    assert row.dealt == Fraction(HANDS[index], 2598960)
    assert row.dealt == row.fold + row.not_qualified + row.win + row.tie + row.lose
    assert (row.not_qualified, row.win, row.tie, row.lose) == tuple(
        Fraction(counts[index], TOTAL) for counts in (NOT_QUALIFIED, WIN, TIE, LOSE)
    )


def test_a_bought_card_costs_its_fee_whatever_comes_of_it() -> None:
    """By hand: 100 deals, ante 2, raise 4, fee 3, half of them with a card bought."""
    assert [deals(BUYING.kept), deals(BUYING.exchanged or BUYING.kept)] == [40, 60]
    figures = figures_of(BUYING, BOUGHT)
    kept = 30 * -2 + 4 * 2 + 3 * (2 + 20) + 0 + -6
    exchanged = 10 * (-2 - 3) + 10 * (2 - 3) + 20 * (2 + 20 - 3) + 20 * (-6 - 3)
    wagered = 30 * 2 + 10 * 6 + 10 * 5 + 50 * 9
    assert figures.per_ante.expected == Fraction(kept + exchanged, 200)
    assert figures.per_total_wagered.expected == Fraction(kept + exchanged, wagered)
    assert figures.average_wager == Fraction(wagered, 200)
    assert figures.exchange == Fraction(60, 100)
    assert figures.rows[5].fold == Fraction(4, 100)
    assert figures.rows[5].win == Fraction(23, 100)
    assert figures.rows[9].lose == Fraction(20, 100)


def test_the_spread_of_a_game_with_bought_cards_is_that_of_its_results() -> None:
    """The variances are those of the list of all 100 results, worked out one by one."""
    results = (
        [(-2, 2)] * 30
        + [(2, 6)] * 4
        + [(22, 6)] * 3
        + [(0, 6)] * 2
        + [(-6, 6)]
        + [(-5, 5)] * 10
        + [(-1, 9)] * 10
        + [(19, 9)] * 20
        + [(-9, 9)] * 20
    )
    mean = Fraction(sum(net for net, _ in results), 100)
    share = mean / Fraction(sum(wager for _, wager in results), 100)
    figures = figures_of(BUYING, BOUGHT)
    assert figures.variance == sum((net - mean) ** 2 for net, _ in results) / 400
    assert figures.excess_variance == sum((net - share * wager) ** 2 for net, wager in results) / 400


def test_the_figures_do_not_depend_on_how_deals_are_counted() -> None:
    """Twice the counts over twice the total are the same game."""
    double = replace(
        STANDARD,
        total=2 * TOTAL,
        kept=type(STANDARD.kept)(
            *(tuple(2 * count for count in getattr(STANDARD.kept, name)) for name in STANDARD.kept.__slots__)
        ),
    )
    assert figures_of(double, USUAL) == figures_of(STANDARD, USUAL)

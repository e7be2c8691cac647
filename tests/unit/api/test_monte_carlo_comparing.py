"""Whether a simulation agrees is decided by bounds that are as wide as they say, and by amounts exactly."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest
from scipy import stats

from api.cli.monte_carlo.comparing import Comparison, Tolerance, compared
from api.cli.monte_carlo.playing import LOST, WIN, Ending, Sums, Tally
from api.cli.monte_carlo.theory import Bet, Chance, Event, Mean

ROUNDS = 10_000
HIT, MISS, FREAK = (
    Ending("bonus", WIN, "flush"),
    Ending("bonus", LOST),
    Ending("bonus", WIN, "royal_flush"),
)
CHANCES = {
    HIT: Chance(Fraction(1, 10), 8, 1),
    FREAK: Chance(Fraction(1, 5_000), 100, 1),
    MISS: Chance(Fraction(8_998, 10_000), -1, 1),
}
RESULT = Mean("result", "net", sum((c.probability * c.net for c in CHANCES.values()), Fraction(0)), 1)
BET = Bet(
    "bonus",
    CHANCES,
    (RESULT,),
    (Event("flush", (HIT,), Fraction(1, 10)), Event("royal flush", (FREAK,), Fraction(1, 5_000))),
)
TOLERANCE = Tolerance(0.0027)


def tally(hits: int, freaks: int = 2, hit_pays: int = 8) -> Tally:
    """Return so many rounds that won, and the others of `ROUNDS` lost."""
    lost = ROUNDS - hits - freaks
    return {
        HIT: Sums(hits, hits * hit_pays, hits),
        FREAK: Sums(freaks, freaks * 100, freaks),
        MISS: Sums(lost, -lost, lost),
    }


def compare(seen: Tally) -> dict[str, Comparison]:
    """Return the comparisons with the bet by what they are of."""
    return {comparison.figure: comparison for comparison in compared(iter([BET]), seen, ROUNDS, TOLERANCE)}


def test_a_family_of_one_is_allowed_three_standard_errors() -> None:
    """Alone, a comparison agrees within three standard errors."""
    assert Tolerance.of_family(1).standard_errors == pytest.approx(3)


@pytest.mark.parametrize("comparisons", [2, 25, 195])
def test_a_family_is_wrong_together_as_often_as_one(comparisons: int) -> None:
    """The error rates of all comparisons of a family add up to that of one within three standard errors."""
    tolerance = Tolerance.of_family(comparisons)
    assert tolerance.error_rate * comparisons == pytest.approx(2 * stats.norm.sf(3))
    assert 2 * stats.norm.sf(tolerance.standard_errors) == pytest.approx(tolerance.error_rate)


@pytest.mark.parametrize("expected", [0.001, 0.15, 1.0, 7.7, 29.9])
@pytest.mark.parametrize("rate", [0.0027, 1.4e-5])
def test_poisson_bounds_are_the_widest_that_keep_the_rate(expected: float, rate: float) -> None:
    """Outside each bound there is at most half of the rate, and with one hit more there would be more."""
    least, most = Tolerance(rate).poisson(expected)
    half = rate / 2
    assert stats.poisson.cdf(least - 1, expected) <= half < stats.poisson.cdf(least, expected)
    assert stats.poisson.sf(most, expected) <= half < stats.poisson.sf(most - 1, expected)


def test_what_is_expected_agrees() -> None:
    """Seen as often as expected, everything agrees, the exact comparison included."""
    found = compare(tally(1_000))
    assert [comparison.agrees for comparison in found.values()] == [True] * 4
    assert [comparison.method for comparison in found.values()] == ["z", "z", "poisson", "exact"]


@pytest.mark.parametrize(("hits", "agrees"), [(1_089, True), (1_091, False), (911, True), (909, False)])
def test_frequent_events_agree_within_standard_errors(hits: int, *, agrees: bool) -> None:
    """An event of which 1 000 are expected, with a standard error of 30, agrees within three of them."""
    flush = compare(tally(hits))["flush"]
    assert flush.agrees is agrees
    assert flush.statistic == pytest.approx((hits - 1_000) / 30)


@pytest.mark.parametrize(("freaks", "agrees"), [(0, True), (7, True), (8, False)])
def test_rare_events_agree_within_the_bounds_of_poisson(freaks: int, *, agrees: bool) -> None:
    """An event of which two are expected has no standard errors: it agrees within exact bounds."""
    royal = compare(tally(1_000, freaks))["royal flush"]
    assert royal.agrees is agrees
    assert royal.statistic is None
    assert (royal.least, royal.most) == (0, 7)


def test_a_mean_is_compared_without_rare_endings() -> None:
    """What would make a mean jump is left to its own comparison, and the figure says what was left out."""
    result = compare(tally(1_000, freaks=8))["result"]
    second = sum(CHANCES[ending].probability * CHANCES[ending].net ** 2 for ending in (HIT, MISS))
    first = sum(CHANCES[ending].probability * CHANCES[ending].net for ending in (HIT, MISS))
    seen = 8 * 1_000 - (ROUNDS - 1_008)
    error = sqrt(ROUNDS * (second - first**2))
    assert result.statistic == pytest.approx((seen - ROUNDS * float(first)) / error)
    assert result.without == ("win royal_flush",)
    assert result.seen == pytest.approx((seen + 800) / ROUNDS)


def test_a_payment_that_is_off_is_seen_where_it_happens() -> None:
    """One unit too much for each hit is far within chance for a mean, and still no amount may be off."""
    found = compare(tally(3, freaks=0, hit_pays=9))
    assert found["rounds with other amounts"].seen == 3
    assert not found["rounds with other amounts"].agrees


def test_an_ending_that_nobody_expects_is_seen() -> None:
    """A bet that ends in a way that the theory does not know disagrees."""
    seen = tally(1_000) | {Ending("bonus", WIN, "pair"): Sums(1, 1, 1)}
    assert not compare(seen)["rounds with other amounts"].agrees


def test_a_mean_that_cannot_vary_has_to_be_met() -> None:
    """Without variance any difference is one too many."""
    sure = Bet("bonus", {MISS: Chance(Fraction(1), -1, 1)}, (Mean("result", "net", Fraction(-1), 1),), ())
    for net, agrees in ((-ROUNDS, True), (1 - ROUNDS, False)):
        found = list(compared(iter([sure]), {MISS: Sums(ROUNDS, net, ROUNDS)}, ROUNDS, TOLERANCE))
        assert found[0].agrees is agrees

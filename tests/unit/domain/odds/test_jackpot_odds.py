"""A jackpot's return: a line over the meter, and what the meter is in the long run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Literal

import numpy as np
import pytest

from domain.odds.house import TableSettings, rules_for
from domain.odds.jackpot import JackpotOdds, jackpot_odds
from domain.odds.payoffs import OddsError
from domain.rules import CompiledAward
from tests.unit.domain.odds.counted import HANDS, changed, shipped

US = rules_for(shipped("us-casino"), "USD", TableSettings()).side_bets["jackpot"]
BY_HOUSE = replace(US, awards={name: replace(award, funding="house") for name, award in US.awards.items()})
US_METER = jackpot_odds(US, HANDS, comb(52, 5))
US_HOUSE = jackpot_odds(BY_HOUSE, HANDS, comb(52, 5))
DOLLARS = 100


def test_the_return_is_a_line_over_the_meter() -> None:
    """Fixed awards return 1385/3822 of the stake, and each dollar of the meter 19/6 497 400 more."""
    assert US_METER.fixed_share == US_METER.meter_share == Fraction(1385, 3822)
    assert US_METER.slope * DOLLARS == Fraction(19, 6497400)
    assert US_METER.royal == Fraction(4, 2598960)
    assert list(US_METER.paid) == ["royal_flush", "straight_flush", "four_of_a_kind", "full_house", "flush"]
    assert sum(US_METER.paid.values()) == Fraction(9516, 2598960)


@pytest.mark.parametrize(
    ("meter", "returned"),
    [
        (0, 0.36237571951857667),
        (10_000, 0.3916181857358328),
        (100_000, 0.654800381691138),
        (250_000, 1.09343737494998),
        (2_000_000, 6.210868962969803),
    ],
)
def test_the_return_at_a_meter_is_the_known_one(meter: int, returned: float) -> None:
    """At these meters, in dollars."""
    rate = US_METER.at(meter * DOLLARS)
    assert rate.denominator == "side_bet"
    assert float(rate.returned) == pytest.approx(returned, rel=1e-14)


def test_the_meter_from_which_a_player_wins_is_known() -> None:
    """At 4 142 900/19 dollars, about 218 047, the bet returns its stake exactly."""
    meter = US_METER.break_even_meter
    assert meter == Fraction(4142900, 19) * DOLLARS
    assert US_METER.at(meter).expected == 0


def test_a_bet_whose_fixed_awards_are_too_high_favours_the_player_at_any_meter() -> None:
    """Its break-even meter is 0."""
    generous = replace(US_METER, fixed_share=Fraction(3, 2))
    assert generous.break_even_meter == 0


def test_a_bet_without_percentages_never_favours_the_player() -> None:
    """It has no break-even meter, no mean of the meter, and returns its fixed awards alone."""
    awards = {name: award for name, award in US.awards.items() if award.percent is None}
    odds = jackpot_odds(replace(US, awards=awards), HANDS, comb(52, 5))
    assert (odds.slope, odds.royal, odds.break_even_meter) == (0, 0, None)
    run = odds.long_run(Fraction(7, 10), 0)
    assert run.per_stake.returned == Fraction(1385, 3822)
    assert (run.mean_meter, run.mean_before, run.top_ups_at_most) == (None, None, 0)


@pytest.mark.parametrize(
    ("contribution", "reset", "mean_before", "returned"),
    [
        ("0.7", 10_000, 244640.35263157895, 1.0777664912118694),
        ("0.71", 10_000, 248060.02684210526, 1.0877664912118694),
        ("0.5", 10_000, 176246.86842105264, 0.8777664912118693),
        ("0.49", 5_000, 170195.6152631579, 0.860071105365223),
    ],
)
def test_the_long_run_of_a_house_that_pays_the_fixed_awards_is_the_known_one(
    contribution: str, reset: int, mean_before: float, returned: float
) -> None:
    """Contributions and resets come back through the meter, and the fixed awards on top of them."""
    run = US_HOUSE.long_run(Fraction(contribution), reset * DOLLARS)
    assert run.mean_before is not None
    assert run.mean_meter == run.mean_before + Fraction(contribution) * DOLLARS
    assert float(run.mean_before / DOLLARS) == pytest.approx(mean_before, rel=1e-14)
    assert float(run.per_stake.returned) == pytest.approx(returned, rel=1e-14)
    assert run.per_stake == US_HOUSE.at(run.mean_meter)
    assert run.top_ups_at_most == 0


def test_fixed_awards_from_the_meter_only_hand_contributions_on() -> None:
    """What is contributed and what restarts the meter is returned, and next to nothing else."""
    run = US_METER.long_run(Fraction(7, 10), 10_000 * DOLLARS)
    assert run.per_stake.returned == Fraction(7, 10) + Fraction(4 * 10_000, 2598960)
    assert run.mean_meter is not None
    assert run.per_stake == US_METER.at(run.mean_meter)
    assert run.top_ups_at_most < 1e-6


def test_a_meter_that_is_fed_too_little_runs_short_all_the_time() -> None:
    """With less contributed than fixed awards take there is no mean, and the house may pay all of them."""
    run = US_METER.long_run(Fraction(3, 10), 0)
    assert run.per_stake.returned == Fraction(3, 10)
    assert (run.mean_meter, run.mean_before) == (None, None)
    assert run.top_ups_at_most == pytest.approx(1385 / 3822)


def test_a_meter_that_one_contribution_fills_never_runs_short() -> None:
    """Where no fixed award is above what a bet contributes, the house adds nothing."""
    assert small("meter", fixed=2, stake=4).long_run(Fraction(1, 2), 0).top_ups_at_most == 0
    assert small("meter", fixed=3, stake=4).long_run(Fraction(1, 2), 0).top_ups_at_most > 0


@pytest.mark.parametrize("reset", [0, 60])
@pytest.mark.parametrize(("fixed", "chance"), [(6, "0.1"), (2, "0.2"), (20, "0.02")])
def test_the_long_run_agrees_with_the_distribution_of_a_small_meter(
    reset: int, fixed: int, chance: str
) -> None:
    """The exact figure leaves out what the house adds to a short meter, and that is less than its bound."""
    odds = small("meter", fixed=fixed, chance=Fraction(chance))
    run = odds.long_run(Fraction(1), reset)
    added, returned = stationary(fixed, float(Fraction(chance)), reset)
    assert returned == pytest.approx(float(run.per_stake.returned) + added, abs=1e-9)
    assert 0 < added <= run.top_ups_at_most < float(odds.meter_share)


def small(
    funding: Literal["meter", "house"], *, fixed: int, chance: Fraction = Fraction(1, 4), stake: int = 1
) -> JackpotOdds:
    """Return a jackpot that pays all of the meter once in 50, half of it as often, and a fixed award."""
    paid = {"royal_flush": Fraction(1, 50), "straight_flush": Fraction(1, 50), "flush": chance}
    awards = {
        "royal_flush": CompiledAward(100, None, "meter"),
        "straight_flush": CompiledAward(50, None, "meter"),
        "flush": CompiledAward(None, fixed, funding),
    }
    share = chance * fixed / stake
    return JackpotOdds(stake, paid, awards, share, share, Fraction(3, 100) / stake)


def stationary(fixed: int, chance: float, reset: int) -> tuple[float, float]:
    """Return what the house adds and what is paid, by bet, where each bet contributes 1, in the long run.

    Worked out from the distribution of the meter, bet by bet until it stands still. Half of an odd meter is
    as often rounded up as down.
    """
    meters = np.arange(1500)
    before = np.zeros(1500)
    before[reset] = 1.0
    for _ in range(1500):
        at = np.roll(before, 1)
        halved = np.bincount(meters // 2, at, 1500) + np.bincount((meters + 1) // 2, at, 1500)
        taken = np.bincount(np.maximum(meters - fixed, 0), at, 1500)
        before = (1 - 2 / 50 - chance) * at + chance * taken + halved / 100
        before[reset] += 1 / 50
    at = np.roll(before, 1)
    added = chance * float(at @ np.maximum(fixed - meters, 0))
    return added, chance * fixed + 3 / 100 * float(at @ meters)


@pytest.mark.parametrize(
    ("contribution", "reset", "message"),
    [
        (Fraction(0), 0, "above 0 and at most 1"),
        (Fraction(101, 100), 0, "above 0 and at most 1"),
        (Fraction(1, 2), -1, "0 minor units or more"),
    ],
)
def test_a_jackpot_cannot_be_run_on_what_is_no_share(
    contribution: Fraction, reset: int, message: str
) -> None:
    """A contribution is a share of the stake, and a reset is an amount."""
    with pytest.raises(OddsError, match=message):
        US_METER.long_run(contribution, reset)


def test_a_jackpot_needs_the_stake_of_its_bet() -> None:
    """Its awards do not grow with the stake."""
    house = rules_for(shipped("us-casino"), "USD", TableSettings())
    with pytest.raises(OddsError, match="needs the stake"):
        jackpot_odds(changed(house, "jackpot", stake=None), HANDS, comb(52, 5))

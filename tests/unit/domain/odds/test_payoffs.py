"""One hand's money, as small integers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.odds.house import TableSettings, rules_for
from domain.odds.payoffs import OddsError, Payoffs
from domain.rules import Rules
from tests.unit.domain.odds.counted import shipped


def rules(house: str, currency: str, **settings: int) -> Rules:
    """Return a house's rules without a table."""
    return rules_for(shipped(house), currency, TableSettings(**settings))


def test_a_hands_money_is_reduced_to_small_integers() -> None:
    """The usual table is 1, 2 and the wins of a raise of 2, whatever the ante is; the unit is the ante."""
    standard = Payoffs(1, 2, (2, 2, 4, 6, 8, 10, 14, 40, 100, 200), None, 700)
    assert Payoffs.from_rules(rules("nordic", "NOK"), 700) == standard


@pytest.mark.parametrize("ante", [1, 250, 2_500, 10_000])
def test_every_ante_of_a_house_without_a_cap_has_the_same_figures(ante: int) -> None:
    """Only the unit grows with the ante."""
    house = rules("macau", "HKD")
    assert replace(Payoffs.from_rules(house, ante), unit=1) == Payoffs.from_rules(house, 1)


@pytest.mark.parametrize(("ante", "royal"), [(2_500, 200), (2_501, 500_000), (10_000, 50)])
def test_a_cap_cuts_what_a_raise_wins(ante: int, royal: int) -> None:
    """In the United States a raise wins 5 000 dollars at most: above an ante of 25 that cuts (004)."""
    payoffs = Payoffs.from_rules(rules("us-casino", "USD"), ante)
    assert payoffs.raise_wins[9] == royal
    assert payoffs.raise_wins[9] * payoffs.unit == min(200 * ante, 500_000)


def test_the_worked_example_of_the_united_states_is_capped() -> None:
    """004: ante 100, raise 200, a royal flush wins 5 000 on the raise, a straight flush as much."""
    payoffs = Payoffs.from_rules(rules("us-casino", "USD"), 10_000)
    assert (payoffs.ante, payoffs.raised, payoffs.unit) == (1, 2, 10_000)
    assert payoffs.raise_wins == (2, 2, 4, 6, 8, 10, 14, 40, 50, 50)


def test_an_exchange_has_its_price() -> None:
    """003: a card costs an ante more."""
    assert Payoffs.from_rules(rules("czech", "CZK"), 5_000).fee == 1


def test_a_cap_on_all_raises_together_is_taken_as_this_hands() -> None:
    """A player with one hand has all of it."""
    house = replace(rules("us-casino", "USD"), cap_scope="aggregate")
    assert Payoffs.from_rules(house, 10_000).raise_wins[9] == 50


@pytest.mark.parametrize(
    ("ante", "message"),
    [
        (0, "at least 1 minor unit, not 0"),
        (10_001, "uk-casino takes an ante of at most 10000, not 10001"),
    ],
)
def test_an_ante_that_the_house_does_not_take_is_refused(ante: int, message: str) -> None:
    """An ante is between one minor unit and the house's limit."""
    with pytest.raises(OddsError, match=message):
        Payoffs.from_rules(rules("uk-casino", "GBP"), ante)


def test_an_ante_that_no_table_could_take_is_refused() -> None:
    """A raise is an amount like others, and bounded as they are."""
    house = rules("nordic", "NOK")
    assert Payoffs.from_rules(house, 5 * 10**11).unit == 5 * 10**11
    with pytest.raises(OddsError, match="would be more than 1000000000000 minor units"):
        Payoffs.from_rules(house, 5 * 10**11 + 1)

"""What a version should return, whatever cap its tables have: which figures are wanted and taken."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from domain.events import RulesetRef, TableParameters
from domain.odds.document import document
from domain.odds.house import TableSettings, house_odds, rules_for
from domain.odds.payoffs import Payoffs
from domain.rulesets.schema import RuleSet
from domain.work import PublishedRuleset, Table
from infrastructure.odds.theory import expected
from infrastructure.odds.wanted import wanted
from tests.unit.domain.odds.counted import STANDARD
from tests.unit.domain.playing import plain_house, shipped

CAPPED = plain_house(id="capped", currencies=["USD"], raise_cap={"amount": "50"})
OPEN = plain_house(id="open", currencies=["USD"], raise_cap={})
LIVE = shipped("evolution-live")


def version(house: dict[str, Any]) -> PublishedRuleset:
    """Return a published version of a house."""
    ruleset = RuleSet.from_document(house)
    return PublishedRuleset(RulesetRef(ruleset.id, 1, "00"), ruleset, ruleset.document())


def table(house: dict[str, Any], least: int, most: int, cap: int | None = None) -> Table:
    """Return a table that plays it."""
    limits = TableParameters(least, most, "UTC", 0, 1, 1, raise_win_cap=cap)
    ref = RulesetRef(house["id"], 1, "00")
    return Table("t", ref, "USD", "real", "rng", parallel_rounds=True, parameters=limits, jackpot_id=None)


def figures(house: dict[str, Any], ante: int, **settings: int) -> dict[str, Any]:
    """Return a house's figures, as if it were played like the usual one."""
    rules = rules_for(RuleSet.from_document(house), "USD", TableSettings(**settings))
    return document(house_odds(rules, ante, Payoffs.from_rules(rules, ante), STANDARD))


@pytest.mark.parametrize(
    ("house", "at", "found"),
    [
        (CAPPED, table(CAPPED, 10, 500), [(10, 0), (500, 0)]),  # nothing is cut up to 25
        (CAPPED, table(CAPPED, 100, 500), [(100, 0), (500, 0), (25, 0)]),
        (OPEN, table(OPEN, 100, 500, 5_000), [(100, 5_000), (500, 5_000), (100, 0)]),
        (OPEN, table(OPEN, 10, 500, 5_000), [(10, 5_000), (500, 5_000)]),
    ],
)
def test_figures_without_a_cap_are_always_wanted(
    house: dict[str, Any], at: Table, found: list[tuple[int, int]]
) -> None:
    """Where every ante of the tables is cut, one more is wanted of which nothing is."""
    assert [(terms.ante, terms.raise_win_cap) for terms in wanted(version(house), [at])] == found


def test_a_cap_so_low_that_it_cuts_every_ante_leaves_no_theory() -> None:
    """Nothing is wanted that does not exist, and a version without such figures has no theory."""
    low = plain_house(id="low", currencies=["USD"], raise_cap={"amount": "1"})
    assert [terms.ante for terms in wanted(version(low), [table(low, 100, 100)])] == [100]
    assert expected([figures(low, 100), {"unsupported": "for a reason"}]) is None


def test_the_theory_is_that_of_figures_without_a_cap() -> None:
    """Of several figures those that no cap cuts are taken; what a raise can win there bounds the results."""
    found = expected([figures(CAPPED, 500), figures(CAPPED, 20)])
    assert found is not None
    assert found.per_ante == Fraction(-1_041_372_912_372, 19_933_230_517_200)
    assert found.series.keys() == {"game", "cards"}
    game = found.series["game"]
    assert (game.mean, game.lowest, game.highest) == (found.per_ante, -3, 203)


def test_a_side_bet_with_odds_is_a_series_of_its_own() -> None:
    """The 5+1 of source 001 returns 91.44 % of its stake, and a thousand at most."""
    found = expected([figures(LIVE, 100)])
    assert found is not None
    bonus = found.series["five_plus_one"]
    assert round(float(1 + bonus.mean), 4) == 0.9144
    assert (bonus.lowest, bonus.highest) == (-1, 1000)

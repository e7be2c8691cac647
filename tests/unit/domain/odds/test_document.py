"""A house's odds as plain JSON."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb
from typing import Any

import pytest

from domain.odds.document import document, exact, jackpot_run, root
from domain.odds.house import TableSettings, house_odds, rules_for
from domain.odds.jackpot import jackpot_odds
from domain.odds.outcomes import Outcomes
from domain.odds.payoffs import OddsError, Payoffs
from tests.unit.domain.odds.counted import BUYING, HANDS, STANDARD, TOTAL, shipped


def made(house: str, ante: int = 1_000, outcomes: Outcomes = STANDARD, **settings: int) -> dict[str, Any]:
    """Return the document of a house, by way of its text."""
    ruleset = shipped(house)
    rules = rules_for(ruleset, ruleset.currencies[0], TableSettings(**settings))
    odds = house_odds(rules, ante, Payoffs.from_rules(rules, ante), outcomes)
    return dict(json.loads(json.dumps(document(odds), allow_nan=False)))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(-12816, 149695), ("-12816", "149695", "-0.0856140819666656")),
        (Fraction(19, 649740000), ("19", "649740000", "0.0000000292424662172561")),
        (Fraction(1, 2), ("1", "2", "0.5")),
        (3, ("3", "1", "3")),
        (Fraction(2 * 10**20, 3), ("200000000000000000000", "3", "66666666666666700000")),
    ],
)
def test_an_exact_number_is_a_fraction_and_its_decimals(number: Fraction, text: tuple[str, str, str]) -> None:
    """Decimals are plain, to 15 significant digits."""
    assert tuple(exact(number).values()) == text


def test_a_root_has_as_many_digits() -> None:
    """Whatever the size."""
    assert (root(Fraction(2)), root(Fraction(4)), root(Fraction(1, 10**8))) == (
        "1.41421356237310",
        "2",
        "0.0001",
    )


def test_every_return_carries_the_name_of_its_denominator() -> None:
    """001: 96.30 % is of the ante, 98.19 % of the total amount wagered, 91.44 % of the side bet."""
    live = made("evolution-live")
    returned = {
        name: (rate["denominator"], rate["returned"]["dec"][:8]) for name, rate in live["returns"].items()
    }
    assert returned == {"ante": ("ante", "0.962963"), "total_wagered": ("total_wagered", "0.981884")}
    assert live["element_of_risk"] == {
        "denominator": "total_wagered",
        **exact(Fraction(184565677343, 10188419900670)),
    }
    five = live["side_bets"][0]
    assert five["returns"]["side_bet"]["denominator"] == "side_bet"
    assert five["returns"]["side_bet"]["house_edge"] == exact(Fraction(12816, 149695))
    assert five["pays"][0] == {
        "category": "royal_flush",
        "pays": 1000,
        "probability": exact(Fraction(1, 108290)),
    }
    assert (five["kind"], five["stake"], five["survives_fold"]) == ("five_plus_one", None, True)


def test_what_was_asked_about_is_in_it() -> None:
    """House, currency, stakes, up-cards and how many deals were counted."""
    us = made("us-casino", 10_000)
    assert us["ruleset"]["id"] == "us-casino"
    assert us["ruleset"]["sha256"] == rules_for(shipped("us-casino"), "USD", TableSettings()).ref.sha256
    assert [us[name] for name in ("format", "currency", "exponent", "ante", "raise")] == [
        1,
        "USD",
        2,
        10_000,
        20_000,
    ]
    assert (us["exchange_fee"], us["up_cards"], us["deals"]) == (None, 1, str(TOTAL))
    assert made("czech", outcomes=BUYING)["exchange_fee"] == 1_000


def test_a_cap_and_what_it_cuts_are_in_it() -> None:
    """What a raise wins is in minor units, under the cap."""
    us = made("us-casino", 10_000)
    assert us["cap"] == {
        "amount": 500_000,
        "scope": "raise_per_hand",
        "left_to_table": False,
        "free_up_to": 2_500,
        "cut": ["royal_flush", "straight_flush"],
    }
    wins = {row["category"]: (row["raise_pays"], row["raise_wins"]) for row in us["categories"]}
    assert wins["royal_flush"] == (100, 500_000)
    assert wins["four_of_a_kind"] == (20, 400_000)
    assert wins["high_card"] == (1, 20_000)


def test_every_category_has_a_row_strongest_first() -> None:
    """Its parts are probabilities among all deals."""
    rows = made("nordic")["categories"]
    assert [row["category"] for row in rows][::9] == ["royal_flush", "high_card"]
    assert rows[0]["dealt"] == exact(Fraction(4, 2598960))
    assert rows[0]["win"] == exact(Fraction(16759740, TOTAL))
    assert rows[0]["dealer_not_qualified"] == exact(Fraction(13918980, TOTAL))
    assert (rows[0]["fold"], rows[0]["tie"], rows[0]["lose"]) == (
        exact(0),
        exact(Fraction(60, TOTAL)),
        exact(0),
    )


def test_probabilities_spread_and_wager_are_in_it() -> None:
    """Raised and folded make one; the wager is in antes, the spread in antes and their square."""
    usual = made("nordic")
    chances = usual["probabilities"]
    assert list(chances) == ["exchange", "raise", "fold", "dealer_not_qualified", "win", "tie", "lose"]
    assert Fraction(chances["raise"]["dec"]) + Fraction(chances["fold"]["dec"]) == 1
    assert chances["fold"] == exact(Fraction(9523005974460, TOTAL))
    assert usual["average_wager"] == {"unit": "antes", **exact(Fraction(10405797, 5089630))}
    assert usual["standard_deviation"] == {"unit": "antes", "dec": "2.24295026913069"}
    assert usual["excess_standard_deviation"] == {"unit": "antes", "dec": "2.25338800571006"}
    assert usual["variance"]["unit"] == usual["excess_variance"]["unit"] == "antes squared"
    assert made("czech", outcomes=BUYING)["probabilities"]["exchange"] == exact(Fraction(3, 5))


def test_a_jackpot_is_a_line() -> None:
    """Its slope is by minor unit of the meter, and its break-even meter in minor units."""
    bet = made("us-casino")["side_bets"][0]
    assert bet["denominator"] == "side_bet"
    assert bet["fixed_share"] == bet["meter_share"] == exact(Fraction(1385, 3822))
    assert bet["slope"] == {"unit": "per minor unit of the meter", **exact(Fraction(19, 649740000))}
    assert bet["break_even_meter"] == {"unit": "minor units", **exact(Fraction(414290000, 19))}
    assert bet["awards"][1] == {
        "category": "straight_flush",
        "percent": 10,
        "fixed": None,
        "funding": "meter",
        "probability": exact(Fraction(36, 2598960)),
    }
    assert bet["stake"] == 100


@pytest.mark.parametrize("stake", [None, 5_000])
def test_a_bonus_has_its_fair_stake_and_returns_once_its_stake_is_known(stake: int | None) -> None:
    """003 leaves the stake to the table."""
    settings = {} if stake is None else {"bonus_stake": stake}
    bet = made("czech", outcomes=BUYING, **settings)["side_bets"][0]
    assert bet["fair_stake"] == {"unit": "minor units", **exact(4_000)}
    assert bet["forfeited_by_exchange"] is True
    if stake is None:
        assert bet["returns"] is None
    else:
        assert bet["returns"]["side_bet"]["returned"] == exact(Fraction(4, 5))
        assert bet["win"] == exact(Fraction(1, 25))
        assert bet["variance"]["unit"] == "stakes squared"


def test_a_side_bet_that_is_not_counted_has_no_returns() -> None:
    """Its rules are there all the same."""
    bet = made("evolution-live", outcomes=BUYING)["side_bets"][0]
    assert (bet["kind"], bet["returns"]) == ("five_plus_one", None)


def test_notes_are_sentences_with_codes() -> None:
    """The first says what is left out of every figure."""
    notes = made("us-casino", 10_000)["notes"]
    assert notes[0]["code"] == "own_cards"
    assert "other hands' cards are not used" in notes[0]["text"]
    assert [note["text"] for note in notes if note["code"] == "cap_cuts"] == [
        "At an ante of 10000 minor units the cap cuts what these win: royal flush, straight flush."
    ]
    assert made("us-casino")["favours_player"] == []


def test_a_jackpot_is_told_at_its_meter_and_in_the_long_run() -> None:
    """Only what is asked for is there."""
    rules = rules_for(shipped("us-casino"), "USD", TableSettings())
    odds = jackpot_odds(rules.side_bets["jackpot"], HANDS, comb(52, 5))
    assert jackpot_run(odds) == {"at_meter": None, "long_run": None}
    at = jackpot_run(odds, meter=25_000_000)["at_meter"]
    assert (at["meter"], at["returns"]["side_bet"]["returned"]["dec"]) == (25_000_000, "1.09343737494998")
    run = jackpot_run(odds, contribution=Fraction(7, 10), reset=1_000_000)["long_run"]
    assert run["contribution"] == exact(Fraction(7, 10))
    assert run["returns"]["side_bet"]["returned"] == exact(Fraction(232409, 324870))
    assert run["mean_meter"] == {"unit": "minor units", **exact(12_072_000)}
    assert run["mean_before_contribution"] == {"unit": "minor units", **exact(12_071_930)}
    assert run["top_ups_at_most"] == {"denominator": "side_bet", "dec": "0.000001"}
    starved = jackpot_run(odds, contribution=Fraction(3, 10))["long_run"]
    assert (starved["mean_meter"], starved["mean_before_contribution"]) == (None, None)
    assert starved["top_ups_at_most"]["dec"] == "0.362376"
    with pytest.raises(OddsError, match="above 0 and at most 1"):
        jackpot_run(odds, contribution=Fraction(2))

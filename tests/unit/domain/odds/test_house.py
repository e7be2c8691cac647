"""A house's odds at an ante: what it leaves to its tables, what its cap cuts, and which side bets it has."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from domain.odds.document import favours_player
from domain.odds.house import Cap, HouseOdds, TableSettings, default_ante, house_odds, rules_for
from domain.odds.jackpot import JackpotOdds
from domain.odds.notes import notes
from domain.odds.outcomes import Outcomes
from domain.odds.payoffs import Payoffs
from domain.odds.side_bets import BonusOdds, SideBetFigures
from domain.rules import Rules, RulesError
from domain.rulesets import SHIPPED
from tests.unit.domain.odds.counted import BUYING, STANDARD, changed, shipped

CATEGORIES_DOWN_TO_QUADS = ("royal_flush", "straight_flush", "four_of_a_kind")


def rules(house: str, **settings: int) -> Rules:
    """Return a house's rules in its first currency, without a table."""
    ruleset = shipped(house)
    return rules_for(ruleset, ruleset.currencies[0], TableSettings(**settings))


def odds(house: Rules, ante: int = 1_000, outcomes: Outcomes = STANDARD) -> HouseOdds:
    """Return a house's odds from what was counted."""
    return house_odds(house, ante, Payoffs.from_rules(house, ante), outcomes)


def codes(house: HouseOdds) -> list[str]:
    """Return which notes stand beside a house's odds."""
    return [code for code, _ in notes(house)]


@pytest.mark.parametrize(
    ("house", "currency", "ante"),
    [("nordic", "NOK", 1_000), ("uk-casino", "GBP", 1_000), ("small", "GBP", 250)],
)
def test_the_ante_nobody_named_is_ten_whole_units_or_the_limit(house: str, currency: str, ante: int) -> None:
    """A house with a limit below that takes it."""
    ruleset = (
        shipped("uk-casino").model_copy(update={"max_ante": "2.50"}) if house == "small" else shipped(house)
    )
    assert default_ante(ruleset, currency) == ante


@pytest.mark.parametrize("house", SHIPPED)
def test_every_house_has_rules_without_a_table(house: str) -> None:
    """Jackpot and bonus are offered, and what is left to the tables is open."""
    made = rules(house)
    assert set(made.side_bets) == {bet.kind for bet in shipped(house).side_bets}
    assert made.ref.sha256 == rules(house).ref.sha256
    assert made.raise_win_cap == (500_000 if house == "us-casino" else None)


def test_what_a_table_sets_is_taken() -> None:
    """003 leaves cap and stake to the table."""
    made = rules("czech", raise_win_cap=70_000, bonus_stake=5_000)
    assert made.raise_win_cap == 70_000
    assert made.side_bets["bonus"].stake == 5_000
    assert rules("czech").side_bets["bonus"].stake is None


@pytest.mark.parametrize("setting", ["raise_win_cap", "bonus_stake"])
def test_what_a_house_does_not_leave_to_its_tables_is_refused(setting: str) -> None:
    """Nobody can set it."""
    with pytest.raises(RulesError, match=f"{setting} is set"):
        rules("us-casino", **{setting: 5_000})


def test_a_currency_that_the_house_does_not_take_is_refused() -> None:
    """A rule set names its currencies."""
    with pytest.raises(RulesError, match="is played in USD, not in EUR"):
        rules_for(shipped("us-casino"), "EUR", TableSettings())


@pytest.mark.parametrize(
    ("ante", "cut"), [(2_500, ()), (2_501, ("royal_flush",)), (20_000, CATEGORIES_DOWN_TO_QUADS)]
)
def test_a_cap_says_what_it_cuts(ante: int, cut: tuple[str, ...]) -> None:
    """004: up to an ante of 25 dollars nothing is cut; above that the note names what is."""
    house = odds(rules("us-casino"), ante)
    assert house.cap == Cap(500_000, "raise_per_hand", left_to_table=False, free_up_to=2_500, cut=cut)
    assert ("cap_cuts" in codes(house)) == bool(cut)


def test_a_cap_that_no_table_has_set_is_not_counted() -> None:
    """A note says so."""
    house = odds(rules("czech"), outcomes=BUYING)
    assert house.cap == Cap(None, "raise_per_hand", left_to_table=True, free_up_to=None, cut=())
    assert {"cap_open", "bonus_stake"} <= set(codes(house))
    given = odds(rules("czech", raise_win_cap=70_000, bonus_stake=5_000), outcomes=BUYING)
    assert not {"cap_open", "bonus_stake"} & set(codes(given))


def test_a_cap_on_all_raises_together_is_taken_as_this_hands_and_said_so() -> None:
    """Its scope is beside the figures."""
    house = odds(replace(rules("us-casino"), cap_scope="aggregate"))
    assert "cap_aggregate" in codes(house)
    assert "cap_aggregate" not in codes(odds(rules("us-casino")))


def test_a_house_without_a_cap_says_nothing_of_one() -> None:
    """There is nothing to say."""
    house = odds(rules("nordic"))
    assert house.cap == Cap(None, None, left_to_table=False, free_up_to=None, cut=())
    assert not [code for code in codes(house) if code.startswith("cap")]


def test_side_bets_have_the_odds_of_their_kind() -> None:
    """5+1 has odds, a jackpot a line over its meter, a bonus fixed amounts."""
    five = odds(rules("evolution-live")).side_bets["five_plus_one"]
    assert isinstance(five, SideBetFigures)
    assert five.per_stake.returned == Fraction(136879, 149695)
    jackpot = odds(rules("us-casino")).side_bets["jackpot"]
    assert isinstance(jackpot, JackpotOdds)
    assert jackpot.fixed_share == Fraction(1385, 3822)
    bonus = odds(rules("czech", bonus_stake=5_000), outcomes=BUYING).side_bets["bonus"]
    assert isinstance(bonus, BonusOdds)
    assert bonus.paid["flush"] == Fraction(4, 100)


def test_a_bonus_that_does_not_go_with_a_bought_card_stands_after_one() -> None:
    """Whether it goes is in the rule set."""
    house = replace(rules("czech"), forfeits=())
    bonus = odds(house, outcomes=BUYING).side_bets["bonus"]
    assert isinstance(bonus, BonusOdds)
    assert bonus.paid["flush"] == Fraction(28, 100)


def test_a_jackpot_that_needs_a_dealer_who_is_not_turned_up_loses_with_a_fold() -> None:
    """A hand that is alone and folds ends the round."""
    house = rules("us-casino")
    needy = {"jackpot": changed(house, "jackpot", needs_dealer_to_qualify=True)}
    paid = {}
    for reveal in (True, False):
        bet = odds(replace(house, side_bets=needy, reveal_if_all_fold=reveal), outcomes=BUYING).side_bets[
            "jackpot"
        ]
        assert isinstance(bet, JackpotOdds)
        paid[reveal] = bet.paid["flush"]
    assert paid == {True: Fraction(28, 100), False: Fraction(24, 100)}


def test_five_plus_one_is_left_out_where_its_hands_are_not_counted() -> None:
    """A note says why."""
    house = odds(rules("evolution-live"), outcomes=BUYING)
    assert house.side_bets == {"five_plus_one": None}
    assert "five_plus_one_not_counted" in codes(house)
    assert "five_plus_one_not_counted" not in codes(odds(rules("evolution-live")))


@pytest.mark.parametrize(
    ("house", "seen"),
    [("cyber", True), ("evolution-live", False), ("nordic", False), ("open", True), ("one", False)],
)
def test_what_players_see_of_other_hands_is_said_to_be_left_out(house: str, *, seen: bool) -> None:
    """Where several hands lie face up, or are one player's; not where there is one hand alone."""
    changes = {"open": {"player_cards_down": False}, "one": {"player_cards_down": False, "seats": 1}}
    made = replace(rules("nordic" if house in changes else house), **changes.get(house, {}))
    assert ("other_hands_seen" in codes(odds(made))) is seen


def test_side_bets_and_jackpots_have_their_notes() -> None:
    """A house without them has not."""
    assert {"side_bets", "jackpot"} <= set(codes(odds(rules("nordic"))))
    assert codes(odds(rules("casino-poker-1982"))) == ["own_cards", "ties", "wagered"]


def test_bets_that_favour_the_player_are_named() -> None:
    """The main bet of a made-up game does, and a bonus that costs less than it pays on average."""
    assert favours_player(odds(rules("us-casino"))) == []
    assert favours_player(odds(rules("evolution-live"))) == []
    assert favours_player(odds(rules("czech"), outcomes=BUYING)) == ["main"]
    assert favours_player(odds(rules("czech", bonus_stake=3_999), outcomes=BUYING)) == ["main", "bonus"]
    assert favours_player(odds(rules("czech", bonus_stake=400_000), outcomes=BUYING)) == ["main"]
    assert favours_player(odds(rules("evolution-live"), outcomes=BUYING)) == ["main"]


def test_a_jackpot_that_always_favours_the_player_is_named() -> None:
    """Its fixed awards alone return more than its stake."""
    house = rules("us-casino")
    cheap = replace(house, side_bets={"jackpot": changed(house, "jackpot", stake=30)})
    assert favours_player(odds(cheap)) == ["jackpot"]

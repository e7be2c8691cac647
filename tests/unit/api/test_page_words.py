"""What the page says about a settled hand and a house: every result, in every house's own words."""

from __future__ import annotations

import pytest

from api.page.house import House, facts, pay_tables, readings
from domain.rulesets import SHIPPED
from tests.unit.api.page_rounds import (
    ACE_KING,
    ACES,
    FIVES,
    LOW_DEALER,
    PAIR,
    QUEEN_HIGH,
    ROYAL,
    TWO_PAIR,
    opened,
    ruleset,
    told,
)


def test_a_win_names_both_hands_and_pays_the_raise_by_its_table() -> None:
    """Two pair against a pair of fives: the ante 1 to 1, the Bet 2 to 1."""
    said = told("us-casino", TWO_PAIR, FIVES)
    assert said.headline == "You win"
    assert said.verdict == (
        "You hold two pair, nines and fours; the dealer holds a pair of fives. Your hand is the better one."
    )
    assert said.bets["ante"].sentence == "A winning ante is paid 1 to 1: $5.00, and the stake comes back."
    assert (
        said.bets["raise"].sentence == "The Bet pays 2 to 1 for two pair: $20.00, and the stake comes back."
    )
    assert said.bets["raise"].odds == "2 to 1"
    assert said.play.net == "+$25.00"
    assert (said.play.before, said.play.after) == ("$100,000.00", "$100,025.00")


def test_a_win_below_a_pair_is_paid_as_one() -> None:
    """Reading 2: a winning hand lower than a pair pays 1 to 1."""
    said = told("us-casino", "As Kh Qs 7d 2c", ACE_KING)
    assert said.verdict == (
        "You and the dealer both hold ace-king high. "
        "The first rank that differs decides: your queen against the dealer's jack."
    )
    assert "pays 1 to 1 for a hand below a pair: $10.00" in said.bets["raise"].sentence


def test_a_loss_says_which_hand_was_better() -> None:
    """Both bets are lost, each with its amount."""
    said = told("us-casino", PAIR, ACES)
    assert said.headline == "The dealer wins"
    assert said.verdict.endswith("The dealer's hand is the better one.")
    assert said.bets["ante"].sentence == "The dealer's hand is better: the ante of $5.00 is lost."
    assert said.bets["raise"].sentence == "The dealer's hand is better: the Bet of $10.00 is lost."
    assert said.play.net == "\N{MINUS SIGN}$15.00"


def test_a_lost_kicker_is_named() -> None:
    """Equal pairs are decided by the next rank (reading 6)."""
    said = told("us-casino", "5h 5s Kc Td 2h", FIVES)
    assert said.verdict.endswith("your king against the dealer's ace.")


def test_a_tie_gives_both_stakes_back() -> None:
    """Only five equal ranks push, and suits never count."""
    said = told("us-casino", "5h 5s Ac Jh 3d", FIVES)
    assert said.headline == "A tie"
    assert "all five ranks are equal: neither wins. Suits never count." in said.verdict
    assert {said.bets[bet].sentence for bet in ("ante", "raise")} == {
        "A tie: the stake comes back, nothing is won."
    }
    assert said.play.hands[0].sum == "$15.00 goes back to the wallet: nothing gained, nothing lost."


def test_a_dealer_who_does_not_qualify_pays_the_ante_only() -> None:
    """Reading 5: whatever the hands are, even a lower one."""
    said = told("us-casino", "9c 8d 7s 4h 2s", LOW_DEALER)
    assert said.headline == "The dealer does not qualify"
    assert "The dealer has jack high and needs an ace and a king, or any better hand." in said.verdict
    assert "it is not compared" in said.verdict
    assert "the ante is paid 1 to 1 whatever you hold: $5.00" in said.bets["ante"].sentence
    assert "so the Bet is not in play: it comes back and wins nothing" in said.bets["raise"].sentence


def test_a_fold_gives_up_the_ante_and_shows_the_dealer() -> None:
    """A fold is told with both hands."""
    said = told("us-casino", QUEEN_HIGH, ACES, "fold")
    assert said.headline == "You folded"
    assert said.verdict == "The hand folded with queen high. The dealer held a pair of aces."
    assert said.bets["ante"].sentence == "A fold gives up the ante of $5.00."
    assert "raise" not in said.bets
    assert said.play.hands[0].sum == "Nothing goes back to the wallet: a loss of $5.00."


def test_a_fold_where_the_dealer_is_not_shown_speaks_of_no_dealer() -> None:
    """A house may keep its cards down when everybody folds."""
    document = ruleset("us-casino").document()
    document["play"]["reveal_if_all_fold"] = False
    said = told(document, QUEEN_HIGH, ACES, "fold")
    assert said.verdict == "The hand folded with queen high."
    assert said.play.dealer.count(None) == 4


def test_a_void_round_gives_every_stake_back() -> None:
    """Void is told with its cause; side bets come back too, and so does the meter's share."""
    said = told("nordic", PAIR, ACES, side_bets={"jackpot": 100}, void="malfunction", currency="USD")
    assert said.headline == "The round is void"
    assert said.verdict == "The round was declared void (a malfunction). Every stake comes back."
    assert {bet.sentence for bet in said.bets.values()} == {"The round is void: the stake comes back."}
    assert set(said.bets) == {"ante", "raise", "jackpot"}
    assert said.play.meter_news[-1] == "The contribution to the meter was taken back."


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("misdeal_count", "a misdeal: a wrong number of cards"),
        ("misdeal_exposed", "a misdeal: a card was exposed"),
    ],
)
def test_a_misdeal_is_told_as_one(cause: str, words: str) -> None:
    """003 names two causes; a bought card's price comes back as well."""
    said = told(
        "czech", PAIR, ACES, "Ks exchange", "raise", drawn="2h", side_bets={"bonus": 1_000}, void=cause
    )
    assert f"({words})" in said.verdict
    assert said.bets["exchange_fee"].returned == 500
    assert said.bets["bonus"].returned == 1_000


def test_the_cap_on_one_hand_is_told_with_what_it_cut() -> None:
    """004: the Bet of one hand wins at most 5 000 dollars in the United States."""
    said = told("us-casino", ROYAL, "Ac Ad Jh 6d 3h", ante=10_000)
    assert said.bets["raise"].sentence == (
        "The Bet pays 100 to 1 for a royal flush, which would be $20,000.00. This table pays at most "
        "$5,000.00 on the Bet of one hand: $5,000.00, and the stake comes back."
    )


def test_a_cap_over_all_hands_is_told_as_one() -> None:
    """A house may cap a player's hands together."""
    document = ruleset("us-casino").document()
    document["raise_cap"]["scope"] = "aggregate"
    said = told(document, ROYAL, "Ac Ad Jh 6d 3h", ante=10_000)
    assert "on the Bet of all of a player's hands in a round: $5,000.00" in said.bets["raise"].sentence


@pytest.mark.parametrize(
    ("house", "name"),
    [("evolution-live", "Call"), ("cyber", "Back Bet"), ("czech", "Odds"), ("us-casino", "Bet")],
)
def test_the_raise_has_the_houses_own_name(house: str, name: str) -> None:
    """Bet, Call, Back Bet, Odds: as the house says."""
    assert told(house, TWO_PAIR, FIVES).bets["raise"].name == name


def test_money_is_written_as_the_currency_is() -> None:
    """Crowns by their code, pounds by their sign."""
    assert "CZK\xa010.00" in told("czech", PAIR, ACES).bets["raise"].sentence
    assert "£10.00" in told("uk-casino", PAIR, ACES).bets["raise"].sentence


@pytest.mark.parametrize("house", SHIPPED)
def test_every_house_tells_its_rules(house: str) -> None:
    """Each table of payments is whole, each flagged reading is there, and the raise has its name."""
    work = opened(ruleset(house).document(), ruleset(house).currencies[0], 1_000_000)
    table = work.tables["t"]
    rules = work.rules(
        table.ruleset, table.currency, table.parameters, has_jackpot=table.jackpot_id is not None
    )
    named = House("t", ruleset(house), rules, table.parameters, table.jackpot_id)
    tables = pay_tables(named)
    assert len(tables) == 1 + len(ruleset(house).side_bets)
    assert len(tables[0].rows) == 10
    assert tables[0].title == ruleset(house).names["raise"]
    flagged, others = readings(named)
    assert len(flagged) == sum(reading.flagged for reading in ruleset(house).readings)
    assert len(flagged) + len(others) == len(ruleset(house).readings)
    assert any("an ace and a king" in fact for fact in facts(named))
    ups = "first and second cards lie" if house == "casino-poker-1982" else "card lies"
    assert any(ups in fact for fact in facts(named))

"""What the page says about side bets: every one of them, on every result."""

from __future__ import annotations

import pytest

from api.page.model import _contributed
from api.page.screen import _jackpot_words
from domain.jackpots import Jackpot
from tests.unit.api.page_rounds import (
    ACES,
    FIVES,
    FLUSH,
    FULL_HOUSE,
    LOW_DEALER,
    PAIR,
    QUADS,
    QUEEN_HIGH,
    ROYAL,
    STRAIGHT,
    STRAIGHT_FLUSH,
    ruleset,
    told,
)

JACKPOT = {"jackpot": 100}


@pytest.mark.parametrize(
    ("hand", "dealer", "action"),
    [(PAIR, FIVES, "raise"), (PAIR, ACES, "raise"), ("5h 5s Ac Jh 3d", FIVES, "raise"),
     (QUEEN_HIGH, LOW_DEALER, "raise"), (QUEEN_HIGH, ACES, "fold")],
)  # fmt: skip
def test_a_jackpot_bet_that_wins_nothing_says_from_where_it_pays(hand: str, dealer: str, action: str) -> None:
    """Win, loss, tie, no qualifying dealer, fold: the jackpot looks at the player's hand alone."""
    said = told("us-casino", hand, dealer, action, side_bets=JACKPOT)
    assert said.bets["jackpot"].sentence.endswith("; the jackpot pays from a flush up.")
    assert said.bets["jackpot"].won == 0
    assert said.play.meter_news == ("$0.70 of the side bet went into the meter.",)


@pytest.mark.parametrize(
    ("ceiling", "diversion", "into", "above", "aside"),
    [
        (1_000_070, None, "$0.70", "", ""),
        (1_000_030, None, "$0.30", "$0.40", ""),
        (1_000_001, "0.055", "$0.01", "$0.69", "$0.055"),
        (None, "0.30", "$0.70", "", "$0.30"),
    ],
)
def test_a_jackpot_bet_says_where_its_shares_went(
    ceiling: int | None, diversion: str | None, into: str, above: str, aside: str
) -> None:
    """Into the meter, above its ceiling, aside for the next one: each as far as there is such a thing."""
    said = f"{into} of the side bet went into the meter."
    said += f" The meter is full: {above} of it waits to be in the next one." if above else ""
    said += f" {aside} of it pays for the next meter's start." if aside else ""
    pot = {"ceiling": ceiling, "diversion": diversion}
    assert told("us-casino", PAIR, FIVES, side_bets=JACKPOT, pot=pot).play.meter_news == (said,)


def test_a_full_meter_takes_nothing() -> None:
    """All of the contribution waits; nothing is said to have gone in."""
    said = _contributed({"contribution": "70", "overflow": "70"}, "USD")
    assert said == "The meter is full: $0.70 of it waits to be in the next one."


@pytest.mark.parametrize(
    ("dealer", "action"),
    [(FIVES, "raise"), ("Qc Qd Jd Js 3s", "raise"), (LOW_DEALER, "raise"), (FIVES, "fold")],
)
def test_a_fixed_award_comes_from_the_meter_on_every_result(dealer: str, action: str) -> None:
    """A flush takes 50 dollars whatever becomes of the hand."""
    said = told("us-casino", FLUSH, dealer, action, side_bets=JACKPOT)
    assert said.bets["jackpot"].sentence == (
        "A flush wins a fixed $50.00 from the meter. The meter went from $10,000.70 to $9,950.70. "
        "The stake does not come back."
    )


def test_a_meter_that_holds_too_little_is_topped_up() -> None:
    """Reading 12: the house adds exactly what is missing."""
    said = told("us-casino", QUADS, FIVES, side_bets=JACKPOT, meter=10_000)
    sentence = said.bets["jackpot"].sentence
    assert "Four of a kind wins a fixed $500.00 from the meter." in sentence
    assert "The meter held only $100.70: the house added what was missing." in sentence
    assert "from $100.70 to $0.00" in sentence


def test_a_share_of_the_meter_is_told_as_one() -> None:
    """A straight flush wins ten per cent."""
    said = told("us-casino", STRAIGHT_FLUSH, FIVES, side_bets=JACKPOT)
    assert "A straight flush wins 10% of the meter: $1,000.07." in said.bets["jackpot"].sentence


def test_the_whole_meter_is_won_and_starts_again() -> None:
    """A royal flush wins it; what it restarts with is the meter after."""
    said = told("us-casino", ROYAL, "Ac Ad Jh 6d 3h", side_bets=JACKPOT)
    sentence = said.bets["jackpot"].sentence
    assert "A royal flush wins the whole meter: $10,000.70, rounded down" in sentence
    assert "from $10,000.70 to $10,000.00" in sentence


def test_two_royals_share_the_meter() -> None:
    """Reading 11: all royals of a round are paid together, in equal shares."""
    said = told("us-casino", [ROYAL, "Ah Kh Qh Jh Th"], "Ac Ad Jc 6d 3h", side_bets=JACKPOT)
    assert "shared equally by the 2 hands that have one: $5,000.70" in said.bets["jackpot"].sentence


def test_an_award_of_the_house_leaves_the_meter_alone() -> None:
    """Reading 12: a house may pay fixed awards itself."""
    document = ruleset("us-casino").document()
    for award in document["side_bets"][0]["awards"].values():
        if "fixed" in award:
            award["funding"] = "house"
    said = told(document, FLUSH, FIVES, side_bets=JACKPOT)
    assert "wins a fixed $50.00, paid by the house, not the meter" in said.bets["jackpot"].sentence


def test_a_side_bet_that_a_fold_gives_up_says_so() -> None:
    """Reading 9: whether side bets survive a fold is the house's."""
    document = ruleset("us-casino").document()
    document["side_bets"][0]["survives_fold"] = False
    said = told(document, FLUSH, FIVES, "fold", side_bets=JACKPOT)
    assert said.bets["jackpot"].sentence == "This bet is given up with a fold: its stake is lost."


def test_a_side_bet_that_needs_a_qualifying_dealer_says_so() -> None:
    """Reading 9: 000 allows for exceptions, which are a parameter."""
    document = ruleset("us-casino").document()
    document["side_bets"][0]["needs_dealer_to_qualify"] = True
    said = told(document, FLUSH, LOW_DEALER, side_bets=JACKPOT)
    assert said.bets["jackpot"].sentence == "This bet needs the dealer to qualify: its stake is lost."


# ── 5+1 and the special bonus ───────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("dealer", "action"),
    [
        ("7s 5d As Jd 3h", "raise"),
        ("7s 7d 7c Jd Jh", "raise"),
        ("7s Td 8c 4d 3h", "raise"),
        ("7s 5d As Jd 3h", "fold"),
    ],
)
def test_five_plus_one_uses_the_dealers_open_card_on_every_result(dealer: str, action: str) -> None:
    """Trips and a pair made of six cards: a full house, paid 20 to 1."""
    said = told("evolution-live", "9c 9d 9h 7h 2c", dealer, action, side_bets={"five_plus_one": 500})
    assert said.bets["five_plus_one"].sentence == (
        "The best five of your cards and the dealer's first open card are a full house: paid 20 to 1, "
        "€100.00, and the stake comes back. Raising or folding does not change it."
    )
    assert said.bets["five_plus_one"].odds == "20 to 1"


def test_five_plus_one_without_a_paid_hand_says_from_where_it_pays() -> None:
    """A pair is not enough."""
    said = told("evolution-live", PAIR, ACES, side_bets={"five_plus_one": 500})
    assert said.bets["five_plus_one"].sentence == (
        "The best five of your cards and the dealer's first open card are a pair; "
        "this bet pays from three of a kind up."
    )


BONUS = {"bonus": 1_000}


@pytest.mark.parametrize(("dealer", "action"), [(FIVES, "raise"), (LOW_DEALER, "raise"), (FIVES, "fold")])
def test_the_special_bonus_pays_a_fixed_amount_on_every_result(dealer: str, action: str) -> None:
    """Reading 19: fixed amounts, paid by the house, the stake not returned."""
    said = told("czech", FULL_HOUSE, dealer, action, side_bets=BONUS)
    assert said.bets["bonus"].sentence == (
        "A full house wins a fixed CZK\xa02,000.00, paid by the house. The stake does not come back."
    )


def test_the_special_bonus_without_a_paid_hand_says_from_where_it_pays() -> None:
    """Below a flush nothing is won."""
    said = told("czech", STRAIGHT, ACES, side_bets=BONUS)
    assert said.bets["bonus"].sentence == "You have a straight to the nine; this bet pays from a flush up."


def test_a_bought_card_takes_the_special_bonus_with_it() -> None:
    """Reading 13: whatever is drawn; the price never comes back."""
    said = told("czech", "Kh 9h 7h 4h 2c", FIVES, "2c exchange", "raise", side_bets=BONUS, drawn="2h")
    assert said.bets["bonus"].sentence == (
        "This bet goes with the card purchase, whatever card is drawn: its stake is lost."
    )
    assert said.bets["exchange_fee"].sentence == (
        "The price of a card, one ante. It is taken at once and never comes back."
    )
    assert "The Odds pays 5 to 1 for a flush" in said.bets["raise"].sentence
    assert said.play.hands[0].news == (
        "You gave up the two of clubs and drew the two of hearts, for CZK\xa05.00."
    )


def test_the_page_says_what_is_particular_to_a_jackpot() -> None:
    """That it takes no bets, for now or for ever, and that it has a ceiling; else nothing."""
    pot = Jackpot("j", "USD", "real", "0.70", 7_000, 1_000, 1, "00", 0)
    assert _jackpot_words(None, "USD") == _jackpot_words(pot, "USD") == ""
    pot.ceiling = 2_000
    grows = _jackpot_words(pot, "USD")
    assert grows.startswith("The jackpot grows up to $20.00. What goes beyond that is not lost")
    pot.enabled = False
    assert _jackpot_words(pot, "USD").startswith("The jackpot takes no bets for now.")
    assert _jackpot_words(pot, "USD").endswith(grows)
    pot.retired = True
    assert _jackpot_words(pot, "USD").startswith("The jackpot of this table has been retired")

"""Source 004, Danish: `us-casino`, `uk-casino`, `macau`, `adelaide` and `casino-poker-1982`."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from tests.unit.domain.playing import FUNDS, Box, Ledger, cards

ACE_KING = "As Kd 4h 3c 2s"
ACE_QUEEN = "As Qd Jh Tc 9s"
JACKPOT_LEVELS = {
    "royal_flush": "Ah Kh Qh Jh Th",
    "straight_flush": "9h 8h 7h 6h 5h",
    "four_of_a_kind": "8h 8d 8c 8s 5h",
    "full_house": "8h 8d 8c 5s 5h",
    "flush": "Kh 8h 7h 6h 5h",
}
HOUSES = ("us-casino", "uk-casino", "macau", "adelaide")


def casino(house: str, **fields: Any) -> Ledger:
    """Return a ledger with a table of that house, without a jackpot."""
    ledger = Ledger()
    ledger.table(house, **fields)
    return ledger


def with_jackpot(house: str, meter: int = 1_000_000) -> Ledger:
    """Return a ledger with a table of that house and its jackpot, which side bets hardly feed."""
    ledger = Ledger()
    currency = {"us-casino": "USD", "uk-casino": "GBP", "macau": "HKD", "adelaide": "AUD"}[house]
    ledger.jackpot(meter, currency, contribution="0.0001")
    ledger.table(house)
    return ledger


STAKES = {"us-casino": 100, "uk-casino": 100, "macau": 1_000, "adelaide": 250}


# ── Rules that the houses share ─────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("house", [*HOUSES, "casino-poker-1982"])
def test_antes_before_no_more_bets(house: str) -> None:
    """All antes come before the deal."""
    ledger = casino(house)
    round_id = ledger.dealt(ACE_KING, {1: Box("8h 8d 7c 6h 5h")})
    late = ledger.stake(2)
    ledger.fund([late])
    ledger.refused(c.PlaceAntes(round_id, (late,)), "wrong_phase")


@pytest.mark.parametrize("house", [*HOUSES, "casino-poker-1982"])
def test_five_cards_each_in_a_block_and_the_dealers_last(house: str) -> None:
    """Each player gets five cards face down, the dealer the last five, of which the first is turned up."""
    ledger = casino(house, deal_source="rng")
    round_id = ledger.open(ledger.stake(1), ledger.stake(7), deal=True)
    first, second, up = ledger.of(round_id, ev.Dealt)
    ledger.decide(round_id, 1, "raise")
    ledger.decide(round_id, 7, "raise")
    (dealer,) = ledger.of(round_id, ev.DealerQualified)

    assert (first.indices, second.indices) == ((0, 1, 2, 3, 4), (5, 6, 7, 8, 9))
    assert dealer.indices == (10, 11, 12, 13, 14)
    assert up.cards == dealer.cards[: len(up.cards)]


@pytest.mark.parametrize("house", [*HOUSES, "casino-poker-1982"])
def test_the_raise_is_twice_the_ante_and_a_fold_loses_it(house: str) -> None:
    """Play stakes the double, a fold loses the ante."""
    ledger = casino(house)
    round_id = ledger.play(ACE_KING, {1: Box("8h 8d 7c 6h 5h", ante=300), 2: Box("9h 9d 7d 6s 5c", "fold")})
    assert ledger.of(round_id, ev.Raised)[0].amount == 600
    assert ledger.paid(round_id, 2) == {"ante": (0, 0)}


@pytest.mark.parametrize("house", [*HOUSES, "casino-poker-1982"])
@pytest.mark.parametrize(
    ("dealer", "qualified"),
    [(ACE_KING, True), (ACE_QUEEN, False), ("2s 2d 5h 4c 3s", True), ("Ks Qd Jh Tc 8s", False)],
)
def test_the_dealer_qualifies_with_ace_king_or_a_pair(house: str, dealer: str, *, qualified: bool) -> None:
    """Ace and king, or a pair or better, plays."""
    ledger = casino(house)
    round_id = ledger.play(dealer, {1: Box("8h 8d 7c 6h 5d")})
    assert ledger.of(round_id, ev.DealerQualified)[0].qualified is qualified
    assert ledger.paid(round_id) == {"ante": (10_000, 10_000), "raise": (20_000, 20_000 if qualified else 0)}


@pytest.mark.parametrize("house", [*HOUSES, "casino-poker-1982"])
def test_a_dealer_who_beats_the_player_but_does_not_qualify_takes_nothing(house: str) -> None:
    """Ace-queen beats nine high, and still pays the ante and returns the raise."""
    ledger = casino(house)
    round_id = ledger.play(ACE_QUEEN, {1: Box("9h 7d 5c 4h 2h")})
    assert ledger.result(round_id) == "dealer_not_qualified"
    assert ledger.paid(round_id) == {"ante": (10_000, 10_000), "raise": (20_000, 0)}


@pytest.mark.parametrize("house", [*HOUSES, "casino-poker-1982"])
def test_the_dealer_takes_both_bets_or_pushes_both(house: str) -> None:
    """Ante and raise are lost to the better hand and come back on a tie."""
    ledger = casino(house)
    lost = ledger.play(ACE_KING, {1: Box("Qh 9d 7c 6h 5d")})
    tied = ledger.play(ACE_KING, {1: Box("Ah Kc 4d 3h 2h")})
    assert ledger.paid(lost) == {"ante": (0, 0), "raise": (0, 0)}
    assert ledger.paid(tied) == {"ante": (10_000, 0), "raise": (20_000, 0)}


@pytest.mark.parametrize("house", [*HOUSES, "casino-poker-1982"])
@pytest.mark.parametrize(
    ("hand", "odds"),
    [
        ("9h 8h 7h 6h 5h", 50),
        ("8h 8d 8c 8s 5h", 20),
        ("8h 8d 8c 5s 5h", 7),
        ("Kh 8h 7h 6h 5h", 5),
        ("9h 8d 7h 6h 5h", 4),
        ("9h 9d 9c 6h 5h", 3),
        ("9h 9d 6c 6h 5h", 2),
        ("9h 9d 7c 6h 5h", 1),
        ("Ah Kh 7c 6h 5h", 1),
    ],
)
def test_the_pay_table_of_the_raise(house: str, hand: str, odds: int) -> None:
    """The source's table from the straight flush down, below every cap."""
    ledger = casino(house)
    round_id = ledger.play(ACE_KING, {1: Box(hand, ante=100)})
    assert ledger.paid(round_id) == {"ante": (100, 100), "raise": (200, 200 * odds)}


@pytest.mark.parametrize("house", ["us-casino", "macau", "adelaide", "casino-poker-1982"])
def test_a_royal_flush_pays_100_to_1(house: str) -> None:
    """100:1, but in the United Kingdom."""
    ledger = casino(house)
    round_id = ledger.play(ACE_KING, {1: Box("Ah Kh Qh Jh Th", ante=100)})
    assert ledger.paid(round_id)["raise"] == (200, 20_000)


# ── United States ───────────────────────────────────────────────────────────────────────────────
def test_us_royal_flush_is_capped_at_5000_dollars() -> None:
    """The worked example: ante 100, raise 200: 5 000 on the raise, 100 on the ante."""
    ledger = casino("us-casino")
    round_id = ledger.play(ACE_KING, {1: Box("Ah Kh Qh Jh Th")})
    assert ledger.paid(round_id) == {"ante": (10_000, 10_000), "raise": (20_000, 500_000)}
    assert ledger.wallet("player-1") == (FUNDS + 510_000, 0)


@pytest.mark.parametrize(("ante", "won"), [(2_499, 499_800), (2_500, 500_000), (2_501, 500_000)])
def test_us_cap_starts_above_5000_dollars(ante: int, won: int) -> None:
    """A royal on a raise of exactly 50 dollars reaches the cap; less is paid in full."""
    ledger = casino("us-casino")
    round_id = ledger.play(ACE_KING, {1: Box("Ah Kh Qh Jh Th", ante=ante)})
    assert ledger.paid(round_id)["raise"] == (2 * ante, won)


def test_us_cap_is_on_each_hand() -> None:
    """Two players' royals are each paid up to the cap; the jackpot is outside it."""
    ledger = with_jackpot("us-casino")
    boxes = {
        1: Box("Ah Kh Qh Jh Th", side_bets={"jackpot": 100}),
        2: Box("Ac Kc Qc Jc Tc"),
    }
    round_id = ledger.play(ACE_KING, boxes)
    assert ledger.paid(round_id, 1)["raise"] == ledger.paid(round_id, 2)["raise"] == (20_000, 500_000)
    assert ledger.paid(round_id, 1)["jackpot"] == (0, 1_000_000)


# ── United Kingdom ──────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("hand", ["Ah Kh Qh Jh Th", "9h 8h 7h 6h 5h"])
def test_uk_royal_and_straight_flush_pay_10000_pounds_at_most(hand: str) -> None:
    """The worked example: ante 100, raise 200, royal or straight flush: 10 000 on the raise."""
    ledger = casino("uk-casino")
    round_id = ledger.play(ACE_KING, {1: Box(hand)})
    assert ledger.paid(round_id) == {"ante": (10_000, 10_000), "raise": (20_000, 1_000_000)}


def test_uk_takes_antes_of_100_pounds_at_most() -> None:
    """A table cannot offer more than the house, nor can a player stake more than the table."""
    ledger = Ledger()
    ledger.house("uk-casino")
    ledger.refused(c.OpenTable("t", "uk-casino", "GBP", 100, 10_001, "table"), "validation_failed")
    ledger.table("uk-casino")
    stakes = (ledger.stake(1, ante=10_001),)
    ledger.fund(stakes)
    refusal = ledger.refused(c.OpenRound("x", "t", stakes), "ante_out_of_limits")
    assert refusal.extra == {"min_ante": 100, "max_ante": 10_000}


def test_uk_tables_without_a_jackpot() -> None:
    """Not every casino has the jackpot: without one the side bet is not offered."""
    ledger = casino("uk-casino")
    stakes = (ledger.stake(1, jackpot=100),)
    ledger.fund(stakes)
    ledger.refused(c.OpenRound("x", "t", stakes), "unknown_side_bet")


@pytest.mark.parametrize(("dealer", "shown"), [(ACE_QUEEN, [1]), (ACE_KING, [1, 2])])
def test_uk_jackpot_hands_are_shown_when_the_dealer_does_not_qualify(dealer: str, shown: list[int]) -> None:
    """Without ace and king only hands that play the jackpot are turned up; folded hands never are."""
    ledger = with_jackpot("uk-casino")
    boxes = {
        1: Box("8h 8d 7c 6h 5d", side_bets={"jackpot": 100}),
        2: Box("7h 7d 5c 4s 3h"),
        3: Box("6c 6d 5s 4c 3d", "fold", side_bets={"jackpot": 100}),
        4: Box("Kh Qh 5h 4d 3s", "fold"),
    }
    round_id = ledger.play(dealer, boxes)
    assert [seat for seat in boxes if ledger.settled(round_id, seat).shown] == shown


def test_elsewhere_hands_that_raised_are_shown() -> None:
    """In other casinos every hand that raised is turned up, whether the dealer qualifies or not."""
    ledger = casino("us-casino")
    boxes = {1: Box("8h 8d 7c 6h 5d"), 2: Box("7h 7d 5c 4s 3h", "fold")}
    round_id = ledger.play(ACE_QUEEN, boxes)
    assert [ledger.settled(round_id, seat).shown for seat in (1, 2)] == [True, False]


# ── The jackpots ────────────────────────────────────────────────────────────────────────────────
AWARDS = {
    "us-casino": (1_000_000, 100_000, 50_000, 10_000, 5_000),
    "uk-casino": (1_000_000, 100_000, 50_000, 10_000, 5_000),
    "macau": (1_000_000, 100_000, 500_000, 150_000, 100_000),
    "adelaide": (1_000_000, 100_000, 125_000, 37_500, 25_000),
}
OUTCOMES = {
    "fold": (ACE_KING, "fold", "folded"),
    "not qualified": ("Ad Qd Jc Tc 9c", "raise", "dealer_not_qualified"),
    "win": (ACE_KING, "raise", "win"),
    "tie": ("", "raise", "push"),
    "lose": ("Ad Kd Qd Jd Td", "raise", "lose"),
}
TIES = {
    "royal_flush": "Ac Kc Qc Jc Tc",
    "straight_flush": "9c 8c 7c 6c 5c",
    "flush": "Kc 8c 7c 6c 5c",
}


POSSIBLE = [
    (category, outcome)
    for category in JACKPOT_LEVELS
    for outcome in OUTCOMES
    # Quads and full houses cannot tie from one deck, and nothing beats a royal flush.
    if not (outcome == "tie" and category not in TIES) and (category, outcome) != ("royal_flush", "lose")
]


@pytest.mark.parametrize(("category", "outcome"), POSSIBLE)
@pytest.mark.parametrize("house", HOUSES)
def test_the_jackpot_pays_on_every_outcome(house: str, category: str, outcome: str) -> None:
    """Each level pays the award on a fold, against a dealer who fails, on a win, a tie, and a loss."""
    dealer, does, result = OUTCOMES[outcome]
    dealer = dealer or TIES[category]
    hand = JACKPOT_LEVELS[category]
    ledger = with_jackpot(house)
    round_id = ledger.play(dealer, {1: Box(hand, does, side_bets={"jackpot": STAKES[house]})})

    award = dict(zip(JACKPOT_LEVELS, AWARDS[house], strict=True))[category]
    assert ledger.result(round_id) == result
    assert ledger.settled(round_id, 1).bets[-1] == ev.BetLeg("jackpot", STAKES[house], 0, award)
    (hit,) = ledger.of(round_id, ev.JackpotHit)
    assert (hit.category, hit.award) == (category, award)


# ── History ─────────────────────────────────────────────────────────────────────────────────────
def test_1982_two_dealer_cards_are_shown() -> None:
    """Two cards are up before the decisions, and a scan of one or three is refused."""
    ledger = casino("casino-poker-1982")
    round_id = ledger.open(ledger.stake(1))
    hand = {1: cards("8h 8d 7c 6h 5h")}
    for up in ("As", "As Kd 4h"):
        ledger.refused(c.DealCards(round_id, hand, None, cards(up)), "misdeal")
    answer = ledger.ask(c.DealCards(round_id, hand, None, cards("As Kd")))
    assert answer["up_cards"] == ["As", "Kd"]
    ledger.decide(round_id, 1, "raise")
    ledger.reveal(round_id, ACE_KING)
    assert ledger.round(round_id).dealer == cards(ACE_KING)


def test_1982_has_no_progressive_jackpot() -> None:
    """A table with a jackpot is refused, and no seat can bet on one."""
    ledger = Ledger()
    ledger.jackpot(1_000)
    ledger.house("casino-poker-1982")
    opening = c.OpenTable("t", "casino-poker-1982", "USD", 100, 200, "table", jackpot_id="pot")
    ledger.refused(opening, "validation_failed")
    ledger.table("casino-poker-1982", jackpot_id=None)
    stakes = (ledger.stake(1, jackpot=100),)
    ledger.fund(stakes)
    ledger.refused(c.OpenRound("x", "t", stakes), "unknown_side_bet")

"""Source 002, English: `cyber`. One test for each rule, named after it."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as ev
from domain.views import round_view
from tests.unit.domain.playing import FUNDS, Box, Ledger, cards, changed

ACE_KING = "As Kd 4h 3c 2s"
ACE_QUEEN = "As Qd Jh Tc 9s"


@pytest.fixture
def cyber() -> Ledger:
    """Return a ledger with a cyber table and its jackpot at 10 000 dollars."""
    ledger = Ledger()
    ledger.jackpot(1_000_000, contribution="0.70")
    ledger.table("cyber")
    return ledger


def test_up_to_three_hands_at_the_same_time(cyber: Ledger) -> None:
    """One player's three hands, each with its own ante, are settled each on its own."""
    boxes = {
        1: Box("9h 9d 7c 6h 5h", ante=100, player="p"),
        2: Box("Qd Jd 9c 7s 5d", ante=200, player="p"),
        3: Box("8h 8d Jc 3d 2h", "fold", ante=300, player="p"),
    }
    round_id = cyber.play(ACE_KING, boxes)

    assert [cyber.result(round_id, seat) for seat in (1, 2, 3)] == ["win", "lose", "folded"]
    assert cyber.wallet("p") == (FUNDS + 100 + 200 - 200 - 400 - 300, 0)


def test_a_fourth_hand_is_refused(cyber: Ledger) -> None:
    """Three places are all there are."""
    cyber.player("p")
    stakes = tuple(cyber.stake(seat, player="p") for seat in (1, 2, 3, 4))
    cyber.refused(c.OpenRound("x", "t", stakes), "table_full")
    cyber.refused(c.OpenRound("x", "t", stakes[3:]), "validation_failed")


def test_hands_of_one_player_are_paid_from_one_wallet(cyber: Ledger) -> None:
    """Antes that the wallet covers one by one but not together are refused together."""
    cyber.player("p", funds=299)
    stakes = tuple(cyber.stake(seat, ante=100, player="p") for seat in (1, 2, 3))
    refusal = cyber.refused(c.OpenRound("x", "t", stakes), "insufficient_funds")
    assert refusal.extra == {"needed": 300, "balance": 299}


def test_player_cards_are_face_up(cyber: Ledger) -> None:
    """All five are open, and one of the dealer's."""
    round_id = cyber.dealt(ACE_KING, {1: Box("9h 9d 7c 6h 5h")})

    state = cyber.round(round_id)
    view = round_view(state, cyber.work.rules_of(state), {}, game_server=False)
    assert tuple(view["seats"][0]["cards"]) == cards("9h 9d 7c 6h 5h")
    assert view["up_cards"] == ["As"]


def test_fold_loses_the_starting_bet(cyber: Ledger) -> None:
    """Quitting loses the ante and no more."""
    assert cyber.paid(cyber.play(ACE_KING, {1: Box("9h 9d 7c 6h 5h", "fold")})) == {"ante": (0, 0)}


def test_the_back_bet_is_double_the_ante(cyber: Ledger) -> None:
    """Play places a Back Bet of twice the ante."""
    round_id = cyber.play(ACE_KING, {1: Box("9h 9d 7c 6h 5h", ante=150)})
    assert cyber.of(round_id, ev.Raised)[0].amount == 300


def test_the_dealer_must_qualify_with_ace_king_or_better(cyber: Ledger) -> None:
    """Ace-king plays; ace-queen pays the ante 1:1 and pushes the Back Bet."""
    assert cyber.result(cyber.play(ACE_KING, {1: Box("9h 9d 7c 6h 5h")})) == "win"
    failed = cyber.play(ACE_QUEEN, {1: Box("8h 8d 7c 6h 5h")})
    assert cyber.paid(failed) == {"ante": (10_000, 10_000), "raise": (20_000, 0)}


def test_a_higher_dealer_takes_both_wagers(cyber: Ledger) -> None:
    """Ante and Back Bet are lost to a qualified, higher hand."""
    round_id = cyber.play(ACE_KING, {1: Box("Qd Jd 9c 7s 5d")})
    assert cyber.paid(round_id) == {"ante": (0, 0), "raise": (0, 0)}


@pytest.mark.parametrize(
    ("hand", "odds"),
    [
        ("Ah Kh Qh Jh Th", 100),
        ("9h 8h 7h 6h 5h", 50),
        ("9h 9d 9c 9s 5h", 20),
        ("9h 9d 9c 5s 5h", 7),
        ("Kh 8h 7h 6h 5h", 5),
        ("9h 8d 7h 6h 5h", 4),
        ("9h 9d 9c 6h 5h", 3),
        ("9h 9d 6c 6h 5h", 2),
        ("9h 9d 7c 6h 5h", 1),
        ("Ah Kh 7c 6h 5h", 1),
    ],
)
def test_the_pay_table_of_the_back_bet(cyber: Ledger, hand: str, odds: int) -> None:
    """The source's table; one pair or less pays 1:1."""
    round_id = cyber.play(ACE_KING, {1: Box(hand)})
    assert cyber.paid(round_id) == {"ante": (10_000, 10_000), "raise": (20_000, odds * 20_000)}


def test_a_tie_is_a_push(cyber: Ledger) -> None:
    """Both bets come back in this round; nothing is carried into the next one."""
    round_id = cyber.play(ACE_KING, {1: Box("Ac Kc 4d 3h 2c")})
    assert cyber.paid(round_id) == {"ante": (10_000, 0), "raise": (20_000, 0)}
    assert cyber.wallet("player-1") == (FUNDS, 0)


def test_the_jackpot_is_optional_and_a_dollar_a_hand(cyber: Ledger) -> None:
    """One of two hands takes it; two dollars are refused."""
    cyber.player("p")
    stake = (cyber.stake(1, player="p", jackpot=200),)
    cyber.refused(c.OpenRound("x", "t", stake), "side_bet_stake")
    boxes = {
        1: Box("9h 9d 9c 9s 5h", player="p", side_bets={"jackpot": 100}),
        2: Box("8h 8d 8c 8s 5d", player="p"),
    }
    round_id = cyber.play(ACE_KING, boxes)
    assert cyber.paid(round_id, 1)["jackpot"] == (0, 10_000)
    assert "jackpot" not in cyber.paid(round_id, 2)


@pytest.mark.parametrize("does", ["raise", "fold"])
@pytest.mark.parametrize(
    ("hand", "award"),
    [
        ("Ah Kh Qh Jh Th", 1_000_070),
        ("9h 8h 7h 6h 5h", 100_007),
        ("9h 9d 9c 9s 5h", 10_000),
        ("9h 9d 9c 5s 5h", 10_000),
        ("Kh 8h 7h 6h 5h", 5_000),
    ],
)
def test_the_jackpot_pays_regardless_of_the_outcome(cyber: Ledger, hand: str, award: int, does: str) -> None:
    """100 %, 10 %, 100 for quads as for a full house, and 50 dollars, folded or not."""
    round_id = cyber.play(ACE_KING, {1: Box(hand, does, side_bets={"jackpot": 100})})
    assert cyber.paid(round_id)["jackpot"] == (0, award)


def test_only_a_players_own_hands_in_one_round(cyber: Ledger) -> None:
    """Another player cannot take a place that is taken, and can take a free one."""
    round_id = cyber.open(cyber.stake(1, player="p"))
    other = cyber.stake(1, player="q")
    cyber.fund([other])
    cyber.refused(c.PlaceAntes(round_id, (other,)), "seat_taken")


def test_rebet_places_the_same_wager_again() -> None:
    """The next game is opened with the last decision; the same stakes are then placed as new ones."""
    ledger = Ledger()
    ledger.table("cyber", deal_source="rng")
    first = ledger.open(ledger.stake(1, ante=500), deal=True)
    answer = ledger.ask(c.Decide(first, 1, "fold", open_next=True, next_round_id="next"))

    assert answer["next_round"]["round_id"] == "next"
    again = ledger.ask(c.PlaceAntes("next", (ledger.stake(1, ante=500),), deal=True))
    assert again["committed"] == "before_stake"
    assert again["deck_commitment"] == answer["next_round"]["deck_commitment"]
    assert ledger.wallet("player-1") == (FUNDS - 1_000, 500)


def test_a_cap_on_all_of_a_players_raises_together() -> None:
    """With an aggregate cap of 50 dollars the second hand wins what the first leaves, the third nothing."""
    ledger = Ledger()
    ledger.table(changed("cyber", raise_cap={"scope": "aggregate", "amount": "50"}))
    boxes = {
        1: Box("9h 9d 9c 6h 5h", ante=500, player="p"),
        2: Box("Kh Qd Jh Td 9s", ante=500, player="p"),
        3: Box("8h 8d 7c 7h 5d", ante=500, player="p"),
    }
    round_id = ledger.play(ACE_KING, boxes)
    assert [ledger.paid(round_id, seat)["raise"] for seat in (1, 2, 3)] == [
        (1_000, 3_000),
        (1_000, 2_000),
        (1_000, 0),
    ]


def test_an_aggregate_cap_is_each_players_own() -> None:
    """What one player's hand has won does not lessen another's."""
    ledger = Ledger()
    ledger.table(changed("cyber", raise_cap={"scope": "aggregate", "amount": "30"}))
    boxes = {seat: Box(hand, ante=500) for seat, hand in ((1, "9h 9d 9c 6h 5h"), (2, "Kh Qd Jh Td 9s"))}
    round_id = ledger.play(ACE_KING, boxes)
    assert [ledger.paid(round_id, seat)["raise"] for seat in (1, 2)] == [(1_000, 3_000), (1_000, 3_000)]

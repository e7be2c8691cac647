"""Source 000, Norwegian: `nordic`. One test for each rule, named after it."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as ev
from domain.views import round_view
from tests.unit.domain.playing import FUNDS, Box, Ledger, cards, shipped

PAIR_OF_FIVES = "5s 5d 9h 8c 2s"
ACE_KING = "As Kd 4h 3c 2s"
ACE_QUEEN = "As Qd Jh Tc 9s"
STRAIGHT = "9c 8d 7c 6d 5c"


@pytest.fixture
def nordic() -> Ledger:
    """Return a ledger with a Nordic table in dollars and its jackpot at 10 000 dollars."""
    ledger = Ledger()
    ledger.jackpot(1_000_000, contribution="0.70")
    ledger.table("nordic", currency="USD", max_ante=100_000)
    return ledger


def test_without_an_ante_there_are_no_cards_and_no_side_bet(nordic: Ledger) -> None:
    """A round with no ante cannot be dealt, and a side bet comes only with an ante within the limits."""
    round_id = nordic.open()
    nordic.refused(c.DealCards(round_id, {}, None, ("2c",)), "validation_failed")

    stake = nordic.stake(1, ante=0, jackpot=100)
    nordic.fund([stake])
    nordic.refused(c.PlaceAntes(round_id, (stake,)), "ante_out_of_limits")


def test_no_more_bets(nordic: Ledger) -> None:
    """After the deal neither an ante nor a side bet is taken."""
    round_id = nordic.dealt(ACE_KING, {1: Box("2h 2d 7s 8s 9s")})
    late = nordic.stake(2, jackpot=100)
    nordic.fund([late])

    nordic.refused(c.PlaceAntes(round_id, (late,)), "wrong_phase")


def test_seven_players_use_40_of_the_52_cards() -> None:
    """Seven seats and the dealer take the first 40 cards of the deck, one at a time, hers last."""
    ledger = Ledger()
    ledger.table("nordic", currency="USD", deal_source="rng")
    round_id = ledger.open(*(ledger.stake(seat) for seat in range(1, 8)), deal=True)
    for seat in range(1, 8):
        ledger.decide(round_id, seat, "raise")

    dealt = ledger.of(round_id, ev.Dealt)
    (dealer,) = ledger.of(round_id, ev.DealerQualified)
    used = [index for hand in dealt if hand.to == "seat" for index in hand.indices or ()]
    assert [hand.seat for hand in dealt] == [1, 2, 3, 4, 5, 6, 7, None]
    assert dealt[0].indices == (0, 8, 16, 24, 32)
    assert dealer.indices == (7, 15, 23, 31, 39)
    assert sorted([*used, *dealer.indices]) == list(range(40))
    assert len({card for hand in dealt[:-1] for card in hand.cards} | set(dealer.cards)) == 40


def test_the_dealer_turns_up_one_of_her_cards(nordic: Ledger) -> None:
    """Before the decisions the dealer's fifth card and none of the others is in the ledger."""
    round_id = nordic.dealt(ACE_KING, {1: Box("2h 2d 7s 8s 9s")})

    (up,) = [dealt for dealt in nordic.of(round_id, ev.Dealt) if dealt.to == "dealer"]
    assert (up.cards, up.up_indices) == (("2s",), (4,))


def test_a_player_plays_one_hand_at_a_time(nordic: Ledger) -> None:
    """A second seat for the same player is refused, in one command and in two."""
    two = (nordic.stake(1, player="p"), nordic.stake(2, player="p"))
    nordic.player("p")
    nordic.refused(c.OpenRound("x", "t", two), "seat_taken")

    round_id = nordic.open(two[0])
    nordic.refused(c.PlaceAntes(round_id, (two[1],)), "seat_taken")


def test_giving_up_costs_the_ante(nordic: Ledger) -> None:
    """A fold loses the ante and nothing else, and the seat is out."""
    round_id = nordic.play(ACE_QUEEN, {1: Box("2h 3d 7s 8s 9c", "fold")})

    assert nordic.result(round_id) == "folded"
    assert nordic.paid(round_id) == {"ante": (0, 0)}
    assert nordic.wallet("player-1") == (FUNDS - 10_000, 0)


@pytest.mark.parametrize(("ante", "bet"), [(10_000, 20_000), (40_000, 80_000)])
def test_the_bet_is_exactly_twice_the_ante(nordic: Ledger, ante: int, bet: int) -> None:
    """100 crowns of ante ask for a bet of 200, 400 for 800."""
    round_id = nordic.dealt(ACE_KING, {1: Box("2h 2d 7s 8s 9s", ante=ante)})
    nordic.decide(round_id, 1, "raise")

    assert [raised.amount for raised in nordic.of(round_id, ev.Raised)] == [bet]


def test_dealer_does_not_qualify(nordic: Ledger) -> None:
    """The worked example: an ante of 100 wins 100, and the bet comes back, however bad the player's hand."""
    round_id = nordic.play(ACE_QUEEN, {1: Box("2h 3d 7s 8s 9c")})

    assert nordic.result(round_id) == "dealer_not_qualified"
    assert nordic.paid(round_id) == {"ante": (10_000, 10_000), "raise": (20_000, 0)}
    assert nordic.wallet("player-1") == (FUNDS + 10_000, 0)


def test_a_hand_worse_than_the_dealers_loses_ante_and_bet(nordic: Ledger) -> None:
    """Against a qualified dealer the worse hand loses both."""
    round_id = nordic.play(PAIR_OF_FIVES, {1: Box("4c 4d Ac Kc Qd")})

    assert nordic.result(round_id) == "lose"
    assert nordic.paid(round_id) == {"ante": (0, 0), "raise": (0, 0)}


def test_a_hand_as_good_as_the_dealers_keeps_ante_and_bet(nordic: Ledger) -> None:
    """Equal hands: both stakes come back and nothing is won."""
    round_id = nordic.play(PAIR_OF_FIVES, {1: Box("5h 5c 9d 8d 2d")})

    assert nordic.result(round_id) == "push"
    assert nordic.paid(round_id) == {"ante": (10_000, 0), "raise": (20_000, 0)}
    assert nordic.wallet("player-1") == (FUNDS, 0)


def test_a_straight_against_a_pair_of_fives(nordic: Ledger) -> None:
    """The worked example: ante 200, bet 400: 200 and 1 600 are won, 2 400 come back with the stakes."""
    round_id = nordic.dealt(PAIR_OF_FIVES, {1: Box(STRAIGHT, ante=20_000)})
    nordic.decide(round_id, 1, "raise")
    answer = nordic.reveal(round_id, PAIR_OF_FIVES)

    assert nordic.paid(round_id) == {"ante": (20_000, 20_000), "raise": (40_000, 160_000)}
    assert answer["seats"][0]["total_returned"] == 240_000
    assert answer["seats"][0]["net"] == 180_000
    assert nordic.wallet("player-1") == (FUNDS + 180_000, 0)


def test_settled_from_the_left_most_seat_clockwise(nordic: Ledger) -> None:
    """Seats are settled in ascending order, whatever the order in which they bet and decided."""
    boxes = {3: Box("4c 4d Ac Kc Qd"), 1: Box(STRAIGHT), 2: Box("7h 7s Jc Td 3d", "fold")}
    round_id = nordic.dealt(PAIR_OF_FIVES, boxes)
    for seat in (2, 3, 1):
        nordic.decide(round_id, seat, boxes[seat].does)
    nordic.reveal(round_id, PAIR_OF_FIVES)

    assert [settled.seat for settled in nordic.of(round_id, ev.Settled)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("hand", "category", "odds"),
    [
        ("Ah Kh Qh Jh Th", "royal_flush", 100),
        ("9h 8h 7h 6h 5h", "straight_flush", 50),
        ("9h 9d 9c 9s 5h", "four_of_a_kind", 20),
        ("9h 9d 9c 5s 5h", "full_house", 7),
        ("Kh 8h 7h 6h 5h", "flush", 5),
        ("9h 8d 7h 6h 5h", "straight", 4),
        ("9h 9d 9c 6h 5h", "three_of_a_kind", 3),
        ("9h 9d 6c 6h 5h", "two_pair", 2),
        ("9h 9d 7c 6h 5h", "pair", 1),
        ("Ah Kh 7c 6h 5h", "high_card", 1),
    ],
)
def test_the_pay_table_of_the_bet(nordic: Ledger, hand: str, category: str, odds: int) -> None:
    """Each hand that beats a qualified dealer is paid by the source's table, the ante 1:1."""
    round_id = nordic.play(ACE_KING, {1: Box(hand)})

    assert nordic.settled(round_id, 1).category == category
    assert nordic.result(round_id) == "win"
    assert nordic.paid(round_id) == {"ante": (10_000, 10_000), "raise": (20_000, odds * 20_000)}
    assert [leg.odds for leg in nordic.settled(round_id, 1).bets] == [1, odds]


@pytest.mark.parametrize(
    ("hand", "award", "left"),
    [
        ("Ah Kh Qh Jh Th", 1_000_070, 1_000_000),
        ("9h 8h 7h 6h 5h", 100_007, 900_063),
        ("9h 9d 9c 9s 5h", 50_000, 950_070),
        ("9h 9d 9c 5s 5h", 10_000, 990_070),
        ("Kh 8h 7h 6h 5h", 5_000, 995_070),
    ],
)
def test_the_pay_table_of_the_jackpot(nordic: Ledger, hand: str, award: int, left: int) -> None:
    """100 %, 10 %, 500, 100 and 50 dollars, from a meter that the side bet of a dollar fed with 70 cents."""
    round_id = nordic.play(ACE_KING, {1: Box(hand, side_bets={"jackpot": 100})})

    assert nordic.paid(round_id)["jackpot"] == (0, award)
    assert nordic.meter() == left


def test_the_jackpot_starts_at_a_flush(nordic: Ledger) -> None:
    """A straight wins nothing on the jackpot, and the stake does not come back."""
    round_id = nordic.play(ACE_KING, {1: Box(STRAIGHT, side_bets={"jackpot": 100})})

    assert nordic.paid(round_id)["jackpot"] == (0, 0)
    assert nordic.of(round_id, ev.JackpotHit) == []
    assert nordic.meter() == 1_000_070


def test_the_jackpot_does_not_ask_whether_the_dealer_qualifies(nordic: Ledger) -> None:
    """A flush wins its 50 dollars against a dealer who does not qualify, and when it has been folded."""
    boxes = {
        1: Box("Kh 8h 7h 6h 5h", side_bets={"jackpot": 100}),
        2: Box("Kc 8c 7c 6c 5c", "fold", side_bets={"jackpot": 100}),
    }
    round_id = nordic.play(ACE_QUEEN, boxes)

    assert nordic.paid(round_id, 1)["jackpot"] == nordic.paid(round_id, 2)["jackpot"] == (0, 5_000)


def test_a_jackpot_may_ask_that_the_dealer_qualifies() -> None:
    """«There are exceptions»: where the house says so, a flush wins only against a qualified dealer."""
    document = shipped("nordic")
    document["side_bets"][0]["needs_dealer_to_qualify"] = True
    ledger = Ledger()
    ledger.jackpot(1_000_000)
    ledger.table(document, currency="USD")
    flush = {1: Box("Kh 8h 7h 6h 5h", side_bets={"jackpot": 100})}

    assert ledger.paid(ledger.play(ACE_QUEEN, flush))["jackpot"] == (0, 0)
    assert ledger.paid(ledger.play(ACE_KING, flush))["jackpot"] == (0, 5_000)


def test_the_side_bet_takes_a_marker_of_the_right_value(nordic: Ledger) -> None:
    """The jackpot takes exactly one dollar, and only side bets that the table has."""
    for amount in (99, 101, 0):
        stake = nordic.stake(1, jackpot=amount)
        nordic.fund([stake])
        nordic.refused(c.OpenRound("x", "t", (stake,)), "side_bet_stake")
    nordic.refused(c.OpenRound("x", "t", (nordic.stake(1, five_plus_one=100),)), "unknown_side_bet")


def test_cards_are_dealt_face_down(nordic: Ledger) -> None:
    """Who is not the game server sees no player card before the round is finished, and then all of them."""
    hand = "2h 2d 7s 8s 9s"
    round_id = nordic.dealt(ACE_KING, {1: Box(hand)})
    rules = nordic.work.rules_of(nordic.work.rounds[round_id])

    view = round_view(nordic.work.rounds[round_id], rules, {}, game_server=False)
    assert view["seats"][0]["cards"] == []
    assert view["seats"][0]["category"] is None
    nordic.decide(round_id, 1, "raise")
    nordic.reveal(round_id, ACE_KING)
    view = round_view(nordic.work.rounds[round_id], rules, {}, game_server=False)
    assert tuple(view["seats"][0]["cards"]) == cards(hand)

"""What is particular to a house, over HTTP on physical tables: limits, hands shown, card purchase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.integration.api.physical_table import Box, PhysicalTable

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

NOTHING: Final = "4c 7h 9c Jd Qd"
QUALIFIED: Final = "4c 7h 9c Kd Ad"
ROYAL: Final = "Ts Js Qs Ks As"
STEEL: Final = "As 2s 3s 4s 5s"
QUADS: Final = "8s 8h 8d 8c 2s"


# ── The most a raise wins (readings 16 and 17) ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("hand", "ante", "won"),
    [
        (ROYAL, 10_000, 500_000),
        (ROYAL, 2_500, 500_000),
        (ROYAL, 2_499, 499_800),
        (STEEL, 5_000, 500_000),
        (STEEL, 5_001, 500_000),
        (QUADS, 10_000, 400_000),
    ],
)
def test_the_us_limit_is_on_the_win_of_each_raise(api: Api, hand: str, ante: int, won: int) -> None:
    """004: a raise wins 5 000 dollars at most, and below that what the table of odds says."""
    round_ = PhysicalTable(api, "us-casino").play(QUALIFIED, Box(hand, ante=ante))
    assert round_.paid() == {"ante": (ante, ante, ante), "raise": (2 * ante, 2 * ante, won)}


def test_the_us_limit_is_for_each_hand_and_leaves_the_jackpot_alone(api: Api) -> None:
    """Two royals win 5 000 dollars each on their raises, and halve the jackpot beside."""
    table = PhysicalTable(api, "us-casino", reset=10_000_000)
    bet = {"jackpot": 100}
    boxes = (Box(ROYAL, side_bets=bet), Box("Th Jh Qh Kh Ah", side_bets=bet))
    round_ = table.play("4c 7h 9c Kd Ad", *boxes)
    for seat in (1, 2):
        assert round_.paid(seat)["raise"] == (20_000, 20_000, 500_000)
        assert round_.paid(seat)["jackpot"] == (100, 0, 5_000_070)


@pytest.mark.parametrize(
    ("hand", "won"), [(ROYAL, 300_000), (STEEL, 300_000), (QUADS, 300_000), ("8s 8h 8d 2c 2s", 140_000)]
)
def test_the_czech_limit_is_the_tables_own(api: Api, hand: str, won: int) -> None:
    """003: a raise wins the table's maximum at most; the special bonus is outside it."""
    table = PhysicalTable(api, "czech", raise_win_cap=300_000)
    round_ = table.play(QUALIFIED, Box(hand, side_bets={"bonus": 5_000}))
    assert round_.paid()["raise"] == (20_000, 20_000, won)
    assert round_.paid()["bonus"][2] >= 200_000


def test_the_uk_ante_is_a_hundred_pounds_at_most(api: Api) -> None:
    """004: a table with a higher limit is not opened at this house."""
    body = {"table_id": "uk-high", "ruleset": "uk-casino", "currency": "GBP", "deal_source": "table"}
    limits = {"min_ante": 100, "max_ante": 10_001}
    api.refused("validation_failed", 422, api.post("/v1/tables", body | limits))


@pytest.mark.parametrize("ruleset", ["nordic", "macau", "casino-poker-1982"])
def test_no_limit_where_no_source_gives_one(api: Api, ruleset: str) -> None:
    """A royal wins 100 times the raise."""
    assert PhysicalTable(api, ruleset).play(QUALIFIED, Box(ROYAL)).paid()["raise"][2] == 2_000_000


# ── Which hands are turned up (004, United Kingdom) ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("dealer", "shown"), [(NOTHING, [False, True, False]), (QUALIFIED, [True, True, False])]
)
def test_the_uk_shows_jackpot_hands_when_the_dealer_does_not_qualify(
    api: Api, dealer: str, shown: list[bool]
) -> None:
    """004: without qualifying only the hand in the jackpot is turned up; with it every hand that raised."""
    table = PhysicalTable(api, "uk-casino", reset=10_000)
    bet = {"jackpot": 100}
    boxes = (Box("5h 5d Kc 9h 2c"), Box("6h 6d Kh 9s 2d", side_bets=bet), Box("3h 3d Qc Td 2h", "fold"))
    round_ = table.play(dealer, *boxes)
    assert [round_.seat(seat)["shown"] for seat in (1, 2, 3)] == shown


# ── Several hands, several up-cards ───────────────────────────────────────────────────────────────────────


def test_cyber_plays_three_hands_of_one_player_in_seat_order(api: Api) -> None:
    """002: one player has three hands, each with an ante, a jackpot bet and a decision of its own."""
    table = PhysicalTable(api, "cyber", reset=1_000_000)
    bet = {"jackpot": 100}
    boxes = (
        Box("2s 4s 6s 8s Ts", "fold", 1_000, bet, "una"),
        Box("5h 5d Kc 9h 2c", "raise", 2_000, {}, "una"),
        Box("3s 3h 3d 2d 2h", "raise", 3_000, bet, "una"),
    )
    round_id = table.stake(*boxes)
    dealt = api.done(table.deal(round_id, QUALIFIED, *boxes))
    assert [seat["options"] for seat in dealt["seats"]] == [["raise", "fold"], [], []]
    assert len(dealt["seats"][2]["cards"]) == 5
    early = api.post(f"/v1/rounds/{round_id}/decisions", {"seat": 3, "action": "raise"})
    api.refused("not_your_seat", 422, early)
    table.decide(round_id, *boxes)
    round_ = table.finish(round_id, QUALIFIED)
    assert round_.hits() == [(1, 5_000), (3, 10_000)]
    assert round_.paid(1) == {"ante": (1_000, 0, 0), "jackpot": (100, 0, 5_000)}
    assert round_.paid(2) == {"ante": (2_000, 2_000, 2_000), "raise": (4_000, 4_000, 4_000)}
    assert round_.paid(3) == {
        "ante": (3_000, 3_000, 3_000),
        "raise": (6_000, 6_000, 42_000),
        "jackpot": (100, 0, 10_000),
    }


def test_the_game_of_1982_shows_two_cards_and_has_no_jackpot(api: Api) -> None:
    """004: two of the dealer's cards are up, three are named at the end, and the jackpot bet is unknown."""
    table = PhysicalTable(api, "casino-poker-1982")
    box = Box("5h 5d Kc 9h 2c")
    round_id = table.stake(box)
    one_up = {"seats": {"1": box.hand.split()}, "dealer_up": ["4c"]}
    api.refused("misdeal", 422, api.post(f"/v1/rounds/{round_id}/deal", one_up))
    assert api.done(table.deal(round_id, QUALIFIED, box))["up_cards"] == ["4c", "7h"]
    table.decide(round_id, box)
    round_ = table.finish(round_id, QUALIFIED)
    assert round_.answer["dealer"]["cards"] == QUALIFIED.split()
    assert round_.result() == "win"
    with_jackpot = api.seat(1, f"{table.id}-1", 1_000, side_bets={"jackpot": 100})
    again = api.post("/v1/rounds", {"table_id": table.id, "seats": [with_jackpot]})
    api.refused("unknown_side_bet", 422, again)


@pytest.mark.parametrize("place", range(5))
def test_the_dealers_last_card_is_up_where_cards_go_round(api: Api, place: int) -> None:
    """000 and 003: the fifth card is up, wherever the ace lies, and the hand is told in dealing order."""
    dealer = ["4c", "7h", "9c", "Kd"]
    dealer.insert(place, "Ad")
    round_ = PhysicalTable(api, "nordic").play(" ".join(dealer), Box("5h 5d Kc 9h 2c"))
    assert round_.answer["up_cards"] == [dealer[4]]
    assert round_.answer["dealer"]["cards"] == dealer


# ── Buying a card (003) ───────────────────────────────────────────────────────────────────────────────────


def test_a_winning_bonus_is_forfeited_with_the_purchase_of_a_card(api: Api) -> None:
    """003: a flush that buys a card is paid by its final hand, and has lost its bonus and the fee."""
    table = PhysicalTable(api, "czech")
    bet = {"bonus": 5_000}
    boxes = (Box("9s Ts Js Qs 2s", "2s>Ks raise", 10_000, bet), Box("2h 4h 6h 8h Th", "raise", 10_000, bet))
    round_ = table.play("5c 5d Kc 9d Qh", *boxes)
    assert round_.seat()["category"] == "straight_flush"
    assert round_.seat()["cards"] == ["9s", "Ts", "Js", "Qs", "Ks"]
    assert round_.paid(1) == {
        "ante": (10_000, 10_000, 10_000),
        "raise": (20_000, 20_000, 1_000_000),
        "exchange_fee": (10_000, 0, 0),
        "bonus": (5_000, 0, 0),
    }
    assert round_.paid(2)["bonus"] == (5_000, 0, 100_000)


@pytest.mark.parametrize(
    ("dealer", "does", "result", "net"),
    [
        ("5c 5d Kc 9d Qh", "2s>7h raise", "win", 10_000 + 60_000 - 10_000),
        ("5c 5d Kc 9d Qh", "2s>7h fold", "folded", -10_000 - 10_000),
        ("4c 6d 9c Jd Qd", "2s>7h raise", "dealer_not_qualified", 10_000 - 10_000),
        ("Kc Kd Kh 9d Qh", "2s>7h raise", "lose", -30_000 - 10_000),
        ("7c 7d Ac Kd Qh", "2s>Ad raise", "push", -10_000),
    ],
)
def test_the_fee_of_a_card_is_spent_with_every_result(
    api: Api, dealer: str, does: str, result: str, net: int
) -> None:
    """003: one ante buys one card, and comes back neither with a fold nor with a push."""
    hand = "7s 7h Qc Kh 2s" if result == "push" else "7s 7d Qs 3h 2s"
    round_ = PhysicalTable(api, "czech").play(dealer, Box(hand, does))
    assert (round_.result(), round_.seat()["net"]) == (result, net)
    assert round_.paid()["exchange_fee"] == (10_000, 0, 0)


def test_a_card_is_bought_once_and_is_a_new_one(api: Api) -> None:
    """003: a seat buys one card, and what has been on the table is not drawn again."""
    table = PhysicalTable(api, "czech")
    boxes = (Box("7s 7d Qs 3h 2s", "2s>8h raise"), Box("6s 6d Jc 3c 2d", "raise"))
    round_id = table.stake(*boxes)
    api.done(table.deal(round_id, QUALIFIED, *boxes))

    def buys(seat: int, discard: str, **drawn: str) -> Any:
        body = {"seat": seat, "action": "exchange", "discard": discard, **drawn}
        return api.post(f"/v1/rounds/{round_id}/decisions", body)

    for drawn in ("6s", "7s", "Ad", "1s"):
        api.refused("misdeal", 422, buys(1, "2s", drawn=drawn))
    api.refused("misdeal", 422, buys(1, "2s"))
    api.refused("validation_failed", 422, buys(1, "6s", drawn="8h"))
    api.done(buys(1, "2s", drawn="8h"))
    api.refused("already_decided", 409, buys(1, "8h", drawn="9h"))
    api.refused("misdeal", 422, buys(2, "2d", drawn="2s"))
    for seat in (1, 2):
        api.decide(round_id, seat, "raise")
    assert table.finish(round_id, QUALIFIED).seat()["cards"] == ["7s", "7d", "Qs", "3h", "8h"]

"""Source 003, Czech: `czech`. One test for each rule, named after it."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.shuffle import deal_order
from tests.unit.domain.playing import CATEGORIES, FUNDS, Box, Ledger, cards, changed

ACE_KING = "As Kd 4h 3c 2s"
ACE_QUEEN = "As Qd Jh Tc 9s"
BONUS = {"bonus": 5_000}
BONUS_LEVELS = {
    "flush": ("Kh 8h 7h 6h 5h", 100_000),
    "full_house": ("9h 9d 9c 5s 5h", 200_000),
    "four_of_a_kind": ("9h 9d 9c 9s 5h", 600_000),
    "straight_flush": ("9h 8h 7h 6h 5h", 1_000_000),
    "royal_flush": ("Ah Kh Qh Jh Th", 5_000_000),
}


@pytest.fixture
def czech() -> Ledger:
    """Return a ledger with a Czech table in crowns, dealt by hand, the bonus at 50 crowns."""
    ledger = Ledger()
    ledger.table("czech")
    return ledger


def test_one_card_to_each_box_and_one_to_the_dealer_in_turn() -> None:
    """Boxes with a valid bet and the dealer get a card in turn, five times; the dealer's last is up."""
    ledger = Ledger()
    ledger.table("czech", deal_source="rng")
    round_id = ledger.open(ledger.stake(2), ledger.stake(5), deal=True)
    ledger.decide(round_id, 2, "raise")
    ledger.decide(round_id, 5, "raise")

    first, second, up = ledger.of(round_id, ev.Dealt)
    (dealer,) = ledger.of(round_id, ev.DealerQualified)
    assert (first.seat, first.indices) == (2, (0, 3, 6, 9, 12))
    assert (second.seat, second.indices) == (5, (1, 4, 7, 10, 13))
    assert dealer.indices == (2, 5, 8, 11, 14)
    assert (up.cards, up.up_indices, up.indices) == ((dealer.cards[4],), (4,), (14,))
    (opened,) = ledger.of(round_id, ev.RoundOpened)
    (closed,) = ledger.of(round_id, ev.RoundClosed)
    deck = deal_order(bytes.fromhex(closed.deck_seed or ""), round_id, opened.ruleset.sha256, {})
    for hand in (first, second, up, dealer):
        assert hand.cards == tuple(deck[index] for index in hand.indices or ())


@pytest.mark.parametrize("cause", ["misdeal_count", "misdeal_exposed"])
def test_a_misdeal_is_declared(czech: Ledger, cause: str) -> None:
    """A wrong number of cards or an exposed card: declared, every stake returns, a new round may open."""
    round_id = czech.dealt(ACE_KING, {1: Box("9h 9d 7c 6h 5h", side_bets=BONUS)})
    answer = czech.ask(c.VoidRound(round_id, cause))

    assert (answer["phase"], answer["void_cause"]) == ("voided", cause)
    assert answer["seats"][0]["result"] == "void"
    assert czech.of(round_id, ev.StakeRefunded)[0].bets == (
        ev.RefundedStake("ante", 10_000),
        ev.RefundedStake("bonus", 5_000),
    )
    assert czech.wallet("player-1") == (FUNDS, 0)
    czech.open(czech.stake(1))


def test_the_cards_are_shuffled_again_after_a_misdeal() -> None:
    """The void round's seed is revealed; the next round has another commitment."""
    ledger = Ledger()
    ledger.table("czech", deal_source="rng")
    round_id = ledger.open(ledger.stake(1), deal=True)
    answer = ledger.ask(c.VoidRound(round_id, "misdeal_exposed"))
    again = ledger.open(ledger.stake(1))

    commitments = [ledger.of(name, ev.RoundOpened)[0].deck_commitment for name in (round_id, again)]
    assert len(bytes.fromhex(answer["deck_seed"])) == 48
    assert commitments[0] != commitments[1]


@pytest.mark.parametrize(
    ("hands", "up"),
    [
        ({1: "9h 9d 7c 6h"}, "2s"),
        ({1: "9h 9d 7c 6h 5h 4h"}, "2s"),
        ({1: "9h 9d 7c 6h 9h"}, "2s"),
        ({1: "9h 9d 7c 6h 1h"}, "2s"),
        ({1: "9h 9d 7c 6h 5h"}, "9h"),
        ({1: "9h 9d 7c 6h 5h"}, "2s 3s"),
        ({1: "9h 9d 7c 6h 5h"}, ""),
        ({2: "9h 9d 7c 6h 5h"}, "2s"),
        ({}, "2s"),
    ],
)
def test_a_wrong_scan_is_refused_and_may_be_repeated(czech: Ledger, hands: dict[int, str], up: str) -> None:
    """A wrong count, unknown or repeated card, or a wrong box is refused; the right scan is then taken."""
    round_id = czech.open(czech.stake(1))
    seats = {seat: cards(hand) for seat, hand in hands.items()}
    czech.refused(c.DealCards(round_id, seats, None, cards(up)), "misdeal")

    czech.deal(round_id, ACE_KING, {1: "9h 9d 7c 6h 5h"})
    assert czech.round(round_id).phase == "dealt"


@pytest.mark.parametrize(
    "dealer", ["As Kd 4h", "As Kd 4h 3c 3d", "As Kd 4h 9h", "As Kd 4h 2s", "As Kd 4h Xx"]
)
def test_a_wrong_scan_of_the_dealers_cards_is_refused(czech: Ledger, dealer: str) -> None:
    """The reveal takes four known cards that nobody has; a refused scan names no card."""
    round_id = czech.dealt(ACE_KING, {1: Box("9h 9d 7c 6h 5h")})
    czech.decide(round_id, 1, "raise")
    refusal = czech.refused(c.RevealDealer(round_id, cards(dealer)), "misdeal")

    assert not any(card in refusal.detail for card in cards("As Kd 4h 3c 2s 9h 9d 7c 6h 5h"))
    czech.reveal(round_id, ACE_KING)
    assert czech.result(round_id) == "win"


def test_who_ends_the_game_loses_the_ante(czech: Ledger) -> None:
    """The dealer takes the ante of who gives up."""
    assert czech.paid(czech.play(ACE_KING, {1: Box("9h 9d 7c 6h 5h", "fold")})) == {"ante": (0, 0)}


def test_the_odds_bet_is_exactly_double(czech: Ledger) -> None:
    """The Odds bet is twice the ante; without money for it the decision stays open."""
    czech.player("poor", funds=1_500, currency="CZK")
    round_id = czech.dealt(ACE_KING, {1: Box("9h 9d 7c 6h 5h", ante=501, player="poor")})
    refusal = czech.refused(c.Decide(round_id, 1, "raise"), "insufficient_funds")
    assert refusal.extra == {"needed": 1_002, "balance": 999}

    czech.ask(c.Deposit("poor", 3, "more", "tx"))
    czech.decide(round_id, 1, "raise")
    assert czech.of(round_id, ev.Raised)[0].amount == 1_002


def test_the_dealer_qualifies_with_ace_and_king_or_better(czech: Ledger) -> None:
    """If not, antes are paid 1:1 and Odds bets are not paid."""
    assert czech.result(czech.play(ACE_KING, {1: Box("9h 9d 7c 6h 5h")})) == "win"
    failed = czech.play(ACE_QUEEN, {1: Box("2h 3d 7c 6h 5h")})
    assert czech.paid(failed) == {"ante": (10_000, 10_000), "raise": (20_000, 0)}


def test_a_lower_hand_loses_ante_and_odds(czech: Ledger) -> None:
    """The dealer removes both bets."""
    assert czech.paid(czech.play(ACE_KING, {1: Box("Qh 9d 7c 6h 5h")})) == {"ante": (0, 0), "raise": (0, 0)}


@pytest.mark.parametrize(("fifth", "result"), [("9d", "win"), ("7d", "lose"), ("8d", "push")])
def test_both_hold_sixes_and_fives(czech: Ledger, fifth: str, result: str) -> None:
    """The worked example: the next card decides; if it is equal too, nobody wins."""
    round_id = czech.play("6s 6d 5s 5d 8s", {1: Box(f"6h 6c 5h 5c {fifth}")})
    assert czech.result(round_id) == result


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
def test_the_pay_table_of_the_odds(czech: Ledger, hand: str, odds: int) -> None:
    """The source's table, and 1:1 for a winning hand below a pair."""
    round_id = czech.play(ACE_KING, {1: Box(hand)})
    assert czech.paid(round_id) == {"ante": (10_000, 10_000), "raise": (20_000, odds * 20_000)}


@pytest.mark.parametrize(("cap", "won"), [(99_999, 99_999), (100_000, 100_000), (100_001, 100_000), (1, 1)])
def test_the_odds_are_paid_up_to_the_maximum_of_the_table(cap: int, won: int) -> None:
    """The win on the raise stops at the table's maximum; the ante's 1:1 and the stakes are not part of it."""
    ledger = Ledger()
    ledger.table("czech", raise_win_cap=cap)
    round_id = ledger.play(ACE_KING, {1: Box("Kh 8h 7h 6h 5h")})
    assert ledger.paid(round_id) == {"ante": (10_000, 10_000), "raise": (20_000, won)}


@pytest.mark.parametrize("fields", [{"raise_win_cap": None}, {"bonus_stake": None}])
def test_a_table_sets_its_maximum_and_its_bonus_stake(fields: dict[str, Any]) -> None:
    """Without either the table is refused."""
    ledger = Ledger()
    ledger.house("czech")
    parameters: dict[str, Any] = {"raise_win_cap": 1, "bonus_stake": 1, **fields}
    ledger.refused(c.OpenTable("t", "czech", "CZK", 100, 200, "table", **parameters), "validation_failed")


OUTCOMES = {
    "fold": (ACE_KING, "fold"),
    "not qualified": ("Ac Qd Jc 8c 7s", "raise"),
    "win": (ACE_KING, "raise"),
}


@pytest.mark.parametrize(("dealer", "does"), OUTCOMES.values(), ids=OUTCOMES)
@pytest.mark.parametrize(("hand", "award"), BONUS_LEVELS.values(), ids=BONUS_LEVELS)
def test_the_special_bonus(czech: Ledger, hand: str, award: int, dealer: str, does: str) -> None:
    """Flush or better wins its fixed bonus whatever else happens, paid by the house, the stake kept."""
    round_id = czech.play(dealer, {1: Box(hand, does, side_bets=BONUS)})

    assert czech.settled(round_id, 1).bets[-1] == ev.BetLeg("bonus", 5_000, 0, award)


def test_the_special_bonus_below_a_flush(czech: Ledger) -> None:
    """A straight wins nothing and the stake is lost."""
    round_id = czech.play(ACE_KING, {1: Box("9h 8d 7h 6h 5h", side_bets=BONUS)})
    assert czech.settled(round_id, 1).bets[-1] == ev.BetLeg("bonus", 5_000, 0, 0)


def test_the_special_bonus_takes_exactly_the_tables_stake(czech: Ledger) -> None:
    """The required stake, not more and not less."""
    for amount in (4_999, 5_001):
        stakes = (czech.stake(1, bonus=amount),)
        czech.fund(stakes)
        czech.refused(c.OpenRound("x", "t", stakes), "side_bet_stake")


def test_the_bonus_in_another_currency() -> None:
    """Awards are whole units of the table's currency: a flush pays 1 000 euro in Euro."""
    ledger = Ledger()
    ledger.table("czech", currency="EUR")
    round_id = ledger.play(ACE_KING, {1: Box("Kh 8h 7h 6h 5h", side_bets=BONUS)})
    assert ledger.paid(round_id)["bonus"] == (0, 100_000)


def test_a_card_can_be_bought_for_one_ante(czech: Ledger) -> None:
    """The price is one ante, taken at once and kept; the final hand is paid by the ordinary table."""
    round_id = czech.dealt(ACE_KING, {1: Box("Kh 8h 7h 6h 2d")})
    answer = czech.ask(c.Decide(round_id, 1, "exchange", "2d", "5h"))
    assert answer["seats"][0]["cards"] == ["Kh", "8h", "7h", "6h", "5h"]
    assert answer["seats"][0]["options"] == ["raise", "fold"]
    assert czech.wallet("player-1") == (FUNDS - 20_000, 20_000)
    czech.decide(round_id, 1, "raise")
    czech.reveal(round_id, ACE_KING)

    assert czech.settled(round_id, 1).category == "flush"
    assert czech.paid(round_id) == {
        "ante": (10_000, 10_000),
        "raise": (20_000, 100_000),
        "exchange_fee": (0, 0),
    }
    assert czech.wallet("player-1") == (FUNDS + 100_000, 0)


@pytest.mark.parametrize("dealer", [ACE_QUEEN, ACE_KING, "Kc 8c 7c 6c 5c"])
def test_the_price_of_a_card_is_never_returned(czech: Ledger, dealer: str) -> None:
    """Not when the dealer fails to qualify, nor on a win, nor on a push."""
    round_id = czech.play(dealer, {1: Box("Kh 8h 7h 6h 2d", "2d>5h raise")})
    assert czech.paid(round_id)["exchange_fee"] == (0, 0)


@pytest.mark.parametrize("does", ["2d>5h raise", "2d>5h fold"])
def test_the_bonus_goes_with_the_purchase_even_if_it_would_have_won(czech: Ledger, does: str) -> None:
    """The bought card makes a flush and wins no bonus: the stake went with the purchase."""
    round_id = czech.play(ACE_KING, {1: Box("Kh 8h 7h 6h 2d", does, side_bets=BONUS)})

    assert czech.of(round_id, ev.CardExchanged)[0].forfeited == ("bonus",)
    assert czech.settled(round_id, 1).category == "flush"
    assert czech.settled(round_id, 1).bets[-1] == ev.BetLeg("bonus", 5_000, 0, 0)


def test_a_winning_bonus_is_forfeited_by_breaking_the_hand(czech: Ledger) -> None:
    """A dealt flush that exchanges a card to another flush has lost its bonus too."""
    round_id = czech.play(ACE_KING, {1: Box("Kh 8h 7h 6h 5h", "5h>Ah raise", side_bets=BONUS)})
    assert czech.paid(round_id)["bonus"] == (0, 0)
    assert czech.paid(round_id)["raise"] == (20_000, 100_000)


def test_without_a_bonus_nothing_is_forfeited(czech: Ledger) -> None:
    """An exchange without the side bet names none."""
    round_id = czech.play(ACE_KING, {1: Box("Kh 8h 7h 6h 2d", "2d>5h raise")})
    assert czech.of(round_id, ev.CardExchanged)[0].forfeited == ()


def test_the_first_card_is_burned_for_every_seat_that_buys() -> None:
    """From the first undealt card: one burned, one drawn, in the order in which the seats ask."""
    ledger = Ledger()
    ledger.table("czech", deal_source="rng")
    round_id = ledger.open(*(ledger.stake(seat) for seat in (1, 2, 3)), deal=True)
    hands = {dealt.seat: dealt.cards for dealt in ledger.of(round_id, ev.Dealt)}
    for seat in (3, 1):
        ledger.ask(c.Decide(round_id, seat, "exchange", hands[seat][0]))
        ledger.ask(c.Decide(round_id, seat, "fold"))
    ledger.ask(c.Decide(round_id, 2, "fold"))

    third, first = ledger.of(round_id, ev.CardExchanged)
    (closed,) = ledger.of(round_id, ev.RoundClosed)
    (opened,) = ledger.of(round_id, ev.RoundOpened)
    deck = deal_order(bytes.fromhex(closed.deck_seed or ""), round_id, opened.ruleset.sha256, {})
    assert (third.seat, third.burn_index, third.drawn_index) == (3, 20, 21)
    assert (first.seat, first.burn_index, first.drawn_index) == (1, 22, 23)
    assert (third.drawn, first.drawn) == (deck[21], deck[23])
    assert ledger.round(round_id).seats[3].cards == (deck[21], *hands[3][1:])


def test_six_seats_can_all_buy_from_one_deck() -> None:
    """Six boxes and the dealer take 35 cards, the purchases 12 more: five are left."""
    ledger = Ledger()
    ledger.table("czech", deal_source="rng")
    round_id = ledger.open(*(ledger.stake(seat) for seat in range(1, 7)), deal=True)
    for dealt in ledger.of(round_id, ev.Dealt)[:-1]:
        ledger.ask(c.Decide(round_id, dealt.seat or 0, "exchange", dealt.cards[4]))
    assert ledger.of(round_id, ev.CardExchanged)[-1].drawn_index == 46
    ledger.fund([ledger.stake(7)])
    other = (ledger.stake(7),)
    ledger.refused(c.OpenRound("x", "t", other), "validation_failed")


def test_one_purchase_for_each_seat(czech: Ledger) -> None:
    """A second card is refused."""
    round_id = czech.dealt(ACE_KING, {1: Box("Kh 8h 7h 6h 2d")})
    czech.decide(round_id, 1, "2d>5h")
    refusal = czech.refused(c.Decide(round_id, 1, "exchange", "5h", "4d"), "already_decided")
    assert refusal.extra == {"seat": 1, "decision": "exchange"}


@pytest.mark.parametrize(
    ("discard", "drawn", "code"),
    [
        (None, "5h", "validation_failed"),
        ("3h", "5h", "validation_failed"),
        ("2d", None, "misdeal"),
        ("2d", "Kh", "misdeal"),
        ("2d", "2d", "misdeal"),
        ("2d", "2s", "misdeal"),
        ("2d", "Jd", "misdeal"),
        ("2d", "Td", "misdeal"),
        ("2d", "9d", "misdeal"),
        ("2d", "1d", "misdeal"),
    ],
)
def test_a_wrong_purchase_is_refused(
    czech: Ledger, discard: str | None, drawn: str | None, code: str
) -> None:
    """A card the seat does not hold, and a drawn card that is missing, unknown, or has been dealt already."""
    boxes = {1: Box("Kh 8h 7h 6h 2d"), 2: Box("Ah Jd Jc 4d Td")}
    round_id = czech.dealt(ACE_KING, boxes)
    czech.decide(round_id, 2, "Td>9d")  # the ten is out of play, the nine in it

    refusal = czech.refused(c.Decide(round_id, 1, "exchange", discard, drawn), code)
    assert not any(card in refusal.detail for card in cards("Kh 2s Jd Td 9d"))


def test_a_purchase_without_the_money_is_refused(czech: Ledger) -> None:
    """The price has to be in the wallet."""
    czech.player("poor", funds=501, currency="CZK")
    round_id = czech.dealt(ACE_KING, {1: Box("Kh 8h 7h 6h 2d", ante=251, player="poor")})
    refusal = czech.refused(c.Decide(round_id, 1, "exchange", "2d", "5h"), "insufficient_funds")
    assert refusal.extra == {"needed": 251, "balance": 250}


def test_cards_come_with_a_purchase_only(czech: Ledger) -> None:
    """A fold or raise that names a card is refused."""
    round_id = czech.dealt(ACE_KING, {1: Box("Kh 8h 7h 6h 2d")})
    czech.refused(c.Decide(round_id, 1, "raise", discard="2d"), "validation_failed")
    czech.refused(c.Decide(round_id, 1, "fold", drawn="5h"), "validation_failed")


def test_the_deck_decides_what_is_drawn() -> None:
    """In a round with a committed deck nobody names the drawn card."""
    ledger = Ledger()
    ledger.table("czech", deal_source="rng")
    round_id = ledger.open(ledger.stake(1), deal=True)
    hand = ledger.round(round_id).seats[1].cards
    drawn = next(card for card in ("2c", "2d", "2h") if card not in hand)
    ledger.refused(c.Decide(round_id, 1, "exchange", hand[0], drawn), "validation_failed")


def test_an_exchange_is_returned_when_the_round_is_void(czech: Ledger) -> None:
    """A misdeal after a purchase gives back ante, price, raise and the forfeited bonus stake."""
    round_id = czech.dealt(ACE_KING, {1: Box("Kh 8h 7h 6h 2d", side_bets=BONUS)})
    czech.decide(round_id, 1, "2d>5h raise")
    answer = czech.ask(c.VoidRound(round_id, "misdeal_exposed", note_sha256="00" * 32))

    refund = czech.of(round_id, ev.StakeRefunded)[0]
    stakes = {stake.bet: stake.stake for stake in refund.bets}
    assert stakes == {"ante": 10_000, "raise": 20_000, "exchange_fee": 10_000, "bonus": 5_000}
    assert refund.amount == 45_000
    assert answer["seats"][0]["exchanged"] is True
    assert answer["seats"][0]["total_returned"] == 45_000
    assert czech.of(round_id, ev.RoundVoided)[0].note_sha256 == "00" * 32


def test_five_plus_one_on_an_exchange_is_judged_on_the_final_hand() -> None:
    """A house with both: the bought card counts for the 5+1 too."""
    bonus = {
        "kind": "five_plus_one",
        "stake": "free",
        "basis": "to_1",
        "pays": dict.fromkeys(CATEGORIES[5:], 15),
    }
    document = changed("czech", side_bets=[bonus], exchange={"forfeits": []})
    del document["names"]["bonus"]
    document["names"]["five_plus_one"] = "5+1"
    ledger = Ledger()
    ledger.table(document)
    box = Box("Kh 8h 7h 6h 2d", "2d>5h raise", side_bets={"five_plus_one": 200})
    round_id = ledger.play(ACE_KING, {1: box})
    assert ledger.paid(round_id)["five_plus_one"] == (200, 3_000)

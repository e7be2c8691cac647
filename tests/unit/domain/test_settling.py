"""Reveal and settlement, of small rounds in one command and of big shared ones in several."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as ev
from domain.handlers import players_touched
from tests.unit.domain.playing import FUNDS, Box, Ledger, cards, changed, jackpot_bet, plain_house

ACE_KING = "As Kd 4h 3c 2s"
FLUSH = "Kh 9h 7h 6h 3h"
ROYAL = "Ah Kh Qh Jh Th"


def shared(settle_seats_max: int = 2, **play: object) -> Ledger:
    """Return a ledger with a shared table by hand, whose commands settle two seats each."""
    ledger = Ledger(settle_seats_max)
    ledger.table(changed("evolution-live", play=play))
    return ledger


def names(ledger: Ledger) -> list[str]:
    """Return the names of what the last command emitted."""
    return [type(emitted.event).__name__ for emitted in ledger.last]


# ── Reveal ──────────────────────────────────────────────────────────────────────────────────────
def test_a_reveal_before_all_have_decided_and_after_the_end() -> None:
    """The dealer reveals once, when every seat has decided."""
    ledger = Ledger()
    ledger.table(plain_house())
    others = c.RevealDealer("r1", cards("Kd 4h 3c 2s"))
    ledger.refused(others, "round_not_found")
    round_id = ledger.open(ledger.stake(1), ledger.stake(2))
    assert ledger.refused(others, "wrong_phase").extra == {"phase": "betting"}
    ledger.deal(round_id, ACE_KING, {1: FLUSH, 2: "Qc Qd 7c 7d 8h"})
    ledger.refused(others, "wrong_phase")
    ledger.decide(round_id, 1, "raise")
    ledger.refused(others, "wrong_phase")
    ledger.decide(round_id, 2, "fold")
    ledger.ask(others)
    ledger.refused(others, "wrong_phase")


def test_a_committed_deck_reveals_itself() -> None:
    """Nobody names the dealer's cards of an rng round."""
    ledger = Ledger()
    ledger.table(plain_house(), deal_source="rng")
    round_id = ledger.open(ledger.stake(1), deal=True)
    ledger.refused(c.RevealDealer(round_id, cards("Kd 4h 3c 2s")), "validation_failed")


def test_the_dealers_cards_are_kept_in_dealing_order() -> None:
    """Two up-cards in the middle: the others fill the places around them."""
    ledger = Ledger()
    ledger.table(plain_house(deal={"dealer_up_indices": [3, 1]}))
    round_id = ledger.open(ledger.stake(1))
    ledger.ask(c.DealCards(round_id, {1: cards(FLUSH)}, None, cards("3c Kd")))
    ledger.decide(round_id, 1, "raise")
    answer = ledger.ask(c.RevealDealer(round_id, cards("As 4h 2s")))
    assert answer["dealer"] == {
        "cards": [*cards("As Kd 4h 3c 2s")],
        "category": "high_card",
        "qualified": True,
    }
    assert ledger.of(round_id, ev.DealerQualified)[0].indices is None


@pytest.mark.parametrize(("dealer", "qualified"), [("Ks Kd 4h 3c 2s", True), ("As Kd Qh Jc 9s", False)])
def test_another_qualifying_hand(dealer: str, *, qualified: bool) -> None:
    """Where a pair is the least hand, ace-king fails."""
    ledger = Ledger()
    ledger.table(plain_house(qualify="pair"))
    round_id = ledger.play(dealer, {1: Box(FLUSH)})
    assert ledger.of(round_id, ev.DealerQualified)[0].qualified is qualified


def test_a_seed_is_revealed_at_the_end_and_kept_no_longer() -> None:
    """The closing event has the seed; the books have forgotten it."""
    ledger = Ledger()
    ledger.table(plain_house(), deal_source="rng")
    round_id = ledger.open(ledger.stake(1), deal=True)
    seed = ledger.work.secrets[round_id].seed.hex()
    assert repr(ledger.work.secrets[round_id]) == "Secret(…)"
    answer = ledger.decide(round_id, 1, "fold")
    assert (answer["deck_seed"], ledger.of(round_id, ev.RoundClosed)) == (seed, [ev.RoundClosed(seed)])
    assert ledger.work.secrets == {}


def test_no_seed_where_there_was_no_deck() -> None:
    """A physical table's round closes with none."""
    ledger = Ledger()
    ledger.table(plain_house())
    round_id = ledger.play(ACE_KING, {1: Box(FLUSH)})
    assert ledger.of(round_id, ev.RoundClosed) == [ev.RoundClosed(None)]


# ── Big rounds ──────────────────────────────────────────────────────────────────────────────────
def test_a_big_round_settles_in_several_commands() -> None:
    """Five bettors, two a command: in seat order, revealed until the last, each free as soon as settled."""
    ledger = shared()
    boxes = {seat: Box(FLUSH, "fold" if seat == 4 else "raise", ante=100 * seat) for seat in (5, 1, 2, 3, 4)}
    round_id = ledger.dealt(ACE_KING, boxes)
    for seat, box in boxes.items():
        ledger.decide(round_id, seat, box.does)
    ledger.refused(c.ContinueRound(round_id), "wrong_phase")
    ledger.reveal(round_id, ACE_KING)
    assert names(ledger) == ["DealerQualified", "Settled", "Settled"]
    assert ledger.round(round_id).phase == "revealed"
    assert "t" not in ledger.work.wallet_of("player-2").unfinished
    assert ledger.work.wallet_of("player-3").unfinished == {"t": round_id}
    ledger.refused(c.OpenRound("x", "t"), "round_open")
    ledger.refused(c.VoidRound(round_id, "malfunction"), "wrong_phase")
    ledger.refused(c.RevealDealer(round_id, cards("Kd 4h 3c 2s")), "wrong_phase")

    ledger.ask(c.ContinueRound(round_id))
    assert names(ledger) == ["Settled", "Settled"]
    ledger.ask(c.ContinueRound(round_id))
    assert names(ledger) == ["Settled", "RoundClosed"]
    assert [settled.seat for settled in ledger.of(round_id, ev.Settled)] == [1, 2, 3, 4, 5]
    assert ledger.work.tables["t"].open_round is None
    assert ledger.wallet("player-5") == (FUNDS + 500 + 7 * 1_000, 0)
    assert ledger.wallet("player-4") == (FUNDS - 400, 0)
    ledger.refused(c.ContinueRound(round_id), "wrong_phase")
    ledger.refused(c.ContinueRound("nowhere"), "round_not_found")


def test_a_big_round_that_all_folded_settles_unrevealed() -> None:
    """Where the dealer stays hidden the round is decided until the last seat is settled, and stays hidden."""
    ledger = shared(reveal_if_all_fold=False)
    boxes = {seat: Box(FLUSH, "fold") for seat in range(1, 4)}
    round_id = ledger.dealt(ACE_KING, boxes)
    for seat in boxes:
        ledger.decide(round_id, seat, "fold")
    assert names(ledger) == ["Folded", "Settled", "Settled"]
    assert ledger.round(round_id).phase == "decided"
    ledger.refused(c.RevealDealer(round_id, cards("Kd 4h 3c 2s")), "wrong_phase")
    ledger.refused(c.VoidRound(round_id, "malfunction"), "wrong_phase")
    ledger.ask(c.ContinueRound(round_id))
    assert names(ledger) == ["Settled", "RoundClosed"]


def test_a_big_void_round_is_refunded_in_several_commands() -> None:
    """Five bettors, two a command; the table is free after the last."""
    ledger = shared()
    round_id = ledger.open(*(ledger.stake(seat, five_plus_one=100) for seat in range(1, 6)))
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    assert names(ledger) == ["RoundVoided", "StakeRefunded", "StakeRefunded"]
    assert not ledger.round(round_id).finished
    ledger.refused(c.OpenRound("x", "t"), "round_open")
    ledger.refused(c.VoidRound(round_id, "malfunction"), "wrong_phase")
    ledger.ask(c.ContinueRound(round_id))
    ledger.ask(c.ContinueRound(round_id))
    assert names(ledger) == ["StakeRefunded"]
    assert ledger.round(round_id).finished
    assert all(ledger.wallet(f"player-{seat}") == (FUNDS, 0) for seat in range(1, 6))
    ledger.refused(c.ContinueRound(round_id), "wrong_phase")
    ledger.open()


def test_a_meter_won_in_a_big_round_is_shared_by_all_its_winners_at_once() -> None:
    """All shares are paid with the first seat; later commands settle the seats without paying again."""
    seating = {"seats": 5_000, "shared_player_hand": True}
    document = plain_house(
        seating=seating,
        deal={"player_cards": "up"},
        play={"show_hands": "all"},
        side_bets=[jackpot_bet({"royal_flush": {"percent": 100}})],
    )
    ledger = Ledger(settle_seats_max=1)
    ledger.jackpot(10_000)
    ledger.table(document)
    boxes = {seat: Box(ROYAL, side_bets={} if seat == 2 else {"jackpot": 100}) for seat in range(1, 5)}
    round_id = ledger.dealt(ACE_KING, boxes)
    for seat in boxes:
        ledger.decide(round_id, seat, "raise")
    ledger.reveal(round_id, ACE_KING)
    assert names(ledger) == ["DealerQualified", "JackpotHit", "JackpotHit", "JackpotHit", "Settled"]
    for _ in range(3):
        ledger.ask(c.ContinueRound(round_id))
    assert names(ledger) == ["Settled", "RoundClosed"]
    assert [ledger.paid(round_id, seat).get("jackpot") for seat in boxes] == [
        (0, 3_433),
        None,
        (0, 3_433),
        (0, 3_433),
    ]
    assert ledger.meter() == 10_001


def test_a_player_with_three_hands_is_free_after_the_last() -> None:
    """Settled one hand a command, the player's round is unfinished until the third."""
    ledger = Ledger(settle_seats_max=1)
    ledger.table("cyber", parallel_rounds=True)
    hands = ("Qc Qd 7c 7d 8h", "Jc Jd 6c 6d 8s", FLUSH)
    boxes = {seat: Box(hand, player="p") for seat, hand in enumerate(hands, 1)}
    round_id = ledger.dealt(ACE_KING, boxes)
    for seat in boxes:
        ledger.decide(round_id, seat, "raise")
    ledger.reveal(round_id, ACE_KING)
    ledger.ask(c.ContinueRound(round_id))
    assert ledger.work.wallet_of("p").unfinished == {"t": round_id}
    ledger.refused(c.OpenRound("x", "t", (ledger.stake(1, player="p"),)), "round_unfinished")
    ledger.ask(c.ContinueRound(round_id))
    assert ledger.work.wallet_of("p").unfinished == {}


def test_answers_about_big_rounds_are_small() -> None:
    """Above twenty seats an answer has the command's own seats and totals; up to twenty it has all."""
    ledger = shared(settle_seats_max=500)
    ledger.player("late", currency="EUR")
    round_id = ledger.open(*(ledger.stake(seat) for seat in range(1, 21)))
    answer = ledger.ask(c.PlaceAntes(round_id, (ledger.stake(30, player="late"),)))
    assert [seat["seat"] for seat in answer["seats"]] == [30]
    assert answer["totals"]["seats"] == 21
    assert ledger.deal(round_id, ACE_KING, {1: FLUSH})["seats"] == []
    assert [seat["seat"] for seat in ledger.decide(round_id, 7, "fold")["seats"]] == [7]
    answer = ledger.ask(c.VoidRound(round_id, "malfunction"))
    assert answer["seats"] == []
    assert answer["totals"] == {"seats": 21, "undecided": 20, "folded": 1, "settled": 0, "refunded": 21}

    round_id = ledger.open(*(ledger.stake(seat) for seat in range(1, 21)))
    answer = ledger.deal(round_id, ACE_KING, {1: FLUSH})
    assert len(answer["seats"]) == 20
    assert "totals" not in answer


# ── What a batch has to read ────────────────────────────────────────────────────────────────────
def big(ledger: Ledger, seats: int = 6) -> str:
    """Return a dealt round of so many bettors."""
    return ledger.dealt(ACE_KING, {seat: Box(FLUSH) for seat in range(seats, 0, -1)})


def players(*seats: int) -> set[str]:
    """Return the pseudonyms of seats' players."""
    return {f"pseudonym-player-{seat}" for seat in seats}


def test_a_round_of_the_usual_size_needs_all_its_wallets() -> None:
    """Up to what one command settles, every seat's."""
    ledger = shared()
    state = ledger.round(big(ledger, 2))
    assert players_touched(state, [], 2) == players(1, 2)


def test_a_big_round_needs_the_wallets_of_what_comes_next() -> None:
    """Seats that decide; and, where decisions may end or settlement goes on, the next seats in order."""
    ledger = shared()
    round_id = big(ledger)
    state = ledger.round(round_id)
    decide = [c.Decide(round_id, seat, "fold") for seat in (6, 5)]
    assert players_touched(state, decide, 2) == players(5, 6)
    assert players_touched(state, [c.Decide(round_id, 99, "fold")], 2) == set()
    every = [c.Decide(round_id, seat, "fold") for seat in range(1, 7)]
    assert players_touched(state, every[2:], 2) == players(3, 4, 5, 6)
    assert players_touched(state, [*every, every[0]], 2) == players(1, 2, 3, 4, 5, 6)
    for seat in range(1, 6):
        ledger.decide(round_id, seat, "fold")
    assert players_touched(state, [c.Decide(round_id, 6, "fold")], 2) == players(1, 2, 6)
    ledger.decide(round_id, 6, "fold")
    ledger.reveal(round_id, ACE_KING)
    assert players_touched(state, [c.ContinueRound(round_id)], 2) == players(3, 4)
    assert players_touched(state, [c.ContinueRound(round_id)] * 2, 2) == players(3, 4, 5, 6)


def test_a_big_void_needs_the_next_to_be_refunded() -> None:
    """Before the deal too, when seats have no order yet."""
    ledger = shared()
    round_id = ledger.open(*(ledger.stake(seat) for seat in (5, 4, 3, 2, 1)))
    state = ledger.round(round_id)
    assert players_touched(state, [c.VoidRound(round_id, "malfunction")], 2) == players(1, 2)
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    assert players_touched(state, [c.ContinueRound(round_id)], 2) == players(3, 4)


def test_a_big_settlement_needs_all_who_may_share_a_meter() -> None:
    """Every bettor on the jackpot who has not been paid, whichever command settles the first of them."""
    document = plain_house(
        seating={"seats": 5_000, "shared_player_hand": True},
        deal={"player_cards": "up"},
        play={"show_hands": "all"},
        side_bets=[jackpot_bet({"royal_flush": {"percent": 100}})],
    )
    ledger = Ledger(settle_seats_max=2)
    ledger.jackpot(10_000)
    ledger.table(document)
    boxes = {seat: Box(FLUSH, side_bets={"jackpot": 100} if seat > 4 else {}) for seat in range(1, 7)}
    round_id = ledger.dealt(ACE_KING, boxes)
    state = ledger.round(round_id)
    assert players_touched(state, [c.Decide(round_id, 3, "fold")], 2) == players(3)
    for seat in range(1, 7):
        ledger.decide(round_id, seat, "fold")
    reveal = c.RevealDealer(round_id, cards("Kd 4h 3c 2s"))
    assert players_touched(state, [reveal], 2) == players(1, 2, 5, 6)
    ledger.ask(reveal)
    assert players_touched(state, [c.ContinueRound(round_id)], 2) == players(3, 4, 5, 6)

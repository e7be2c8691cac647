"""Decisions, their order, their clocks, and what opens after the last one."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import deciding
from domain import events as ev
from domain.betting import UNSTAKED_ROUND_SECONDS
from tests.unit.domain.playing import FUNDS, Box, Ledger, changed, jackpot_bet, plain_house

ACE_KING = "Ad Kd 3h 3c 2s"
HANDS = {1: "9h 9d 7c 6h 5h", 2: "8h 8d 7d 6s 5s", 3: "Th Td Jc 4h 4s"}
BOXES = {seat: Box(hand) for seat, hand in HANDS.items()}


def table(document: dict[str, Any] | None = None, **fields: Any) -> Ledger:
    """Return a ledger with a table of the tests' house."""
    ledger = Ledger()
    ledger.table(document or plain_house(), **fields)
    return ledger


def due(ledger: Ledger, round_id: str) -> float | None:
    """Return in how many seconds the round's clock runs out; None: never."""
    deadline = ledger.work.deadlines.get(round_id)
    return None if deadline is None else (deadline - ledger.now_us) / 1_000_000


# ── What is refused ─────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("action", ["raise", "fold", "exchange"])
def test_a_decision_before_the_deal_or_where_nobody_sits(action: Any) -> None:
    """Betting is not the time, an empty seat not the place, and no round no round."""
    ledger = table()
    round_id = ledger.open(ledger.stake(1))
    refusal = ledger.refused(c.Decide(round_id, 1, action), "wrong_phase")
    assert refusal.extra == {"phase": "betting"}
    assert ledger.refused(c.Decide(round_id, 2, action), "not_your_seat").extra == {"seat": 2}
    ledger.refused(c.Decide("nowhere", 1, action), "round_not_found")


@pytest.mark.parametrize("again", ["raise", "fold", "exchange"])
@pytest.mark.parametrize("first", ["raise", "fold"])
def test_a_decision_twice(first: str, again: Any) -> None:
    """Who has decided cannot decide again, while others have not and after the round is over."""
    ledger = table()
    round_id = ledger.dealt(ACE_KING, {1: BOXES[1], 2: BOXES[2]})
    ledger.decide(round_id, 1, first)
    refusal = ledger.refused(c.Decide(round_id, 1, again), "already_decided")
    assert refusal.extra == {"seat": 1, "decision": first}
    ledger.decide(round_id, 2, "fold")
    ledger.reveal(round_id, ACE_KING)
    ledger.refused(c.Decide(round_id, 1, again), "already_decided")


def test_a_decision_in_a_void_round() -> None:
    """Who had not decided cannot do so any more."""
    ledger = table()
    round_id = ledger.dealt(ACE_KING, BOXES)
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    assert ledger.refused(c.Decide(round_id, 1, "raise"), "wrong_phase").extra == {"phase": "voided"}


def test_an_exchange_where_no_card_is_sold() -> None:
    """The house has no exchange."""
    ledger = table()
    round_id = ledger.dealt(ACE_KING, BOXES)
    ledger.refused(c.Decide(round_id, 1, "exchange", "9h", "2d"), "validation_failed")


def test_a_raise_takes_exactly_the_rest_of_the_wallet() -> None:
    """The last two antes are enough, one unit less is not."""
    ledger = table()
    ledger.player("p", funds=300)
    ledger.player("q", funds=299)
    boxes = {1: Box(HANDS[1], ante=100, player="p"), 2: Box(HANDS[2], ante=100, player="q")}
    round_id = ledger.dealt(ACE_KING, boxes)
    ledger.decide(round_id, 1, "raise")
    ledger.refused(c.Decide(round_id, 2, "raise"), "insufficient_funds")
    assert (ledger.wallet("p"), ledger.wallet("q")) == ((0, 300), (199, 100))


# ── Order ───────────────────────────────────────────────────────────────────────────────────────
def test_seats_decide_in_any_order_unless_the_house_says_otherwise() -> None:
    """The last seat may be first."""
    ledger = table()
    round_id = ledger.dealt(ACE_KING, BOXES)
    answer = ledger.decide(round_id, 3, "fold")
    assert [seat["options"] for seat in answer["seats"]] == [["raise", "fold"], ["raise", "fold"], []]


def test_seats_decide_in_seat_order_where_the_house_says_so() -> None:
    """Only the first undecided seat may decide, and only it is told that it may."""
    ledger = table(changed("czech", play={"decision_order": "seat"}))
    round_id = ledger.dealt(ACE_KING, BOXES)
    refusal = ledger.refused(c.Decide(round_id, 2, "fold"), "not_your_seat")
    assert refusal.extra == {"seat": 2, "next_seat": 1}
    assert "turn of seat 1" in refusal.detail
    answer = ledger.decide(round_id, 1, "5h>2d")
    assert [seat["options"] for seat in answer["seats"]] == [["raise", "fold"], [], []]
    ledger.refused(c.Decide(round_id, 2, "fold"), "not_your_seat")
    answer = ledger.decide(round_id, 1, "raise")
    assert [seat["options"] for seat in answer["seats"]] == [[], ["raise", "fold", "exchange"], []]
    ledger.decide(round_id, 2, "fold")
    answer = ledger.decide(round_id, 3, "fold")
    assert answer["phase"] == "decided"


# ── Clocks ──────────────────────────────────────────────────────────────────────────────────────
def test_an_unstaked_round_expires() -> None:
    """A round that nobody bets on is void after its time, its seed revealed, and the table is free again."""
    ledger = table(deal_source="rng", parallel_rounds=False)
    round_id = ledger.open()
    assert due(ledger, round_id) == UNSTAKED_ROUND_SECONDS
    ledger.tick(UNSTAKED_ROUND_SECONDS - 0.000_001)
    ledger.refused(c.TimeOutRound(round_id), "wrong_phase")
    ledger.tick(0.000_001)
    answer = ledger.ask(c.TimeOutRound(round_id))
    assert (answer["phase"], answer["void_cause"]) == ("voided", "expired")
    assert len(answer["deck_seed"]) == 96
    assert ledger.kinds(round_id) == ["RoundOpened", "RoundVoided"]
    assert round_id not in ledger.work.secrets
    ledger.refused(c.TimeOutRound(round_id), "wrong_phase")
    ledger.open()


def test_a_staked_round_waits_for_ever_where_the_table_has_no_clock() -> None:
    """Without `decision_seconds` nothing runs out, before the deal or after it."""
    ledger = table()
    round_id = ledger.open(ledger.stake(1))
    assert due(ledger, round_id) is None
    ledger.deal(round_id, ACE_KING, {1: HANDS[1]})
    assert due(ledger, round_id) is None
    ledger.tick(10**6)
    ledger.refused(c.TimeOutRound(round_id), "wrong_phase")
    ledger.decide(round_id, 1, "raise")
    ledger.refused(c.TimeOutRound(round_id), "wrong_phase")
    ledger.refused(c.TimeOutRound("nowhere"), "round_not_found")


def test_a_staked_round_that_is_never_dealt_is_void() -> None:
    """Where the table has a clock, stakes come back if no cards come."""
    ledger = table(decision_seconds=30)
    round_id = ledger.open()
    ledger.tick(600)
    ledger.fund([ledger.stake(1)])
    ledger.ask(c.PlaceAntes(round_id, (ledger.stake(1),)))
    assert due(ledger, round_id) == UNSTAKED_ROUND_SECONDS
    ledger.tick(UNSTAKED_ROUND_SECONDS)
    answer = ledger.ask(c.TimeOutRound(round_id))
    assert answer["void_cause"] == "timeout"
    assert ledger.wallet("player-1") == (FUNDS, 0)
    assert due(ledger, round_id) is None


def test_late_seats_fold() -> None:
    """At the time-out who has not decided folds, marked as such, an exchange notwithstanding."""
    ledger = table(changed("czech"), decision_seconds=30)
    round_id = ledger.dealt(ACE_KING, BOXES)
    assert due(ledger, round_id) == 30
    ledger.decide(round_id, 1, "raise")
    ledger.decide(round_id, 2, "5s>2d")
    ledger.tick(29.999_999)
    ledger.refused(c.TimeOutRound(round_id), "wrong_phase")
    ledger.tick(0.000_001)
    answer = ledger.ask(c.TimeOutRound(round_id))

    assert ledger.of(round_id, ev.Folded) == [ev.Folded(2, "timeout"), ev.Folded(3, "timeout")]
    assert answer["phase"] == "decided"
    assert [seat["decided_by"] for seat in answer["seats"]] == ["player", "timeout", "timeout"]
    assert due(ledger, round_id) is None


def test_a_time_out_of_the_last_seat_ends_an_rng_round() -> None:
    """The dealer is revealed and the round settled in the time-out's command."""
    ledger = table(deal_source="rng", decision_seconds=30)
    round_id = ledger.open(ledger.stake(1), deal=True)
    ledger.tick(30)
    answer = ledger.ask(c.TimeOutRound(round_id))
    assert (answer["phase"], answer["seats"][0]["result"]) == ("closed", "folded")
    assert due(ledger, round_id) is None


def test_a_time_out_may_void_the_round() -> None:
    """Where the house says so every stake comes back."""
    ledger = table(plain_house(play={"on_timeout": "void"}), decision_seconds=30)
    round_id = ledger.dealt(ACE_KING, BOXES)
    ledger.decide(round_id, 1, "raise")
    ledger.tick(30)
    answer = ledger.ask(c.TimeOutRound(round_id))
    assert (answer["phase"], answer["void_cause"]) == ("voided", "timeout")
    assert ledger.wallet("player-1") == (FUNDS, 0)


def test_an_exchange_restarts_the_clock_and_a_raise_does_not() -> None:
    """Who has seen a new card has the whole time again; another seat's raise gives nobody more."""
    ledger = table(changed("czech"), decision_seconds=30)
    round_id = ledger.dealt(ACE_KING, BOXES)
    ledger.tick(20)
    ledger.decide(round_id, 1, "raise")
    assert due(ledger, round_id) == 10
    ledger.decide(round_id, 2, "5s>2d")
    assert due(ledger, round_id) == 30


def test_an_exchange_starts_no_clock_where_there_is_none() -> None:
    """Without `decision_seconds` an exchange does not set one."""
    ledger = table(changed("czech"))
    round_id = ledger.dealt(ACE_KING, BOXES)
    ledger.decide(round_id, 2, "5s>2d")
    assert due(ledger, round_id) is None


def test_in_seat_order_the_clock_runs_for_one_seat_at_a_time() -> None:
    """A decision gives the next seat the whole time; a time-out folds the seat in turn and no other."""
    ledger = table(plain_house(play={"decision_order": "seat"}), decision_seconds=30)
    round_id = ledger.dealt(ACE_KING, BOXES)
    ledger.tick(20)
    ledger.decide(round_id, 1, "raise")
    assert due(ledger, round_id) == 30
    ledger.tick(30)
    ledger.ask(c.TimeOutRound(round_id))
    assert ledger.of(round_id, ev.Folded) == [ev.Folded(2, "timeout")]
    assert due(ledger, round_id) == 30
    ledger.refused(c.TimeOutRound(round_id), "wrong_phase")
    ledger.tick(30)
    assert ledger.ask(c.TimeOutRound(round_id))["phase"] == "decided"
    assert due(ledger, round_id) is None


def test_a_time_out_of_many_seats_takes_several_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """One command folds a bounded number of seats; the clock stays due until none is left."""
    monkeypatch.setattr(deciding, "TIMEOUT_SEATS_MAX", 2)
    ledger = table(changed("evolution-live"), decision_seconds=30)
    round_id = ledger.dealt(ACE_KING, {seat: Box(HANDS[1]) for seat in range(1, 6)})
    ledger.tick(31)
    for left in (3, 1, 0):
        ledger.ask(c.TimeOutRound(round_id))
        assert ledger.round(round_id).undecided == left
    ledger.refused(c.TimeOutRound(round_id), "wrong_phase")


# ── When everybody folds ────────────────────────────────────────────────────────────────────────
def test_when_all_fold_the_dealer_may_stay_hidden() -> None:
    """No dealer's hand is recorded, seats are settled, and side bets that need no dealer win."""
    bets = [jackpot_bet({"royal_flush": {"percent": 100}})]
    ledger = Ledger()
    ledger.jackpot(1_000)
    ledger.table(plain_house(play={"reveal_if_all_fold": False}, side_bets=bets))
    boxes = {1: Box("As Ks Qs Js Ts", "fold", side_bets={"jackpot": 100}), 2: Box(HANDS[2], "fold")}
    round_id = ledger.play("Kd 7h 3h 3c 2s", boxes)

    assert ledger.of(round_id, ev.DealerQualified) == []
    assert ledger.paid(round_id, 1) == {"ante": (0, 0), "jackpot": (0, 1_100)}
    assert [ledger.result(round_id, seat) for seat in (1, 2)] == ["folded", "folded"]
    assert [ledger.settled(round_id, seat).shown for seat in (1, 2)] == [False, False]


@pytest.mark.parametrize("source", ["rng", "table"])
def test_one_raise_is_enough_for_a_reveal(source: str) -> None:
    """With `reveal_if_all_fold` off, the dealer is revealed where anybody raised."""
    ledger = table(plain_house(play={"reveal_if_all_fold": False}), deal_source=source)
    if source == "table":
        round_id = ledger.play(ACE_KING, {1: Box(HANDS[1], "fold"), 2: BOXES[2]})
    else:
        round_id = ledger.open(ledger.stake(1), ledger.stake(2), deal=True)
        ledger.decide(round_id, 1, "fold")
        ledger.decide(round_id, 2, "raise")
    assert len(ledger.of(round_id, ev.DealerQualified)) == 1


def test_an_rng_round_all_folded_and_hidden_reveals_its_seed() -> None:
    """Even where the dealer's hand is not shown, the seed is: the deck can be checked."""
    ledger = table(plain_house(play={"reveal_if_all_fold": False}), deal_source="rng")
    round_id = ledger.open(ledger.stake(1), deal=True)
    answer = ledger.decide(round_id, 1, "fold")
    assert "dealer" not in answer
    assert len(answer["deck_seed"]) == 96


# ── The next round ──────────────────────────────────────────────────────────────────────────────
def test_the_last_decision_may_open_the_next_round() -> None:
    """The answer names the new round and its commitment; it waits for stakes and expires without."""
    ledger = table(deal_source="rng")
    first = ledger.open(ledger.stake(1), ledger.stake(2), deal=True)
    answer = ledger.ask(c.Decide(first, 1, "raise", open_next=True, next_round_id="next"))
    assert "next_round" not in answer
    assert "next" not in ledger.work.rounds
    answer = ledger.ask(c.Decide(first, 2, "fold", open_next=True, next_round_id="next"))
    (opened,) = ledger.of("next", ev.RoundOpened)
    assert answer["next_round"] == {"round_id": "next", "deck_commitment": opened.deck_commitment}
    assert due(ledger, "next") == UNSTAKED_ROUND_SECONDS
    assert answer["phase"] == "closed"


@pytest.mark.parametrize("next_id", [None, "next"])
def test_no_next_round_unless_asked_for(next_id: str | None) -> None:
    """An id alone opens nothing, and the wish without an id neither."""
    ledger = table(deal_source="rng")
    first = ledger.open(ledger.stake(1), deal=True)
    answer = ledger.ask(c.Decide(first, 1, "fold", open_next=next_id is None, next_round_id=next_id))
    assert "next_round" not in answer
    assert "next" not in ledger.work.rounds


def test_a_closed_table_opens_no_next_round_and_the_decision_stands() -> None:
    """The round is settled; the answer has no next one."""
    ledger = table(deal_source="rng")
    first = ledger.open(ledger.stake(1), deal=True)
    ledger.ask(c.CloseTable("t"))
    answer = ledger.ask(c.Decide(first, 1, "fold", open_next=True, next_round_id="next"))
    assert answer["phase"] == "closed"
    assert "next_round" not in answer


def test_a_table_round_waits_for_its_reveal_and_opens_nothing() -> None:
    """A physical table's last decision ends no round."""
    ledger = table()
    first = ledger.dealt(ACE_KING, {1: BOXES[1]})
    answer = ledger.ask(c.Decide(first, 1, "fold", open_next=True, next_round_id="next"))
    assert answer["phase"] == "decided"
    assert "next_round" not in answer

"""The record of every hand: what stands in it, when it is written, and what it does not give away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from domain import commands as c
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.round_records import ROUND_RECORDS, RoundRecords, round_record, status
from tests.unit.infrastructure.ledgers import Process, furnished, stake
from tests.unit.infrastructure.projecting import happened, projected

MINUTE_US = 60_000_000
ROYAL, OTHER = ("As", "Ks", "Qs", "Js", "Ts"), ("2h", "4d", "6s", "8c", "9h")
UP, HOLE = "Ah", ("Kd", "7h", "5h", "3h")
LIMITS: dict[str, Any] = {"currency": "USD", "min_ante": 100, "max_ante": 10_000}


@pytest.fixture
def process() -> Process:
    """Give a ledger with tables and players, one with real cards among them."""
    process = furnished()
    process.do(c.OpenTable("hall", "pot-house", **LIMITS, deal_source="table", jackpot_id="pot"))
    return process


def facts_of(process: Process, round_id: str) -> RoundFacts:
    """Return the facts of a round as of its latest event."""
    facts = RoundFacts()
    for event in happened(process.ledger):
        if event.stream == f"round-{round_id}":
            facts.fold(event)
    return facts


def records(process: Process) -> list[dict[str, Any]]:
    """Return the records that were written."""
    return projected(happened(process.ledger), projections=[RoundRecords]).dicts("round_records")


def deal(process: Process, round_id: str = "r1") -> None:
    """Deal two seats' hands at the table with real cards: seat 1 has a royal flush and the jackpot bet."""
    seats = (
        c.SeatStake(1, "player-1", 200, {"jackpot": 100}, "session-1", "terminal-7"),
        c.SeatStake(2, "player-2", 300),
    )
    process.do(c.OpenRound(round_id, "hall", seats))
    process.do(c.DealCards(round_id, {1: ROYAL, 2: OTHER}, None, (UP,)))


def test_a_record_has_the_whole_hand(process: Process) -> None:
    """Stakes, the five components, balances, cards, choices and results of a hand are in its record."""
    deal(process)
    process.do(c.Decide("r1", 1, "raise"), c.Decide("r1", 2, "fold"), c.RevealDealer("r1", HOLE))
    won, folded = records(process)
    expected = {
        "player": "p1", "seat": 1, "session_id": "session-1", "channel": "terminal-7", "table_id": "hall",
        "status": "complete", "ante": 200, "raise": 400, "side_bets": 100, "fee": 0, "wagered": 700,
        "contribution": 700_000, "diversion": 0, "reversed": 0, "returned": 600, "game_win": 200 + 40_000,
        "jackpot_win": 100_070, "jackpot_category": "royal_flush", "balance_before": 1_000_000,
        "balance_after": 1_000_000 - 700 + 600 + 40_200 + 100_070, "cards": "AsKsQsJsTs", "result": "win",
        "category": "royal_flush", "decision": "raise", "decided_by": "player", "dealer_up_cards": "Ah",
        "dealer_cards": "AhKd7h5h3h", "dealer_category": "high_card", "qualified": True, "shown": True,
        "ruleset_id": "pot-house", "ruleset_version": 1, "jackpot_id": "pot", "jackpot_version": 1,
        "account_class": "real", "currency": "USD", "gaming_day": "2026-10-02", "deal_source": "table",
        "rng": None, "build": "test-build", "void_cause": None,
    }  # fmt: skip
    assert {name: won[name] for name in expected} == expected
    assert json.loads(won["bets"]) == [
        ["ante", 200, 200, 200, 1],
        ["raise", 400, 400, 40_000, 100],
        ["jackpot", 100, 0, 100_070],
    ]
    assert (folded["result"], folded["decision"], folded["wagered"], folded["returned"]) == (
        "folded",
        "fold",
        300,
        0,
    )
    assert (folded["session_id"], folded["jackpot_win"], folded["contribution"]) == (None, 0, 0)


def test_the_phases_are_in_their_order(process: Process) -> None:
    """A record tells when each phase of the hand was reached."""
    deal(process)
    process.clock.now_us += MINUTE_US
    process.do(c.Decide("r1", 1, "raise"))
    process.clock.now_us += MINUTE_US
    process.do(c.Decide("r1", 2, "fold"), c.RevealDealer("r1", HOLE))
    first, second = records(process)
    names = (
        "opened_us",
        "placed_us",
        "betting_closed_us",
        "decided_us",
        "revealed_us",
        "settled_us",
        "ended_us",
    )
    times = [first[name] for name in names]
    assert times == sorted(set(times))
    assert second["decided_us"] - first["decided_us"] >= MINUTE_US
    assert (first["opened_position"], first["ended_position"]) == (
        second["opened_position"],
        process.ledger.position,
    )


def test_a_void_hand_is_cancelled_and_came_back_whole(process: Process) -> None:
    """The record of a void hand says why, and that stakes and contribution were taken back."""
    deal(process)
    process.do(c.VoidRound("r1", "malfunction"))
    record = records(process)[0]
    names = "status", "void_cause", "wagered", "returned", "game_win", "contribution", "reversed", "result"
    assert [record[name] for name in names] == [
        "cancelled",
        "malfunction",
        300,
        300,
        0,
        700_000,
        700_000,
        None,
    ]
    assert record["balance_before"] == record["balance_after"] == 1_000_000
    assert json.loads(record["bets"]) == [["ante", 200, 200, 0], ["jackpot", 100, 100, 0]]


def test_a_round_that_nobody_staked_on_has_no_record(process: Process) -> None:
    """A record is of a hand."""
    process.do(c.OpenRound("r1", "live"))
    process.clock.now_us += 16 * MINUTE_US
    process.do(c.TimeOutRound("r1"))
    assert records(process) == []


def test_a_round_settled_in_pieces_has_its_records_at_its_close(process: Process) -> None:
    """A shared round with more seats than one command settles is one round, one record a seat."""
    process.books.work.settle_seats_max = 2
    process.do(c.OpenRound("r1", "live", tuple(stake(n) for n in (1, 2, 4, 5, 6)), deal=True))
    for number in (1, 2, 4, 5, 6):
        process.do(c.Decide("r1", number, "fold"))
    assert records(process) == []
    process.do(c.ContinueRound("r1"), c.ContinueRound("r1"))
    found = records(process)
    assert [record["seat"] for record in found] == [1, 2, 4, 5, 6]
    assert len({record["cards"] for record in found}) == 1


def test_a_bought_card_is_in_the_record(process: Process) -> None:
    """The card given up, the one drawn, its price and who wanted it; the hand is the final one."""
    process.do(c.OpenRound("r1", "bought", (stake(1, 3, bonus=5_000),), deal=True))
    discard = facts_of(process, "r1").seats[1].cards[0]
    process.do(c.Decide("r1", 1, "exchange", discard))
    process.do(c.Decide("r1", 1, "fold"))
    (record,) = records(process)
    assert (record["discard"], record["fee"], record["exchanged_by"]) == (discard, 100, "player")
    assert record["drawn"] in record["cards"]
    assert discard not in record["cards"]
    assert record["exchanged_us"] < record["decided_us"]
    assert (record["rng"], record["deal_source"]) == ("hmac-drbg-sha256", "rng")


def test_an_open_round_gives_no_hand_away(process: Process) -> None:
    """Until a round has ended its record holds no player's own cards, nor what was exchanged (G5)."""
    process.do(c.OpenRound("r1", "bought", (stake(1, 3),), deal=True))
    seat = facts_of(process, "r1").seats[1]
    process.do(c.Decide("r1", 1, "exchange", seat.cards[0]))
    facts = facts_of(process, "r1")
    record = round_record(facts, 1, process.clock.now_us)
    seen = {name: value for name, value in record.items() if "card" in name or name in ("discard", "drawn")}
    up_cards = "".join(facts.up_cards)
    assert seen == {
        "cards": None,
        "discard": None,
        "drawn": None,
        "dealer_up_cards": up_cards,
        "dealer_cards": None,
    }
    assert (record["status"], record["ended_us"], record["category"]) == ("in_progress", None, None)
    assert json.loads(record["bets"]) == [["ante", 100, 0, 0], ["exchange_fee", 100, 0, 0]]
    assert list(record) == [column.name for column in ROUND_RECORDS.columns]


def test_a_shared_hand_lies_open(process: Process) -> None:
    """The hand that all share is face up: it is in the record of an open round."""
    process.do(c.OpenRound("r1", "live", (stake(1),), deal=True))
    facts = facts_of(process, "r1")
    assert round_record(facts, 1, 0)["cards"] == "".join(facts.shared)


@pytest.mark.parametrize(
    ("table", "idle_us", "found"),
    [
        ("live", 20_000_000, "in_progress"),
        ("live", 20_000_001, "interrupted"),
        ("three", 15 * MINUTE_US, "in_progress"),
        ("three", 15 * MINUTE_US + 1, "interrupted"),
    ],
)
def test_a_round_that_stands_still_is_interrupted(
    process: Process, table: str, idle_us: int, found: str
) -> None:
    """A round is interrupted once it has stood for longer than its table gives, or a quarter of an hour."""
    process.do(c.OpenRound("r1", table, (stake(1),), deal=True))
    facts = facts_of(process, "r1")
    assert status(facts, facts.last_us + idle_us) == found


def test_there_is_no_record_of_an_empty_seat(process: Process) -> None:
    """Asking for a seat without an ante is a mistake."""
    process.do(c.OpenRound("r1", "live", (stake(1),)))
    with pytest.raises(KeyError):
        round_record(facts_of(process, "r1"), 2, 0)


def test_a_hand_face_down_has_no_category_before_the_end(process: Process) -> None:
    """While a round is settled seat by seat, a settled seat's result is told, its cards are not (G5)."""
    process.books.work.settle_seats_max = 1
    process.do(c.OpenRound("r1", "pots", (stake(1), stake(2)), deal=True))
    process.do(c.Decide("r1", 1, "raise"), c.Decide("r1", 2, "raise"))
    facts = facts_of(process, "r1")
    record = round_record(facts, 1, 0)
    assert (facts.finished, record["cards"], record["category"]) == (False, None, None)
    assert record["result"] is not None

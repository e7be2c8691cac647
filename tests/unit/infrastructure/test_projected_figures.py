"""Figures: games by day and hour, jackpots by date, accounts apart, and what is significant."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from domain import commands as c
from domain.events import EVENT_CLASSES
from infrastructure.projections.catalogue import PROJECTIONS
from infrastructure.projections.jackpot_days import (
    DIVERSION_POOL,
    METER_POOL,
    OUTGOING,
    OVERFLOW_POOL,
    JackpotDays,
)
from infrastructure.projections.performance import Performance
from infrastructure.projections.player_rounds import PlayerRounds
from infrastructure.projections.sessions import Sessions
from infrastructure.projections.significant_events import LARGE_UNITS, ROUTINE, SignificantEvents, kind_of
from infrastructure.projections.trial_balance import TrialBalance
from tests.unit.infrastructure.eventful_play import eventful
from tests.unit.infrastructure.ledgers import Clock, Process, furnished, stake
from tests.unit.infrastructure.projecting import happened, projected

DAY_US = 86_400_000_000
LIMITS: dict[str, Any] = {"currency": "USD", "min_ante": 100, "max_ante": 9_000_000, "deal_source": "rng"}


def us(moment: str) -> int:
    """Return the microseconds since the epoch of a moment, UTC."""
    return int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()) * 1_000_000


def rows(process: Process, projection: type, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    return projected(happened(process.ledger), projections=[projection]).dicts(table)


def test_a_round_over_the_cutoff_counts_once_in_the_cell_of_its_opening() -> None:
    """A hand dealt at 05:59 and settled at 06:20 belongs, with all its money, where it opened."""
    process = furnished(clock=Clock(us("2026-10-02T03:59:00")))
    process.do(c.OpenTable("oslo", "slow-house", **LIMITS, zone="Europe/Oslo", cutoff_hour=6))
    process.do(c.OpenRound("late", "oslo", (stake(1),), deal=True))
    process.clock.now_us = us("2026-10-02T04:20:00")
    (before,) = rows(process, Performance, "performance")
    process.do(c.Decide("late", 1, "fold"))
    (cell,) = rows(process, Performance, "performance")
    assert (cell["gaming_day"], cell["hour_us"]) == ("2026-10-01", us("2026-10-02T03:00:00"))
    assert (before["unfinished"], before["antes"], before["rounds_finished"]) == (100, 0, 0)
    assert (cell["unfinished"], cell["antes"], cell["rounds_finished"], cell["hands"]) == (0, 100, 1, 1)


def test_other_rules_and_other_jackpot_parameters_are_other_games() -> None:
    """Rounds of one hour stand apart by the versions of their rules and jackpot parameters (A.6.1)."""
    ledger = eventful(5, 400)
    cells = projected(happened(ledger), projections=[Performance]).dicts("performance")
    assert {cell["ruleset_version"] for cell in cells if cell["table_id"] == "slow"} == {1, 2}
    assert len({cell["jackpot_version"] for cell in cells if cell["jackpot_id"] == "won"}) > 1


def test_a_round_without_stakes_expires() -> None:
    """What nobody staked on is neither void nor finished, and significant to nobody."""
    process = furnished()
    process.do(c.OpenRound("r1", "live"))
    process.clock.now_us += 16 * 60_000_000
    process.do(c.TimeOutRound("r1"))
    (cell,) = rows(process, Performance, "performance")
    names = "rounds_opened", "rounds_expired", "rounds_voided", "rounds_finished", "hands", "unfinished"
    assert [cell[name] for name in names] == [1, 1, 0, 0, 0, 0]
    assert not [
        e for e in rows(process, SignificantEvents, "significant_events") if e["kind"] == "round_voided"
    ]


def test_the_closing_of_a_day_is_the_opening_of_the_next() -> None:
    """Summed day by day, movements lead to what each pool of each jackpot holds, and nowhere below zero."""
    ledger = eventful(9, 500)
    projecting = projected(happened(ledger))
    held: dict[tuple[str, str], int] = {}
    pools = {"jackpot": METER_POOL, "jackpot_overflow": OVERFLOW_POOL, "jackpot_diversion": DIVERSION_POOL}
    nets = {"jackpot": "meter_net", "jackpot_overflow": "overflow_net", "jackpot_diversion": "diversion_net"}
    days: list[dict[str, Any]] = projecting.dicts("jackpot_days")
    assert len({day["day"] for day in days}) > 1
    for day in days:
        for pool, names in pools.items():
            moved = sum(-day[name] if name in OUTGOING else day[name] for name in names)
            assert moved == day[nets[pool]]
            held[pool, day["jackpot_id"]] = held.get((pool, day["jackpot_id"]), 0) + moved
            assert held[pool, day["jackpot_id"]] >= 0
    accounts = {row["account"]: row["balance"] for row in projecting.dicts("trial_balance_now")}
    told = {}
    for (pool, jackpot_id), balance in held.items():
        name = f"{pool}:{'test' if jackpot_id == 'tried' else 'real'}:{jackpot_id}"
        if name in accounts or balance:
            told[name] = balance
    assert told == {name: balance for name, balance in accounts.items() if name.startswith("jackpot")}


def test_a_jackpot_that_opened_empty_is_there() -> None:
    """A reset of nothing moves no money, and the jackpot is in every list all the same."""
    process = furnished()
    process.do(c.OpenJackpot("empty", "USD", 0, "0.5"))
    balances = rows(process, TrialBalance, "trial_balance_now")
    assert [row["balance"] for row in balances if row["account"] == "jackpot:real:empty"] == [0]
    assert [row["seeds"] for row in rows(process, JackpotDays, "jackpot_days")] == [0, 1_000_000_000]


def test_test_accounts_stand_apart() -> None:
    """What guests of a test table do is in accounts, cells and events of their own (A.2.5)."""
    process = furnished()
    process.do(c.OpenTable("trial", "slow-house", **LIMITS, account_class="test"))
    process.do(c.OpenPlayer("guest", "g", "USD", "test"), c.Deposit("guest", 2_000_000, "r", "t"))
    process.do(c.OpenRound("r1", "trial", (c.SeatStake(1, "guest", 1_000_000),), deal=True))
    process.do(c.Decide("r1", 1, "fold"))
    balances = {row["account"]: row["balance"] for row in rows(process, TrialBalance, "trial_balance_now")}
    assert (
        balances["wallet:test"] + balances["on_game:test"] + balances["house:test:slow-house"]
        == 20_000_000_000
    )
    assert balances["cashier:test"] == -20_000_000_000
    assert "house:real:slow-house" not in balances
    assert {cell["account_class"] for cell in rows(process, Performance, "performance")} == {"test"}
    (event,) = [
        e for e in rows(process, SignificantEvents, "significant_events") if e["kind"] == "large_wager"
    ]
    assert event["account_class"] == "test"


def test_snapshots_are_of_what_was_then() -> None:
    """A snapshot stands at every 1024th position with its time, whether or not that event moved money."""
    ledger = eventful(9, 500)
    events = happened(ledger)
    projecting = projected(events, (333,), projections=[TrialBalance])
    assert projecting.rows["snapshots"] == [(p, events[p - 1].at_us) for p in range(1024, len(events), 1024)]
    at = projected(events[:1024], projections=[TrialBalance]).dicts("trial_balance_now")
    then = {
        row["account"]: row["balance"]
        for row in projecting.dicts("trial_balances")
        if row["position"] == 1024
    }
    assert then == {row["account"]: row["balance"] for row in at if row["account"] in then}
    assert then.keys() == {row["account"] for row in at if row["position"]}


def test_every_type_of_event_is_routine_or_listed() -> None:
    """A new type of event is listed as significant by itself, until somebody says that it is routine."""
    names = {kind.__name__ for kind in EVENT_CLASSES}
    assert names >= ROUTINE
    assert SignificantEvents.types == names - ROUTINE
    assert kind_of("JackpotParametersScheduled") == "jackpot_parameters_scheduled"


@pytest.mark.parametrize(("ante", "found"), [(LARGE_UNITS * 100 - 100, 0), (LARGE_UNITS * 100, 1)])
def test_a_large_wager_is_significant_from_the_threshold_on(ante: int, found: int) -> None:
    """A hand's whole wager counts, in units of its currency, and who made it is told."""
    process = furnished()
    process.do(c.OpenTable("high", "slow-house", **LIMITS), c.Deposit("player-1", 9_000_000, "more", "tm"))
    process.do(c.OpenRound("r1", "high", (stake(1, ante=ante),), deal=True), c.Decide("r1", 1, "fold"))
    events = [e for e in rows(process, SignificantEvents, "significant_events") if e["kind"] == "large_wager"]
    assert [e["detail"] for e in events] == [
        {"seat": 1, "player": "p1", "amount": ante, "currency": "USD"} for _ in range(found)
    ]


def test_documents_and_seeds_are_not_repeated() -> None:
    """A significant event's detail is its data, but for a rule set's content and a void deck's seed."""
    process = furnished()
    process.do(c.OpenRound("r1", "live", (stake(1),), deal=True), c.VoidRound("r1", "malfunction"))
    events = rows(process, SignificantEvents, "significant_events")
    details = {e["kind"]: e["detail"] for e in events}
    assert details["round_voided"] == {"cause": "malfunction"}
    assert details["ruleset_published"].keys() == {"ruleset_id", "ruleset_version", "sha256"}
    assert {e["subject"] for e in events} >= {
        "ledger-0",
        "table-live",
        "jackpot-pot",
        "round-r1",
        "ruleset-czech",
    }


def test_a_player_of_three_hands_has_the_round_once() -> None:
    """The list of a player's rounds has each round once, from the first ante on."""
    process = furnished()
    process.do(c.OpenRound("r1", "three", (stake(1), stake(2, 1), stake(3, 1)), deal=True))
    listed = projected(happened(process.ledger), projections=[PlayerRounds]).rows["player_rounds"]
    assert [row[1:5] for row in listed] == [("p1", "r1", "three", "cyber")]


def test_a_big_shared_round_is_projected_whole() -> None:
    """A round of many seats that settles over many commands leaves a record and a session for each."""
    process = furnished(players=4, settle_seats_max=7)
    seats = tuple(c.SeatStake(n, f"crowd-{n}", 100, {"five_plus_one": 100}) for n in range(1, 201))
    for seat in seats:
        process.do(
            c.OpenPlayer(seat.player_id, f"c{seat.seat}", "USD"), c.Deposit(seat.player_id, 500, "r", "t")
        )
    process.do(c.OpenRound("big", "live", seats, deal=True))
    process.clock.now_us += 3_600_000_000
    process.do(c.TimeOutRound("big"))
    while process.unsettled:
        process.do(c.ContinueRound("big"))
    projecting = projected(happened(process.ledger), (50,))
    assert len(projecting.rows["round_records"]) == len(projecting.rows["sessions"]) == 200
    (cell,) = projecting.dicts("performance")
    assert (cell["hands"], cell["antes"], cell["side_bets"], cell["unfinished"]) == (200, 20_000, 20_000, 0)


def test_tables_have_names_of_their_own() -> None:
    """Every projection has a name, and every table one that no other has."""
    made = [make() for make in PROJECTIONS]
    tables = [table.name for each in made for table in each.tables]
    assert len({each.name for each in made}) == len(made)
    assert len(set(tables)) == len(tables)


def test_a_jackpot_is_a_hit_and_no_large_win() -> None:
    """What a jackpot pays is listed once, as its hit, however large it is."""
    process = furnished()
    process.do(c.OpenJackpot("huge", "USD", 50_000_000, "0.5"))
    process.do(c.OpenTable("hall", "pot-house", **{**LIMITS, "deal_source": "table"}, jackpot_id="huge"))
    process.do(c.OpenRound("r1", "hall", (stake(1, jackpot=100),)))
    process.do(c.DealCards("r1", {1: ("As", "Ks", "Qs", "Js", "Ts")}, None, ("2c",)))
    process.do(c.Decide("r1", 1, "fold"), c.RevealDealer("r1", ("3c", "5d", "7h", "9d")))
    events = rows(process, SignificantEvents, "significant_events")
    assert [event["kind"] for event in events if event["subject"] == "round-r1"] == ["jackpot_hit"]
    (cell,) = rows(process, Performance, "performance")
    assert (cell["game_wins"], cell["jackpot_wins"]) == (0, 50_000_050)


@pytest.mark.parametrize(
    ("dealer", "won"),
    [
        (("3c", "5d", "7h", "9d"), 1),  # does not qualify: the ante wins 1
        (("Ad", "Kd", "Qd", "Jc"), 0),  # the same ranks as the player's: nothing is won or lost
    ],
)
def test_the_smallest_gain_wins_a_round(dealer: tuple[str, ...], won: int) -> None:
    """A round that brings one minor unit more than it cost is won, and one that brings nothing is not."""
    process = furnished()
    table = c.OpenTable("tiny", "slow-house", **{**LIMITS, "min_ante": 1, "deal_source": "table"})
    process.do(table, c.OpenRound("r1", "tiny", (stake(1, ante=1),)))
    process.do(c.DealCards("r1", {1: ("Ah", "Kh", "Qs", "Js", "2d")}, None, ("2c",)))
    process.do(c.Decide("r1", 1, "raise"), c.RevealDealer("r1", dealer))
    (session,) = rows(process, Sessions, "sessions")
    assert (session["rounds"], session["rounds_won"]) == (1, won)

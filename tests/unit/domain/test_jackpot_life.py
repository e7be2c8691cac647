"""The life of a jackpot: disabled and enabled, transferred and retired, put right."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.jackpot_life import ADJUSTMENT, TRANSFER
from domain.jackpot_parameters import PARAMETERS
from tests.unit.domain.jackpot_house import (
    NOTE,
    NOTHING,
    ROYALS,
    STAKE,
    approve,
    change,
    happened,
    ledger_with,
    placed,
    play,
    pools,
    proposals_refused,
    propose,
    win,
)
from tests.unit.domain.playing import Ledger

MOST = 9 * 10**15


def ended(ledger: Ledger, **fields: Any) -> Ledger:
    """Return a ledger whose jackpot `pot` was given to another, `heir`, and is retired."""
    ledger.jackpot(2_000, jackpot_id="heir", **fields)
    ledger.ask(c.DisableJackpot("pot"))
    change(ledger, TRANSFER, to="heir")
    return ledger


# ── Disabled ────────────────────────────────────────────────────────────────────────────────────
def test_a_disabled_jackpot_neither_grows_nor_takes_bets_and_resumes_unchanged() -> None:
    """The bet is refused, an ante alone is taken; once enabled it goes on from where it was."""
    ledger = ledger_with(contribution="0.8", diversion="0.1", ceiling=1_010)
    play(ledger, NOTHING)
    held = pools(ledger)
    answer = ledger.ask(c.DisableJackpot("pot", NOTE))
    assert happened(ledger) == [ev.JackpotDisabled("pot", NOTE)]
    assert answer["enabled"] is False
    stakes = (ledger.stake(1, jackpot=STAKE),)
    ledger.fund(stakes)
    ledger.refused(c.OpenRound("x", "t", stakes), "jackpot_disabled")
    ledger.ask(c.VoidRound(ledger.open(ledger.stake(1)), "malfunction"))
    assert pools(ledger) == held
    assert ledger.ask(c.EnableJackpot("pot", NOTE))["enabled"] is True
    assert happened(ledger) == [ev.JackpotEnabled("pot", NOTE)]
    assert pools(ledger) == held
    assert placed(ledger, play(ledger, NOTHING)) == [("80", "80", "10")]


def test_what_was_staked_before_is_still_paid() -> None:
    """A round that bet on it before it was disabled wins it (A.5.1)."""
    ledger = ledger_with()
    round_id = ledger.open(ledger.stake(1, jackpot=STAKE))
    ledger.ask(c.DisableJackpot("pot"))
    win(ledger, round_id)
    assert ledger.paid(round_id)["jackpot"] == (0, 1_100)


def test_twice_is_as_good_as_once() -> None:
    """Disabling a disabled jackpot and enabling an enabled one record nothing."""
    ledger = ledger_with()
    ledger.ask(c.EnableJackpot("pot"))
    assert ledger.last == []
    ledger.ask(c.DisableJackpot("pot"))
    ledger.ask(c.DisableJackpot("pot", NOTE))
    assert ledger.last == []


# ── Transfer ────────────────────────────────────────────────────────────────────────────────────
def test_a_transfer_moves_all_three_pools_and_retires() -> None:
    """Each pool goes to the other's; the empty jackpot takes no bet, no change and no money ever again."""
    ledger = ledger_with(contribution="0.8", diversion="0.1", ceiling=1_050)
    play(ledger, NOTHING, NOTHING)
    ledger.jackpot(2_000, jackpot_id="heir", diversion="0", ceiling=10_000)
    ledger.ask(c.DisableJackpot("pot"))
    approval = change(ledger, TRANSFER, to="heir")
    assert happened(ledger) == [
        ev.JackpotTransferred(
            "pot",
            "heir",
            "1050",
            "110",
            "20",
            "2000",
            "3050",
            "anna",
            "ben",
            approval["approval_id"],
            None,
            NOTE,
        ),
        ev.JackpotRetired("pot"),
    ]
    assert [emitted.stream for emitted in ledger.last[-2:]] == ["jackpot-pot"] * 2
    assert pools(ledger) == (0, 0, 0)
    assert pools(ledger, "heir") == (3_050, 110, 20)
    transferred = ledger.last[-2].position
    assert ledger.work.jackpots["pot"].moved_at == ledger.work.jackpots["heir"].moved_at == transferred
    pot = ledger.work.jackpots["pot"]
    assert (pot.retired, pot.enabled, pot.scheduled) == (True, False, None)
    stakes = (ledger.stake(1, jackpot=STAKE),)
    ledger.fund(stakes)
    ledger.refused(c.OpenRound("x", "t", stakes), "jackpot_disabled")
    ledger.refused(c.EnableJackpot("pot"), "jackpot_retired")
    ledger.refused(c.DisableJackpot("pot"), "jackpot_retired")
    for kind, payload in (
        (PARAMETERS, {"contribution": "1", "reset": 0}),
        (TRANSFER, {"to": "heir"}),
        (ADJUSTMENT, {"amount": 1}),
    ):
        proposals_refused(ledger, kind, "jackpot_retired", **payload)


def test_what_the_other_meter_cannot_take_goes_to_its_overflow() -> None:
    """A meter of 1 100 into one of 2 000 below 2 600: 600 into the meter, 500 wait with the overflow."""
    ledger = ended(ledger_after_bet(), ceiling=2_600)
    transferred = ledger.events[-2].event
    assert isinstance(transferred, ev.JackpotTransferred)
    assert (transferred.amount, transferred.above_ceiling, transferred.to_meter_after) == (
        "1100",
        "500",
        "2600",
    )
    assert pools(ledger, "heir") == (2_600, 500, 0)


def ledger_after_bet() -> Ledger:
    """Return a ledger whose jackpot holds 1 100 after a round."""
    ledger = ledger_with()
    play(ledger, NOTHING)
    return ledger


def test_waiting_parameters_end_with_the_jackpot() -> None:
    """Nothing waits for a win that cannot come."""
    ledger = ledger_with()
    change(ledger, PARAMETERS, contribution="1", reset=5)
    assert ended(ledger).work.jackpots["pot"].scheduled is None


def test_no_table_opens_on_a_retired_jackpot() -> None:
    """It would offer a bet that nobody can place."""
    ledger = ended(ledger_with())
    command = c.OpenTable("late", "test-house", "USD", 100, 1_000, "rng", jackpot_id="pot")
    ledger.refused(command, "jackpot_retired")


def test_only_a_disabled_jackpot_is_transferred() -> None:
    """While it takes bets there is nothing final to transfer; one is not given to itself, nor to nobody."""
    ledger = ledger_with()
    ledger.jackpot(0, jackpot_id="heir")
    proposals_refused(ledger, TRANSFER, "jackpot_enabled", to="heir")
    ledger.ask(c.DisableJackpot("pot"))
    proposals_refused(ledger, TRANSFER, "validation_failed", to="pot")
    proposals_refused(ledger, TRANSFER, "jackpot_not_found", to="nobody")


@pytest.mark.parametrize("end", ["settle", "void"])
def test_a_bet_that_is_not_settled_holds_a_transfer_back(end: str) -> None:
    """Until every bet on the jackpot is settled or given back; other seats do not count."""
    ledger = ledger_with()
    ledger.jackpot(0, jackpot_id="heir")
    round_id = ledger.open(ledger.stake(1, jackpot=STAKE), ledger.stake(2), ledger.stake(3, jackpot=STAKE))
    ledger.ask(c.DisableJackpot("pot"))
    with ledger.acting("anna", "admin"):
        rejection = ledger.refused(
            c.Propose("no", TRANSFER, {"jackpot_id": "pot", "to": "heir"}), "jackpot_unsettled"
        )
    assert rejection.extra == {"unsettled": 2}
    if end == "settle":
        win(ledger, round_id)
    else:
        ledger.ask(c.VoidRound(round_id, "malfunction"))
    change(ledger, TRANSFER, to="heir")


def test_bets_are_counted_seat_by_seat() -> None:
    """A big round that settles in several commands counts down as it goes."""
    ledger = ledger_with()
    ledger.work.settle_seats_max = 2
    stakes = [ledger.stake(seat, jackpot=STAKE) for seat in (1, 2, 3)]
    round_id = ledger.open(*stakes)
    assert ledger.work.jackpots["pot"].unsettled == 3
    win(ledger, round_id)
    assert ledger.work.jackpots["pot"].unsettled == 1
    ledger.ask(c.ContinueRound(round_id))
    assert ledger.work.jackpots["pot"].unsettled == 0


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"currency": "EUR"}, "currency_mismatch"), ({"account_class": "test"}, "account_class_mismatch")],
)
def test_money_is_transferred_among_its_like(fields: dict[str, Any], code: str) -> None:
    """Not into another currency, and not between real and test money."""
    ledger = ledger_with()
    ledger.jackpot(0, jackpot_id="heir", **fields)
    ledger.ask(c.DisableJackpot("pot"))
    proposals_refused(ledger, TRANSFER, code, to="heir")


@pytest.mark.parametrize("pool", ["overflow", "diverted"])
def test_no_pool_is_transferred_beyond_what_can_be_counted(pool: str) -> None:
    """The bound on pools holds for the sum."""
    ledger = ledger_with()
    ledger.jackpot(0, jackpot_id="heir")
    ledger.ask(c.DisableJackpot("pot"))
    for jackpot_id, amount in (("pot", 1), ("heir", MOST)):
        setattr(ledger.work.jackpots[jackpot_id], pool, amount * 10_000)
    proposals_refused(ledger, TRANSFER, "amount_out_of_range", to="heir")
    setattr(ledger.work.jackpots["heir"], pool, (MOST - 1) * 10_000)
    propose(ledger, TRANSFER, to="heir")


# ── Adjustment ──────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("pool", "amount", "after"),
    [
        (None, -1_000, (0, 5, 7)),
        ("meter", 250, (1_250, 5, 7)),
        ("overflow", -5, (1_000, 0, 7)),
        ("diversion", 3, (1_000, 5, 10)),
    ],
)
def test_an_adjustment_puts_a_pool_right(pool: str | None, amount: int, after: tuple[int, int, int]) -> None:
    """Signed, at the house's cost, with the pool before and after and both who are behind it."""
    ledger = ledger_with()
    change(ledger, ADJUSTMENT, pool="overflow", amount=5)
    change(ledger, ADJUSTMENT, pool="diversion", amount=7)
    house = ledger.work.accounts["house:real", "USD"]
    payload = {"amount": amount} if pool is None else {"pool": pool, "amount": amount}
    approval = change(ledger, ADJUSTMENT, **payload)
    (adjusted,) = happened(ledger)
    assert isinstance(adjusted, ev.JackpotAdjusted)
    index = ("meter", "overflow", "diversion").index(adjusted.pool)
    assert adjusted == ev.JackpotAdjusted(
        "pot",
        pool or "meter",  # type: ignore[arg-type]
        str(amount),
        str(after[index] - amount),
        str(after[index]),
        "anna",
        "ben",
        approval["approval_id"],
        NOTE,
    )
    assert pools(ledger) == after
    assert ledger.work.accounts["house:real", "USD"] == house - amount * 10_000
    assert (ledger.work.jackpots["pot"].moved_at == ledger.last[-1].position) == (adjusted.pool == "meter")


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"amount": 0}, "amount_out_of_range"),
        ({"amount": 10**12 + 1}, "amount_out_of_range"),
        ({"amount": -(10**12) - 1}, "amount_out_of_range"),
        ({"amount": -1_001}, "amount_out_of_range"),
        ({"amount": 501}, "amount_out_of_range"),
        ({"pool": "overflow", "amount": -1}, "amount_out_of_range"),
        ({"pool": "house", "amount": 1}, "validation_failed"),
    ],
)
def test_adjustments_that_cannot_be(payload: dict[str, Any], code: str) -> None:
    """Nothing, more than any amount may be, below zero, a meter above its ceiling, a pool that is none."""
    proposals_refused(ledger_with(ceiling=1_500), ADJUSTMENT, code, **payload)


def test_an_adjustment_ends_at_the_ceiling_and_at_the_bound() -> None:
    """Exactly to the ceiling, exactly to what a pool can hold, and from above a ceiling downwards only."""
    ledger = ledger_with(ceiling=1_500)
    change(ledger, ADJUSTMENT, amount=500)
    pot = ledger.work.jackpots["pot"]
    pot.overflow = (MOST - 1) * 10_000
    proposals_refused(ledger, ADJUSTMENT, "amount_out_of_range", pool="overflow", amount=2)
    propose(ledger, ADJUSTMENT, pool="overflow", amount=1)
    pot.meter = 1_600 * 10_000
    proposals_refused(ledger, ADJUSTMENT, "amount_out_of_range", amount=1)
    propose(ledger, ADJUSTMENT, amount=-1)


# ── What is said ────────────────────────────────────────────────────────────────────────────────
def test_a_transfer_says_what_it_would_do() -> None:
    """Each pool, what the other meter cannot take of it, and the other meter before and after."""
    ledger = ledger_with(contribution="0.8", diversion="0.1", ceiling=1_050)
    play(ledger, NOTHING, NOTHING)
    ledger.jackpot(2_000, jackpot_id="heir", ceiling=2_500)
    ledger.ask(c.DisableJackpot("pot"))
    proposal = propose(ledger, TRANSFER, to="heir")
    assert proposal["effect"] == {
        "jackpot_id": "pot",
        "to": "heir",
        "amount_exact": "1050",
        "overflow_exact": "110",
        "diversion_exact": "20",
        "above_ceiling_exact": "550",
        "to_meter_before_exact": "2000",
        "to_meter_after_exact": "2500",
    }
    assert approve(ledger, proposal)["result"] == proposal["effect"]
    assert pools(ledger, "heir") == (2_500, 660, 20)


def test_an_adjustment_says_what_it_would_do() -> None:
    """Which pool, by how much, and what it holds before and after."""
    ledger = ledger_with()
    proposal = propose(ledger, ADJUSTMENT, amount=-400)
    assert proposal["effect"] == {
        "jackpot_id": "pot",
        "pool": "meter",
        "amount": -400,
        "before_exact": "1000",
        "after_exact": "600",
    }
    assert approve(ledger, proposal)["result"] == proposal["effect"]


def test_every_refusal_says_why() -> None:
    """In one sentence for people, with figures for programs."""
    ledger = ledger_with(ceiling=1_500)
    refused = partial(proposals_refused, ledger)
    bounds = f"An adjustment is 1 to {10**12} minor units, up or down."
    holds = "A pool holds zero at least, and at most its ceiling or what the ledger can count."
    assert refused(ADJUSTMENT, "amount_out_of_range", amount=0) == (bounds, {})
    assert refused(ADJUSTMENT, "amount_out_of_range", amount=501) == (holds, {"before_exact": "1000"})
    assert refused(ADJUSTMENT, "validation_failed", amount=1, pool="x") == (
        "The pools are meter, overflow, diversion.",
        {"parameter": "pool"},
    )
    ledger.jackpot(0, jackpot_id="heir")
    assert refused(TRANSFER, "jackpot_enabled", to="heir") == (
        "Jackpot pot takes bets: disable it first.",
        {},
    )
    round_id = ledger.open(ledger.stake(1, jackpot=STAKE))
    ledger.ask(c.DisableJackpot("pot"))
    assert refused(TRANSFER, "jackpot_unsettled", to="heir") == (
        "Bets on jackpot pot that are not settled yet: 1.",
        {"unsettled": 1},
    )
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    assert refused(TRANSFER, "validation_failed", to="pot") == (
        "A jackpot is transferred to another one.",
        {},
    )
    for fields, code, detail in (
        ({"currency": "EUR"}, "currency_mismatch", "One holds USD, the other EUR."),
        ({"account_class": "test"}, "account_class_mismatch", "One is for real accounts, the other is not."),
    ):
        ledger.jackpot(0, jackpot_id=code, **fields)
        assert refused(TRANSFER, code, to=code) == (detail, {})
    ledger.work.jackpots["heir"].overflow = MOST * 10_000
    ledger.work.jackpots["heir"].ceiling = 999
    assert refused(TRANSFER, "amount_out_of_range", to="heir") == (
        "The other jackpot cannot hold what it would get.",
        {},
    )
    ledger.work.jackpots["heir"].overflow = 0
    change(ledger, TRANSFER, to="heir")
    assert refused(TRANSFER, "jackpot_retired", to="heir") == ("Jackpot pot is retired.", {})


def test_a_jackpots_stream_counts_its_own_events() -> None:
    """Versions go up by one, whoever's command it was, and each time its row is to be written."""
    ledger = ledger_with()
    ledger.work.touched_jackpots.clear()
    for command in (c.DisableJackpot("pot"), c.EnableJackpot("pot")):
        ledger.ask(command)
        assert ledger.work.touched_jackpots == {"pot"}
        ledger.work.touched_jackpots.clear()
    change(ledger, PARAMETERS, contribution="1", reset=5)
    assert ledger.work.touched_jackpots == {"pot"}
    play(ledger, ROYALS[0])
    change(ledger, ADJUSTMENT, amount=10**12)
    versions = [emitted.version for emitted in ledger.events if emitted.stream == "jackpot-pot"]
    assert versions == [1, 2, 3, 4, 5, 6] == [*range(1, ledger.work.jackpots["pot"].version + 1)]


# ── Unknown jackpots ────────────────────────────────────────────────────────────────────────────
def test_what_is_not_there_cannot_be_changed() -> None:
    """Each command and each proposal names a jackpot that exists."""
    ledger = ledger_with()
    ledger.refused(c.DisableJackpot("nobody"), "jackpot_not_found")
    ledger.refused(c.EnableJackpot("nobody"), "jackpot_not_found")
    for kind, payload in (
        (PARAMETERS, {"contribution": "1", "reset": 0}),
        (TRANSFER, {"to": "pot"}),
        (ADJUSTMENT, {"amount": 1}),
    ):
        proposals_refused(ledger, kind, "jackpot_not_found", jackpot_id="nobody", **payload)


def test_a_jackpot_says_what_waits_and_what_it_holds() -> None:
    """Its answer has the other pools, the ceiling, the diversion and the parameters that wait."""
    ledger = ledger_with(contribution="0.8", diversion="0.1", ceiling=1_050)
    play(ledger, NOTHING)
    change(ledger, PARAMETERS, contribution="1", reset=5)
    answer = ledger.ask(c.EnableJackpot("pot"))
    assert {name: answer[name] for name in ("meter", "overflow_exact", "diversion_exact")} == {
        "meter": 1_050,
        "overflow_exact": "30",
        "diversion_exact": "10",
    }
    assert (answer["ceiling"], answer["diversion"], answer["retired"]) == (1_050, "0.1", False)
    assert answer["scheduled"]["reset"] == 5
    assert answer["scheduled"]["version"] == 2

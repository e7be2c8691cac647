"""The life of a jackpot: its ceiling and other pools, waiting parameters, disabling, transfer, adjustment."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.jackpot_life import ADJUSTMENT, PARAMETERS, TRANSFER
from domain.jackpots import parameters_document, parameters_sha256
from tests.unit.domain.jackpot_house import (
    ACE_KING,
    HOUSE,
    NOTE,
    NOTHING,
    QUADS,
    ROYALS,
    STAKE,
    STRAIGHT_FLUSH,
    change,
    dealt,
    happened,
    ledger_with,
    placed,
    play,
    pools,
    propose,
    win,
)
from tests.unit.domain.playing import Ledger

MOST = 9 * 10**15


def proposals_refused(ledger: Ledger, kind: str, code: str, **payload: Any) -> None:
    """Check that a change cannot even be proposed."""
    with ledger.acting("anna", "admin"):
        ledger.refused(c.Propose("no", kind, {"jackpot_id": "pot", **payload}), code)


def ended(ledger: Ledger, **fields: Any) -> Ledger:
    """Return a ledger whose jackpot `pot` was given to another, `heir`, and is retired."""
    ledger.jackpot(2_000, jackpot_id="heir", **fields)
    ledger.ask(c.DisableJackpot("pot"))
    change(ledger, TRANSFER, to="heir")
    return ledger


# ── Ceiling and overflow ────────────────────────────────────────────────────────────────────────
def test_what_a_full_meter_cannot_take_waits_in_the_overflow() -> None:
    """From 1 000 up to 1 150: a whole contribution, half of one, none; what is above is not lost."""
    ledger = ledger_with(ceiling=1_150)
    round_id = play(ledger, NOTHING, NOTHING, NOTHING)
    assert placed(ledger, round_id) == [("100", None, None), ("100", "50", None), ("100", "100", None)]
    assert pools(ledger) == (1_150, 150, 0)


def test_a_ceiling_cuts_to_the_ten_thousandth() -> None:
    """A meter half a unit below its ceiling takes half a unit of a contribution of 33.33."""
    ledger = ledger_with(contribution="0.3333", ceiling=1_034)
    round_id = play(ledger, NOTHING, NOTHING)
    assert placed(ledger, round_id) == [("33.33", None, None), ("33.33", "32.66", None)]


def test_the_overflow_fills_the_restarted_meter() -> None:
    """The winner gets the ceiling; the next meter starts at the reset and what had waited."""
    ledger = ledger_with(ceiling=1_150)
    play(ledger, NOTHING, NOTHING)
    round_id = play(ledger, ROYALS[0])
    (hit,) = ledger.of(round_id, ev.JackpotHit)
    assert (hit.award, hit.meter_before, hit.restart) == (1_150, "1150", "1000")
    assert (hit.from_overflow, hit.meter_after) == ("150", "1150")
    assert pools(ledger) == (1_150, 0, 0)


def test_the_overflow_comes_as_far_as_the_ceiling_allows() -> None:
    """Of 350 that waited 150 fit; 200 wait for the win after."""
    ledger = ledger_with(ceiling=1_150)
    play(ledger, *[NOTHING] * 4)
    (hit,) = ledger.of(play(ledger, ROYALS[0]), ev.JackpotHit)
    assert (hit.from_overflow, hit.meter_after) == ("150", "1150")
    assert pools(ledger) == (1_150, 200, 0)


def test_shared_meters_restart_with_the_overflow_once() -> None:
    """Of two royals only the last share says restart and overflow; the remainder of the division stays."""
    ledger = ledger_with(contribution="0.0050", ceiling=1_001)
    first, second = ledger.of(play(ledger, *ROYALS), ev.JackpotHit)
    assert (first.restart, first.from_overflow) == (None, None)
    assert (second.award, second.restart, second.from_overflow, second.meter_after) == (
        500,
        "1000",
        None,
        "1001",
    )


def test_an_award_makes_room_under_the_ceiling() -> None:
    """After a tenth was won the meter grows again, and what waits goes on waiting for a restart."""
    ledger = ledger_with(ceiling=1_150)
    play(ledger, NOTHING, NOTHING)
    (hit,) = ledger.of(play(ledger, STRAIGHT_FLUSH), ev.JackpotHit)
    assert (hit.award, hit.meter_after, hit.restart, hit.from_overflow) == (115, "1035", None, None)
    assert placed(ledger, play(ledger, NOTHING)) == [("100", None, None)]
    assert pools(ledger) == (1_135, 150, 0)


def test_contributions_are_never_lost() -> None:
    """Across ceiling, win, overflow and diversion: all pools are what came in less what was won."""
    ledger = ledger_with(contribution="0.8", diversion="0.2", ceiling=1_100)
    hands = [(NOTHING,) * 3, (STRAIGHT_FLUSH, NOTHING), (NOTHING,) * 4, ROYALS, (QUADS,), (ROYALS[1],)]
    came, won = 1_000 * 10_000, 0
    for seats in hands:
        round_id = play(ledger, *seats)
        came += STAKE * len(seats) * 10_000
        for hit in ledger.of(round_id, ev.JackpotHit):
            won += int(hit.from_meter) * 10_000
            came += int(hit.restart or 0) * 10_000 - int(hit.restart_from_diversion or 0) * 10_000
    assert sum(pools(ledger)) * 10_000 == came - won


# ── Diversion ───────────────────────────────────────────────────────────────────────────────────
def test_a_part_of_each_bet_is_put_aside() -> None:
    """Of 100 at 0.70 and 0.05: 70 into the meter, 5 aside; the house has advanced both."""
    ledger = ledger_with(0, "0.70", diversion="0.05")
    ledger.open(ledger.stake(1, jackpot=STAKE))
    assert placed(ledger, "r1") == [("70", None, "5")]
    assert pools(ledger) == (70, 0, 5)
    assert ledger.work.accounts["house:real", "USD"] == -75 * 10_000


@pytest.mark.parametrize(
    ("reset", "paid", "left"), [(30, "20", 0), (20, "20", 0), (15, "15", 5), (0, None, 20)]
)
def test_the_diversion_pays_for_the_restart(reset: int, paid: str | None, left: int) -> None:
    """As far as it goes and no further than the reset; the house pays the rest."""
    ledger = ledger_with(reset, "0.5", diversion="0.2")
    house = ledger.work.accounts["house:real", "USD"]
    (hit,) = ledger.of(play(ledger, ROYALS[0]), ev.JackpotHit)
    assert (hit.restart, hit.restart_from_diversion) == (str(reset), paid)
    assert pools(ledger) == (reset, 0, left)
    lost = ledger.settled("r1", 1)
    won = sum(leg.won for leg in lost.bets if leg.bet != "jackpot")
    advanced, stake = 70, STAKE
    assert ledger.work.accounts["house:real", "USD"] == house + 10_000 * (
        stake - won - advanced - (reset - int(paid or 0))
    )


# ── Void rounds ─────────────────────────────────────────────────────────────────────────────────
def test_a_reversal_takes_from_each_pool_what_went_there() -> None:
    """A bet that filled the meter, overflowed and was partly put aside is taken back from all three."""
    ledger = ledger_with(contribution="0.8", diversion="0.1", ceiling=1_050)
    round_id = ledger.open(ledger.stake(1, jackpot=STAKE), ledger.stake(2, jackpot=STAKE))
    assert pools(ledger) == (1_050, 110, 20)
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    first, second = ledger.of(round_id, ev.ContributionReversed)
    assert (first.amount, first.from_meter, first.from_overflow, first.from_diversion) == (
        "90",
        "50",
        "30",
        "10",
    )
    assert (second.amount, second.from_meter, second.from_overflow, second.from_diversion) == (
        "90",
        "0",
        "80",
        "10",
    )
    assert (first.from_house, second.from_house) == ("0", "0")
    assert pools(ledger) == (1_000, 0, 0)
    assert ledger.work.jackpots["pot"].unsettled == 0


def test_the_house_bears_what_no_pool_holds_any_more() -> None:
    """After a win has used the other pools a reversal finds little there, and takes none below zero."""
    ledger = ledger_with(contribution="0.8", diversion="0.1", ceiling=1_050)
    ledger.table(HOUSE, "other")
    round_id = ledger.open(ledger.stake(2, jackpot=STAKE), table_id="other")
    play(ledger, ROYALS[0])
    assert pools(ledger) == (1_050, 60, 0)
    change(ledger, ADJUSTMENT, pool="overflow", amount=-55)
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    (back,) = ledger.of(round_id, ev.ContributionReversed)
    assert (back.amount, back.from_meter, back.from_house) == ("90", "50", "35")
    assert (back.from_overflow, back.from_diversion) == ("5", None)
    assert pools(ledger) == (1_000, 0, 0)


# ── Parameters that wait ────────────────────────────────────────────────────────────────────────
NEW = {"contribution": "0.60", "reset": 3_000, "ceiling": 9_000, "diversion": "0.1"}


def test_new_parameters_wait_for_the_win() -> None:
    """They are recorded with who wanted and who allowed them; nothing else changes until the meter is won."""
    ledger = ledger_with()
    approval = change(ledger, PARAMETERS, **NEW)
    document = parameters_document("pot", "USD", "0.60", 3_000, 2, 9_000, "0.1")
    sha256 = parameters_sha256(document)
    assert document["ceiling"] == 9_000
    (scheduled,) = happened(ledger)
    assert scheduled == ev.JackpotParametersScheduled(
        "pot", 2, sha256, "0.60", 3_000, "anna", "ben", approval["approval_id"], 9_000, "0.1", NOTE
    )
    pot = ledger.work.jackpots["pot"]
    assert (pot.parameters_version, pot.contribution, pot.reset, pot.ceiling) == (1, "1", 1_000, None)
    assert approval["result"]["scheduled"] == {"version": 2, "sha256": sha256, **NEW}
    assert approval["result"]["in_force"]["version"] == 1
    play(ledger, STRAIGHT_FLUSH)
    assert ledger.work.jackpots["pot"].parameters_version == 1


def test_they_are_in_force_right_after_the_win() -> None:
    """In the winning command, right behind the hit: the house puts in the difference to the higher reset."""
    ledger = ledger_with()
    change(ledger, PARAMETERS, **NEW)
    round_id = play(ledger, ROYALS[0])
    events = [emitted.event for emitted in ledger.events]
    (hit,) = ledger.of(round_id, ev.JackpotHit)
    activated = events[events.index(hit) + 1]
    pot = ledger.work.jackpots["pot"]
    assert activated == ev.JackpotParametersActivated("pot", 2, pot.sha256, "1000", "3000", "2000")
    assert (pot.meter, pot.scheduled, pot.parameters_version) == (3_000 * 10_000, None, 2)
    assert (pot.contribution, pot.share, pot.reset) == ("0.60", 6_000, 3_000)
    assert (pot.ceiling, pot.diversion) == (9_000, "0.1")
    assert placed(ledger, play(ledger, NOTHING)) == [("60", None, "10")]


def test_a_lower_reset_takes_nothing_out_of_the_meter() -> None:
    """The meter restarted at the old reset and stays there."""
    ledger = ledger_with()
    change(ledger, PARAMETERS, contribution="1", reset=400)
    play(ledger, ROYALS[0])
    activated = ledger.events[-3].event
    assert isinstance(activated, ev.JackpotParametersActivated)
    assert (activated.meter_before, activated.meter_after, activated.top_up) == ("1000", "1000", None)
    assert pools(ledger) == (1_000, 0, 0)


def test_the_later_proposal_replaces_what_waits() -> None:
    """Numbers count all there have been; only the last comes into force."""
    ledger = ledger_with()
    change(ledger, PARAMETERS, contribution="0.60", reset=3_000)
    approval = change(ledger, PARAMETERS, contribution="0.50", reset=2_000)
    assert approval["result"]["scheduled"]["version"] == 3
    play(ledger, ROYALS[0])
    pot = ledger.work.jackpots["pot"]
    assert (pot.parameters_version, pot.contribution, pot.meter) == (3, "0.50", 2_000 * 10_000)


def test_rounds_that_opened_before_keep_their_parameters() -> None:
    """Share, diversion, ceiling and reset of a round are those it opened with, whatever came between (G7)."""
    ledger = ledger_with(ceiling=1_250)
    ledger.table(HOUSE, "other")
    early = ledger.open(ledger.stake(1), table_id="other")
    change(ledger, PARAMETERS, contribution="0.60", reset=1_100, diversion="0.1")
    play(ledger, ROYALS[0])
    assert pools(ledger) == (1_100, 0, 0)
    stakes = (ledger.stake(2, jackpot=STAKE), ledger.stake(3, jackpot=STAKE))
    ledger.fund(stakes)
    ledger.ask(c.PlaceAntes(early, stakes))
    assert placed(ledger, early) == [("100", None, None), ("100", "50", None)]
    hands = dict(enumerate(dealt([NOTHING, ROYALS[0], STRAIGHT_FLUSH]), 1))
    ledger.deal(early, ACE_KING, hands)
    for seat in hands:
        ledger.decide(early, seat, "raise")
    ledger.reveal(early, ACE_KING)
    first, second = ledger.of(early, ev.JackpotHit)
    assert (first.award, first.restart, first.from_overflow, first.meter_after) == (
        1_250,
        "1000",
        "50",
        "1050",
    )
    assert second.award == 105
    document = parameters_document("pot", "USD", "1", 1_000, 1, 1_250)
    pinned = ev.JackpotRef("pot", 1, parameters_sha256(document), "1", 1_000, 1_250)
    assert ledger.work.rounds[early].opened.jackpot == pinned


def test_the_overflow_and_a_higher_reset_fit_under_the_new_ceiling_together() -> None:
    """Restart, what the house adds and what is released do not pass the ceiling that comes into force."""
    ledger = ledger_with(ceiling=1_500)
    play(ledger, *[NOTHING] * 7)
    play(ledger, *[NOTHING] * 7)
    assert pools(ledger) == (1_500, 900, 0)
    play(ledger, STRAIGHT_FLUSH)
    change(ledger, PARAMETERS, contribution="1", reset=1_300, ceiling=1_600)
    (hit,) = ledger.of(play(ledger, ROYALS[0]), ev.JackpotHit)
    assert (hit.restart, hit.from_overflow, hit.meter_after) == ("1000", "300", "1300")
    assert pools(ledger)[0] == 1_600


def test_without_a_ceiling_all_that_waited_comes() -> None:
    """Parameters that end the ceiling end the waiting; the winning round's own ceiling still holds for it."""
    ledger = ledger_with(ceiling=1_150)
    play(ledger, *[NOTHING] * 4)
    change(ledger, PARAMETERS, contribution="1", reset=1_000)
    play(ledger, ROYALS[0])
    assert pools(ledger) == (1_150, 200, 0)
    play(ledger, ROYALS[0])
    assert pools(ledger) == (1_200, 0, 0)


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"reset": -1}, "amount_out_of_range"),
        ({"reset": 10**12 + 1}, "amount_out_of_range"),
        ({"contribution": "0"}, "validation_failed"),
        ({"contribution": "1.1"}, "validation_failed"),
        ({"diversion": "x"}, "validation_failed"),
        ({"contribution": "0.96", "diversion": "0.0401"}, "validation_failed"),
        ({"ceiling": MOST + 1}, "amount_out_of_range"),
        ({"ceiling": 500}, "amount_out_of_range"),
        ({"ceiling": 1_000}, "amount_out_of_range"),
        ({"ceiling": 1_100}, "amount_out_of_range"),
    ],
)
def test_parameters_that_cannot_be(payload: dict[str, Any], code: str) -> None:
    """Shares above the whole bet, a reset or ceiling out of range, a ceiling that is not above the meter."""
    ledger = ledger_with()
    play(ledger, NOTHING)
    proposals_refused(ledger, PARAMETERS, code, **{"contribution": "0.5", "reset": 500, **payload})


def test_a_ceiling_is_above_the_reset_that_the_meter_restarts_at() -> None:
    """An almost empty meter restarts at its present reset before new parameters count."""
    ledger = ledger_with()
    play(ledger, QUADS)
    play(ledger, QUADS)
    assert pools(ledger)[0] == 200
    proposals_refused(ledger, PARAMETERS, "amount_out_of_range", contribution="1", reset=10, ceiling=1_000)
    propose(ledger, PARAMETERS, contribution="1", reset=10, ceiling=1_001)


def test_shares_may_be_the_whole_bet_and_a_diversion_of_nothing_is_none() -> None:
    """0.96 and 0.04 are fine; a diversion of 0.00 is in no document."""
    ledger = ledger_with()
    proposal = propose(ledger, PARAMETERS, contribution="0.96", reset=0, diversion="0.04")
    assert proposal["effect"]["scheduled"]["diversion"] == "0.04"
    proposal = propose(ledger, PARAMETERS, contribution="1", reset=0, diversion="0.00")
    assert "diversion" not in proposal["effect"]["scheduled"]


def test_what_has_become_impossible_is_refused_when_it_is_approved() -> None:
    """A ceiling that the meter has passed since the proposal is no ceiling any more."""
    ledger = ledger_with()
    proposal = propose(ledger, PARAMETERS, contribution="1", reset=500, ceiling=1_050)
    play(ledger, NOTHING)
    with ledger.acting("ben", "admin"):
        ledger.refused(c.Approve(proposal["approval_id"]), "amount_out_of_range")


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


# ── Bounds of all pools ─────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("pool", ["meter", "overflow", "diverted"])
def test_no_bet_takes_a_pool_beyond_its_bound(pool: str) -> None:
    """The bet is refused while the pool could grow beyond 9·10¹⁵."""
    ledger = ledger_with()
    setattr(ledger.work.jackpots["pot"], pool, (MOST - STAKE) * 10_000 + 1)
    stakes = (ledger.stake(1, jackpot=STAKE),)
    ledger.fund(stakes)
    ledger.refused(c.OpenRound("x", "t", stakes), "amount_out_of_range")
    setattr(ledger.work.jackpots["pot"], pool, (MOST - STAKE) * 10_000)
    ledger.open(*stakes)


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

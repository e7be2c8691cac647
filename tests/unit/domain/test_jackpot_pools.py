"""A jackpot's pools: its ceiling and what waits above it, what is put aside, what a void round takes back."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as ev
from domain.jackpot_life import ADJUSTMENT
from tests.unit.domain.jackpot_house import (
    HOUSE,
    NOTHING,
    QUADS,
    ROYALS,
    STAKE,
    STRAIGHT_FLUSH,
    change,
    ledger_with,
    placed,
    play,
    pools,
)

MOST = 9 * 10**15


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

"""Double entry: every event that moves money posts legs that sum to zero (G1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain import events as ev
from domain.postings import Leg, Unbalanced, legs

HIT = ev.JackpotHit(1, "p", "pot", "flush", 7, "4.5", "2.5", "10", "5.5", 1, 1, 0)
ADJUSTED = ev.JackpotAdjusted("pot", "meter", "-5", "9", "4", "a", "b", "A1")
U = 10_000  # a minor unit in exact units

POSTED: list[tuple[ev.Event, dict[tuple[str, str], int]]] = [
    (ev.Deposited("p", 5, "ref", "tx", 5), {("wallet", "p"): 5 * U, ("cashier", ""): -5 * U}),
    (ev.Withdrawn("p", 5, "ref", "tx", 5), {("wallet", "p"): -5 * U, ("cashier", ""): 5 * U}),
    (
        ev.JackpotOpened("pot", "USD", "real", "1", 9, 1, "00"),
        {("house", ""): -9 * U, ("jackpot", "pot"): 9 * U},
    ),
    (ev.AntePlaced(1, "p", 5, 0), {("wallet", "p"): -5 * U, ("on_game", "p"): 5 * U}),
    (ev.Raised(1, "p", 5, "player", 0), {("wallet", "p"): -5 * U, ("on_game", "p"): 5 * U}),
    (ev.SideBetPlaced(1, "p", "bonus", 5, 0), {("wallet", "p"): -5 * U, ("on_game", "p"): 5 * U}),
    (
        ev.SideBetPlaced(1, "p", "jackpot", 5, 0, "3.5", "pot"),
        {
            ("wallet", "p"): -5 * U,
            ("on_game", "p"): 5 * U,
            ("house", ""): -35_000,
            ("jackpot", "pot"): 35_000,
        },
    ),
    (
        ev.CardExchanged(1, "p", 5, "2c", "3c", (), "player", 0),
        {("wallet", "p"): -5 * U, ("on_game", "p"): 5 * U},
    ),
    (
        ev.Settled(
            1,
            "p",
            "win",
            (
                ev.BetLeg("ante", 5, 5, 5, 1),
                ev.BetLeg("raise", 10, 10, 20, 2),
                ev.BetLeg("jackpot", 1, 0, 900),
                ev.BetLeg("bonus", 3, 0, 4),
            ),
            shown=True,
            balance_after=0,
        ),
        {("on_game", "p"): -19 * U, ("wallet", "p"): 44 * U, ("house", ""): -25 * U},
    ),
    (HIT, {("wallet", "p"): 7 * U, ("jackpot", "pot"): -45_000, ("house", ""): -25_000}),
    (
        replace(HIT, from_meter="7", from_house="0", restart="3"),
        {("wallet", "p"): 7 * U, ("jackpot", "pot"): -4 * U, ("house", ""): -3 * U},
    ),
    (ev.StakeRefunded(1, "p", 5, (), 0), {("on_game", "p"): -5 * U, ("wallet", "p"): 5 * U}),
    (
        ev.ContributionReversed(1, "p", "pot", "3.5", "2", "1.5", "2", "0", 1),
        {("jackpot", "pot"): -2 * U, ("house", ""): 2 * U},
    ),
    (
        ev.SideBetPlaced(1, "p", "jackpot", 5, 0, "3.5", "pot", "3.5"),
        {
            ("wallet", "p"): -5 * U,
            ("on_game", "p"): 5 * U,
            ("house", ""): -35_000,
            ("jackpot", "pot"): 0,
            ("jackpot_overflow", "pot"): 35_000,
        },
    ),
    (
        ev.SideBetPlaced(1, "p", "jackpot", 5, 0, "3.5", "pot", "0.5", "1"),
        {
            ("wallet", "p"): -5 * U,
            ("on_game", "p"): 5 * U,
            ("house", ""): -45_000,
            ("jackpot", "pot"): 3 * U,
            ("jackpot_overflow", "pot"): 5_000,
            ("jackpot_diversion", "pot"): 1 * U,
        },
    ),
    (
        replace(
            HIT, from_meter="7", from_house="0", restart="3", restart_from_diversion="2", from_overflow="0.5"
        ),
        {
            ("wallet", "p"): 7 * U,
            ("jackpot", "pot"): -35_000,
            ("house", ""): -1 * U,
            ("jackpot_overflow", "pot"): -5_000,
            ("jackpot_diversion", "pot"): -2 * U,
        },
    ),
    (
        ev.ContributionReversed(1, "p", "pot", "3.5", "2", "0.4", "2", "0", 1, "1", "0.1"),
        {
            ("jackpot", "pot"): -2 * U,
            ("house", ""): 31_000,
            ("jackpot_overflow", "pot"): -1 * U,
            ("jackpot_diversion", "pot"): -1_000,
        },
    ),
    (
        ev.JackpotParametersActivated("pot", 2, "00", "5", "7.5", "2.5"),
        {("house", ""): -25_000, ("jackpot", "pot"): 25_000},
    ),
    (
        ev.JackpotTransferred("pot", "heir", "9", "2", "0", "1", "8", "a", "b", "A1", "2"),
        {
            ("jackpot", "pot"): -9 * U,
            ("jackpot", "heir"): 7 * U,
            ("jackpot_overflow", "pot"): -2 * U,
            ("jackpot_overflow", "heir"): 4 * U,
        },
    ),
    (
        ev.JackpotTransferred("pot", "heir", "0", "0", "2.5", "1", "1", "a", "b", "A1"),
        {
            ("jackpot", "pot"): 0,
            ("jackpot", "heir"): 0,
            ("jackpot_diversion", "pot"): -25_000,
            ("jackpot_diversion", "heir"): 25_000,
        },
    ),
    (ADJUSTED, {("jackpot", "pot"): -5 * U, ("house", ""): 5 * U}),
    (replace(ADJUSTED, pool="overflow"), {("jackpot_overflow", "pot"): -5 * U, ("house", ""): 5 * U}),
    (
        replace(ADJUSTED, pool="diversion", amount="5"),
        {("jackpot_diversion", "pot"): 5 * U, ("house", ""): -5 * U},
    ),
]


@pytest.mark.parametrize(("event", "posted"), POSTED, ids=lambda value: type(value).__name__)
def test_the_legs_of_each_event(event: ev.Event, posted: dict[tuple[str, str], int]) -> None:
    """Account by account, to the ten-thousandth."""
    assert {(leg.account, leg.owner): leg.amount for leg in legs(event)} == posted
    assert sum(posted.values()) == 0
    assert all(isinstance(leg, Leg) for leg in legs(event))


def test_other_events_move_nothing() -> None:
    """What is not about money has no legs."""
    moving = {type(event) for event, _ in POSTED}
    for still in (
        ev.Folded(1, "player"),
        ev.BettingClosed(1),
        ev.RoundClosed(),
        ev.RoundVoided("expired"),
        ev.JackpotDisabled("pot"),
        ev.JackpotEnabled("pot"),
        ev.JackpotRetired("pot"),
        ev.JackpotParametersScheduled("pot", 2, "00", "1", 9, "a", "b", "A1"),
    ):
        assert legs(still) == ()
        assert type(still) not in moving
    assert legs(ev.JackpotParametersActivated("pot", 2, "00", "5", "5")) == ()


def test_legs_that_do_not_sum_to_zero_are_a_defect() -> None:
    """An award whose parts are not its whole is not posted."""
    with pytest.raises(Unbalanced, match="JackpotHit"):
        legs(replace(HIT, award=8))

"""Double entry: every event that moves money posts legs that sum to zero (G1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain import events as ev
from domain.postings import Leg, Unbalanced, legs

HIT = ev.JackpotHit(1, "p", "pot", "flush", 7, "4.5", "2.5", "10", "5.5", 1, 1, 0)
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
    for still in (ev.Folded(1, "player"), ev.BettingClosed(1), ev.RoundClosed(), ev.RoundVoided("expired")):
        assert legs(still) == ()
        assert type(still) not in moving


def test_legs_that_do_not_sum_to_zero_are_a_defect() -> None:
    """An award whose parts are not its whole is not posted."""
    with pytest.raises(Unbalanced, match="JackpotHit"):
        legs(replace(HIT, award=8))

"""Ceiling, overflow, diversion and restart, derived again from a round's events; and each of them altered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.canonical import document_sha256
from domain.replay import replay
from tests.unit.domain.jackpot_house import STRAIGHT_FLUSH, ledger_with, play
from tests.unit.domain.jackpot_rounds import (
    ROUNDS,
    Evidence,
    evidence,
    near_its_ceiling,
    overflowing,
    pinning,
    restarted,
    setting,
    shared,
    void,
    void_after_a_win,
)

CONSERVED = "conservation"
Alter = Callable[[Evidence], None]


def failed(file: Evidence) -> tuple[str, ...]:
    """Return the checks that fail."""
    return replay(file["events"], file["ruleset"], file["jackpot"]).failed()


@pytest.mark.parametrize("make", ROUNDS)
def test_the_ledgers_own_rounds_pass(make: Callable[[], Evidence]) -> None:
    """Whatever the jackpot did in them, with its parameters handed over or put together from the round."""
    file = make()
    assert failed(file) == ()
    assert replay(file["events"], file["ruleset"]).failed() == ()


@pytest.mark.parametrize(
    ("make", "alter", "checks"),
    [
        # What a bet puts in
        (overflowing, setting("SideBetPlaced", 0, diversion="9"), ("contributions",)),
        (overflowing, setting("SideBetPlaced", 0, diversion=None), ("contributions",)),
        (overflowing, setting("SideBetPlaced", 0, overflow="81"), ("contributions",)),
        (overflowing, setting("SideBetPlaced", 0, overflow="0"), ("contributions",)),
        (overflowing, setting("SideBetPlaced", 1, overflow="79"), ("meter_chain",)),
        (overflowing, setting("SideBetPlaced", 1, overflow=None), ("meter_chain",)),
        (overflowing, setting("SideBetPlaced", 2, overflow="79.9999"), ("meter_chain",)),
        # What comes out with a restart
        (restarted, setting("JackpotHit", from_overflow="50.0001"), (CONSERVED, "jackpot.seat_1.funding")),
        (restarted, setting("JackpotHit", from_overflow="50.0001", meter_after="1050.0001"),
         ("jackpot.seat_1.funding", "jackpot.seat_1.meter_after")),
        (restarted, setting("JackpotHit", from_overflow="49"), (CONSERVED, "jackpot.seat_1.meter_after")),
        (restarted, setting("JackpotHit", from_overflow=None), (CONSERVED, "jackpot.seat_1.meter_after")),
        (restarted, setting("JackpotHit", from_overflow="0"),
         (CONSERVED, "jackpot.seat_1.funding", "jackpot.seat_1.meter_after")),
        (restarted, setting("JackpotHit", restart_from_diversion="1000.5"), ("jackpot.seat_1.funding",)),
        (restarted, setting("JackpotHit", restart=None), (CONSERVED, "jackpot.seat_1.funding")),
        (shared, setting("JackpotHit", 0, from_overflow="1"), (CONSERVED, "jackpot.seat_1.funding")),
        (shared, setting("JackpotHit", 0, restart_from_diversion="1"), ("jackpot.seat_1.funding",)),
        # What is taken back
        (void, setting("ContributionReversed", 0, from_overflow="31"),
         ("conservation", "reversed.seat_1")),
        (void, setting("ContributionReversed", 0, from_overflow="29"),
         ("conservation", "reversed.seat_1")),
        (void, setting("ContributionReversed", 0, from_diversion=None), ("conservation", "reversed.seat_1")),
        (void, setting("ContributionReversed", 1, from_diversion="11"), ("conservation", "reversed.seat_2")),
        (void, setting("ContributionReversed", 0, amount="80"), ("conservation", "reversed.seat_1")),
        (void_after_a_win, setting("ContributionReversed", from_house="34"),
         ("conservation", "reversed.seat_2")),
        (void_after_a_win, setting("ContributionReversed", from_meter="49", meter_after="1001"),
         ("conservation", "reversed.seat_2")),
    ],
)  # fmt: skip
def test_an_altered_figure_is_found(
    make: Callable[[], Evidence], alter: Alter, checks: tuple[str, ...]
) -> None:
    """Each figure of the other pools is derived or bounded, and its legs sum to zero with the rest."""
    file = make()
    alter(file)
    found = failed(file)
    assert set(checks) <= set(found), found


@pytest.mark.parametrize(
    "fields", [{"ceiling": 1_051}, {"ceiling": None}, {"diversion": "0.2"}, {"diversion": None}]
)
def test_other_parameters_have_another_hash(fields: dict[str, object]) -> None:
    """A ceiling and a diversion are pinned by the round's first event (G7)."""
    file = restarted()
    pinning(**fields)(file)
    assert "jackpot_parameters_hash" in failed(file)


def test_an_overflow_without_a_ceiling_is_found() -> None:
    """Where the meter has no end nothing goes above it, however the rest is made to agree."""
    file = overflowing()
    pinning(ceiling=None)(file)
    file["events"][0]["data"]["jackpot"]["sha256"] = document_sha256(file["jackpot"])
    assert failed(file) == ("contributions",)


@pytest.mark.parametrize(("ceiling", "fits"), [(1_049, False), (1_050, True), (1_051, False)])
def test_the_meter_is_what_its_ceiling_makes_of_it(ceiling: int, *, fits: bool) -> None:
    """After a bet that overflowed in part the meter stands exactly at the ceiling."""
    ledger = near_its_ceiling()
    file = evidence(ledger, play(ledger, STRAIGHT_FLUSH))
    assert failed(file) == ()
    pinning(ceiling=ceiling)(file)
    assert ("meter_chain" not in failed(file)) == fits


def test_a_meter_above_a_ceiling_that_nothing_overflowed_is_found() -> None:
    """A bet that went in whole left a meter that is at most at its ceiling."""
    ledger = ledger_with(ceiling=1_100)
    file = evidence(ledger, play(ledger, STRAIGHT_FLUSH))
    assert failed(file) == ()
    setting("JackpotHit", meter_before="1100.0001", meter_after="990.0001")(file)
    assert failed(file) == ("meter_chain",)

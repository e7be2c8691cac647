"""What a writer keeps between batches, and what it takes the time to be."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as ev
from infrastructure.ledger import books
from tests.unit.infrastructure.ledgers import Process, beside, deposit, events, furnished, refused, stake
from tests.unit.infrastructure.rebuilding import Rebuilt


@pytest.fixture
def process() -> Process:
    """Return a process on a furnished ledger."""
    return furnished()


# ── What stays in memory ────────────────────────────────────────────────────────────────────────────────────
def test_a_finished_round_is_dropped_whoever_finished_it(process: Process) -> None:
    """Nothing of it stays, its secret least of all; a late command reads it again and drops it again."""
    other = beside(process)
    process.do(c.OpenRound("r1", "pots", (stake(1),), deal=True))
    other.do(c.Decide("r1", 1, "raise"))
    for asked in (process, other, beside(process)):
        assert refused(asked.ask(c.VoidRound("r1", "malfunction"))[0]) == "wrong_phase"
        work = asked.books.work
        kept = (
            work.rounds,
            work.secrets,
            work.deadlines,
            work.shown,
            asked.books.sealed,
            asked.books.checked_at,
        )
        assert not any(kept)


def test_asking_for_what_is_not_there_leaves_nothing_behind(process: Process) -> None:
    """Memory does not grow with ids that somebody makes up."""
    outcomes = process.ask(*(c.Decide(f"unknown-{n}", 1, "raise") for n in range(20)))
    assert {refused(outcome) for outcome in outcomes} == {"round_not_found"}
    assert not process.books.checked_at
    assert refused(process.ask(deposit(99, 100, "r"))[0]) == "player_not_found"
    assert "player-99" not in process.books.work.players


def test_memory_is_bounded_and_what_was_dropped_is_read_again(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest rounds go, wallets and compiled rules go together; play goes on as if nothing had."""
    for name in ("ROUNDS_CACHED_MAX", "WALLETS_CACHED_MAX", "COMPILED_MAX"):
        monkeypatch.setattr(books, name, 2)
    opened = [process.do(c.OpenRound(f"r{n}", "pots", (stake(1, n),), deal=True))[0] for n in range(3)]
    work = process.books.work
    assert list(work.rounds) == list(work.secrets) == list(process.books.sealed) == ["r1", "r2"]
    process.do(c.OpenRound("r4", "pots", (stake(1, 4), stake(2, 5), stake(3, 6))))
    assert not work.wallets
    for number, round_ in enumerate(opened):
        (closed,) = process.do(c.Decide(f"r{number}", 1, "raise"))
        assert (closed["phase"], closed["seats"][0]["cards"]) == ("closed", round_["seats"][0]["cards"])
    assert len(work.compiled) <= 2


# ── The clock ───────────────────────────────────────────────────────────────────────────────────────────────
def test_a_clock_that_goes_back_is_recorded_and_time_is_not(process: Process) -> None:
    """One event says by how much, however many batches the clock stays behind; time goes forward (G4)."""
    process.clock.now_us -= 60_000_000
    behind = process.ledger.recorded_at_us - process.clock.now_us
    for n in range(3):
        process.do(deposit(1, 1, f"behind-{n}"))
        process.clock.now_us += 1_000_000
    assert events(process.ledger, ev.ClockWentBackwards) == [ev.ClockWentBackwards(behind)]
    Rebuilt().read(process.ledger)


def test_a_clock_that_goes_back_further_is_recorded_again(process: Process) -> None:
    """A second step back is an event of its own; a second or less is a burst's doing and is none."""
    for back_us in (900_000, 5_000_000, 300_000, 5_000_000):
        process.clock.now_us -= back_us
        process.do(deposit(1, 1, f"back-{process.clock.now_us}"))
    assert len(events(process.ledger, ev.ClockWentBackwards)) == 2
    process.clock.now_us += 3_600_000_000
    process.do(deposit(1, 1, "right"))
    process.clock.now_us -= 5_000_000
    process.do(deposit(1, 1, "wrong"))
    assert len(events(process.ledger, ev.ClockWentBackwards)) == 3
    Rebuilt().read(process.ledger)

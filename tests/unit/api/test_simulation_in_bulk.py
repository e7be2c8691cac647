"""Playing in bulk: chunks of an exact size, a clock that spreads them, guests with money, all counted."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.cli.simulate.__main__ import parse
from api.cli.simulate.bulk.clock import PACE_US_MAX, PAUSE_US, ChunkClock
from api.cli.simulate.bulk.games import Games
from api.cli.simulate.bulk.guests import ENOUGH, POCKET, Guests
from api.cli.simulate.bulk.plan import CROWD, bets, visit
from api.cli.simulate.bulk.tally import Tally, lines
from api.cli.simulate.furniture import furniture
from api.cli.simulate.plan import House
from domain import commands as c
from domain.handlers import HANDLERS
from domain.postings import legs
from domain.rulesets import SHIPPED
from domain.rulesets.schema import RuleSet
from domain.work import Emitted, Work
from infrastructure.bootstrap import shipped_documents

BEGIN_US = 1_790_000_000_000_000
DAY_US = 86_400_000_000
DOCUMENTS = shipped_documents()
HOUSES = [
    House(ruleset, f"sim-{ruleset.id}", ruleset.currencies[0])
    for ruleset in map(RuleSet.from_document, DOCUMENTS)
]


class Kept:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.emitted: list[Emitted] = []

    def events(self, emitted: Sequence[Emitted]) -> int:
        """Keep them; say ten bytes each."""
        self.emitted += emitted
        return 10 * len(emitted)


def tables(rulesets: Sequence[str], players: int, seed: str) -> tuple[Games, Work, Kept, list[c.Command]]:
    """Return games on books of their own, where their events go, and what opens the tables."""
    work = Work(os.urandom, "test", answers=False)
    work.meta = {"actor": "test", "command": "test", "schema": 1}
    for document in DOCUMENTS:
        HANDLERS[c.PublishRuleset](c.PublishRuleset(document), work)
    work.emitted = []
    work.recorded_at_us = BEGIN_US - 1
    furnished = list(furniture("run", rulesets, decision_seconds=30))
    houses = [house for house, _ in furnished]
    sink = Kept()
    guests = Guests("run", {house.currency for house in houses}, players)
    first = [command for _, commands in furnished for command in commands]
    return Games(work, sink, houses, guests, seed), work, sink, first


@settings(max_examples=12)
@given(
    size=st.integers(min_value=400, max_value=1_200),
    seed=st.integers(min_value=0, max_value=10**6),
    players=st.integers(min_value=1, max_value=300),
    step_us=st.sampled_from((1, 300, 90_000, 5_000_000, 90_000_000)),
)
def test_a_chunk_has_exactly_the_events_it_is_to_have_and_leaves_nothing_open(
    size: int, seed: int, players: int, step_us: int
) -> None:
    """Positions and times follow one another, no round or place stays open, and money is conserved."""
    games, work, sink, first = tables(SHIPPED, players, str(seed))
    for number in range(2):
        before, begin_us = work.position, max(BEGIN_US + number * size * step_us, work.recorded_at_us + 1)
        sink.emitted = []
        games.chunk(ChunkClock(begin_us, step_us), size, None, first if number == 0 else ())
        assert [e.position for e in sink.emitted] == list(range(before + 1, before + size + 1))
        times = [e.recorded_at_us for e in sink.emitted]
        assert begin_us <= times[0]
        assert all(earlier < later for earlier, later in pairwise(times))
        assert times[-1] <= begin_us + size * step_us
        assert (work.rounds, work.emitted) == ({}, [])
        assert not any(table.places for table in work.tables.values())
        assert not any(wallet.on_game or wallet.unfinished for wallet in work.wallets.values())
        assert sum(leg.amount for e in sink.emitted for leg in legs(e.event)) == 0
        assert games.tally.events == size
        assert games.tally.data_bytes == 10 * size


def test_a_last_chunk_has_exactly_the_rounds_that_are_left() -> None:
    """Its events are as many as they are; the rounds are counted by house and result."""
    games, _, sink, first = tables(("nordic", "cyber"), 40, "5")
    games.chunk(ChunkClock(BEGIN_US, 1_000), None, 137, first)
    kinds = Counter(type(e.event).__name__ for e in sink.emitted)
    assert kinds["RoundOpened"] == kinds["RoundClosed"] + kinds["RoundVoided"] == 137
    assert games.tally.rounds == sum(games.tally.houses.values()) == 137
    assert set(games.tally.houses) == {"nordic", "cyber"}
    assert sum(games.tally.results.values()) == kinds["AntePlaced"]
    assert games.tally.awards == kinds["JackpotHit"]


def test_guests_of_other_processes_are_others() -> None:
    """Two runs with different names have no guest, table or jackpot in common."""
    one, other = ({h.table_id for h, _ in furniture(run, SHIPPED, decision_seconds=1)} for run in ("a", "b"))
    assert not one & other
    first = Guests("a", {"EUR", "USD"}, 10).take("EUR", 5, Random(1))
    assert len(set(first)) == 5
    assert not set(first) & set(Guests("b", {"EUR", "USD"}, 10).take("EUR", 5, Random(1)))


def test_guests_are_free_again_only_when_they_are_given_back() -> None:
    """Who plays is not chosen again; more than there are in all cannot come."""
    guests, dice = Guests("a", {"EUR", "USD"}, 10), Random(1)
    assert guests.take("EUR", 9, dice) != []
    assert guests.take("EUR", 1, dice) == []
    everybody = guests.take("USD", 3, dice) + guests.take("USD", 2, dice)
    assert len(set(everybody)) == 5
    guests.give_back("USD", everybody)
    assert set(guests.take("USD", 99, dice)) == set(everybody)


def test_guests_bring_what_they_need_and_take_home_what_is_too_much() -> None:
    """A new guest gets a wallet and money; who has enough does nothing; references are never used twice."""
    work = Work(os.urandom, "test")
    guests = Guests("a", {"EUR"}, 1)

    def do(needed: int) -> list[c.OpenPlayer | c.Deposit | c.Withdraw]:
        done = guests.transfers(work, "a-0-EUR", "EUR", needed)
        for command in done:
            HANDLERS[type(command)](command, work)
        return done

    opening, deposit = do(500)
    assert isinstance(opening, c.OpenPlayer)
    assert isinstance(deposit, c.Deposit)
    assert deposit.amount == 500 + POCKET
    assert do(POCKET) == []
    (more,) = do(2 * POCKET)
    assert isinstance(more, c.Deposit)
    HANDLERS[c.Deposit](c.Deposit("a-0-EUR", 2 * ENOUGH, "lucky", "t"), work)
    (home,) = do(1)
    assert isinstance(home, c.Withdraw)
    assert home.amount == ENOUGH - POCKET
    half = guests.withdrawal(work, "a-0-EUR")
    assert half.amount == work.wallet_of("a-0-EUR").balance // 2
    assert len({deposit.reference, more.reference, home.reference, half.reference}) == 4


def test_a_seed_plans_the_same_visits_again_and_keeps_to_the_houses() -> None:
    """A plan depends on the seed and its number; seats, hands and stakes are those that the house has."""
    for number in range(300):
        planned, again = visit(HOUSES, "7", number), visit(HOUSES, "7", number)
        assert planned == again
        seating = planned.house.ruleset.seating
        placed = bets(planned, planned.house.side_bets, seeded=number % 2 == 0)
        assert placed == bets(again, again.house.side_bets, seeded=number % 2 == 0)
        assert 1 <= len(placed) <= seating.seats
        assert len({bet.seat for bet in placed}) == len(placed)
        assert max(Counter(bet.guest for bet in placed).values()) <= seating.hands_per_player
        assert all(bet.client_seed is None for bet in placed) or number % 2 == 0
        assert visit(HOUSES, "7", number, alone=True).guests == 1
    assert [visit(HOUSES, "8", n) for n in range(50)] != [visit(HOUSES, "7", n) for n in range(50)]
    crowds = [planned for n in range(5_000) if (planned := visit(HOUSES, "7", n)).guests == CROWD]
    assert crowds
    assert {planned.house.ruleset.id for planned in crowds} == {"evolution-live"}


def test_the_clock_goes_as_play_does_and_pauses_when_it_is_far_ahead() -> None:
    """A quarter of a second for an event; what that leaves of the days to fill is let pass at once."""
    clock = ChunkClock(BEGIN_US, 60_000_000)
    assert [clock.at(n) - BEGIN_US for n in (0, 1, 100)] == [0, PACE_US_MAX, 100 * PACE_US_MAX]
    ahead = PAUSE_US // (60_000_000 - PACE_US_MAX)
    assert not clock.pause_due(ahead)
    assert clock.pause_due(ahead + 1)
    clock.pause(ahead + 1)
    assert clock.at(ahead + 1) == BEGIN_US + (ahead + 1) * 60_000_000
    assert clock.at(ahead + 2) - clock.at(ahead + 1) == PACE_US_MAX
    dense = ChunkClock(BEGIN_US, 2)
    assert (dense.at(10**6) - BEGIN_US, dense.pause_due(10**9)) == (2 * 10**6, False)


def test_counts_of_several_processes_are_added_up() -> None:
    """Numbers and counters alike, and told with rates and dates."""
    tally, other = Tally(rounds=1, events=10, data_bytes=4_000), Tally(rounds=3, events=30, data_bytes=12_000)
    tally.houses["nordic"] = other.houses["nordic"] = 2
    tally.wagered["NOK"], tally.returned["NOK"] = 200, 150
    other.results["win"] = 3
    tally.add(other)
    assert (tally.rounds, tally.events, tally.houses["nordic"], tally.results["win"]) == (4, 40, 4, 3)
    told = list(lines(tally, 2.0, BEGIN_US, BEGIN_US + 3 * DAY_US))
    assert told[0] == "rounds      4 in 2.0 s, 2 a second, from 2026-09-21 to 2026-09-24"
    assert told[1] == "events      40, 20 a second, 10.0 a round, 400 bytes each"
    assert told[-1] == "NOK         wagered 200, returned 150 (75.0%), minor units"


def test_in_bulk_there_are_more_guests_and_no_http(capsys: pytest.CaptureFixture[str]) -> None:
    """`--bulk` has its own number of guests, and cannot be had with `--over-http`."""
    assert parse(["--bulk"]).bulk
    assert parse(["--bulk"]).players > parse([]).players
    assert parse(["--bulk", "--players", "9000"]).players == 9_000
    with pytest.raises(SystemExit) as ended:
        parse(["--bulk", "--over-http"])
    assert ended.value.code == 2
    assert "--over-http" in capsys.readouterr().err

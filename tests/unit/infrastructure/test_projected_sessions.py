"""Players' sessions: where they begin and end, and what is counted in them."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from infrastructure.projections.kinds import Poison
from infrastructure.projections.sessions import IDLE_US_MAX, Sessions, ending
from tests.unit.infrastructure.ledgers import Process, furnished, stake
from tests.unit.infrastructure.projecting import Projecting, happened, projected

MINUTE_US = 60_000_000


@pytest.fixture
def process() -> Process:
    """Give a ledger with tables and players."""
    return furnished()


def sessions(process: Process) -> list[dict[str, Any]]:
    """Return the sessions there are."""
    return projected(happened(process.ledger), projections=[Sessions]).dicts("sessions")


def play(process: Process, round_id: str, session_id: str | None = None) -> None:
    """Play one hand of player 1, from the ante to the end."""
    seat = c.SeatStake(1, "player-1", 100, session_id=session_id)
    process.do(c.OpenRound(round_id, "three", (seat,), deal=True))
    process.do(c.Decide(round_id, 1, "fold"))


def test_a_first_ante_begins_a_session(process: Process) -> None:
    """Who stakes without having sat down has a session from that ante on."""
    play(process, "r1", session_id="mine")
    (session,) = sessions(process)
    antes = [e for e in happened(process.ledger) if e.type == "AntePlaced"]
    assert (session["player"], session["table_id"], session["session_id"]) == ("p1", "three", "mine")
    assert (session["began_position"], session["began_us"]) == (antes[0].position, antes[0].at_us)
    assert (session["rounds"], session["stakes"], session["hands_open"], session["ended"]) == (
        1,
        100,
        0,
        None,
    )


def test_sitting_down_begins_a_session_and_leaving_ends_it(process: Process) -> None:
    """From joining to leaving is one session, whatever is played in between; joining again is another."""
    process.do(c.JoinTable("three", "player-1", 1, "first"))
    play(process, "r1", session_id="another")
    process.do(c.JoinTable("three", "player-1", 2, "moved"), c.LeaveTable("three", "player-1"))
    process.do(c.JoinTable("three", "player-1", 1))
    first, second = sessions(process)
    left = next(e for e in happened(process.ledger) if e.type == "PlayerLeft")
    assert (first["session_id"], first["ended"], first["ended_us"]) == ("first", "left", left.at_us)
    assert (first["rounds"], second["rounds"], second["ended"]) == (1, 0, None)


@pytest.mark.parametrize(("idle_us", "count"), [(IDLE_US_MAX - MINUTE_US, 1), (IDLE_US_MAX + 1_000, 2)])
def test_half_an_hour_of_nothing_ends_a_session(process: Process, idle_us: int, count: int) -> None:
    """A player who comes back later than that begins a new one; the old one had ended by then."""
    play(process, "r1")
    process.clock.now_us += idle_us
    play(process, "r2")
    found = sessions(process)
    assert len(found) == count
    assert sum(session["rounds"] for session in found) == 2
    if count == 2:
        assert found[0]["ended"] == "timeout"
        assert found[0]["ended_us"] == found[0]["last_us"] + IDLE_US_MAX


def test_leaving_after_the_session_has_timed_out_ends_nothing_twice(process: Process) -> None:
    """A seat given up in the evening does not make the afternoon's session any longer."""
    process.do(c.JoinTable("three", "player-1", 1))
    process.clock.now_us += 2 * IDLE_US_MAX
    process.do(c.LeaveTable("three", "player-1"))
    (session,) = sessions(process)
    assert (session["ended"], session["ended_us"]) == ("timeout", session["began_us"] + IDLE_US_MAX)


def test_a_hand_under_way_keeps_its_session(process: Process) -> None:
    """However long a decision takes, the hand counts in the session it was staked in."""
    process.do(c.OpenRound("r1", "three", (stake(1),), deal=True))
    process.clock.now_us += 3 * IDLE_US_MAX
    process.do(c.Decide("r1", 1, "fold"))
    (session,) = sessions(process)
    assert (session["rounds"], session["hands_open"]) == (1, 0)


def test_a_void_round_counts_apart(process: Process) -> None:
    """What came back is neither staked nor won in a session."""
    process.do(c.OpenRound("r1", "three", (stake(1),), deal=True), c.VoidRound("r1", "malfunction"))
    (session,) = sessions(process)
    names = "rounds", "rounds_void", "rounds_won", "stakes", "returned", "hands_open"
    assert [session[name] for name in names] == [0, 1, 0, 0, 0, 0]


def test_three_hands_of_one_player_are_one_round(process: Process) -> None:
    """A round counts once, when the last of the player's hands in it has ended."""
    process.do(c.OpenRound("r1", "three", (stake(1), stake(2, 1), stake(3, 1)), deal=True))
    process.do(*(c.Decide("r1", seat, "fold") for seat in (1, 2)))
    (session,) = sessions(process)
    assert (session["rounds"], session["hands_open"]) == (0, 3)
    process.do(c.Decide("r1", 3, "fold"))
    (session,) = sessions(process)
    assert (session["rounds"], session["hands_open"], session["stakes"]) == (1, 0, 300)


def test_a_session_goes_on_where_its_round_began_in_an_earlier_batch(process: Process) -> None:
    """After a restart within a round the player's session is found again by its own row."""
    process.do(c.OpenRound("r1", "three", (stake(1),), deal=True))
    position = process.ledger.position
    process.do(c.Decide("r1", 1, "fold"))
    events = happened(process.ledger)
    projecting = Projecting([Sessions])
    projecting.take(events[:position])
    projecting.restore()
    projecting.take(events[position:])
    assert projecting.rows == projected(events, projections=[Sessions]).rows


def test_the_end_of_a_hand_without_a_session_stops(process: Process) -> None:
    """A hand that ends must have begun: rows that are gone are not made up for."""
    process.do(c.OpenRound("r1", "three", (stake(1),), deal=True))
    position = process.ledger.position
    process.do(c.Decide("r1", 1, "fold"))
    events = happened(process.ledger)
    projecting = Projecting([Sessions])
    projecting.take(events[:position])
    projecting.kept[0].kept.clear()
    projecting.restore()
    with pytest.raises(Poison, match="ends a hand of a player without a session"):
        projecting.take(events[position:])


def test_readers_tell_a_time_out_that_no_event_has_shown(process: Process) -> None:
    """Between the last event and the half hour a session goes on; after it, it has ended then."""
    play(process, "r1")
    (row,) = projected(happened(process.ledger), projections=[Sessions]).rows["sessions"]
    last_us = sessions(process)[0]["last_us"]
    assert ending(row, last_us + IDLE_US_MAX - 1) is None
    assert ending(row, last_us + 5 * IDLE_US_MAX) == ("timeout", last_us + IDLE_US_MAX)
    process.do(c.JoinTable("three", "player-1", 1), c.LeaveTable("three", "player-1"))
    (row,) = projected(happened(process.ledger), projections=[Sessions]).rows["sessions"]
    assert ending(row, 0) == ("left", sessions(process)[0]["last_us"])


def test_a_session_with_a_hand_under_way_goes_on_for_readers_too(process: Process) -> None:
    """Nobody is told that a session ended whose hand is still open."""
    process.do(c.OpenRound("r1", "three", (stake(1),), deal=True))
    (row,) = projected(happened(process.ledger), projections=[Sessions]).rows["sessions"]
    assert ending(row, process.clock.now_us + 9 * IDLE_US_MAX) is None

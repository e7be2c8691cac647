"""What the ledger does by itself: time-outs and left-over settlements."""

from __future__ import annotations

import math
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from structlog.testing import capture_logs

from domain.commands import OpenRound, TimeOutRound
from infrastructure import ids, jobs
from infrastructure.advisory import lock_number
from infrastructure.jobs import DUE_MAX, Jobs
from infrastructure.ledger.submission import (
    ACCEPTED,
    CommandFailed,
    Overloaded,
    Result,
    Submission,
    continuation,
    own_submission,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Api


@pytest.fixture(scope="module")
def stage(api: Api) -> Api:
    """Yield a service with tables whose clock runs."""
    api.table("clock", parameters={"decision_seconds": 20})
    api.table("no-clock")
    api.table("live", "evolution-live", parameters={"decision_seconds": 20})
    api.player("anna")
    api.player("bob")
    return api


def eventually(check: Callable[[], Any]) -> Any:
    """Return the first true answer; fail where there is none in ten seconds."""
    end = time.monotonic() + 10
    while not (found := check()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


class Taker:
    """Takes commands in the place of the writer, and notes them. Each comes to `end`."""

    def __init__(self, end: Result | Exception) -> None:
        self.end = end
        self.taken: list[Submission] = []

    def __call__(self, submission: Submission) -> Future[Result]:
        """Take a command."""
        self.taken.append(submission)
        future: Future[Result] = Future()
        if isinstance(self.end, Result):
            future.set_result(self.end)
        else:
            future.set_exception(self.end)
        return future


def read(api: Api, round_id: str) -> dict[str, Any]:
    """Read a round."""
    return dict(api.done(api.get(f"/v1/rounds/{round_id}")))


def test_a_seat_that_does_not_decide_folds_when_its_time_is_up(stage: Api) -> None:
    """By the house's rule the seat folds, marked as the clock's decision, and the round is settled."""
    round_id = stage.open("clock", stage.seat(1, "anna"), stage.seat(2, "bob"), deal=True)["round_id"]
    stage.decide(round_id, 2, "raise")
    stage.clock.ahead_us += 19_000_000
    time.sleep(0.6)  # two turns of the jobs, in which nothing may happen
    assert read(stage, round_id)["phase"] == "dealt"
    stage.clock.ahead_us += 2_000_000
    closed = eventually(lambda: (r := read(stage, round_id))["phase"] == "closed" and r)
    decided = [(seat["decision"], seat["decided_by"]) for seat in closed["seats"]]
    assert decided == [("fold", "timeout"), ("raise", "player")]
    assert stage.get(f"/v1/rounds/{round_id}/replay").json()["verdict"] == "pass"


def test_a_round_without_a_clock_waits(stage: Api) -> None:
    """Where the table has no time-out a dealt round stays as it is."""
    round_id = stage.open("no-clock", stage.seat(1, "bob"), deal=True)["round_id"]
    stage.clock.ahead_us += 7 * 86_400_000_000
    other = stage.open("clock", stage.seat(1, "anna"), deal=True)["round_id"]
    stage.clock.ahead_us += 30_000_000
    eventually(lambda: read(stage, other)["phase"] == "closed")
    assert read(stage, round_id)["phase"] == "dealt"


def test_a_round_that_nobody_stakes_on_expires(stage: Api) -> None:
    """Its seed is revealed, and it is counted as expired."""
    round_id = stage.open("no-clock")["round_id"]
    stage.clock.ahead_us += 901_000_000
    voided = eventually(lambda: (r := read(stage, round_id))["phase"] == "voided" and r)
    assert voided["void_cause"] == "expired"
    assert voided["deck_seed"]
    assert stage.get(f"/v1/rounds/{round_id}/replay").json()["verdict"] == "pass"


def test_a_shared_round_of_more_seats_than_a_command_takes_is_timed_out_whole(stage: Api) -> None:
    """1 100 undecided seats fold in several commands, and are settled in several more."""
    round_id = stage.open("live")["round_id"]
    seats = [stage.seat(number, name, 100) for number, name in enumerate(stage.crowd(1_100, 100), 1)]
    for start in range(0, len(seats), 500):
        stage.done(stage.post(f"/v1/rounds/{round_id}/antes", {"seats": seats[start : start + 500]}))
    stage.done(stage.post(f"/v1/rounds/{round_id}/deal"))
    stage.clock.ahead_us += 21_000_000
    closed = eventually(lambda: (r := read(stage, round_id))["phase"] == "closed" and r)
    assert closed["totals"]["folded"] == 1_100
    assert closed["totals"]["settled"] == 1_100


def test_only_one_process_acts_and_another_takes_over(stage: Api) -> None:
    """While one holds the lock a second one waits; when the first has ended the second acts."""
    service = stage.service
    dsn = service.settings.dsn
    second = Jobs(dsn, stage.schema, service.writer.hand_over, stage.clock)
    eventually(lambda: service.jobs.acting)
    second.start()
    time.sleep(0.6)
    assert not second.acting
    with psycopg.connect(stage.admin_dsn, autocommit=True) as connection:
        connection.execute(
            """SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'
            AND (classid::bigint << 32) + objid::bigint = %s AND granted""",
            [lock_number("jobs", stage.schema)],
        )
    eventually(lambda: second.acting)
    eventually(lambda: not service.jobs.acting)  # it learns of it when it next asks
    second.stop()
    eventually(lambda: service.jobs.acting)


def test_a_time_out_that_fails_does_not_stop_the_others(stage: Api) -> None:
    """A command that fails is tried again in the next turn, and the rest of the turn is done."""
    first, second = (
        stage.open("clock", stage.seat(1, who), deal=True)["round_id"] for who in ("anna", "bob")
    )
    taker = Taker(CommandFailed())
    ours = Jobs(stage.service.settings.dsn, stage.schema, taker, lambda: stage.clock() + 30_000_000)
    with psycopg.connect(stage.service.settings.dsn, autocommit=True) as connection:
        ours.turn(connection)
        ours.turn(connection)
    calls = [submission.command for submission in taker.taken]
    assert [calls.count(TimeOutRound(round_id)) for round_id in (first, second)] == [2, 2]
    stage.decide(first, 1, "fold")
    stage.decide(second, 1, "fold")


def test_a_daily_look_that_fails_leaves_no_round_waiting(stage: Api) -> None:
    """Where the software cannot even be read, day by day, rounds whose time is up are still seen to."""
    round_id = stage.open("clock", stage.seat(1, "anna"), deal=True)["round_id"]
    taker = Taker(Result(ACCEPTED, b"{}", 1))
    now_us = [stage.clock()]

    def daily(day: str) -> Submission:
        raise PermissionError(day)

    ours = Jobs(stage.service.settings.dsn, stage.schema, taker, lambda: now_us[0], daily)
    with psycopg.connect(stage.service.settings.dsn, autocommit=True) as connection:
        ours.turn(connection)
        now_us[0] += 24 * 3600 * 1_000_000
        for _ in range(2):
            with pytest.raises(PermissionError):
                ours.turn(connection)
    calls = [submission.command for submission in taker.taken]
    assert calls.count(TimeOutRound(round_id)) == 2
    stage.decide(round_id, 1, "fold")


def test_rounds_with_stakes_do_not_wait_behind_a_flood_of_empty_ones(stage: Api) -> None:
    """A page of the oldest goes to the writer with what has stakes, and the next turn follows at once."""
    stage.table("flooded")
    flood = [ids.round_id(stage.clock()) for _ in range(2 * DUE_MAX + 10)]
    opened = [
        stage.service.writer.hand_over(own_submission(OpenRound(round_id, "flooded"), round_id))
        for round_id in flood
    ]
    assert {future.result(30).outcome for future in opened} == {ACCEPTED}
    stage.clock.ahead_us += 890_000_000
    staked = stage.open("clock", stage.seat(1, "anna"), deal=True)["round_id"]
    taker = Taker(Result(ACCEPTED, b"{}", 1))
    ours = Jobs(stage.service.settings.dsn, stage.schema, taker, lambda: stage.clock() + 25_000_000)
    with psycopg.connect(stage.service.settings.dsn, autocommit=True) as connection:
        assert ours.turn(connection)
        commands = [submission.command for submission in taker.taken]
        taker.end = CommandFailed()
        assert not ours.turn(connection), "what comes to nothing is not tried again without a pause"
    assert commands[0] == TimeOutRound(staked)
    assert set(commands[1:]) <= {TimeOutRound(round_id) for round_id in flood}
    assert len(commands) == 1 + DUE_MAX
    batches = stage.service.writer.figures().batches
    stage.clock.ahead_us += 25_000_000
    eventually(lambda: all(read(stage, each)["phase"] == "voided" for each in (flood[0], flood[-1])))
    eventually(lambda: not due(stage))
    assert read(stage, staked)["phase"] == "closed"
    assert stage.service.writer.figures().batches - batches < 20


def test_a_ledger_that_has_no_room_ends_the_turn(stage: Api) -> None:
    """What was handed over is waited for, and the rest is for a turn after a pause."""
    round_id = stage.open("clock", stage.seat(1, "anna"), deal=True)["round_id"]
    ours = Jobs(
        stage.service.settings.dsn, stage.schema, Taker(Overloaded()), lambda: stage.clock() + 30_000_000
    )
    with (
        psycopg.connect(stage.service.settings.dsn, autocommit=True) as connection,
        pytest.raises(Overloaded),
    ):
        ours.turn(connection)
    stage.decide(round_id, 1, "fold")


def test_a_defect_is_logged_without_its_values_and_ends_nothing(
    stage: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread pauses and goes on; the log says the error's kind and place."""
    monkeypatch.setattr(jobs, "RECONNECT_SECONDS", 0.01)
    asked: list[None] = []

    def clock() -> int:
        asked.append(None)
        raise ValueError("As Kd c0ffee")

    ours = Jobs(stage.service.settings.dsn, "a_ledger_of_nobody", Taker(Overloaded()), clock)
    ours._next_look = math.inf  # that ledger has no partitions to look at
    with capture_logs() as logged:
        ours.start()
        eventually(lambda: len(asked) > 2)
        assert ours.alive
        ours.stop()
    assert not ours.alive
    failed = [line for line in logged if line["event"] == "jobs_failed"]
    assert {line["error"] for line in failed} == {"ValueError"}
    assert {line["at"].partition(":")[0] for line in failed} == {"test_jobs.py"}
    assert "c0ffee" not in str(logged)


def due(api: Api) -> list[tuple[str]]:
    """Return the rounds whose time is up."""
    with psycopg.connect(api.admin_dsn) as connection:
        return connection.execute(
            f"SELECT round_id FROM {api.schema}.open_rounds WHERE deadline_us <= %s", [api.clock()]
        ).fetchall()


def test_a_round_left_half_settled_is_gone_on_with(stage: Api) -> None:
    """What stood still for a turn is continued under the key that the writer would have used."""
    round_id = stage.open("no-clock", stage.seat(1, "anna"))["round_id"]
    taker = Taker(Result(ACCEPTED, b"{}", 1))
    ours = Jobs(stage.service.settings.dsn, stage.schema, taker, stage.clock)
    with (
        psycopg.connect(stage.service.settings.dsn, autocommit=True) as connection,
        psycopg.connect(stage.admin_dsn) as admin,
    ):
        # Inside a transaction that is rolled back, so that the service's own jobs do not see it.
        admin.execute(f"UPDATE {stage.schema}.open_rounds SET unsettled = true WHERE round_id = '{round_id}'")
        ours.turn(admin)
        assert taker.taken == []
        ours.turn(admin)
        version = admin.execute(
            f"SELECT max(version) FROM {stage.schema}.events WHERE stream = 'round-{round_id}'"
        ).fetchone()
        admin.rollback()
        ours.turn(connection)
    assert taker.taken == [continuation(round_id, version[0])]
    stage.done(stage.post(f"/v1/rounds/{round_id}/void", {"cause": "malfunction", "note": "done"}))


def test_a_time_out_that_is_not_due_is_rejected(stage: Api) -> None:
    """The writer's clock decides, whoever asks."""
    round_id = stage.open("clock", stage.seat(1, "anna"), deal=True)["round_id"]
    result = stage.service.writer.call(own_submission(TimeOutRound(round_id), "too-early"))
    assert b"wrong_phase" in result.body
    stage.decide(round_id, 1, "fold")

"""Projecting in PostgreSQL by threads and processes that are cut off, meet poison, rebuild and take over."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator, Sequence

import psycopg
import pytest
from structlog.testing import capture_logs

from infrastructure.projections import runner
from infrastructure.projections.kinds import Happened, Out, Projection, Row
from infrastructure.projections.postgres import PostgresSink
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.runner import ProjectionRunner, Projector
from infrastructure.projections.writing import TableWriter
from tests.integration.copied_ledger import Copied, Reader, copied, eventually
from tests.unit.infrastructure.small_projections import (
    SMALL,
    Chained,
    Counted,
    Hands,
    Seen,
    expected,
    failing,
    played,
)

_names = itertools.count(1)


@pytest.fixture
def ledger(database: str) -> Copied:
    """Return an empty copy of the ledger that was played."""
    return copied(database, f"runner_{next(_names)}", played(), SMALL)


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let who lost a connection come back at once."""
    monkeypatch.setattr(runner, "RECONNECT_SECONDS", 0.02)
    monkeypatch.setattr(runner, "LOCK_SECONDS", 0.02)


@pytest.fixture
def run(ledger: Copied) -> Iterator[Callable[..., ProjectionRunner]]:
    """Return what starts a runner; all of them are stopped in the end."""
    started: list[ProjectionRunner] = []

    def start(projections: Sequence[Callable[[], Projection]] = SMALL, batch: int = 30) -> ProjectionRunner:
        one = ProjectionRunner(
            ledger.dsn.app, ledger.dsn.schema, projections=projections, batch_events_max=batch
        )
        one.start()
        started.append(one)
        return one

    yield start
    for one in started:
        one.stop()
        assert not one.alive


def is_at(ledger: Copied, position: int) -> bool:
    """Say whether all projections are at a position."""
    return set(ledger.positions().values()) == {position}


def request(ledger: Copied, *names: str) -> None:
    """Ask for rebuilds, as the command does."""
    with psycopg.connect(ledger.dsn.app, autocommit=True) as connection:
        sink = PostgresSink(connection, ledger.dsn.schema, [make() for make in SMALL], lambda: connection)
        for name in names:
            sink.request(name)


def cancel(ledger: Copied, name: str) -> bool:
    """Give a rebuild up, as the command does."""
    with psycopg.connect(ledger.dsn.app, autocommit=True) as connection:
        sink = PostgresSink(connection, ledger.dsn.schema, [make() for make in SMALL], lambda: connection)
        return sink.cancel(name)


def test_rows_follow_the_ledger_and_a_rebuild_gives_the_same(
    ledger: Copied, run: Callable[..., ProjectionRunner]
) -> None:
    """What came in pieces, and what is rebuilt at once, is what a loop over the ledger gives (G8)."""
    run()
    for position in (1, 40, 41, 200, played().position):
        ledger.append(position)
        eventually(lambda position=position: is_at(ledger, position))
        assert ledger.tables(SMALL) == expected(played(), upto=position)
    request(ledger, *(make().name for make in SMALL))
    eventually(lambda: set(ledger.rows("SELECT build, live FROM projections")) == {(2, True)})
    assert ledger.tables(SMALL) == expected(played())
    assert ledger.rows("SELECT * FROM alarms") == []
    assert ledger.rows("SELECT relname FROM pg_class WHERE relname LIKE '%\\_\\_1'") == []


def test_connections_cut_at_any_moment_lose_and_double_nothing(
    ledger: Copied, run: Callable[..., ProjectionRunner]
) -> None:
    """However often the server ends them, in a statement or between two, each row is there once."""
    run(batch=7)
    run(batch=11)
    dice = random.Random(3)
    with capture_logs() as logged:
        for position in range(10, played().position + 10, 10):
            ledger.append(position)
            time.sleep(dice.random() * 0.01)
            ledger.end_connections()
        eventually(lambda: is_at(ledger, played().position))
    assert ledger.tables(SMALL) == expected(played())
    assert {line["event"] for line in logged} <= {"projections_interrupted"}


@pytest.mark.parametrize("after", [False, True])
def test_a_connection_cut_at_each_statement_loses_and_doubles_nothing(
    ledger: Copied, run: Callable[..., ProjectionRunner], monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    """The connection ends before or after each of the statements of a transaction, one after the other."""
    ledger.append(240)
    calls, cut_at = itertools.count(1), itertools.count(1)
    next_cut = next(cut_at)
    write = TableWriter.write

    def writing(self: TableWriter, cursor: psycopg.Cursor, rows: Sequence[Row]) -> None:
        nonlocal next_cut, calls
        is_cut = next(calls) == next_cut
        if is_cut:
            next_cut, calls = next(cut_at), itertools.count(1)
        if is_cut and not after:
            ledger.end_connections()
        write(self, cursor, rows)
        if is_cut and after:
            ledger.end_connections()

    monkeypatch.setattr(TableWriter, "write", writing)
    run(batch=30)
    eventually(lambda: is_at(ledger, 240))
    assert next_cut > 8
    assert ledger.tables(SMALL) == expected(played(), upto=240)


def test_of_two_one_projects_and_the_other_takes_over(
    ledger: Copied, run: Callable[..., ProjectionRunner]
) -> None:
    """While one holds the lock the other waits; when the holder ends, however it ends, the other goes on."""
    first = run()
    eventually(lambda: first.acting)
    second = run()
    ledger.append(100)
    eventually(lambda: is_at(ledger, 100))
    assert not second.acting
    first.stop()
    ledger.append()
    eventually(lambda: is_at(ledger, played().position))
    assert second.acting
    assert ledger.tables(SMALL) == expected(played())


def test_poison_is_an_alarm_in_the_database_and_the_others_go_on(
    ledger: Copied, run: Callable[..., ProjectionRunner]
) -> None:
    """The registry and the alarms say who stopped, why and where; the rest is at the head."""
    run((failing(Seen, 123), Counted, Chained, Hands))
    ledger.append()
    eventually(
        lambda: (
            ledger.positions() | {"seen": 0}
            == {"seen": 0} | dict.fromkeys(("counted", "chained", "hands"), played().position)
        )
    )
    eventually(lambda: ledger.rows("SELECT 1 FROM alarms"))
    assert ledger.rows(
        "SELECT state, position, error_position, error FROM projections WHERE name = 'seen'"
    ) == [("stopped", 122, 123, "it is made to fail here")]
    assert ledger.rows("SELECT name, position, detail FROM alarms") == [
        ("projection_seen", 123, "it is made to fail here")
    ]
    assert ledger.tables(SMALL) == expected(played()) | {"seen": expected(played(), upto=122)["seen"]}


class Twice(Seen):
    """Puts the key of one event twice."""

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:
        """Put a row, at one position two."""
        super().event(happened, facts, out)
        if happened.position == 77:
            super().event(happened, facts, out)


def test_rows_the_database_refuses_stop_the_projection_at_their_event(
    ledger: Copied, run: Callable[..., ProjectionRunner]
) -> None:
    """The event is found by halving; the alarm names the constraint and no value."""
    run((Twice, Counted, Chained, Hands), batch=200)
    ledger.append()
    eventually(lambda: ledger.rows("SELECT 1 FROM alarms"))
    eventually(lambda: ledger.positions()["hands"] == played().position)
    assert ledger.tables(SMALL) == expected(played()) | {"seen": expected(played(), upto=76)["seen"]}
    ((name, position, detail),) = ledger.rows("SELECT name, position, detail FROM alarms")
    assert (name, position) == ("projection_seen", 77)
    assert detail == "seen cannot keep what was put: UniqueViolation (seen__1_pkey)"


def test_a_rebuild_under_load_fails_no_read(ledger: Copied, run: Callable[..., ProjectionRunner]) -> None:
    """Asked for, given up, asked for, cut off, gone on with, compared and switched while readers read."""
    run(batch=9)
    ledger.append(300)
    query = f"SELECT count(*) FROM {ledger.read}.seen"
    with Reader(ledger.dsn.app, query) as first, Reader(ledger.dsn.auditor, query) as second:
        request(ledger, "seen", "chained")
        assert cancel(ledger, "seen")
        for position in itertools.count(310, 3):
            ledger.append(position)
            if position == 322:
                request(ledger, "seen")
            if position % 5 == 0:
                ledger.end_connections()
            if position >= played().position:
                break
        eventually(lambda: is_at(ledger, played().position))
        eventually(
            lambda: ledger.rows("SELECT 1 FROM projections WHERE name = 'seen' AND live AND build > 1")
        )
        eventually(lambda: not ledger.rows("SELECT 1 FROM projections WHERE NOT live"))
    assert first.errors == second.errors == []
    assert first.answers == sorted(first.answers), "nobody saw rows that were there go away"
    assert ledger.tables(SMALL) == expected(played())
    assert ledger.rows("SELECT * FROM alarms") == []


def test_a_defect_ends_nothing_and_tells_no_values(
    ledger: Copied, run: Callable[..., ProjectionRunner], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect of the engine itself is logged by kind and place; the thread pauses and tries again."""

    def turn(_: Projector) -> bool:
        raise ValueError("As Kd c0ffee")

    with monkeypatch.context() as patched, capture_logs() as logged:
        patched.setattr(Projector, "turn", turn)
        one = run()
        eventually(lambda: len(logged) > 2)
        assert one.alive
    ledger.append(50)
    eventually(lambda: is_at(ledger, 50))
    assert {line["event"] for line in logged} == {"projections_failed"}
    assert "c0ffee" not in str(logged)


def test_nobody_turns_who_did_not_ask_to_act(ledger: Copied) -> None:
    """A projector that does not hold the lock does nothing."""
    with (
        Projector(ledger.dsn.app, ledger.dsn.schema, projections=SMALL) as one,
        Projector(ledger.dsn.app, ledger.dsn.schema, projections=SMALL) as two,
    ):
        assert one.try_to_act()
        assert one.try_to_act()
        assert not two.try_to_act()
        assert not two.acting
        with pytest.raises(RuntimeError, match="another process"):
            two.turn()

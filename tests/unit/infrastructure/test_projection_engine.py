"""The engine over a ledger in memory: every event once, whatever fails; nobody waits for who is stopped."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest
from structlog.testing import capture_logs

from infrastructure.ledger.memory import MemoryLedger
from infrastructure.ledger.store import StoredEventRow
from infrastructure.projections.catalogue import PROJECTIONS
from infrastructure.projections.engine import Engine
from infrastructure.projections.group import Group
from infrastructure.projections.kinds import Happened, Out, Projection, Shelf
from infrastructure.projections.memory import MemorySink
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.rounds import Rounds
from infrastructure.projections.sink import Move
from infrastructure.projections.source import MemorySource
from tests.unit.infrastructure.small_projections import (
    SMALL,
    Chained,
    Counted,
    Hands,
    Seen,
    beginning,
    engine_on,
    expected,
    failing,
    played,
    run,
)


class LostError(Exception):
    """The way to the database is gone."""


class Unsteady(MemorySink):
    """A sink that fails at the calls it is told to: before it did what was asked, or after."""

    def __init__(self, projections: Sequence[Projection], fail_at: int, *, after: bool) -> None:
        super().__init__(projections)
        self.calls = itertools.count(1)
        self.fail_at, self.after = fail_at, after

    def apply(self, moves: Sequence[Move]) -> None:
        """Write, or fail."""
        fails = next(self.calls) == self.fail_at
        if not fails or self.after:
            super().apply(moves)
        if fails:
            raise LostError


def positions(sink: MemorySink) -> dict[str, int]:
    """Return the live checkpoints."""
    return {each.name: each.position for each in sink.checkpoints() if each.live}


@pytest.mark.parametrize("batch", [1, 7, 100, 5_000])
def test_every_event_is_taken_in_once(batch: int) -> None:
    """Whatever the size of a batch, the rows are what a loop over the ledger gives (G8)."""
    engine, sink = engine_on(played(), batch=batch)
    run(engine)
    assert sink.tables == expected(played())
    assert set(positions(sink).values()) == {played().position}
    assert not sink.alarms


def test_writing_meanwhile_changes_nothing() -> None:
    """With a thread that writes while the next batch is projected the rows are the same."""
    with ThreadPoolExecutor(2) as executor:
        sink = MemorySink([make() for make in SMALL])
        source = MemorySource(played())
        engine = Engine(source, sink, SMALL, RoundFacts, executor=executor, batch_events_max=13)
        engine.load()
        run(engine)
    assert sink.tables == expected(played())


def test_the_real_projections_do_not_depend_on_how_events_are_cut() -> None:
    """The catalogue's projections have the same rows from batches of 3, 64 and all at once (G8)."""
    tables = []
    for batch in (3, 64, 5_000):
        engine, sink = engine_on(played(), projections=PROJECTIONS, batch=batch)
        run(engine)
        assert not sink.alarms
        tables.append(sink.tables)
    assert tables[0] == tables[1] == tables[2]
    assert all(tables[0][name] for name in ("postings", "round_records", "player_rounds"))


def test_a_projection_that_is_held_keeps_nobody_waiting_and_comes_after() -> None:
    """Held it stays where it is, over a failure as well; released it comes to where the others are."""
    sink = MemorySink([make() for make in SMALL])
    engine = Engine(MemorySource(played()), sink, SMALL, RoundFacts, batch_events_max=50, held=["hands"])
    engine.load()
    run(engine)
    engine.load()
    run(engine)
    assert {name: at for name, at in positions(sink).items() if at != played().position} == {"hands": 0}
    engine.release("hands")
    engine.release("hands")
    run(engine)
    assert sink.tables == expected(played())
    assert len(engine._groups) == 1


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("threaded", [False, True])
def test_a_crash_at_any_write_loses_and_doubles_nothing(*, after: bool, threaded: bool) -> None:
    """Whichever write fails, done or not, what is taken up at the checkpoints ends at the same rows."""
    ledger = beginning(played(), 200)
    wanted = expected(ledger)
    with ThreadPoolExecutor(2) as executor:
        for fail_at in range(1, 11):
            sink = Unsteady([make() for make in SMALL], fail_at, after=after)
            engine = Engine(
                MemorySource(ledger),
                sink,
                SMALL,
                RoundFacts,
                executor=executor if threaded else None,
                batch_events_max=20,
            )
            engine.load()
            with pytest.raises(LostError):
                run(engine)
            engine.load()
            run(engine)
            assert sink.tables == wanted


class UnsteadySource(MemorySource):
    """A source that fails at the call it is told to, of either kind."""

    def __init__(self, ledger: MemoryLedger, fail_at: int) -> None:
        super().__init__(ledger)
        self.calls = itertools.count(1)
        self.fail_at = fail_at

    def after(self, position: int, limit: int) -> tuple[Sequence[bytes], bool]:
        """Read, or fail."""
        self._fail()
        return super().after(position, limit)

    def older(self, below: Mapping[str, int]) -> Iterator[bytes]:
        """Read, or fail."""
        self._fail()
        return super().older(below)

    def _fail(self) -> None:
        if next(self.calls) == self.fail_at:
            raise LostError


@pytest.mark.parametrize("threaded", [False, True])
def test_a_crash_at_any_reading_loses_and_doubles_nothing(*, threaded: bool) -> None:
    """Whichever read fails, ahead or not, of new or of earlier events, the rows end the same."""
    ledger = beginning(played(), 200)
    wanted = expected(ledger)
    with ThreadPoolExecutor(2) as executor:
        for fail_at in range(1, 12):
            sink = MemorySink([make() for make in SMALL])
            engine = Engine(
                UnsteadySource(ledger, fail_at),
                sink,
                SMALL,
                RoundFacts,
                executor=executor if threaded else None,
                batch_events_max=20,
            )
            engine.load()
            with pytest.raises(LostError):
                run(engine)
            engine.load()
            run(engine)
            assert sink.tables == wanted
            assert not sink.alarms


def test_memory_is_thrown_away_with_the_process() -> None:
    """A new engine after every batch, with nothing but the checkpoints, ends at the same rows."""
    ledger = beginning(played(), 300)
    sink = MemorySink([make() for make in SMALL])
    for _ in range(100):
        engine, _ = engine_on(ledger, sink, batch=7)
        engine.turn()
    assert sink.tables == expected(ledger)


def test_it_goes_on_when_the_ledger_does() -> None:
    """What comes later is taken in later; a turn with nothing to do writes nothing."""
    first = beginning(played(), 150)
    sink = Unsteady([make() for make in SMALL], 0, after=False)
    engine, _ = engine_on(first, sink, batch=40)
    run(engine)
    written = next(sink.calls)
    assert not engine.turn()
    assert next(sink.calls) == written + 1
    for event in played().events[150:]:
        first.events.append(event)
        first.streams.setdefault(event.stream, []).append(event)
    first.position = played().position
    run(engine)
    assert sink.tables == expected(played())


def test_poison_stops_one_and_the_others_go_on() -> None:
    """A projection stops before the event it cannot take, with an alarm that names the position."""
    engine, sink = engine_on(played(), projections=(failing(Seen, 123), Counted, Chained, Hands), batch=50)
    with capture_logs() as logged:
        run(engine)
    assert sink.alarms == {"projection_seen": (123, "it is made to fail here")}
    assert positions(sink) == {"seen": 122} | dict.fromkeys(
        ("counted", "chained", "hands"), played().position
    )
    assert sink.tables == expected(played()) | {"seen": expected(played(), upto=122)["seen"]}
    assert [line["position"] for line in logged if line["event"] == "projection_stopped"] == [123]
    assert not engine.turn(), "it is not tried again and again"


def test_a_defect_stops_like_poison_and_keeps_its_values_to_itself() -> None:
    """Any error stops the projection; the alarm says its kind and place, not its text (G5)."""
    defect = failing(Counted, 60, ValueError("As Kd c0ffee"))
    engine, sink = engine_on(played(), projections=(Seen, defect), batch=50)
    run(engine)
    ((position, detail),) = sink.alarms.values()
    assert position == 60
    assert detail.startswith("ValueError at small_projections.py:")
    assert positions(sink) == {"seen": played().position, "counted": 59}


def test_two_that_fail_stop_each_at_its_event() -> None:
    """Failures in one batch do not hide each other."""
    engine, sink = engine_on(
        played(), projections=(failing(Seen, 90), failing(Counted, 70), Chained), batch=200
    )
    run(engine)
    assert {name: position for name, (position, _) in sink.alarms.items()} == {
        "projection_seen": 90,
        "projection_counted": 70,
    }
    assert positions(sink) == {"seen": 89, "counted": 69, "chained": played().position}


def test_what_was_stopped_goes_on_when_it_can() -> None:
    """After a start with mended code it goes on from where it stopped; the alarm ends behind the event."""
    engine, sink = engine_on(played(), projections=(failing(Seen, 123), Counted), batch=50)
    run(engine)
    mended, _ = engine_on(played(), sink, (Seen, Counted), batch=50)
    run(mended)
    assert sink.alarms == {}
    assert {each.state for each in sink.checkpoints()} == {"running"}
    assert sink.tables == {name: expected(played())[name] for name in ("seen", "counted")}


def test_what_cannot_go_on_keeps_its_alarm_over_a_restart() -> None:
    """A start tries once more and stops at the same event; nothing else is held up."""
    engine, sink = engine_on(played(), projections=(failing(Seen, 123), Counted), batch=50)
    run(engine)
    again, _ = engine_on(played(), sink, (failing(Seen, 123), Counted), batch=50)
    run(again)
    assert sink.alarms == {"projection_seen": (123, "it is made to fail here")}
    assert positions(sink)["seen"] == 122


def test_a_restore_that_fails_stops_that_projection() -> None:
    """A defect on the way back to a checkpoint is one projection's, not the engine's."""

    class Forgetful(Counted):
        def restore(self, shelf: Shelf, position: int) -> None:
            del shelf, position
            raise KeyError("As")

    engine, sink = engine_on(played(), projections=(Seen, Forgetful))
    run(engine)
    assert positions(sink) == {"seen": played().position, "counted": 0}
    assert list(sink.alarms) == ["projection_counted"]
    assert "As" not in str(sink.alarms)


@pytest.mark.parametrize("where", ["begin", "finish"])
def test_a_batch_that_fails_as_a_whole_stops_the_projection(where: str) -> None:
    """A defect before or after the events of a batch stops it at the batch's edge; others go on."""

    class Failing(Counted):
        def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:
            del shelf
            if where == "begin" and batch[0].position > 100:
                raise KeyError

        def finish(self, last: Happened, out: Out) -> None:
            del out
            if where == "finish" and last.position > 100:
                raise KeyError

    engine, sink = engine_on(played(), projections=(Seen, Failing), batch=50)
    run(engine)
    assert positions(sink) == {"seen": played().position, "counted": 100}
    assert list(sink.alarms) == ["projection_counted"]


class Twice(Seen):
    """Puts the key of one event twice."""

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:
        """Put a row, at one position two."""
        super().event(happened, facts, out)
        if happened.position == 77:
            super().event(happened, facts, out)


@pytest.mark.parametrize("threaded", [False, True])
def test_rows_that_are_refused_stop_the_projection_at_their_event(*, threaded: bool) -> None:
    """The batch is halved until the one event is found whose rows cannot be kept; others go on."""
    projections = (Twice, Counted, Chained, Hands)
    sink = MemorySink([make() for make in projections])
    with ThreadPoolExecutor(2) as executor:
        engine = Engine(
            MemorySource(played()), sink, projections, RoundFacts, executor=executor if threaded else None
        )
        engine.load()
        run(engine)
    assert sink.alarms["projection_seen"][0] == 77
    assert sink.tables == expected(played()) | {"seen": expected(played(), upto=76)["seen"]}


def altered(ledger: MemoryLedger, position: int, changes: dict[str, Any]) -> MemoryLedger:
    """Return a ledger with one event's envelope changed, as only somebody past the writer could."""
    copy = beginning(ledger, ledger.position)
    row = copy.events[position - 1]
    data = orjson.dumps(orjson.loads(row.data) | changes, option=orjson.OPT_SORT_KEYS)
    new = StoredEventRow(row.position, row.stream, row.version, data)
    copy.events = [new if each is row else each for each in copy.events]
    copy.streams[row.stream] = [new if each is row else each for each in copy.streams[row.stream]]
    return copy


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"type": "FromTheFuture"}, "not an event this software reads"),
        ({"position": 81}, "the event here says it is at 81"),
        ({"meta": {}}, "not an event this software reads"),
    ],
)
def test_an_event_nobody_can_read_stops_everybody_there(changes: dict[str, Any], why: str) -> None:
    """What is not understood is not skipped: all stop before it, and the alarm does not quote it."""
    engine, sink = engine_on(altered(played(), 80, changes), batch=32)
    run(engine)
    assert set(positions(sink).values()) == {79}
    assert set(sink.alarms.values()) == {(80, why)}
    assert sink.tables == expected(played(), upto=79)


def test_a_hole_in_the_positions_stops_everybody_there() -> None:
    """A missing event is seen by the position of the next one."""
    ledger = beginning(played(), played().position)
    del ledger.events[99]
    ledger.position -= 1
    engine, sink = engine_on(ledger, batch=32)
    run(engine)
    assert set(positions(sink).values()) == {99}
    assert {position for position, _ in sink.alarms.values()} == {100}


def a_round_event(ledger: MemoryLedger, version: int) -> StoredEventRow:
    """Return some event of a round with this version, not one of the first."""
    return next(e for e in ledger.events[60:] if e.stream.startswith("round-") and e.version == version)


def test_a_round_that_does_not_fold_stops_those_who_use_rounds() -> None:
    """A version out of turn in a round is poison for projections of rounds, and for no other."""
    where = a_round_event(played(), 3).position
    engine, sink = engine_on(altered(played(), where, {"version": 9}), projections=(Seen, Hands), batch=32)
    run(engine)
    assert positions(sink) == {"seen": played().position, "hands": where - 1}
    assert sink.alarms["projection_hands"][0] == where


def test_a_balance_that_does_not_add_up_stops_those_who_use_it() -> None:
    """Money in an event that contradicts the events before stops the projections of money there."""
    found = next(e for e in played().events if b'"type":"Settled"' in e.data)
    data = orjson.loads(found.data)["data"]
    wrong = altered(played(), found.position, {"data": data | {"balance_after": data["balance_after"] + 1}})
    engine, sink = engine_on(wrong, projections=(Seen, *PROJECTIONS), batch=64)
    run(engine)
    assert sink.alarms["projection_postings"][0] == found.position
    assert positions(sink)["postings"] == found.position - 1
    assert positions(sink)["seen"] == played().position


def test_rounds_are_read_again_where_they_are_no_longer_known() -> None:
    """With room for hardly any round in memory, older events are read again and the rows are the same."""

    class Counting(MemorySource):
        asked = 0

        def older(self, below: Any) -> Any:
            self.asked += 1
            return super().older(below)

    source = Counting(played())
    rounds = Rounds(source, RoundFacts, events_max=3)
    small = Rounds(source, RoundFacts)
    rows = []
    for each in (rounds, small):
        engine, sink = engine_on(played(), projections=(Hands,), batch=9)
        (group,) = engine._groups
        assert isinstance(group, Group)
        group.rounds = each
        before = source.asked
        run(engine)
        rows.append(sink.tables["hands"])
        if each is small:
            assert source.asked == before, "what fits is not read again"
    assert rows[0] == rows[1] == expected(played())["hands"]
    assert source.asked > 10


def test_a_new_projection_catches_up_and_joins() -> None:
    """One that begins at 0 goes up to where the others are; then all go on together."""
    sink = MemorySink([make() for make in SMALL])
    first = beginning(played(), 200)
    engine, _ = engine_on(first, sink, (Seen, Counted), batch=50)
    run(engine)
    engine, _ = engine_on(played(), sink, SMALL, batch=30)
    run(engine)
    assert sink.tables == expected(played())
    assert len(engine._groups) == 1


@pytest.mark.parametrize("batch", [5, 50])
def test_two_engines_on_the_same_checkpoints_act_once(batch: int) -> None:
    """Whoever finds its checkpoint moved has written nothing, stops nobody, and begins again from there."""
    sink = MemorySink([make() for make in SMALL])
    one, _ = engine_on(played(), sink, batch=batch)
    two, _ = engine_on(played(), sink, batch=batch)
    for _ in range(played().position):
        one.turn()
        two.turn()
        two.turn()
    assert not sink.alarms
    assert sink.tables == expected(played())

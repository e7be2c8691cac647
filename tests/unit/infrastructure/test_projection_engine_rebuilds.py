"""Rebuilding beside the live tables, in memory: begun, caught up, compared, switched, or given up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from infrastructure.projections.engine import Engine
from infrastructure.projections.kinds import Projection
from infrastructure.projections.memory import MemorySink
from infrastructure.projections.rebuilds import Rebuilds
from infrastructure.projections.sink import Difference
from tests.unit.infrastructure.small_projections import (
    SMALL,
    Counted,
    Seen,
    beginning,
    engine_on,
    expected,
    failing,
    played,
    run,
)


class World:
    """An engine with its rebuilds; `turns` takes both on."""

    def __init__(
        self,
        sink: MemorySink | None = None,
        projections: Sequence[Callable[[], Projection]] = SMALL,
        batch: int = 40,
    ) -> None:
        self.engine: Engine
        self.engine, self.sink = engine_on(played(), sink, projections, batch)
        self.rebuilds = Rebuilds(self.engine, self.sink, look_seconds=0)

    def turns(self, count: int = 200) -> None:
        """Take some turns."""
        for _ in range(count):
            self.engine.turn()
            self.rebuilds.turn()

    def builds(self, name: str) -> list[tuple[int, bool, str]]:
        """Return the builds of a projection."""
        return [(each.build, each.live, each.state) for each in self.sink.checkpoints() if each.name == name]


def test_a_rebuild_ends_at_the_same_rows_and_takes_their_place() -> None:
    """It is compared at one position, switched, and the old tables are gone; no alarm."""
    world = World()
    run(world.engine)
    assert world.sink.request("seen")
    assert not world.sink.request("seen"), "one at a time"
    world.turns()
    assert world.builds("seen") == [(2, True, "running")]
    assert world.sink.tables == expected(played())
    assert not world.sink.alarms


def test_live_rows_are_there_while_it_is_rebuilt() -> None:
    """Until the switch readers have the live rows, which go on with the ledger."""
    world = World(batch=20)
    world.sink.request("counted")
    tables = []
    while world.builds("counted") != [(2, True, "running")]:
        world.turns(1)
        tables.append(world.sink.tables["counted"])
        assert len(tables) < 500
    run(world.engine)
    totals = [sum(row[1] for row in rows) for rows in tables]
    assert totals == sorted(totals)
    assert world.sink.tables == expected(played())


def test_all_at_once_are_rebuilt_together() -> None:
    """Those asked for at the same time read the events together, and all of them switch."""
    world = World()
    run(world.engine)
    for make in SMALL:
        world.sink.request(make().name)
    world.turns()
    assert {(each.build, each.live) for each in world.sink.checkpoints()} == {(2, True)}
    assert world.sink.tables == expected(played())


def test_a_difference_switches_and_raises_the_alarm() -> None:
    """The rebuilt rows are the right ones; that the live ones were not is told with the first key."""
    world = World()
    run(world.engine)
    live = world.sink._rows["counted", 1]["counted"]
    del live[("Deposited",)]
    world.sink.request("counted")
    world.turns()
    assert world.sink.tables == expected(played())
    ((name, (position, detail)),) = world.sink.alarms.items()
    assert (name, position) == ("rebuild_counted", played().position)
    assert "Deposited" in detail
    world.sink.request("counted")
    world.turns()
    assert not world.sink.alarms, "a rebuild that finds nothing ends the alarm"


def test_a_rebuild_that_is_given_up_leaves_the_live_rows() -> None:
    """Cancelled at any time, its tables are gone and the live ones stay; another can be asked for."""
    for turns in (0, 1, 3, 8):
        world = World(batch=20)
        run(world.engine)
        world.sink.request("seen")
        world.turns(turns)
        assert world.sink.cancel("seen")
        assert not world.sink.cancel("seen")
        world.turns()
        assert world.builds("seen") == [(1, True, "running")]
        assert world.sink.tables == expected(played())
        assert world.sink.request("seen")
        world.turns()
        assert world.builds("seen") == [(2, True, "running")]


@pytest.mark.parametrize("turns", range(0, 30, 3))
def test_a_restart_goes_on_with_it(turns: int) -> None:
    """Whenever the process ends, the next one takes the rebuild up at its checkpoint."""
    world = World(batch=20)
    run(world.engine)
    world.sink.request("chained")
    world.turns(turns)
    next_world = World(world.sink)
    next_world.turns()
    assert next_world.builds("chained") == [(2, True, "running")]
    assert next_world.sink.tables == expected(played())


def test_a_rebuild_with_poison_stops_and_the_live_rows_stay() -> None:
    """A defect that is new stops the rebuild with its own alarm; asking again begins a new one."""
    world = World(projections=(Seen, Counted))
    run(world.engine)
    broken = World(world.sink, projections=(Seen, failing(Counted, 50)))
    world.sink.request("counted")
    broken.turns()
    assert world.builds("counted") == [(1, True, "running"), (2, False, "stopped")]
    assert world.sink.alarms == {"rebuild_counted": (50, "it is made to fail here")}
    mended = World(world.sink, projections=(Seen, Counted))
    mended.turns(20)
    assert world.builds("counted")[1] == (2, False, "stopped"), "it is not tried again by itself"
    assert world.sink.request("counted")
    mended.turns()
    assert world.builds("counted") == [(3, True, "running")]
    assert not world.sink.alarms
    assert world.sink.tables["counted"] == expected(played())["counted"]


def test_a_stopped_projection_is_mended_by_a_rebuild() -> None:
    """Where the live one stands still there is nothing to compare with: the rebuilt one is switched."""
    world = World(projections=(failing(Seen, 99), Counted))
    run(world.engine)
    assert list(world.sink.alarms) == ["projection_seen"]
    mended = World(world.sink, projections=(Seen, Counted))
    mended.engine.leave(("seen", 1))  # as if it could not go on from its rows
    world.sink.request("seen")
    mended.turns()
    assert world.builds("seen") == [(2, True, "running")]
    assert not world.sink.alarms
    assert world.sink.tables["seen"] == expected(played())["seen"]


def test_another_version_is_built_beside_and_not_compared() -> None:
    """What an older software made is shown until the new rows have caught up, then goes without a word."""

    class Newer(Counted):
        version = 2

        def event(self, happened, facts, out) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
            del facts
            out.put("counted", (happened.type, 10, happened.position))

    world = World(projections=(Seen, Counted))
    run(world.engine)
    old = world.sink.tables["counted"]
    sink = world.sink
    sink._defined["counted"] = Newer()
    sink.request("counted")
    newer = World(sink, projections=(Seen, Newer), batch=20)
    newer.turns(2)
    assert sink.tables["counted"] == old
    newer.turns()
    assert [row[1] for row in sink.tables["counted"]] == [10 * row[1] for row in old]
    assert not sink.alarms


def test_the_first_difference_is_the_smallest_key() -> None:
    """A comparison names one row: the first, in the order of the key, that is not the same."""
    world = World(projections=(Seen, Counted))
    run(world.engine)
    world.sink.request("seen")
    rebuilds = World(world.sink, projections=(Seen, Counted))
    rebuilds.turns(2)
    run(rebuilds.engine)
    for position in (30, 20, 25):
        del world.sink._rows["seen", 1]["seen"][position,]
    found = [each for each in world.sink.compare("seen", 1, 2) if each is not None]
    assert found == [Difference("seen", "(20,)")]


def test_the_engine_leaves_a_dropped_build_alone() -> None:
    """What was dropped between two turns is not written any more."""
    world = World(batch=20)
    run(world.engine)
    world.sink.request("seen")
    world.turns(2)
    world.sink.cancel("seen")
    world.rebuilds.turn()
    run(world.engine)
    assert world.engine.position(("seen", 2)) is None
    assert world.sink.tables == expected(beginning(played(), played().position))

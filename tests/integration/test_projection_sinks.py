"""What the engine needs of a place for rows, held against memory and against PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from infrastructure.bootstrap import AppDsn, prepare
from infrastructure.projections import comparing, tables
from infrastructure.projections.kinds import Column, Table
from infrastructure.projections.memory import MemorySink
from infrastructure.projections.postgres import PostgresSink
from infrastructure.projections.sink import DROPPED, STOPPED, Difference, Move, Refused, Sink, Stale
from tests.unit.infrastructure.small_projections import Small

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}


class Wide(Small):
    """A projection with a table of each mode and a column of each type."""

    name = "wide"
    tables = (
        Table(
            "inserted",
            (
                Column("player", "text"),
                Column("position", "bigint"),
                Column("small", "smallint"),
                Column("whole", "integer"),
                Column("exact", "numeric(30,0)"),
                Column("flag", "boolean"),
                Column("detail", "jsonb"),
                Column("note", "text"),
            ),
            ("player", "position"),
            "insert",
            (("position",), ("note", "player")),
        ),
        Table(
            "added",
            (
                Column("day", "text"),
                Column("hour", "bigint"),
                Column("amount", "bigint"),
                Column("exact", "numeric(30,0)"),
            ),
            ("day", "hour"),
            "add",
        ),
        Table(
            "replaced",
            (
                Column("player", "text"),
                Column("began", "bigint"),
                Column("detail", "jsonb"),
                Column("open", "boolean"),
            ),
            ("player", "began"),
            "replace",
        ),
    )


class Other(Small):
    """Another projection."""

    name = "other"
    tables = (Table("others", (Column("name", "text"),), ("name",), "replace"),)


@dataclass
class Kept:
    """A sink, and how to look at what readers see."""

    sink: Sink
    dsn: str | None
    schema: str

    def table(self, name: str) -> list[tuple[Any, ...]]:
        """Return the live rows of a table, in the order of its key."""
        if isinstance(self.sink, MemorySink):
            return self.sink.tables[name]
        assert self.dsn is not None
        return self.sink.shelf("wide" if name != "others" else "other", self.live(name)).whole(name)  # type: ignore[return-value]

    def live(self, name: str) -> int:
        """Return the live build."""
        owner = "other" if name == "others" else "wide"
        return next(each.build for each in self.sink.checkpoints() if each.live and each.name == owner)

    def alarms(self) -> dict[str, tuple[int, str]]:
        """Return the alarms."""
        if isinstance(self.sink, MemorySink):
            return self.sink.alarms
        assert self.dsn is not None
        with psycopg.connect(self.dsn) as connection:
            rows = connection.execute(f"SELECT name, position, detail FROM {self.schema}_read.alarms")
            return {name: (position, detail) for name, position, detail in rows.fetchall()}


@pytest.fixture(scope="module")
def ledger(database: str) -> AppDsn:
    """Return a prepared ledger."""
    return prepare(database, "sinks", passwords=PASSWORDS)


@pytest.fixture
def postgres_sink(ledger: AppDsn) -> Iterator[tuple[PostgresSink, AppDsn]]:
    """Yield a sink on a read side in which nothing but these projections ever was."""
    dsn = ledger

    def connect() -> psycopg.Connection:
        return psycopg.connect(dsn.app, autocommit=True)

    with connect() as connection:
        for (table,) in connection.execute(
            """SELECT oid::regclass::text FROM pg_class
            WHERE relkind = 'r' AND relnamespace = %s::regnamespace""",
            [f"{dsn.schema}_read"],
        ).fetchall():
            connection.execute(f"DROP TABLE {table} CASCADE")
        tables.ensure(connection, dsn.schema, (Wide, Other))
        yield PostgresSink(connection, dsn.schema, (Wide(), Other()), connect), dsn


@pytest.fixture(params=["memory", "postgres"])
def kept(request: pytest.FixtureRequest) -> Kept:
    """Return a sink of each kind."""
    if request.param == "memory":
        return Kept(MemorySink((Wide(), Other())), None, "")
    sink, dsn = request.getfixturevalue("postgres_sink")
    return Kept(sink, dsn.app, dsn.schema)


def put(before: int, after: int, build: int = 1, **rows: list[tuple[Any, ...]]) -> Move:
    """Return a step of the wide projection."""
    return Move("wide", build, before, after, rows)


def inserted(player: str, position: int, **values: Any) -> tuple[Any, ...]:
    """Return a row of the table of all types."""
    fields = {"small": None, "whole": None, "exact": None, "flag": None, "detail": None, "note": None}
    return (player, position, *(fields | values).values())


def test_it_begins_with_live_builds_at_position_0(kept: Kept) -> None:
    """Every projection has one build, live, running, with empty tables."""
    found = [(c.name, c.build, c.version, c.live, c.position, c.state) for c in kept.sink.checkpoints()]
    assert found == [("other", 1, 1, True, 0, "running"), ("wide", 1, 1, True, 0, "running")]
    assert [kept.table(name) for name in ("inserted", "added", "replaced", "others")] == [[], [], [], []]


def test_every_value_comes_back_as_it_was_put(kept: Kept) -> None:
    """Big numbers, nulls, documents and any text, also what COPY and arrays must escape."""
    rows = [
        inserted("a", 1),
        inserted("a", 2, small=-7, whole=2**31 - 1, exact=10**29, flag=True, detail={"b": [1, None, "x"]}),
        inserted("a", 2**62, exact=-(2**70), flag=False, detail=[], note="back\\slash \\N {\"'} tab\t ä 🂡"),
        inserted("", 3, note=""),
    ]
    replaced = [
        ("a\\", 1, {"text": "line\nbreak \\ {}"}, None),
        ("{a,b}", 2, None, True),
        ("NULL", 3, {}, False),
    ]
    kept.sink.apply([put(0, 5, inserted=rows, replaced=replaced, added=[("d", 1, -(2**62), 2**80)])])
    assert kept.table("inserted") == sorted(rows)
    assert kept.table("replaced") == sorted(replaced, key=lambda row: row[0].encode())
    assert kept.table("added") == [("d", 1, -(2**62), 2**80)]


def test_modes_do_what_they_say(kept: Kept) -> None:
    """Numbers add up over rows and batches; the last row replaces; a checkpoint moves with them."""
    kept.sink.apply(
        [
            put(
                0,
                10,
                added=[("d", 1, 5, 1), ("d", 2, 7, 0), ("d", 1, -2, 10**20)],
                replaced=[("a", 1, {"n": 1}, True), ("a", 1, {"n": 2}, True)],
            )
        ]
    )
    kept.sink.apply([put(10, 20, added=[("d", 1, 100, -1)], replaced=[("a", 1, {"n": 3}, False)])])
    assert kept.table("added") == [("d", 1, 103, 10**20), ("d", 2, 7, 0)]
    assert kept.table("replaced") == [("a", 1, {"n": 3}, False)]
    assert [c.position for c in kept.sink.checkpoints()] == [0, 20]


def test_several_move_together_or_not_at_all(kept: Kept) -> None:
    """Where one checkpoint is not where it was left nothing is written, for anybody."""
    others = Move("other", 1, 0, 4, {"others": [("x",)]})
    kept.sink.apply([put(0, 4, added=[("d", 1, 1, 1)]), others])
    assert kept.table("others") == [("x",)]
    with pytest.raises(Stale):
        kept.sink.apply([put(4, 9, added=[("d", 1, 1, 1)]), others])
    assert kept.table("added") == [("d", 1, 1, 1)]
    assert [c.position for c in kept.sink.checkpoints()] == [4, 4]


@pytest.mark.parametrize(
    "rows",
    [
        {"inserted": [inserted("a", 1), inserted("a", 1)]},
        {"inserted": [inserted("known", 1)]},
        {"inserted": [(None, 1, *inserted("", 0)[2:])]},
        {"inserted": [inserted("a", 1)[:-1]]},
        {"added": [("d", None, 1, 1)]},
        {"replaced": [("a", 1, {})]},
    ],
)
def test_rows_without_a_place_are_refused_with_all_of_the_batch(
    kept: Kept, rows: dict[str, list[tuple[Any, ...]]]
) -> None:
    """A key put twice, a key that is null, a row of another length: nothing of it is written."""
    kept.sink.apply([put(0, 1, inserted=[inserted("known", 1)])])
    before = [kept.table(name) for name in ("inserted", "added", "replaced")]
    other = Move("other", 1, 0, 2, {"others": [("x",)]})
    with pytest.raises(Refused, match=next(iter(rows))):
        kept.sink.apply([other, put(1, 2, **rows)])
    assert [kept.table(name) for name in ("inserted", "added", "replaced")] == before
    assert kept.table("others") == []
    kept.sink.apply([other, put(1, 2, inserted=[inserted("a", 1)])])


def test_the_shelf_finds_rows_by_key_and_the_latest_of_a_prefix(kept: Kept) -> None:
    """Full keys, the greatest key below a prefix, and whole tables in the order of the key."""
    rows = [inserted(player, position) for player in ("b", "a", "c") for position in (1, 10, 9)]
    kept.sink.apply([put(0, 1, inserted=rows)])
    shelf = kept.sink.shelf("wide", 1)
    assert shelf.rows("inserted", [("a", 10), ("b", 2), ("a", 10)]) == {("a", 10): inserted("a", 10)}
    assert shelf.rows("inserted", []) == {}
    assert shelf.latest("inserted", [("a",), ("c",), ("x",)]) == {
        ("a",): inserted("a", 10),
        ("c",): inserted("c", 10),
    }
    assert shelf.latest("inserted", []) == {}
    assert shelf.latest("inserted", [()]) == {(): inserted("c", 10)}
    assert shelf.whole("inserted") == sorted(rows)


def test_stopping_and_going_on_are_alarms(kept: Kept) -> None:
    """A stop is kept with its position and raises the alarm; going on takes both away."""
    kept.sink.stop("wide", 1, "why", 17)
    (found,) = [c for c in kept.sink.checkpoints() if c.name == "wide"]
    assert (found.state, found.error, found.error_position) == (STOPPED, "why", 17)
    assert kept.alarms() == {"projection_wide": (17, "why")}
    kept.sink.apply([put(0, 3)])  # it is tried again with the same tables
    kept.sink.resume("wide", 1)
    (found,) = [c for c in kept.sink.checkpoints() if c.name == "wide"]
    assert (found.state, found.error, found.error_position, found.position) == ("running", None, None, 3)
    assert kept.alarms() == {}


def rebuilt(kept: Kept, position: int, **rows: list[tuple[Any, ...]]) -> None:
    """Have a second build at a position."""
    assert kept.sink.request("wide")
    kept.sink.begin("wide", 2)
    kept.sink.begin("wide", 2)
    kept.sink.apply([put(0, position, 2, **rows)])


def compared(kept: Kept) -> list[Difference]:
    """Compare the two builds."""
    return [each for each in kept.sink.compare("wide", 1, 2) if each is not None]


ROWS: dict[str, list[tuple[Any, ...]]] = {
    "inserted": [inserted(f"p{n:03}", n, detail={"n": n}, exact=n * 10**20) for n in range(100)],
    "added": [("d", n, n, n) for n in range(50)],
    "replaced": [("a", n, None, None) for n in range(30)],
}


def test_a_rebuilt_build_is_compared_and_switched(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal builds have no difference; after the switch readers see the new one, and the old one goes."""
    monkeypatch.setattr(comparing, "SLICE_ROWS", 7)
    kept.sink.apply([put(0, 60, **ROWS)])
    rebuilt(kept, 60, **{name: rows[::-1] for name, rows in ROWS.items()})
    assert compared(kept) == []
    assert kept.sink.switch("wide", 1, 2, None)
    assert [(c.build, c.live, c.state) for c in kept.sink.checkpoints() if c.name == "wide"] == [
        (2, True, "running"),
        (1, False, DROPPED),
    ]
    assert kept.table("inserted") == sorted(ROWS["inserted"])
    with pytest.raises(Stale):
        kept.sink.apply([put(60, 61)])
    assert kept.sink.drop("wide", 1)
    assert [c.build for c in kept.sink.checkpoints() if c.name == "wide"] == [2]
    kept.sink.apply([put(60, 61, 2, added=[("new", 1, 1, 1)])])
    assert kept.alarms() == {}


@pytest.mark.parametrize(
    ("table", "change", "key"),
    [
        ("inserted", lambda rows: rows[:41] + rows[42:], "p041"),
        ("inserted", lambda rows: [*rows, inserted("zz", 1)], "zz"),
        ("inserted", lambda rows: rows[:-1], "p099"),
        ("inserted", lambda _: [], "p000"),
        ("inserted", lambda rows: [*rows[:20], inserted("p020", 20, exact=1), *rows[21:]], "p020"),
        ("added", lambda rows: [*rows[:49], ("d", 49, 49, 50)], "49"),
        ("replaced", lambda _: [("a", n, None, n == 29) for n in range(30)], "a"),
    ],
)
def test_the_first_difference_is_found(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, table: str, change: Any, key: str
) -> None:
    """A row that is missing, is too much or is not the same, wherever it stands."""
    monkeypatch.setattr(comparing, "SLICE_ROWS", 7)
    kept.sink.apply([put(0, 60, **ROWS)])
    rebuilt(kept, 60, **(ROWS | {table: change(ROWS[table])}))
    (difference,) = compared(kept)
    assert difference.table == table
    assert key in difference.key
    assert kept.sink.switch("wide", 1, 2, difference)
    ((name, (position, detail)),) = kept.alarms().items()
    assert (name, position) == ("rebuild_wide", 60)
    assert key in detail


def test_a_rebuild_can_be_given_up_and_asked_for_again(kept: Kept) -> None:
    """One at a time; a cancelled one is dropped, a failed one makes room."""
    rebuilt(kept, 5)
    assert not kept.sink.request("wide")
    assert kept.sink.cancel("wide")
    assert not kept.sink.cancel("wide")
    with pytest.raises(Stale):
        kept.sink.apply([put(5, 6, 2)])
    assert kept.sink.request("wide"), "while the cancelled one is still to be dropped"
    assert kept.sink.drop("wide", 2)
    kept.sink.begin("wide", 3)
    kept.sink.stop("wide", 3, "why", 9)
    assert kept.alarms() == {"rebuild_wide": (9, "why")}
    assert kept.sink.request("wide")
    states = {c.build: c.state for c in kept.sink.checkpoints() if c.name == "wide"}
    assert states == {1: "running", 3: DROPPED, 4: "requested"}
    assert kept.sink.drop("wide", 1), "what is live is not dropped"
    assert kept.live("inserted") == 1


# ── PostgreSQL alone ────────────────────────────────────────────────────────────────────────────────────────
def test_readers_and_auditors_see_the_view(postgres_sink: tuple[PostgresSink, AppDsn]) -> None:
    """The view has the live rows before and after a switch; the auditor may read it and nothing more."""
    sink, dsn = postgres_sink
    kept = Kept(sink, dsn.app, dsn.schema)
    sink.apply([put(0, 5, added=[("old", 1, 1, 1)])])
    rebuilt(kept, 5, added=[("new", 1, 1, 1)])
    query = f"SELECT day FROM {dsn.schema}_read.added"
    with psycopg.connect(dsn.auditor, autocommit=True) as auditor:
        assert auditor.execute(query).fetchall() == [("old",)]
        assert sink.switch("wide", 1, 2, None)
        figures = "SELECT reltuples FROM pg_class WHERE oid = %s::regclass"
        name = f"{dsn.schema}_read.added__2"
        assert auditor.execute(figures, [name]).fetchone() == (1.0,), "plans know how many rows there are"
        assert auditor.execute(query).fetchall() == [("new",)]
        assert sink.drop("wide", 1)
        assert auditor.execute(query).fetchall() == [("new",)]
        for statement in (
            f"DELETE FROM {dsn.schema}_read.added__2",
            f"UPDATE {dsn.schema}_read.projections SET position = 0",
            f"CREATE TABLE {dsn.schema}_read.x (y int)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                auditor.execute(statement)


def test_a_switch_does_not_wait_long_for_a_reader(
    postgres_sink: tuple[PostgresSink, AppDsn], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a transaction holds on to the live rows the switch is put off, and nothing is half done."""
    monkeypatch.setattr(tables, "SWITCH_LOCK_MS_MAX", 20)
    sink, dsn = postgres_sink
    kept = Kept(sink, dsn.app, dsn.schema)
    sink.apply([put(0, 5, added=[("old", 1, 1, 1)])])
    rebuilt(kept, 5, added=[("new", 1, 1, 1)])
    query = f"SELECT day FROM {dsn.schema}_read.added"
    with psycopg.connect(dsn.app) as reader:
        assert reader.execute(query).fetchall() == [("old",)]
        assert not sink.switch("wide", 1, 2, None)
        assert [(c.build, c.live) for c in sink.checkpoints() if c.name == "wide"] == [(1, True), (2, False)]
        assert reader.execute(query).fetchall() == [("old",)]
        reader.rollback()
        assert sink.switch("wide", 1, 2, None)
        assert reader.execute(query).fetchall() == [("new",)]


def test_what_is_not_at_one_position_is_not_compared(postgres_sink: tuple[PostgresSink, AppDsn]) -> None:
    """Rows of different positions say nothing about each other."""
    sink, dsn = postgres_sink
    rebuilt(Kept(sink, dsn.app, dsn.schema), 5)
    with pytest.raises(Stale):
        next(sink.compare("wide", 1, 2))


def test_a_comparison_sees_one_moment(
    postgres_sink: tuple[PostgresSink, AppDsn], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What both write while they are compared does not matter."""
    monkeypatch.setattr(comparing, "SLICE_ROWS", 7)
    sink, dsn = postgres_sink
    sink.apply([put(0, 60, **ROWS)])
    rebuilt(Kept(sink, dsn.app, dsn.schema), 60, **ROWS)
    comparison = sink.compare("wide", 1, 2)
    assert next(comparison) is None
    more = {"inserted": [inserted("p050b", 1)]}
    sink.apply([put(60, 61, 1, **more), put(60, 61, 2)])
    assert set(comparison) == {None}


class Newer(Small):
    """The wide projection in another version: one table has other columns, one is gone, one is new."""

    name = "wide"
    version = 2
    tables = (
        Wide.tables[0],
        Table("added", (Column("hour", "text"), Column("sum", "bigint")), ("hour",), "add"),
        Table("fresh", (Column("name", "text"),), ("name",), "insert"),
    )


def test_another_version_takes_the_place_of_the_old_tables(
    postgres_sink: tuple[PostgresSink, AppDsn],
) -> None:
    """It is asked for by itself; its switch changes columns, and takes away and adds views."""
    old, dsn = postgres_sink
    old.apply([put(0, 5, added=[("old", 1, 1, 1)])])

    def connect() -> psycopg.Connection:
        return psycopg.connect(dsn.app, autocommit=True)

    with connect() as connection, connect() as reader:
        for _ in range(2):
            tables.ensure(connection, dsn.schema, (Newer, Other))
        sink = PostgresSink(connection, dsn.schema, (Newer(), Other()), connect)
        found = [(c.build, c.version, c.state) for c in sink.checkpoints() if c.name == "wide"]
        assert found == [(1, 1, "running"), (2, 2, "requested")]
        assert reader.execute(f"SELECT day FROM {dsn.schema}_read.added").fetchall() == [("old",)]
        sink.begin("wide", 2)
        sink.apply([Move("wide", 2, 0, 5, {"added": [("7", 1)], "fresh": [("x",)]})])
        assert sink.switch("wide", 1, 2, None)
        assert sink.drop("wide", 1)
        assert reader.execute(f"SELECT * FROM {dsn.schema}_read.added").fetchall() == [("7", 1)]
        assert reader.execute(f"SELECT * FROM {dsn.schema}_read.fresh").fetchall() == [("x",)]
        names = reader.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'v')",
            [f"{dsn.schema}_read"],
        ).fetchall()
        assert {name for (name,) in names} == {
            "projections", "alarms", "audit_runs", "inserted", "inserted__2", "added", "added__2",
            "fresh", "fresh__2", "others", "others__1",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("table", "what"),
    [
        (Table("Bad", (Column("a", "text"),), ("a",), "insert"), "name"),
        (Table("t", (Column("a", "text"),), ("b",), "insert"), "key"),
        (Table("t", (Column("a", "text"),), (), "insert"), "key"),
        (Table("t", (Column("a", "text"), Column("a", "text")), ("a",), "insert"), "key"),
        (Table("t", (Column("a", "text; DROP TABLE x"),), ("a",), "insert"), "type"),
        (Table("t", (Column("a", "text"), Column("b", "text")), ("a",), "add"), "numbers"),
        (Table("t", (Column("a", "text"),), ("a",), "insert", (("b",),)), "index"),
        (Table("alarms", (Column("a", "text"),), ("a",), "insert"), "alarms"),
    ],
)
def test_a_table_that_cannot_be_is_refused(table: Table, what: str) -> None:
    """A projection's definition is looked at before anything is made of it."""
    bad = type("Bad", (Small,), {"name": "bad", "tables": (table,)})
    with pytest.raises(ValueError, match=what):
        tables.check([bad()])

"""Events in partitions: made ahead, guarded each, taken out when they are old, and put back."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg import errors

from api.play.reads import found_round
from api.problems import Problem
from domain import commands as c
from infrastructure import bootstrap, partitions
from infrastructure.bootstrap import AppDsn, NotReadyError, check, prepare
from infrastructure.jobs import Jobs
from infrastructure.ledger import horizon, statements
from infrastructure.ledger.horizon import ArchivedError
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import Result, Submission
from infrastructure.ledger.writer import Writer
from infrastructure.partitions import PartitionsError
from infrastructure.projections.runner import Projector
from infrastructure.reading import Reading
from infrastructure.seals import Seals
from tests.golden import players

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
SIZE = 10_000_000
_numbers = itertools.count(1)


@pytest.fixture
def ready(database: str) -> AppDsn:
    """Return a fresh ledger."""
    return prepare(database, f"parts_{next(_numbers)}", passwords=PASSWORDS)


@pytest.fixture(scope="module")
def lasting(database: str) -> AppDsn:
    """Return a ledger for tests that leave it as it is, with an event in two partitions, and four of them."""
    dsn = prepare(database, "parts_lasting", passwords=PASSWORDS)
    with psycopg.connect(database, autocommit=True, options="-c search_path=parts_lasting") as connection:
        insert(connection, [event(1, "ledger-0", 1), event(SIZE + 5, "round-a", 1)])
        partitions.make_ahead(connection, "parts_lasting")
    return dsn


@pytest.fixture
def admin(database: str, ready: AppDsn) -> Iterator[psycopg.Connection]:
    """Yield the superuser's connection; the search path is the ledger's schema."""
    options = f"-c search_path={ready.schema}"
    with psycopg.connect(database, autocommit=True, options=options) as connection:
        yield connection


def ranges(admin: psycopg.Connection) -> list[tuple[int, int]]:
    """Return the positions of the attached partitions."""
    found = admin.execute("SELECT first_position, next_position FROM partitions()").fetchall()
    return [(first, following) for first, following in found]


def make_small(admin: psycopg.Connection, schema: str, size: int, count: int) -> None:
    """Give an empty ledger partitions of another size, and after them usual ones."""
    for (name,) in admin.execute("SELECT name FROM partitions()").fetchall():
        admin.execute(f"DROP TABLE {name}")
    admin.execute(f"SET ROLE {schema}_owner")
    for number in range(count):
        admin.execute("SELECT add_partition(%s, %s)", [number * size + 1, (number + 1) * size + 1])
    admin.execute("RESET ROLE")
    partitions.make_ahead(admin, schema)


def event(position: int, stream: str, version: int) -> tuple[int, int, str, bytes]:
    """Return a row that is an event as far as the database can tell."""
    data = json.dumps({"position": position, "recorded_at": "2026-11-30T12:00:00.000001Z"})
    return position, version, stream, data.encode()


def insert(admin: psycopg.Connection, rows: list[tuple[int, int, str, bytes]]) -> None:
    """Write rows of events, and move the head to the last of them."""
    with admin.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO events (position, version, stream, data) VALUES (%s, %s, %s, %s)", rows
        )
    admin.execute("UPDATE head SET position = %s", [rows[-1][0]])


# ── The conversion ──────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("head", [0, 7, 9_999_999, 10_000_000, 25_000_000])
def test_what_stands_becomes_the_first_partition_unwritten(database: str, head: int) -> None:
    """Existing events stay in the file they are in, whatever their number, and the next ones have a place."""
    schema = f"before_{next(_numbers)}"
    with pytest.MonkeyPatch.context() as patch:
        old = [m for m in bootstrap._migrations() if m.number < 5]
        patch.setattr(bootstrap, "_migrations", lambda: old)
        prepare(database, schema, passwords=PASSWORDS)
    options = f"-c search_path={schema}"
    with psycopg.connect(database, autocommit=True, options=options) as admin:
        if head:
            insert(admin, [event(1, "ledger-0", 1), event(head, "round-r", 1)])
        before = admin.execute(
            "SELECT pg_relation_filenode('events'), array_agg(e) FROM events AS e"
        ).fetchone()
        app = prepare(database, schema, passwords=PASSWORDS).app
        after = admin.execute(
            "SELECT pg_relation_filenode('events_1'), array_agg(e) FROM events AS e"
        ).fetchone()
        assert before == after
        first = (head // SIZE + 1) * SIZE + 1
        assert ranges(admin) == [(1, first), (first, first + SIZE), (first + SIZE, first + 2 * SIZE)]
    check(app, schema)


# ── Made ahead ──────────────────────────────────────────────────────────────────────────────────────────────
def test_two_are_kept_ahead_of_the_head(admin: psycopg.Connection, ready: AppDsn) -> None:
    """The application's login has the next partitions made; where there are two ahead it makes none."""
    with psycopg.connect(ready.app, autocommit=True) as app:
        assert partitions.make_ahead(app, ready.schema) == 0
        insert(admin, [event(SIZE, "round-a", 1)])  # the next event is the second partition's first
        assert partitions.make_ahead(app, ready.schema) == 1
        insert(admin, [event(3 * SIZE, "round-a", 2)])
        assert partitions.make_ahead(app, ready.schema) == 2
        assert ranges(admin) == [(n * SIZE + 1, (n + 1) * SIZE + 1) for n in range(6)]
    check(ready.app, ready.schema)


def test_the_services_jobs_have_them_made(admin: psycopg.Connection, ready: AppDsn) -> None:
    """A running service needs nobody to make partitions: its jobs look after them."""
    insert(admin, [event(SIZE, "round-a", 1)])

    def no_work(_: Submission) -> Future[Result]:
        raise AssertionError

    with psycopg.connect(ready.app, autocommit=True) as app:
        Jobs(ready.app, ready.schema, no_work, lambda: 0).turn(app)
    assert len(ranges(admin)) == 4


def test_several_processes_make_each_one_once(admin: psycopg.Connection, ready: AppDsn) -> None:
    """Processes that look at the same time do not make a partition twice."""
    insert(admin, [event(3 * SIZE, "round-a", 1)])

    def make(_: int) -> int:
        with psycopg.connect(ready.app, autocommit=True) as app:
            return partitions.make_ahead(app, ready.schema)

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(make, range(6))) == [0, 0, 0, 0, 0, 3]


def test_making_one_waits_for_no_reader_and_no_writer(admin: psycopg.Connection, ready: AppDsn) -> None:
    """A partition is made while transactions that read and write the events are open."""
    insert(admin, [event(SIZE, "round-a", 1)])
    with psycopg.connect(ready.app) as busy, psycopg.connect(ready.app, autocommit=True) as app:
        busy.execute(f"INSERT INTO {ready.schema}.events VALUES ({SIZE + 1}, 1, 'x', 'round-b')")
        busy.execute(f"SELECT count(*) FROM {ready.schema}.events")
        app.execute("SET lock_timeout = '2s'")
        assert partitions.make_ahead(app, ready.schema) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT add_partition(30000001, 40000001)",
        "SELECT * FROM events_1",
        "INSERT INTO events_1 (position, version, stream, data) VALUES (1, 1, 'x', 'x')",
        "ALTER TABLE events DETACH PARTITION events_20000001",
        "DROP TABLE events_20000001",
        "DELETE FROM horizon",
        "INSERT INTO horizon VALUES (1, 2, 'x', 1, 'x')",
    ],
)
def test_the_application_may_only_have_them_made(lasting: AppDsn, statement: str) -> None:
    """The application has no right to a partition by its name, nor to make or take away any."""
    options = f"-c search_path={lasting.schema}"
    with psycopg.connect(lasting.app, options=options) as app, pytest.raises(errors.InsufficientPrivilege):
        app.execute(statement)


# ── Guarded ─────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("table", ["events", "events_1", "events_10000001", "events_30000001"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET data = 'x'", "DELETE FROM {}", "TRUNCATE {}"])
def test_every_partition_refuses_change(database: str, lasting: AppDsn, table: str, statement: str) -> None:
    """Neither the ledger nor any table of it, a newly made one included, can be changed, by whoever it is."""
    options = f"-c search_path={lasting.schema} -c session_replication_role=replica"
    with (
        psycopg.connect(database, options=options) as admin,
        pytest.raises(errors.RestrictViolation, match="never changes"),
    ):
        admin.execute(statement.format(table))


@pytest.mark.parametrize(
    ("partition", "statement", "complaint"),
    [
        ("events_1", "ALTER TABLE {p} DISABLE TRIGGER {p}_never_change", "trigger {p}_never_change is missi"),
        ("events_20000001", "DROP TRIGGER {p}_rows_never_change ON {p}", "trigger {p}_rows_never_change is "),
        ("events_10000001", "ALTER TABLE {p} ENABLE TRIGGER {p}_never_change", "never_change is .* weakened"),
        (
            "events_1",
            """DROP TRIGGER {p}_never_change ON {p};
            CREATE TRIGGER {p}_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events
            EXECUTE FUNCTION refuse_change();
            ALTER TABLE events ENABLE ALWAYS TRIGGER {p}_never_change""",
            "trigger {p}_never_change is missing",
        ),
        ("events_1", "ALTER TABLE {p} DROP CONSTRAINT {p}_stream_version_key", "{p} lacks its unique index"),
        ("events_20000001", "GRANT UPDATE (data) ON {p} TO {app}", "could change recorded events"),
        ("events_1", "GRANT TRUNCATE ON {p} TO PUBLIC", "could change recorded events"),
    ],
)
def test_a_weakened_partition_is_noticed(
    admin: psycopg.Connection, ready: AppDsn, partition: str, statement: str, complaint: str
) -> None:
    """Before a start each partition's triggers, unique index and rights are looked at."""
    names = {"p": partition, "app": f"{ready.schema}_app"}
    admin.execute(statement.format(**names))
    with pytest.raises(NotReadyError, match=complaint.format(**names)):
        check(ready.app, ready.schema)


@pytest.mark.parametrize(
    ("gone", "complaint"),
    [
        (["events_1"], "from position 1 on are in no table"),
        (["events_10000001"], "from position 10000001 to 20000000 have no table"),
        (["events_10000001", "events_20000001"], None),
    ],
)
def test_a_missing_partition_is_noticed(
    admin: psycopg.Connection, ready: AppDsn, gone: list[str], complaint: str | None
) -> None:
    """Positions without a table stop a start; that the next ones have none ahead of time does not."""
    for name in gone:
        admin.execute(f"DROP TABLE {name}")
    if complaint is None:
        check(ready.app, ready.schema)
        insert(admin, [event(SIZE, "round-a", 1)])
        complaint = "no partition for the next event: run serve --init-db"
    with pytest.raises(NotReadyError, match=complaint):
        check(ready.app, ready.schema)


def test_a_version_twice_is_refused_within_a_partition(admin: psycopg.Connection) -> None:
    """The last guard of a stream's versions is each partition's own unique index."""
    insert(admin, [event(1, "round-a", 1)])
    with pytest.raises(errors.UniqueViolation):
        insert(admin, [event(2, "round-a", 1)])


# ── Found by key ────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class Many:
    """A ledger of 30 partitions with 300 rounds of ten events, and a session set up like the writer's."""

    schema: str
    connection: psycopg.Connection
    statements: dict[str, str]

    def plan(self, name: str, types: str, values: str) -> tuple[str, float]:
        """Return the plan of a prepared statement, and the least of ten times it took, in ms."""
        self.connection.execute(f"PREPARE {name} ({types}) AS {self.statements[name]}")
        times = []
        for _ in range(12):
            began = time.perf_counter()
            self.connection.execute(f"EXECUTE {name} ({values})").fetchall()
            times.append((time.perf_counter() - began) * 1000)
        rows = self.connection.execute(f"EXPLAIN (COSTS OFF) EXECUTE {name} ({values})").fetchall()
        return "\n".join(row for (row,) in rows), min(times[2:])


@pytest.fixture(scope="module")
def many(database: str) -> Iterator[Many]:
    """Yield it."""
    schema = "parts_many"
    app = prepare(database, schema, passwords=PASSWORDS).app
    with psycopg.connect(database, autocommit=True, options=f"-c search_path={schema}") as admin:
        make_small(admin, schema, 100, 30)
        admin.execute(
            "INSERT INTO events SELECT n, (n - 1) % 10 + 1, 'x', 'round-' || (n - 1) / 10"
            " FROM generate_series(1, 3000) AS n"
        )
        admin.execute("UPDATE head SET position = 3000")
        for name in ("ANALYZE events", "VACUUM events"):
            admin.execute(name)
    texts = statements.for_schema(schema)
    texts["of_stream"] = (
        f"SELECT position, data FROM {schema}.events WHERE stream = $1 AND version > $2 ORDER BY version"
    )
    texts["from_position"] = (
        f"SELECT position, data FROM {schema}.events WHERE position >= $1 AND position <= $2"
        " ORDER BY position LIMIT $3"
    )
    with psycopg.connect(app, autocommit=True, prepare_threshold=None) as connection:
        for setting in ("plan_cache_mode = force_generic_plan", "enable_seqscan = off", "jit = off"):
            connection.execute(f"SET {setting}")
        yield Many(schema, connection, texts)


@pytest.mark.parametrize(
    ("name", "types", "values"),
    [
        ("new_events", "text[]", "'{round-7}'"),
        ("later_events", "text[], integer[], bigint", "'{round-7}', '{6}', 0"),
        ("of_stream", "text, integer", "'round-7', 0"),
    ],
)
def test_a_stream_is_found_in_30_partitions_within_a_millisecond(
    many: Many, name: str, types: str, values: str
) -> None:
    """What the writer and the readers ask of a stream is an index look-up in each partition, and quick."""
    plan, milliseconds = many.plan(name, types, values)
    assert plan.count("stream_version_key") >= 30, plan
    assert "Seq Scan on events" not in plan
    assert milliseconds <= 1.0


def test_positions_are_read_from_their_partition_alone(many: Many) -> None:
    """A range of positions touches the partitions it lies in and no other, and nothing is sorted."""
    plan, milliseconds = many.plan("from_position", "bigint, bigint, integer", "1201, 1250, 500")
    removed = re.search(r"Subplans Removed: (\d+)", plan)
    assert removed is not None, plan
    assert int(removed[1]) == 29
    assert "Sort" not in plan
    assert milliseconds <= 1.0


# ── Taken out and put back ──────────────────────────────────────────────────────────────────────────────────
@dataclass
class Played:
    """A ledger of small partitions with rounds in them; a writer that goes on."""

    ready: AppDsn
    admin: psycopg.Connection
    player: players.Player
    house: players.House

    def play(self) -> None:
        """Play some rounds more, to their ends."""
        players.usual_rounds(self.player, self.house)

    def catch_up(self) -> int:
        """Let the projections come to where the ledger is; return how many rows the statements have."""
        with Projector(self.ready.app, self.ready.schema) as projector:
            assert projector.try_to_act()
            while projector.turn():
                pass
        read = f"{self.ready.schema}_read"
        behind = f"SELECT name, error FROM {read}.projections WHERE position < (SELECT position FROM head)"
        assert self.admin.execute(behind).fetchall() == []
        return int(self.admin.execute(f"SELECT count(*) FROM {read}.postings").fetchall()[0][0])

    def look(self, round_id: str) -> Any:
        """Return a round as it is read, or the code with which that is refused."""

        async def read() -> Any:
            reading = Reading(self.ready.app, self.ready.schema)
            await reading.open()
            try:
                return (await found_round(reading, round_id)).round
            except Problem as problem:
                return problem.code
            finally:
                await reading.close()

        return asyncio.run(read())

    def rounds(self, order: str) -> list[tuple[str, int]]:
        """Return each round with the position of its first, or last, event, in order."""
        return self.admin.execute(
            f"SELECT substr(stream, 7), {order}(position) FROM events WHERE stream LIKE 'round-%'"
            " GROUP BY stream ORDER BY 2"
        ).fetchall()

    def digest(self) -> Any:
        """Return a fingerprint of all events."""
        query = "SELECT count(*), md5(string_agg(md5(data), '' ORDER BY position)) FROM events"
        return self.admin.execute(query).fetchone()


@pytest.fixture
def played(ready: AppDsn, admin: psycopg.Connection) -> Iterator[Played]:
    """Yield one with some 300 events in partitions of 50."""
    make_small(admin, ready.schema, 50, 20)
    clock = players.Clock()
    writer = Writer(PostgresStore(ready.app, ready.schema), Seals(b"k" * 32), clock, "test")
    writer.start()
    try:
        player = players.Player(writer, clock, Random(7))
        player.do(c.StartLedger(demo=True))
        documents = {document["id"]: document for document in bootstrap.shipped_documents()}
        house = players.house_of(player, documents["us-casino"])
        players.furnish(player, house)
        ledger = Played(ready, admin, player, house)
        for _ in range(5):
            ledger.play()
        yield ledger
    finally:
        writer.stop()


def test_old_partitions_leave_and_nothing_breaks(played: Played) -> None:
    """After a detachment what is left is read, written and checked as before; what is gone says so."""
    ready, admin = played.ready, played.admin
    before, first = played.digest(), played.rounds("min")
    old = [round_id for round_id, position in first if position <= 200]
    whole = {round_id: played.look(round_id) for round_id, position in first if position > 200}
    astride = [id_ for id_, last in played.rounds("max") if id_ in old and last > 200]
    assert old
    assert whole
    assert astride  # a round that began before the edge and ended after it
    posted = played.catch_up()
    gone = partitions.detach_before(admin, ready.schema, 230)
    assert [part.name for part in gone] == ["events_1", "events_51", "events_101", "events_151"]
    assert {played.look(round_id) for round_id in old} == {"round_archived"}
    assert {id_: played.look(id_) for id_ in whole} == whole
    assert played.look("nothing") == "round_not_found"
    answer = played.player.ask(c.VoidRound(astride[0], "malfunction"))
    assert answer["code"] == "round_not_found"
    played.play()
    assert played.catch_up() > posted  # what was derived from archived events stays, and goes on
    check(ready.app, ready.schema)
    listed = partitions.listing(admin, ready.schema)
    assert [part.state for part in listed[:6]] == ["detached"] * 4 + ["attached"] * 2
    with psycopg.connect(ready.app) as app:
        assert horizon.read(app, ready.schema).position == 200
        with pytest.raises(ArchivedError, match=r"a rebuild needs all .* position 200 .*--attach"):
            horizon.require_whole(app, ready.schema, "a rebuild")
    for statement in ("UPDATE events_1 SET data = 'x'", "TRUNCATE events_1"):
        with pytest.raises(errors.RestrictViolation):
            admin.execute(statement)
    assert [part.name for part in partitions.attach(admin, ready.schema)] == [
        part.name for part in gone[::-1]
    ]
    check(ready.app, ready.schema)
    with psycopg.connect(ready.app) as app:
        horizon.require_whole(app, ready.schema, "a rebuild")
    assert played.digest()[0] > before[0]
    assert isinstance(played.look(old[0]).version, int)


def test_it_is_still_known_what_kind_of_ledger_it_is(played: Played) -> None:
    """The first event says whether a ledger is for trying out; that is known when the event is archived."""

    async def is_demo() -> bool:
        reading = Reading(played.ready.app, played.ready.schema)
        await reading.open()
        try:
            return await reading.is_demo()
        finally:
            await reading.close()

    played.catch_up()
    partitions.detach_before(played.admin, played.ready.schema, 101)
    assert asyncio.run(is_demo())


def test_detached_tables_may_go_and_come_back(played: Played) -> None:
    """A detached table can be moved elsewhere and restored; only what was detached is attached again."""
    admin, schema = played.admin, played.ready.schema
    before = played.digest()
    played.catch_up()
    partitions.detach_before(admin, schema, 101)
    admin.execute("ALTER TABLE events_51 RENAME TO elsewhere")
    assert partitions.listing(admin, schema)[1].state == "elsewhere"
    check(played.ready.app, schema)
    with pytest.raises(PartitionsError, match="restore table events_51 first"):
        partitions.attach(admin, schema)
    admin.execute("CREATE TABLE events_51 (LIKE elsewhere INCLUDING ALL)")
    admin.execute(f"ALTER TABLE events_51 OWNER TO {schema}_owner")
    with pytest.raises(PartitionsError, match="events_51 has 0 events"):
        partitions.attach(admin, schema)
    admin.execute("DROP TABLE events_51")
    admin.execute("ALTER TABLE elsewhere RENAME TO events_51")
    partitions.attach(admin, schema)
    assert played.digest() == before
    with pytest.raises(PartitionsError, match="no detached partition to attach"):
        partitions.attach(admin, schema)


def test_what_is_still_needed_is_not_detached(played: Played) -> None:
    """What is being written, an open round's beginning and what a projection needs all stay."""
    admin, schema = played.admin, played.ready.schema
    before = partitions.listing(admin, schema)
    ((head,),) = admin.execute("SELECT position FROM head").fetchall()
    with pytest.raises(PartitionsError, match="no partition lies wholly before position 50"):
        partitions.detach_before(admin, schema, 50)
    with pytest.raises(PartitionsError, match=f"has only come to position {head}"):
        partitions.detach_before(admin, schema, 10**9)
    opened = players.open_round(played.player, played.house, 1, first=6)
    for _ in range(2):
        played.play()
    with pytest.raises(PartitionsError, match=f"round {opened['round_id']} began there and is still open"):
        partitions.detach_before(admin, schema, head + 100)
    played.catch_up()
    admin.execute(f"UPDATE {schema}_read.projections SET position = 10 WHERE name = 'player_rounds'")
    with pytest.raises(PartitionsError, match="the projection player_rounds is at position 10"):
        partitions.detach_before(admin, schema, 101)
    assert partitions.listing(admin, schema)[:5] == before[:5]

"""The database itself guards what the ledger promises, and preparing it can be repeated."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from infrastructure import bootstrap
from infrastructure.bootstrap import AppDsn, NotReadyError, check, is_empty, prepare, shipped_documents
from infrastructure.ledger.postgres import PostgresStore, UnsafeServerError
from infrastructure.ledger.store import (
    Changes,
    CommandRecord,
    FirstReading,
    RulesetRow,
    StoredEventRow,
    TransferRow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
NOW = 1_796_000_000_000_000

_schemas = itertools.count(1)


@pytest.fixture
def schema() -> str:
    """Return a schema's name that nobody has used."""
    return f"schema_{next(_schemas)}"


@pytest.fixture
def ready(database: str, schema: str) -> AppDsn:
    """Return a prepared ledger."""
    return prepare(database, schema, passwords=PASSWORDS)


@pytest.fixture
def owner(database: str, ready: AppDsn) -> Iterator[psycopg.Connection]:
    """Yield a connection in the owner's role, of a ledger with a row in each table that never changes."""
    store = PostgresStore(ready.app, ready.schema)
    store.begin(FirstReading(0))
    store.commit(
        Changes(
            1,
            NOW,
            events=[StoredEventRow(1, "round-R1", 1, b"{}")],
            commands=[CommandRecord(b"c" * 16, b"f" * 16, 0, b"{}", 1)],
            rulesets=[RulesetRow("r", 1, 1, "a" * 64, b"{}")],
            transfers=[TransferRow("p", "in", "ref", 1, b"{}")],
        )
    )
    store.close()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"SET ROLE {ready.schema}_owner")
        connection.execute(f"SET search_path = {ready.schema}")
        yield connection


@pytest.fixture
def forgetful_server(postgres: str) -> Iterator[None]:
    """Switch full_page_writes off for a test."""

    def switch(statement: str, wanted: str) -> None:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(statement)
            connection.execute("SELECT pg_reload_conf()")
            while connection.execute("SHOW full_page_writes").fetchone() != (wanted,):
                connection.execute("SELECT pg_sleep(0.01)")

    switch("ALTER SYSTEM SET full_page_writes = off", "off")
    yield
    switch("ALTER SYSTEM RESET full_page_writes", "on")


# ── What is recorded never changes (G12)
@pytest.mark.parametrize("table", ["events", "commands", "transfers", "rulesets"])
@pytest.mark.parametrize(
    "statement",
    ["UPDATE {t} SET position = 9", "DELETE FROM {t}", "TRUNCATE {t}", "DELETE FROM {t} WHERE false"],
)
def test_even_the_owner_cannot_change_what_is_recorded(
    owner: psycopg.Connection, table: str, statement: str
) -> None:
    """An update, a deletion, of no row even, and a truncation are refused with a sentence that says why."""
    if table == "transfers":
        statement = statement.replace("position = 9", "amount = 9")
    with pytest.raises(
        psycopg.errors.RestrictViolation, match=f"on {table} is refused: .* a correction is a new event"
    ):
        owner.execute(statement.format(t=table))
    assert owner.execute(f"SELECT count(*) FROM {table}").fetchone() == (1,)


def test_the_triggers_hold_in_a_replica_session(
    database: str, owner: psycopg.Connection, ready: AppDsn
) -> None:
    """The setting with which replication and restores switch triggers off does not switch these off."""
    del owner
    with psycopg.connect(database, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        with pytest.raises(psycopg.errors.RestrictViolation):
            superuser.execute(f"DELETE FROM {ready.schema}.events")


def test_events_have_nothing_that_could_disagree_with_the_bytes(owner: psycopg.Connection) -> None:
    """Beside the bytes a row holds only what finds them: position, stream and version."""
    columns = owner.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'events'::regclass AND attnum > 0"
    ).fetchall()
    assert {name for (name,) in columns} == {"position", "stream", "version", "data"}


def test_text_is_compared_by_byte(owner: psycopg.Connection) -> None:
    """Every text column but free notes has the collation "C", so that no system update reorders an index."""
    odd = owner.execute(
        """SELECT relname, attname FROM pg_attribute
        JOIN pg_class ON pg_class.oid = attrelid JOIN pg_collation ON pg_collation.oid = attcollation
        WHERE relnamespace = current_schema::regnamespace AND relkind = 'r' AND attnum > 0 AND collname <> 'C'
            AND relname <> 'ledger_migrations'"""
    ).fetchall()
    assert odd == [("notes", "note")]


def test_hot_rows_are_updated_in_place(ready: AppDsn, owner: psycopg.Connection) -> None:
    """Updating the head leaves no work for its index: every update finds room on the same page."""
    store = PostgresStore(ready.app, ready.schema)
    for _ in range(300):
        store.begin(FirstReading(1))
        store.commit(Changes(1, NOW))
    store.close()
    size = owner.execute("SELECT pg_relation_size('head'), pg_relation_size('head_pkey')").fetchone()
    assert size is not None
    assert size[0] <= 5 * 8192
    assert size[1] <= 2 * 8192


# ── Preparing
def test_preparing_again_changes_nothing(database: str, ready: AppDsn) -> None:
    """Preparing a prepared database gives the same logins and applies no migration twice."""
    with psycopg.connect(database) as connection:
        query = f"SELECT number, applied_at FROM {ready.schema}.ledger_migrations"
        before = connection.execute(query).fetchall()
        connection.rollback()
        assert prepare(database, ready.schema, passwords=PASSWORDS) == ready
        assert connection.execute(query).fetchall() == before
    check(ready.app, ready.schema)


def test_several_processes_may_prepare_at_once(database: str, schema: str) -> None:
    """Those that come second wait for the first and find everything done."""
    with ThreadPoolExecutor(6) as pool:
        starts = [pool.submit(prepare, database, schema, passwords=PASSWORDS) for _ in range(12)]
        found = [start.result() for start in starts]
    assert len(set(found)) == 1
    check(found[0].app, schema)


def test_new_passwords_take_the_place_of_the_old(database: str, ready: AppDsn) -> None:
    """Preparing with other passwords changes the logins; the old ones no longer open."""
    changed = prepare(
        database, ready.schema, passwords={role: f"new-{word}" for role, word in PASSWORDS.items()}
    )
    check(changed.app, ready.schema)
    with pytest.raises(NotReadyError, match="password authentication failed"):
        check(ready.app, ready.schema)


def test_an_administrator_need_not_be_a_superuser(database: str, schema: str) -> None:
    """Who may create roles and schemas can prepare, as on a hosted server."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {schema}_admin LOGIN CREATEROLE PASSWORD 'admin-of-a-test'")
        name = connection.info.dbname
        connection.execute(f"GRANT CREATE ON DATABASE {name} TO {schema}_admin")
    dsn = prepare(
        make_conninfo(database, user=f"{schema}_admin", password="admin-of-a-test"),
        schema,
        passwords=PASSWORDS,
    )
    check(dsn.app, schema)


@pytest.mark.parametrize("name", ["", "Ledger", "1st", "a b", 'a"b', "pg_ledger", "a" * 41, "a;drop"])
def test_an_odd_schema_name_is_refused(database: str, name: str) -> None:
    """The schema's name becomes part of roles' names, so it is a plain word."""
    with pytest.raises(NotReadyError, match="not a schema name"):
        prepare(database, name, passwords=PASSWORDS)


def test_an_unreachable_server_is_one_line() -> None:
    """Where there is no server the error is one line."""
    for function in (check, is_empty, lambda dsn: prepare(dsn, passwords=PASSWORDS)):
        with pytest.raises(NotReadyError) as caught:
            function("host=/nowhere dbname=x connect_timeout=2")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["postgres//admin:hidden@host/x", "postgresql://admin:hidden@host/x?none=1", "host=x hidden"]
)
def test_what_is_no_connection_string_is_not_repeated(url: str) -> None:
    """The client library quotes what it cannot read; the password in it is not passed on."""
    for function in (check, is_empty, lambda dsn: prepare(dsn, passwords=PASSWORDS)):
        with pytest.raises(NotReadyError, match="not a connection string") as caught:
            function(url)
        assert "hidden" not in str(caught.value)


def test_nothing_secret_is_printed(ready: AppDsn) -> None:
    """Printing the logins shows the schema alone."""
    assert repr(ready) == f"AppDsn(schema='{ready.schema}')"


# ── Checking
def test_a_database_that_was_not_prepared_is_refused(database: str) -> None:
    """Checking says to prepare where there is no ledger."""
    with pytest.raises(NotReadyError, match="there is no ledger in schema nothing_here: run serve --init-db"):
        check(database, "nothing_here")


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("ALTER TABLE events DISABLE TRIGGER events_never_change", "trigger events_never_change is missing"),
        (
            "ALTER TABLE commands ENABLE TRIGGER commands_rows_never_change",
            "commands_rows_never_change is missing",
        ),
        ("DROP TRIGGER rulesets_never_change ON rulesets", "rulesets_never_change is missing"),
        (
            """CREATE FUNCTION allow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
            CREATE OR REPLACE TRIGGER events_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events
            EXECUTE FUNCTION allow(); ALTER TABLE events ENABLE ALWAYS TRIGGER events_never_change""",
            "trigger events_never_change is missing or weakened",
        ),
        (
            """CREATE OR REPLACE TRIGGER events_never_change BEFORE UPDATE OR DELETE ON events
            EXECUTE FUNCTION refuse_change(); ALTER TABLE events ENABLE ALWAYS TRIGGER events_never_change""",
            "trigger events_never_change is missing or weakened",
        ),
        (
            """CREATE OR REPLACE TRIGGER events_1_rows_never_change BEFORE UPDATE OR DELETE ON events_1
            FOR EACH ROW WHEN (OLD.position = 0) EXECUTE FUNCTION refuse_change();
            ALTER TABLE events_1 ENABLE ALWAYS TRIGGER events_1_rows_never_change""",
            "trigger events_1_rows_never_change is missing or weakened",
        ),
        ("GRANT UPDATE (data) ON events TO {app}", "could change recorded events"),
        ("GRANT DELETE ON events TO {app}", "could change recorded events"),
        ("GRANT TRUNCATE ON events TO PUBLIC", "could change recorded events"),
        ("DELETE FROM ledger_migrations", "older than this software"),
        ("INSERT INTO ledger_migrations VALUES (9999, 'x', 'y')", "migration 9999, which is newer"),
        ("UPDATE ledger_migrations SET sha256 = 'x' WHERE number = 1", "migration 1 was edited"),
    ],
)
def test_a_guard_that_is_gone_is_noticed(
    owner: psycopg.Connection, ready: AppDsn, statement: str, complaint: str
) -> None:
    """A weakened trigger, a right too many, a schema too old, too new or edited stop the start."""
    owner.execute(statement.format(app=f"{ready.schema}_app"))
    with pytest.raises(NotReadyError, match=complaint):
        check(ready.app, ready.schema)


def test_preparing_refuses_a_schema_of_a_newer_release(
    database: str, owner: psycopg.Connection, ready: AppDsn
) -> None:
    """Migrations only go forward: an older release does not touch a newer ledger."""
    owner.execute("INSERT INTO ledger_migrations VALUES (9999, 'x', 'y')")
    with pytest.raises(NotReadyError, match="update it"):
        prepare(database, ready.schema, passwords=PASSWORDS)


def test_a_superuser_is_not_the_application(database: str, ready: AppDsn) -> None:
    """Serving with an administrator's login is refused: nothing would hold it back."""
    with pytest.raises(NotReadyError, match=f"connect as {ready.schema}_app"):
        check(database, ready.schema)


def test_a_server_that_forgets_is_refused(ready: AppDsn, forgetful_server: None) -> None:
    """A server with fsync or full_page_writes off may lose answered commands; a throwaway may use it."""
    del forgetful_server
    with pytest.raises(NotReadyError, match="may lose what it has committed"):
        check(ready.app, ready.schema)
    check(ready.app, ready.schema, throwaway=True)
    with pytest.raises(UnsafeServerError):
        PostgresStore(ready.app, ready.schema).begin(FirstReading(0))
    store = PostgresStore(ready.app, ready.schema, throwaway=True)
    assert store.begin(FirstReading(0)).position == 0
    store.close()


def test_emptiness_is_known_before_and_after(database: str, schema: str) -> None:
    """A ledger is empty before it is prepared and until its first event."""
    assert is_empty(database, schema)
    ready = prepare(database, schema, passwords=PASSWORDS)
    assert is_empty(ready.app, schema)
    store = PostgresStore(ready.app, schema)
    store.begin(FirstReading(0))
    store.commit(Changes(1, NOW, events=[StoredEventRow(1, "ledger-0", 1, b"{}")]))
    store.close()
    assert not is_empty(ready.app, schema)


def test_a_migration_is_whole_or_not_at_all(
    database: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A migration that fails half-way leaves nothing behind, and the next attempt succeeds."""
    real = bootstrap._migrations()
    broken = real[0]._replace(text=real[0].text + "\nSELECT 1 / 0;")
    with monkeypatch.context() as patch:
        patch.setattr(bootstrap, "_migrations", lambda: [broken])
        with pytest.raises(NotReadyError, match="division by zero"):
            prepare(database, schema, passwords=PASSWORDS)
    with psycopg.connect(database) as connection:
        found = connection.execute(sql.SQL("SELECT to_regnamespace({})").format(schema)).fetchone()
        assert found == (None,)
    check(prepare(database, schema, passwords=PASSWORDS).app, schema)


def test_the_shipped_rule_sets_are_documents() -> None:
    """Nine rule sets come with the project, ready to be published."""
    documents = shipped_documents()
    assert len(documents) == 9
    assert len({document["id"] for document in documents}) == 9

"""What the application's and the auditor's logins may do, and what the database refuses them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import errors

from infrastructure.bootstrap import AppDsn, prepare
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.store import Changes, FirstReading, OpenRoundRow, StoredEventRow

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
TABLES = (
    "head", "events", "commands", "wallets", "accounts", "jackpots", "tables", "rulesets", "open_rounds",
    "transfers", "notes", "odds_figures",
)  # fmt: skip


@pytest.fixture(scope="module")
def ready(database: str) -> AppDsn:
    """Return a ledger with an event and an open round."""
    dsn = prepare(database, "roles", passwords=PASSWORDS)
    store = PostgresStore(dsn.app, "roles")
    store.begin(FirstReading(0))
    store.commit(
        Changes(
            1,
            1,
            events=[StoredEventRow(1, "round-R1", 1, b"{}")],
            open_rounds=[OpenRoundRow("R1", "T1", b"sealed", "a" * 64, None, unsettled=False)],
        )
    )
    store.close()
    return dsn


@pytest.fixture
def app(ready: AppDsn) -> Iterator[psycopg.Connection]:
    """Yield the application's connection."""
    with psycopg.connect(ready.app, autocommit=True, options="-c search_path=roles") as connection:
        yield connection


@pytest.fixture
def auditor(ready: AppDsn) -> Iterator[psycopg.Connection]:
    """Yield the auditor's connection."""
    with psycopg.connect(ready.auditor, autocommit=True, options="-c search_path=roles") as connection:
        yield connection


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET data = ''",
        "DELETE FROM events",
        "TRUNCATE events",
        "UPDATE commands SET outcome = 1",
        "DELETE FROM commands",
        "UPDATE transfers SET amount = 2",
        "DELETE FROM transfers",
        "UPDATE rulesets SET content = ''",
        "DELETE FROM wallets",
        "UPDATE wallets SET player = 'x'",
        "UPDATE wallets SET currency = 'EUR'",
        "DELETE FROM accounts",
        "DELETE FROM jackpots",
        "DELETE FROM head",
        "INSERT INTO head (position, recorded_at_us) VALUES (0, 0)",
        "UPDATE notes SET note = ''",
        "DELETE FROM ledger_migrations",
        "ALTER TABLE events DISABLE TRIGGER ALL",
        "ALTER TABLE events ADD COLUMN x int",
        "DROP TABLE events",
        "DROP TRIGGER events_never_change ON events",
        "CREATE TABLE roles.x (y int)",
        "CREATE FUNCTION roles.x() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE INDEX ON events (version)",
        "SET ROLE roles_owner",
        "SET session_replication_role = replica",
        "GRANT UPDATE ON events TO roles_auditor",
    ],
)
def test_the_application_may_not(app: psycopg.Connection, statement: str) -> None:
    """The application cannot change, remove or redefine what is recorded, nor anything of the schema."""
    with pytest.raises(errors.InsufficientPrivilege):
        app.execute(statement)


@pytest.mark.parametrize("table", [table for table in TABLES if table != "open_rounds"])
@pytest.mark.parametrize("mode", ["ACCESS EXCLUSIVE", "EXCLUSIVE", "ROW EXCLUSIVE", "ACCESS SHARE"])
def test_the_application_locks_no_table(app: psycopg.Connection, table: str, mode: str) -> None:
    """Rights by column allow no table lock, so no session of ours stops the others."""
    with app.transaction(), pytest.raises(errors.InsufficientPrivilege):
        app.execute(f"LOCK TABLE {table} IN {mode} MODE")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM {t}", "TRUNCATE {t}", "UPDATE {t} SET {c} = {c}", "LOCK TABLE {t} IN EXCLUSIVE MODE"],
)
def test_the_auditor_changes_nothing(auditor: psycopg.Connection, table: str, statement: str) -> None:
    """The auditor reads and can do nothing else, to any table."""
    column = auditor.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum = 1", [table]
    ).fetchone()
    assert column is not None
    with auditor.transaction(), pytest.raises(errors.InsufficientPrivilege):
        auditor.execute(statement.format(t=table, c=column[0]))


@pytest.mark.parametrize("table", [table for table in TABLES if table not in ("open_rounds", "notes")])
def test_the_auditor_reads_whole_tables(auditor: psycopg.Connection, table: str) -> None:
    """Everything that is no secret and no free text can be read."""
    auditor.execute(f"SELECT * FROM {table}")


def test_the_auditor_sees_no_sealed_seed_and_no_note(auditor: psycopg.Connection) -> None:
    """Open rounds are listed without their sealed seeds; notes, which may name people, not at all (G5)."""
    assert auditor.execute("SELECT round_id, table_id, unsettled FROM open_rounds").fetchall() == [
        ("R1", "T1", False)
    ]
    for statement in ("SELECT sealed FROM open_rounds", "SELECT * FROM open_rounds", "SELECT 1 FROM notes"):
        with pytest.raises(errors.InsufficientPrivilege):
            auditor.execute(statement)


def test_nobody_logs_in_as_the_owner(ready: AppDsn, database: str) -> None:
    """The role that owns everything cannot log in, and no other role is a member of it."""
    del ready
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT rolcanlogin, rolsuper FROM pg_roles WHERE rolname = 'roles_owner'"
        ).fetchone()
        members = connection.execute(
            "SELECT member::regrole::text FROM pg_auth_members WHERE roleid = 'roles_owner'::regrole"
        ).fetchall()
    assert found == (False, False)
    assert members == []


def test_the_roles_of_one_ledger_see_nothing_of_another(database: str, ready: AppDsn) -> None:
    """Two ledgers in a database are apart: each one's logins are refused at the other's schema."""
    prepare(database, "roles_other", passwords=PASSWORDS)
    for dsn in (ready.app, ready.auditor):
        with psycopg.connect(dsn) as connection, pytest.raises(errors.InsufficientPrivilege):
            connection.execute("SELECT position FROM roles_other.head")


def test_an_auditor_does_not_take_every_connection(ready: AppDsn) -> None:
    """However often the auditor connects, the application still can."""
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(psycopg.connect(ready.auditor))
        with pytest.raises(psycopg.OperationalError, match='too many connections for role "roles_auditor"'):
            psycopg.connect(ready.auditor)
        with psycopg.connect(ready.app) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)

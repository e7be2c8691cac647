"""The read side's schema: who may do what there, and what is told when it is not as it must be."""

from __future__ import annotations

import psycopg
import pytest

from infrastructure.bootstrap import AppDsn, NotReadyError, check, prepare
from infrastructure.projections.catalogue import PROJECTIONS

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}


@pytest.fixture(scope="module")
def ready(database: str) -> AppDsn:
    """Return a ledger."""
    return prepare(database, "reads", passwords=PASSWORDS)


def test_every_table_of_the_catalogue_can_be_read_at_once(ready: AppDsn) -> None:
    """Before anything was projected the views are there, empty, for the application and the auditor."""
    for dsn in (ready.app, ready.auditor):
        with psycopg.connect(dsn, options="-c search_path=reads_read") as connection:
            for table in (table for make in PROJECTIONS for table in make().tables):
                columns = ", ".join(column.name for column in table.columns)
                assert connection.execute(f"SELECT {columns} FROM {table.name}").fetchall() == []
            names = connection.execute("SELECT name, position FROM projections WHERE live").fetchall()
            assert sorted(names) == sorted((make().name, 0) for make in PROJECTIONS)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE reads.x (y int)",
        "DROP SCHEMA reads_read CASCADE",
        "ALTER SCHEMA reads_read OWNER TO reads_app",
        "GRANT CREATE ON SCHEMA reads_read TO reads_auditor",
    ],
)
def test_the_application_makes_tables_here_and_no_more(ready: AppDsn, statement: str) -> None:
    """The schema itself is the owner's, and in the ledger's own schema nothing can be made."""
    with psycopg.connect(ready.app, autocommit=True) as connection:
        connection.execute("CREATE TABLE reads_read.probe (y int)")
        connection.execute("DROP TABLE reads_read.probe")
        try:
            connection.execute(statement)
        except psycopg.errors.InsufficientPrivilege:
            return
        (granted,) = connection.execute(
            "SELECT has_schema_privilege('reads_auditor', 'reads_read', 'CREATE')"
        ).fetchone() or (True,)
        assert not granted, "PostgreSQL only warns of a grant that grants nothing"


@pytest.mark.parametrize("table", [f"{table.name}__1" for make in PROJECTIONS for table in make().tables])
def test_the_auditor_changes_nothing_here(ready: AppDsn, table: str) -> None:
    """Derived rows can be read by the auditor and changed by nobody but the application."""
    with psycopg.connect(ready.auditor, autocommit=True, options="-c search_path=reads_read") as connection:
        for statement in (f"DELETE FROM {table}", f"TRUNCATE {table}", f"DROP TABLE {table}"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


@pytest.mark.parametrize(
    ("damage", "repair", "told"),
    [
        (
            "REVOKE CREATE ON SCHEMA reads_read FROM reads_app",
            None,
            "no schema reads_read in which reads_app may make tables",
        ),
        (
            "GRANT CREATE ON SCHEMA reads_read TO reads_auditor",
            "REVOKE CREATE ON SCHEMA reads_read FROM reads_auditor",
            "others may make tables in schema reads_read",
        ),
        (
            "GRANT CREATE ON SCHEMA reads_read TO PUBLIC",
            "REVOKE CREATE ON SCHEMA reads_read FROM PUBLIC",
            "others may make tables in schema reads_read",
        ),
        (
            "GRANT INSERT ON reads_read.postings__1 TO reads_auditor",
            "REVOKE INSERT ON reads_read.postings__1 FROM reads_auditor",
            "the auditor could change reads_read.postings__1",
        ),
        ("DROP SCHEMA reads_read CASCADE", None, "no schema reads_read"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    ready: AppDsn, database: str, damage: str, repair: str | None, told: str
) -> None:
    """A check names it; preparing again, or taking the right away, mends it."""
    check(ready.app, "reads")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(damage)
        with pytest.raises(NotReadyError, match=told) as problem:
            check(ready.app, "reads")
        assert "\n" not in str(problem.value)
        if repair is None:
            prepare(database, "reads", passwords=PASSWORDS)
        else:
            connection.execute(repair)
    check(ready.app, "reads")


def test_a_registry_that_is_gone_is_told(ready: AppDsn, database: str) -> None:
    """Without the registry nothing can be derived; preparing again makes it, and all is derived anew."""
    with psycopg.connect(database, autocommit=True) as connection:
        for table in ("alarms", "projections"):
            connection.execute(f"DROP TABLE reads_read.{table}")
            with pytest.raises(NotReadyError, match=f"reads_read.{table} is not there"):
                check(ready.app, "reads")
            prepare(database, "reads", passwords=PASSWORDS)
            check(ready.app, "reads")
        assert set(connection.execute("SELECT build, position FROM reads_read.projections").fetchall()) == {
            (1, 0)
        }


def test_an_administrator_who_is_no_superuser_prepares_it(database: str) -> None:
    """Whoever may make roles and schemas can make a ledger with its read side, and again."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE ROLE reads_admin LOGIN CREATEROLE PASSWORD 'admin-password-of-a-test'")
        connection.execute(
            f"GRANT CREATE ON DATABASE {connection.info.dbname} TO reads_admin WITH GRANT OPTION"
        )
    admin = psycopg.conninfo.make_conninfo(database, user="reads_admin", password="admin-password-of-a-test")
    for _ in range(2):
        dsn = prepare(admin, "reads_two", passwords=PASSWORDS)
        check(dsn.app, "reads_two")

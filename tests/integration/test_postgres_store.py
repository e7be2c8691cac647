"""PostgreSQL fails in its own ways: a server that goes away in the middle, and one that does not answer."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

import psycopg
import pytest

from infrastructure.bootstrap import AppDsn, prepare
from infrastructure.ledger.line import Line, LineLostError, LineRefusedError
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.store import (
    Changes,
    CommandRecord,
    FirstReading,
    StoredEventRow,
    StoreLost,
    StoreRefused,
    WalletRow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
NOW = 1_796_000_000_000_000
ID = b"c" * 16

_schemas = itertools.count(1)


@pytest.fixture
def ready(database: str) -> AppDsn:
    """Return an empty ledger."""
    return prepare(database, f"store_{next(_schemas)}", passwords=PASSWORDS)


@pytest.fixture
def store(ready: AppDsn) -> Iterator[PostgresStore]:
    """Yield a store that waits a second for the head."""
    store = PostgresStore(ready.app, ready.schema, lock_seconds_max=1)
    yield store
    store.close()


@pytest.fixture
def superuser(database: str) -> Iterator[psycopg.Connection]:
    """Yield a superuser's connection."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


def batch(position: int) -> Changes:
    """Return a batch of one event and one command."""
    return Changes(
        position,
        NOW + position,
        events=[StoredEventRow(position, f"round-{position}", 1, b"{}")],
        commands=[CommandRecord(ID, b"f" * 16, 0, b"{}", position)],
    )


def terminate(superuser: psycopg.Connection, ready: AppDsn) -> None:
    """End every connection of the application's role, and wait until they are gone."""
    role = f"{ready.schema}_app"
    superuser.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", [role])
    while superuser.execute("SELECT 1 FROM pg_stat_activity WHERE usename = %s", [role]).fetchone():
        superuser.execute("SELECT pg_sleep(0.005)")


# ── A connection that goes away
def test_a_connection_lost_between_batches_is_not_noticed(
    store: PostgresStore, superuser: psycopg.Connection, ready: AppDsn
) -> None:
    """Nothing was under way, so the next batch simply begins on a new connection."""
    store.begin(FirstReading(0))
    store.commit(batch(1))
    terminate(superuser, ready)
    assert store.begin(FirstReading(0)).position == 1


def test_a_connection_lost_before_the_commit_is_lost(
    store: PostgresStore, superuser: psycopg.Connection, ready: AppDsn
) -> None:
    """A batch whose connection went away before its commit is lost, and a look-up shows it did not happen."""
    store.begin(FirstReading(0))
    terminate(superuser, ready)
    with pytest.raises(StoreLost):
        store.commit(batch(1))
    assert store.find_commands([ID]) == {}
    assert store.begin(FirstReading(0)).position == 0


def test_a_connection_lost_while_reading_is_lost(
    store: PostgresStore, superuser: psycopg.Connection, ready: AppDsn
) -> None:
    """Losing the connection in the middle of a transaction ends the transaction."""
    store.begin(FirstReading(0))
    terminate(superuser, ready)
    with pytest.raises(StoreLost):
        store.read_wallets(["p"], [])
    store.rollback()
    assert store.begin(FirstReading(0)).position == 0


def test_rolling_back_a_lost_transaction_is_harmless(
    store: PostgresStore, superuser: psycopg.Connection, ready: AppDsn
) -> None:
    """The server has ended it already."""
    store.begin(FirstReading(0))
    terminate(superuser, ready)
    store.rollback()
    assert store.begin(FirstReading(0)).position == 0


def test_looking_up_waits_for_a_commit_that_is_still_under_way(
    store: PostgresStore, superuser: psycopg.Connection, ready: AppDsn
) -> None:
    """A server process that has not noticed our absence may still commit: the look-up waits for it."""
    superuser.execute("BEGIN")
    superuser.execute(f"SELECT 1 FROM {ready.schema}.head FOR UPDATE")
    columns = "id, fingerprint, outcome, body, position"
    superuser.execute(
        f"INSERT INTO {ready.schema}.commands ({columns}) VALUES (%s, %s, 0, '\\x00', 1)", [ID, ID]
    )
    found: list[set[bytes]] = []
    patient = PostgresStore(ready.app, ready.schema, lock_seconds_max=60)
    thread = threading.Thread(target=lambda: found.append(set(patient.find_commands([ID]))))
    thread.start()
    watcher = psycopg.connect(ready.auditor, autocommit=True)
    with watcher:
        waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
        while not watcher.execute(waiting).fetchone():
            watcher.execute("SELECT pg_sleep(0.005)")
    assert not found
    superuser.execute("COMMIT")
    thread.join()
    patient.close()
    assert found == [{ID}]
    store.begin(FirstReading(0))
    with pytest.raises(StoreRefused):
        store.commit(batch(1))


def test_a_server_that_cannot_be_reached_is_lost_in_bounded_time() -> None:
    """Without a server a batch is given up after a bounded number of attempts."""
    store = PostgresStore("host=/nowhere", reconnect_seconds_max=0.2)
    with pytest.raises(StoreLost, match="no connection to the database"):
        store.begin(FirstReading(0))
    with pytest.raises(StoreLost, match="no connection to the database"):
        store.find_commands([ID])
    store.close()


def test_a_schema_that_is_not_there_is_lost(ready: AppDsn) -> None:
    """A store pointed at a schema without a ledger never gets to begin."""
    store = PostgresStore(ready.app, "nowhere", reconnect_seconds_max=0.1)
    with pytest.raises(StoreLost, match="nowhere"):
        store.begin(FirstReading(0))


def test_a_transaction_left_open_frees_the_head_when_the_store_closes(ready: AppDsn) -> None:
    """Closing a store ends its transaction, so nobody waits for it."""
    first = PostgresStore(ready.app, ready.schema)
    first.begin(FirstReading(0))
    first.close()
    second = PostgresStore(ready.app, ready.schema, lock_seconds_max=5)
    assert second.begin(FirstReading(0)).position == 0
    second.close()


# ── A batch the server will not take
def test_a_right_that_is_missing_is_a_refusal(
    store: PostgresStore, superuser: psycopg.Connection, ready: AppDsn
) -> None:
    """A batch that the role may not write did not happen, and later ones do when the right is back."""
    role = f"{ready.schema}_app"
    store.begin(FirstReading(0))
    superuser.execute(f"REVOKE INSERT (data) ON {ready.schema}.events FROM {role}")
    with pytest.raises(StoreRefused, match="42501"):
        store.commit(batch(1))
    superuser.execute(f"GRANT INSERT (data) ON {ready.schema}.events TO {role}")
    store.begin(FirstReading(0))
    store.commit(batch(1))


def test_a_server_that_takes_no_writes_is_lost(superuser: psycopg.Connection, ready: AppDsn) -> None:
    """A standby, or a server turned read-only, is not where a writer goes, until it takes writes again."""
    role = f"{ready.schema}_app"
    store = PostgresStore(ready.app, ready.schema, reconnect_seconds_max=0.1)
    superuser.execute(f"ALTER ROLE {role} SET default_transaction_read_only = on")
    with pytest.raises(StoreLost, match="read-only"):
        store.begin(FirstReading(0))
    superuser.execute(f"ALTER ROLE {role} RESET default_transaction_read_only")
    assert store.begin(FirstReading(0)).position == 0
    store.close()


@pytest.mark.parametrize(
    "wallet",
    [
        WalletRow("p", "id", "USD", "real", 1, 0, 0, "\x00"),
        WalletRow("p", "id", "USD", "real", 1, 0, 0, "\ud800"),
        WalletRow("p", "id", "DOLLAR", "real", 1, 0, 0, "{}"),
        WalletRow("p", "id", "USD", "play", 1, 0, 0, "{}"),
        WalletRow("p", "id", "USD", "real", 2**31, 0, 0, "{}"),
    ],
    ids=["NUL", "surrogate", "currency", "class", "version"],
)
def test_a_value_the_database_has_no_place_for_is_refused(store: PostgresStore, wallet: WalletRow) -> None:
    """Whether we or the server find it, it is a refusal, and the next batch is taken."""
    store.begin(FirstReading(0))
    refused = batch(1)
    refused.wallets = [wallet]
    with pytest.raises(StoreRefused):
        store.commit(refused)
    store.begin(FirstReading(0))
    store.commit(batch(1))


def test_a_batch_of_many_megabytes_is_written(store: PostgresStore) -> None:
    """A batch much larger than the socket's buffers goes through, and comes back."""
    body = bytes(range(32, 127)) * 600
    events = [StoredEventRow(n, "round-R1", n, body) for n in range(1, 201)]
    store.begin(FirstReading(0))
    store.commit(Changes(200, NOW + 200, events=events))
    assert store.begin(FirstReading(0, new_rounds=["R1"])).events == {"R1": [body] * 200}


def test_commits_are_synchronous_whatever_the_default(superuser: psycopg.Connection, ready: AppDsn) -> None:
    """The writer's session waits for the disk even where the role's default says otherwise."""
    superuser.execute(f"ALTER ROLE {ready.schema}_app SET synchronous_commit = off")
    store = PostgresStore(ready.app, ready.schema)
    (result,) = store._connected().trip([("settings", [b"1000", b"1000"])])
    store.close()
    assert result.get_value(0, 3) == b"on"


# ── The line itself
def test_an_answer_that_does_not_come_is_bounded(ready: AppDsn) -> None:
    """A server that does not answer in time is given up, and the line is closed."""
    line = Line(
        ready.app,
        {"sleep": "SELECT pg_sleep(60)"},
        application_name="test",
        connect_seconds_max=5,
        answer_seconds_max=0.1,
    )
    with pytest.raises(LineLostError, match="no answer within"):
        line.trip([("sleep", ())])
    with pytest.raises(LineLostError):
        line.trip([("sleep", ())])


def test_a_refused_statement_ends_the_trip(ready: AppDsn) -> None:
    """Of a trip the statements after a refused one are not run; the refusal says why and the line goes on."""
    statements = {"one": "SELECT 1", "zero": "SELECT 1 / 0", "note": "SELECT set_config('a.b', 'ran', false)"}
    statements["read"] = "SELECT current_setting('a.b', true)"
    line = Line(ready.app, statements, application_name="test", connect_seconds_max=5, answer_seconds_max=10)
    with pytest.raises(LineRefusedError) as caught:
        line.trip([("one", ()), ("zero", ()), ("note", ())])
    assert caught.value.sqlstate == "22012"
    (result,) = line.trip([("read", ())])
    assert result.get_value(0, 0) is None
    assert line.sent == 4
    line.close()


def test_a_statement_that_cannot_be_prepared_is_refused_at_once(ready: AppDsn) -> None:
    """A mistake in a statement is found when the line is made."""
    with pytest.raises(LineRefusedError, match="42601"):
        Line(
            ready.app,
            {"bad": "SELEKT 1"},
            application_name="test",
            connect_seconds_max=5,
            answer_seconds_max=10,
        )

"""The watch over a ledger that is played on: silent where nothing is wrong, and not where something is."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from api.cli.simulate.channel import InProcess
from api.cli.simulate.play import furnish, play
from infrastructure.checking import alarms, continuous
from infrastructure.checking.continuous import Checker, Watch
from infrastructure.checking.findings import Finding
from infrastructure.checking.reading import Ledger
from infrastructure.clock import system_clock
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.writer import Writer
from infrastructure.projections.runner import ProjectionRunner
from infrastructure.seals import Seals
from tests.integration import checked_ledger as ledger
from tests.integration import tampering
from tests.integration.checked_ledger import PASSWORDS, SCHEMA, head

SECONDS_MAX = 60.0


@pytest.fixture(scope="module")
def filled(database: str) -> str:
    """Return the superuser's connection string of a ledger on which everything has happened once."""
    ledger.fill(database)
    return database


@pytest.fixture
def superuser(filled: str) -> Iterator[psycopg.Connection]:
    """Yield a superuser's connection to it; whatever is done with that is undone afterwards."""
    with psycopg.connect(filled, autocommit=True) as connection, ledger.undone(connection):
        yield connection


@pytest.fixture
def app(filled: str) -> str:
    """Return the application's connection string."""
    return make_conninfo(filled, user=f"{SCHEMA}_app", password=PASSWORDS["app"])


@pytest.fixture
def watch(app: str) -> Iterator[Watch]:
    """Yield a watch that has looked once, as the application's login."""
    with psycopg.connect(app, autocommit=True) as connection:
        watch = Watch(Ledger(connection, SCHEMA))
        assert watch.look() == []
        yield watch


def names(findings: list[Finding]) -> set[str]:
    """Return of which kinds findings are."""
    return {finding.name for finding in findings}


def until(condition: Callable[[], object]) -> None:
    """Wait, a bounded time, until something is so."""
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def playing(app: str, run: str, rounds: int) -> None:
    """Play rounds on the ledger with a writer of our own."""
    writer = Writer(PostgresStore(app, SCHEMA), Seals(os.urandom(32)), system_clock, "test")
    writer.start()

    async def some() -> None:
        channel = InProcess(writer, run)
        await play(channel, run, await furnish(channel, run, ("us-casino", "czech")), 5, rounds, 14)

    try:
        asyncio.run(some())
    finally:
        writer.stop()


# ── What is kept and projected ──────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("tamper", "found"),
    [
        (tampering.a_balance, {"books", "unbalanced", "wallets"}),
        (tampering.money_on_game, {"books", "unbalanced", "wallets"}),
        (tampering.a_balance_for_anothers, {"wallets"}),
        (tampering.an_account, {"books", "unbalanced"}),
        (tampering.a_meter, {"books", "unbalanced"}),
        (tampering.an_overflow, {"books", "unbalanced"}),
        (tampering.the_trial_balance, {"trial_balance"}),
    ],
)
def test_what_was_changed_is_an_alarm_until_it_is_put_right(
    watch: Watch, superuser: psycopg.Connection, tamper: tampering.Tamper, found: set[str]
) -> None:
    """A change past the ledger is found by the next look and by those after it, and not once it is undone."""
    position = tamper(superuser)
    first = watch.look()
    assert found <= names(first)
    assert names(watch.look()) == names(first)
    if "wallets" in found:
        assert position in {finding.position for finding in first if finding.name == "wallets"}
    for table in ("wallets", "accounts", "jackpots"):
        superuser.execute(f"TRUNCATE ledger.{table}")
        superuser.execute(f"INSERT INTO ledger.{table} SELECT * FROM saved.ledger_{table}")
    superuser.execute("DELETE FROM ledger_read.trial_balance_now__1")
    superuser.execute(
        "INSERT INTO ledger_read.trial_balance_now__1 SELECT * FROM saved.ledger_read_trial_balance_now__1"
    )
    assert watch.look() == []


def test_a_watch_that_begins_finds_what_does_not_agree(app: str, superuser: psycopg.Connection) -> None:
    """Where the tables were changed while nobody looked, the projected balances still know better."""
    tampering.an_account(superuser)
    superuser.execute("UPDATE ledger.accounts SET balance = balance + 1 WHERE account = 'cashier:real'")
    with psycopg.connect(app, autocommit=True) as connection:
        assert names(Watch(Ledger(connection, SCHEMA)).look()) == {"trial_balance"}


def test_a_changed_record_is_found_by_a_sample(watch: Watch, superuser: psycopg.Connection) -> None:
    """The samples go round: a record that is not what its events say turns up, and stays an alarm."""
    position = tampering.a_record(superuser)
    until(
        lambda: Finding("round_records", position, "") in [each._replace(detail="") for each in watch.look()]
    )
    assert names(watch.look()) == {"round_records"}


@pytest.mark.parametrize(
    ("tamper", "name"),
    [
        (tampering.a_balance_in_an_event, "postings"),
        (tampering.a_deposit_of_more, "postings"),
        (tampering.a_posting, "postings"),
        (tampering.bytes_that_say_the_same, "canonical"),
        (tampering.bytes_that_say_nothing, "unreadable"),
        (tampering.two_events_in_each_others_place, "place"),
        (tampering.an_event_that_is_gone, "position_gap"),
        (tampering.a_time, "time"),
    ],
)
def test_old_events_are_read_again(
    watch: Watch, superuser: psycopg.Connection, tamper: tampering.Tamper, name: str
) -> None:
    """Whatever is wrong with an event itself is found within some looks, though it was followed before."""
    position = tamper(superuser)
    looks = 2 + head(superuser) // continuous.AGAIN
    found = [finding for _ in range(2 * looks) for finding in watch.look()]
    assert (name, position) in {finding[:2] for finding in found}
    assert (name, position) in {finding[:2] for finding in watch.look()}


def test_an_event_that_is_missing_at_the_end_is_found(watch: Watch, superuser: psycopg.Connection) -> None:
    """A head that is further than the events is an alarm at the first that is missing."""
    superuser.execute("UPDATE ledger.head SET position = position + 1")
    assert ("head", head(superuser)) in {(each.name, each.position) for each in watch.look()}


# ── On a ledger that is played on ───────────────────────────────────────────────────────────────────────────
def test_an_honest_ledger_under_load_never_raises_an_alarm(app: str, filled: str) -> None:
    """While rounds are played and projected, looks as fast as can be find nothing."""
    runner = ProjectionRunner(app, SCHEMA)
    checker = Checker(app, SCHEMA, look_seconds_min=0.0)
    runner.start()
    checker.start()
    try:
        playing(app, "load", 150)
        until(lambda: checker.looks >= 3)
        looks = checker.looks
        until(lambda: checker.looks > looks)
    finally:
        checker.stop()
        runner.stop()
    assert checker.alarms_raised == 0
    with psycopg.connect(filled) as connection:
        assert connection.execute("SELECT * FROM ledger_read.alarms").fetchall() == []


def test_alarms_are_kept_where_all_can_see_them(app: str, superuser: psycopg.Connection) -> None:
    """The thread keeps a row for each alarm with its first position, and takes it away when it is over."""

    def raised() -> dict[str, int]:
        return dict(superuser.execute("SELECT name, position FROM ledger_read.alarms").fetchall())

    position = tampering.bytes_that_say_the_same(superuser)
    alarms.tell(superuser, SCHEMA, [Finding("canonical", position, "as a service before us found")])
    checker = Checker(app, SCHEMA, look_seconds_min=0.0)
    checker.start()
    try:
        until(lambda: checker.looks >= 2)
        assert raised() == {"check_canonical": position}
        superuser.execute("DELETE FROM ledger.events")
        superuser.execute("INSERT INTO ledger.events SELECT * FROM saved.ledger_events")
        until(lambda: not raised())
        balance_at = tampering.a_balance(superuser)
        until(lambda: raised().get("check_wallets") == balance_at)
    finally:
        checker.stop()
    assert checker.alarms_raised > 0


def test_one_process_looks_at_a_time(app: str) -> None:
    """A second checker waits until the first has ended."""
    first, second = (Checker(app, SCHEMA, look_seconds_min=0.0) for _ in range(2))
    first.start()
    until(lambda: first.looks > 0)
    second.start()
    looks = first.looks
    until(lambda: first.looks > looks + 1)
    assert second.looks == 0
    first.stop()
    until(lambda: second.looks > 0)
    second.stop()
    assert not second.alive

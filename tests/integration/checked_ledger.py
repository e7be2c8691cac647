"""A ledger in which everything has happened once, and the ways a superuser can tamper with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator
from typing import Any

import orjson
import psycopg

from api.cli.simulate.channel import InProcess
from api.cli.simulate.play import furnish, play
from domain import commands as c
from infrastructure import ids
from infrastructure.bootstrap import prepare, shipped_documents
from infrastructure.clock import system_clock
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import ACCEPTED, Submission, command_id, own_submission
from infrastructure.ledger.writer import Writer
from infrastructure.projections.runner import Projector
from infrastructure.seals import Seals
from tests.unit.domain.log_keys import FIRST, vkey

SCHEMA = "ledger"
PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
ROUNDS = 120
SHA256 = "a" * 64
KEYS = {"ada": "A" * 43, "bob": "B" * 42 + "A"}


def fill(admin_dsn: str, *, with_log: bool = True) -> None:
    """Make a ledger in a database and let everything happen on it that the checker follows.

    `with_log`: a log too, which nobody can sign.
    """
    dsn = prepare(admin_dsn, SCHEMA, passwords=PASSWORDS).app
    writer = Writer(PostgresStore(dsn, SCHEMA), Seals(os.urandom(32)), system_clock, "test")
    writer.start()
    try:
        asyncio.run(_play(writer))
        _more(writer, with_log=with_log)
    finally:
        writer.stop()
    project(dsn)


def fill_a_little(admin_dsn: str, passwords: dict[str, str]) -> None:
    """Make a ledger with one player."""
    dsn = prepare(admin_dsn, SCHEMA, passwords=passwords).app
    writer = Writer(PostgresStore(dsn, SCHEMA), Seals(os.urandom(32)), system_clock, "test")
    writer.start()
    commands = (
        c.StartLedger(demo=True),
        c.OpenPlayer("anna", "pANNA", "USD"),
        c.Deposit("anna", 1_000_000, "one", "t1"),
    )
    try:
        for command in commands:
            assert writer.call(own_submission(command, repr(command))).outcome == ACCEPTED
    finally:
        writer.stop()


def project(dsn: str) -> None:
    """Bring the projections up to the head."""
    with Projector(dsn, SCHEMA) as projector:
        assert projector.try_to_act()
        while projector.turn():
            pass


async def _play(writer: Writer) -> None:
    channel = InProcess(writer, "sim")
    await writer.submit(own_submission(c.StartLedger(demo=True), "start"))
    for document in shipped_documents():
        await channel.ask(c.PublishRuleset(document))
    houses = ("us-casino", "czech", "nordic")
    await play(channel, "sim", await furnish(channel, "sim", houses), 3, ROUNDS, 28)


def _more(writer: Writer, *, with_log: bool) -> None:
    """What a simulation leaves out: open and void rounds, a jackpot's life, people, the software, a log."""
    number = 0

    def ask(command: c.Command, person: str | None = None) -> dict[str, Any]:
        nonlocal number
        number += 1
        scopes = frozenset(("admin",))
        submission = Submission(
            command_id("tests", str(number)), b"f" * 16, command, person or "tester", None, person, scopes
        )
        result = writer.call(submission)
        assert result.outcome == ACCEPTED, result.body
        answer: dict[str, Any] = orjson.loads(result.body)
        return answer

    def propose(kind: str, payload: dict[str, Any]) -> None:
        approval_id = ids.approval_id(system_clock())
        ask(c.Propose(approval_id, kind, payload))
        ask(c.Approve(approval_id), "bob")

    for person_id, key in KEYS.items():
        ask(c.RegisterPerson(person_id, key, ("admin",), ids.approval_id(system_clock())))
    for code in ("a", "b"):
        ask(c.VerifySoftware("test", code * 64, SHA256, SHA256, None, "start", trusting=True))
    if with_log:
        ask(c.StartLog(FIRST, vkey()))
        propose("log_key", {"vkey": vkey(key=2)})
        ask(c.StartAudit("audit-1", "database", 1, 10))
        ask(c.FinishAudit("audit-1", "pass", 0, 10, 0, SHA256))
        ask(c.RecordArchive(1, "2026-10-01", 1, 10, SHA256))
    for jackpot_id in ("pot", "pond"):
        ask(c.OpenJackpot(jackpot_id, "USD", 100_000, "0.70"))
    ask(c.OpenTable("mine", "us-casino", "USD", 100, 100_000, "rng", "pot", parallel_rounds=True))
    ask(c.OpenPlayer("anna", "pANNA", "USD"))
    ask(c.Deposit("anna", 1_000_000, "one", "t1"))
    ask(c.Withdraw("anna", 1_000, "one", "t2"))
    ask(c.JoinTable("mine", "anna", 3))
    stake = c.SeatStake(3, "anna", 1_000, {"jackpot": 100})
    for round_id in ("R-VOID", "R-OPEN"):
        ask(c.OpenRound(round_id, "mine", (stake,)))
        if round_id == "R-VOID":
            ask(c.VoidRound(round_id, "malfunction"))
    propose("jackpot_adjustment", {"jackpot_id": "pond", "pool": "meter", "amount": 500})
    propose("jackpot_parameters", {"jackpot_id": "pond", "contribution": "0.5", "reset": 100_000})
    ask(c.DisableJackpot("pond"))
    propose("jackpot_transfer", {"jackpot_id": "pond", "to": "pot"})


# ── Tampering ───────────────────────────────────────────────────────────────────────────────────────────────
TABLES = {
    "ledger": "head events commands wallets accounts jackpots tables rulesets open_rounds transfers"
    " registers horizon",
    "ledger_read": "postings__1 round_records__1 trial_balance_now__1 performance__1 jackpot_days__1"
    " player_rounds__1 alarms",
}


@contextlib.contextmanager
def undone(connection: psycopg.Connection) -> Iterator[None]:
    """Switch off what refuses changes, as only a superuser can; afterwards everything is as it was."""
    tables = [f"{schema}.{table}" for schema, names in TABLES.items() for table in names.split()]
    for table in ("events", "events_1", "transfers", "rulesets", "commands"):
        connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER ALL")
    connection.execute("CREATE SCHEMA saved")
    for table in tables:
        connection.execute(f"CREATE TABLE saved.{table.replace('.', '_')} AS TABLE {table}")
    try:
        yield
    finally:
        with connection.transaction():
            for table in tables:
                connection.execute(f"DELETE FROM {table}")
                connection.execute(f"INSERT INTO {table} SELECT * FROM saved.{table.replace('.', '_')}")
            connection.execute("DROP SCHEMA saved CASCADE")
            for table, names in GUARDS.items():
                for name in names:
                    connection.execute(f"ALTER TABLE ledger.{table} ENABLE ALWAYS TRIGGER {name}")


GUARDS = {
    "events": ["events_never_change"],
    **{
        table: [f"{table}_never_change", f"{table}_rows_never_change"]
        for table in ("events_1", "transfers", "rulesets", "commands")
    },
}


def event(connection: psycopg.Connection, position: int) -> dict[str, Any]:
    """Return an event as it is stored."""
    row = connection.execute("SELECT data FROM ledger.events WHERE position = %s", [position]).fetchone()
    assert row is not None
    found: dict[str, Any] = orjson.loads(row[0])
    return found


def rewrite(connection: psycopg.Connection, position: int, changed: dict[str, Any]) -> None:
    """Put other bytes, in the canonical form, where an event is."""
    data = orjson.dumps(changed, option=orjson.OPT_SORT_KEYS)
    connection.execute("UPDATE ledger.events SET data = %s WHERE position = %s", [data, position])


def edit(connection: psycopg.Connection, position: int, **data: Any) -> None:
    """Change some of what an event says."""
    changed = event(connection, position)
    changed["data"] |= data
    rewrite(connection, position, changed)


def first(connection: psycopg.Connection, type_: str) -> int:
    """Return the position of the first event of a type."""
    row = connection.execute(
        "SELECT min(position) FROM ledger.events WHERE position(%s IN data) > 0",
        [f'"type":"{type_}"'.encode()],
    ).fetchone()
    assert row is not None
    assert row[0] is not None, type_
    return int(row[0])


def last_of(connection: psycopg.Connection, stream: str) -> int:
    """Return the position of a stream's last event."""
    row = connection.execute("SELECT max(position) FROM ledger.events WHERE stream = %s", [stream]).fetchone()
    assert row is not None
    return int(row[0])


def head(connection: psycopg.Connection) -> int:
    """Return the last position."""
    row = connection.execute("SELECT position FROM ledger.head").fetchone()
    assert row is not None
    return int(row[0])

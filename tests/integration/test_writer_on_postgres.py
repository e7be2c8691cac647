"""The writer on a real PostgreSQL: what it refuses, how much it is asked, and connections cut at a commit."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from domain import commands as c
from domain.handlers import HANDLERS
from domain.money import EXACT
from domain.postings import ON_GAME, WALLET, legs
from domain.work import Work
from infrastructure.bootstrap import prepare
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.stored_form import decode
from infrastructure.ledger.submission import CommandFailed, Result, Submission
from infrastructure.ledger.writer import Writer
from tests.integration.cutting import CuttingProxy
from tests.unit.domain.playing import shipped
from tests.unit.infrastructure.ledgers import SEALS, Clock, deposit, stake, submission, told

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
PLAYERS = 30
FUNDS = 1_000_000

_numbers = itertools.count(1)


@dataclass
class Ledger:
    """A ledger of a test's own. `dsn` is the application's, `admin` may do anything."""

    dsn: str
    schema: str
    admin: psycopg.Connection
    clock: Clock

    def writer(self, dsn: str | None = None) -> Writer:
        """Return a writer that has not begun: what is handed over until then is one batch."""
        store = PostgresStore(dsn or self.dsn, self.schema, reconnect_seconds_max=10)
        return Writer(store, SEALS, self.clock, "test-build")

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Return what the database holds."""
        return self.admin.execute(query).fetchall()

    def balances(self) -> dict[str, tuple[int, int]]:
        """Return what every player holds and has on game, as the rows say it; the events must agree."""
        rows = {player: (a, b) for player, a, b in self.ask("SELECT player, balance, on_game FROM wallets")}
        said = {(account, player): 0 for player in rows for account in (WALLET, ON_GAME)}
        for (data,) in self.ask("SELECT data FROM events ORDER BY position"):
            for leg in legs(decode(data).event):
                if leg.account in (WALLET, ON_GAME):
                    said[leg.account, leg.owner] += leg.amount
        assert {p: (said[WALLET, p] / EXACT, said[ON_GAME, p] / EXACT) for p in rows} == rows
        return rows


@pytest.fixture
def ledger(database: str) -> Iterator[Ledger]:
    """Yield a ledger with two tables, a jackpot and players with money."""
    schema = f"writer_{next(_numbers)}"
    dsn = prepare(database, schema, passwords=PASSWORDS).app
    with psycopg.connect(database, autocommit=True, options=f"-c search_path={schema}") as admin:
        made = Ledger(dsn, schema, admin, Clock())
        with running(made.writer()) as writer:
            furnish(writer)
        yield made


@contextmanager
def running(writer: Writer) -> Iterator[Writer]:
    """Run a writer for a while."""
    writer.start()
    try:
        yield writer
    finally:
        writer.stop()


def furnish(writer: Writer) -> None:
    """Open what a test plays with."""
    for command in (
        c.StartLedger(demo=True),
        c.PublishRuleset(shipped("us-casino")),
        c.OpenJackpot("pot", "USD", 1_000_000, "0.70"),
        c.OpenTable("t", "us-casino", "USD", 100, 10_000, "rng", "pot"),
        c.OpenTable("u", "us-casino", "USD", 100, 10_000, "rng"),
    ):
        told(writer.call(submission(command, repr(command))))
    for n in range(PLAYERS):
        told(writer.call(submission(c.OpenPlayer(f"player-{n}", f"p{n}", "USD"), f"open-{n}")))
        told(writer.call(submission(deposit(n, FUNDS, "first"), f"fund-{n}")))


def hand_over(writer: Writer, submissions: Sequence[Submission]) -> list[Future[Result]]:
    """Hand over commands without waiting for them."""
    futures: list[Future[Result]] = [Future() for _ in submissions]
    for each, future in zip(submissions, futures, strict=True):
        writer._put(each, future)
    return futures


def in_one_batch(ledger: Ledger, submissions: Sequence[Submission]) -> tuple[list[Result], int]:
    """Run commands as one batch of a writer with a warm connection; return answers and statements sent."""
    writer = ledger.writer()
    list(writer._store.find_commands([]))
    before = writer.figures().statements
    futures = hand_over(writer, submissions)
    with running(writer):
        results = [future.result(60) for future in futures]
        assert writer.figures().batches == 1
        return results, writer.figures().statements - before


# ── Statements ──────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "kind",
    ["deposits", "withdrawals", "openings", "decisions", "rejections", "repeats", "proposals", "approvals"],
)
def test_a_batch_takes_as_many_statements_whatever_its_size(ledger: Ledger, kind: str) -> None:
    """One command, ten, or two hundred: the statements of their batch are the same in number."""
    counts = []
    for size in (1, 10, 200):
        sent = batch_of(ledger, kind, size)
        results, statements = in_one_batch(ledger, sent)
        assert len(results) == size
        assert all(result.replayed for result in results) == (kind == "repeats")
        counts.append(statements)
    assert counts == [counts[0]] * 3
    assert counts[0] <= 20


def batch_of(ledger: Ledger, kind: str, size: int) -> list[Submission]:
    """Return commands of one kind that are decided alike however many they are."""
    commands: list[c.Command]
    name = f"{kind}-{size}"
    if kind in ("deposits", "repeats"):
        commands = [deposit(n % PLAYERS, 5, f"{name}-{n}") for n in range(size)]
    elif kind == "withdrawals":
        commands = [c.Withdraw(f"player-{n % PLAYERS}", 5, f"{name}-{n}", f"t{n}") for n in range(size)]
    elif kind in ("proposals", "approvals"):
        return proposals(ledger, size, approved=kind == "approvals")
    elif kind == "rejections":
        commands = [c.Withdraw(f"player-{n % PLAYERS}", 10**9, f"{name}-{n}", f"t{n}") for n in range(size)]
    else:
        tables = [f"{name}-{n}" for n in range(-(-size // PLAYERS))]
        opening = [c.OpenTable(table, "us-casino", "USD", 100, 10_000, "rng", "pot") for table in tables]
        in_one_batch(ledger, [submission(each, f"table-{each.table_id}") for each in opening])
        side_bets = {"jackpot": 100} if kind == "openings" else {}  # whether it is won later is chance
        bets = [stake(1, n % PLAYERS, **side_bets) for n in range(size)]
        commands = [
            c.OpenRound(f"{name}-{n}", tables[n // PLAYERS], (bet,), deal=True) for n, bet in enumerate(bets)
        ]
        if kind == "decisions":
            in_one_batch(ledger, [submission(each, f"open-{name}-{n}") for n, each in enumerate(commands)])
            commands = [c.Decide(f"{name}-{n}", 1, "raise") for n in range(size)]
    sent = [submission(each, f"{name}-{n}") for n, each in enumerate(commands)]
    if kind == "repeats":
        in_one_batch(ledger, sent)
    return sent


def proposals(ledger: Ledger, size: int, *, approved: bool) -> list[Submission]:
    """Return proposals to register somebody, or approvals of such; two people are registered before."""
    for name in ("anna", "ben"):
        in_one_batch(ledger, [submission(c.RegisterPerson(name, f"key-{name}", ("admin",), "-"), name)])
    names = [f"person-{size}-{n}" for n in range(size)]
    proposed = [
        submission(c.RegisterPerson(name, f"key-{name}", ("audit",), f"A{name}"), name) for name in names
    ]
    if not approved:
        return proposed
    in_one_batch(ledger, proposed)
    approvals = [submission(c.Approve(f"A{name}"), f"approve-{name}") for name in names]
    return [replace(each, actor="ben", person="ben", scopes=frozenset({"admin"})) for each in approvals]


# ── Refused by the database ─────────────────────────────────────────────────────────────────────────────────
def overdraw(command: c.Withdraw, work: Work) -> dict[str, Any]:
    """Withdraw without looking: what a defect in deciding would do."""
    wallet = work.wallet_of(command.player_id)
    wallet.balance -= 10**9
    work.touched_wallets.add(wallet.player)
    return {}


def outgrow(command: c.Withdraw, work: Work) -> dict[str, Any]:
    """Make a number that the database has no place for."""
    wallet = work.wallet_of(command.player_id)
    wallet.version = 2**31
    work.touched_wallets.add(wallet.player)
    return {}


@pytest.mark.parametrize("broken", [overdraw, outgrow])
def test_a_command_the_database_refuses_harms_no_other(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, broken: Any
) -> None:
    """A hundred succeed beside it; it fails alone, and nothing of it is remembered or changed."""
    bad = submission(c.Withdraw("player-1", 10, "out", "t"), "bad")
    good = [submission(deposit(n % 3, 1, f"r{n}"), f"k{n}") for n in range(100)]
    writer = ledger.writer()
    futures = hand_over(writer, [*good[:50], bad, *good[50:]])
    with monkeypatch.context() as patch, capture_logs() as logs, running(writer):
        patch.setitem(HANDLERS, c.Withdraw, broken)
        with pytest.raises(CommandFailed):
            futures.pop(50).result(60)
        assert max(told(future.result(60))["balance"] for future in futures) == FUNDS + 34
    assert [line["event"] for line in logs] == ["batch_refused", "command_refused"]
    assert ledger.ask("SELECT count(*) FROM commands WHERE id = '\\x" + bad.id.hex() + "'") == [(0,)]
    assert ledger.balances()["p1"] == (FUNDS + 33, 0)
    (result,), _ = in_one_batch(ledger, [bad])
    assert told(result)["balance"] == FUNDS + 23
    sizes = [in_one_batch(ledger, batch_of(ledger, "deposits", size))[1] for size in (1, 200)]
    assert sizes[0] == sizes[1]


# ── Connections cut at a commit ─────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("cut", ["before", "after"])
def test_a_connection_cut_at_a_commit_loses_and_doubles_nothing(ledger: Ledger, cut: Any) -> None:
    """Whether or not the commit reached the server, each command has one effect and one first answer."""
    sent = [submission(deposit(1, 1, f"r{n}"), f"k{n}") for n in range(50)]
    with CuttingProxy(ledger.dsn) as proxy:
        writer = ledger.writer(proxy.dsn)
        futures = hand_over(writer, [*sent, sent[0]])
        proxy.cuts = [cut]
        with running(writer):
            results = [future.result(60) for future in futures]
        assert proxy.made == 1
    assert [told(result)["balance"] for result in results[:-1]] == list(range(FUNDS + 1, FUNDS + 51))
    assert [result.replayed for result in results] == [False] * 50 + [True]
    assert ledger.balances()["p1"] == (FUNDS + 50, 0)


def test_two_writers_on_lines_that_are_cut_again_and_again(ledger: Ledger) -> None:
    """Rounds are played through two processes whose commits are cut: every answer is the ledger's (G11)."""
    chance = random.Random(7)
    results: list[tuple[Submission, Result]] = []
    with CuttingProxy(ledger.dsn) as one, CuttingProxy(ledger.dsn) as two:
        for proxy in (one, two):
            proxy.cuts = [chance.choice((None, None, None, "before", "after")) for _ in range(60)]
        writers = [ledger.writer(one.dsn), ledger.writer(two.dsn)]

        def play(player: int) -> None:
            for n in range(8):
                opening = c.OpenRound(f"r{player}-{n}", "t", (stake(1, player, jackpot=100),), deal=True)
                for command in (opening, c.Decide(opening.round_id, 1, "raise"), deposit(player, 1, f"d{n}")):
                    sent = submission(command, f"{player}-{n}-{type(command).__name__}")
                    results.append((sent, writers[(n + player) % 2].call(sent)))

        with running(writers[0]), running(writers[1]):
            players = [threading.Thread(target=play, args=(n,)) for n in range(8)]
            for player in players:
                player.start()
            for player in players:
                player.join()
        assert one.made > 3 < two.made
    assert len(results) == 8 * 8 * 3
    assert {result.outcome for _, result in results} == {0}
    again, _ = in_one_batch(ledger, [sent for sent, _ in results])
    assert again == [result._replace(replayed=True) for _, result in results]
    assert {on_game for _, on_game in ledger.balances().values()} == {0}
    assert ledger.ask("SELECT count(*), max(position) = count(*) FROM events")[0][1]
    assert ledger.ask("SELECT count(*) FROM open_rounds") == [(0,)]


# ── The clock ───────────────────────────────────────────────────────────────────────────────────────────────
def test_time_does_not_follow_a_clock_that_goes_back(ledger: Ledger) -> None:
    """An event says that it did; `recorded_at` goes on strictly (G4)."""
    ledger.clock.now_us -= 3_600_000_000
    for n in range(3):
        in_one_batch(ledger, [submission(deposit(1, 1, f"r{n}-{m}"), f"k{n}-{m}") for m in range(5)])
    recorded = [decode(data) for (data,) in ledger.ask("SELECT data FROM events ORDER BY position")]
    times = [each.recorded_at for each in recorded]
    assert all(earlier < later for earlier, later in itertools.pairwise(times))
    # Each batch is a new process's here: it has not seen the last one's event.
    assert [type(each.event).__name__ for each in recorded].count("ClockWentBackwards") == 3

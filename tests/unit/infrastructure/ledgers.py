"""Ledgers in memory that several processes write; each has its store and its books, and waits its turn."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from domain import commands as c
from infrastructure.ledger.batch import Batch
from infrastructure.ledger.books import Books
from infrastructure.ledger.memory import MemoryLedger, MemoryStore
from infrastructure.ledger.store import StoreLost, StoreRefused
from infrastructure.ledger.stored_form import decode
from infrastructure.ledger.submission import (
    ACCEPTED,
    Outcome,
    Result,
    Submission,
    command_id,
    fingerprint,
)
from infrastructure.seals import Seals
from tests.unit.domain.playing import CATEGORIES, NOON, jackpot_bet, plain_house, shipped

AWARDS = {name: {"percent": 100 if name == "royal_flush" else 10} for name in CATEGORIES}
_numbers = itertools.count(1)
SEALS = Seals(b"k" * 32)
HOUSES: dict[str, dict[str, Any]] = {
    "pot-house": plain_house(
        id="pot-house",
        side_bets=[jackpot_bet(AWARDS, survives_fold=True)],
    ),
    "slow-house": plain_house(id="slow-house", play={"decision_order": "seat"}),
    "czech": shipped("czech"),
    "cyber": shipped("cyber"),
    "evolution-live": shipped("evolution-live"),
}


@dataclass
class Clock:
    """A clock that stands until it is moved. `now_us` in microseconds since the epoch."""

    now_us: int = NOON

    def __call__(self) -> int:
        """Return the time."""
        return self.now_us


def submission(command: c.Command, key: str, client: str = "tests", body: str = "") -> Submission:
    """Return a client's command under a key; `body` stands for what was asked, the command where empty."""
    asked = hashlib.sha256((body or repr(command)).encode()).digest()
    return Submission(command_id(client, key), fingerprint("POST", "/", asked), command, "tester")


def told(outcome: Outcome) -> dict[str, Any]:
    """Return the answer of a command that was accepted."""
    assert isinstance(outcome, Result), outcome
    assert outcome.outcome == ACCEPTED, outcome.body
    answer: dict[str, Any] = orjson.loads(outcome.body)
    return answer


def refused(outcome: Outcome) -> str:
    """Return the code of a command that was rejected."""
    assert isinstance(outcome, Result), outcome
    assert outcome.outcome != ACCEPTED, outcome.body
    return str(orjson.loads(outcome.body)["code"])


@dataclass
class Process:
    """One process's part in a ledger: its batches run when a test says so."""

    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    clock: Clock = field(default_factory=Clock)
    settle_seats_max: int = 500

    def __post_init__(self) -> None:
        """Connect."""
        self.store = MemoryStore(self.ledger, lock_seconds_max=1)
        self.books = Books("test-build", self.settle_seats_max)
        self.unsettled: list[tuple[str, int]] = []

    def run(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Run one batch. What fails raises, and the books are dropped, as a writer does it."""
        batch = Batch(submissions, self.books, self.store, SEALS, self.clock)
        try:
            outcomes = batch.run()
        except (StoreLost, StoreRefused, RuntimeError):
            self.books.forget()
            raise
        self.unsettled = batch.unsettled
        return outcomes

    def ask(self, *commands: c.Command) -> list[Outcome]:
        """Run one batch of commands, each under a key of its own."""
        return self.run([submission(command, f"own-{next(_numbers)}") for command in commands])

    def do(self, *commands: c.Command) -> list[dict[str, Any]]:
        """Run one batch of commands that are all accepted; return their answers."""
        return [told(outcome) for outcome in self.ask(*commands)]


def furnished(players: int = 8, **options: Any) -> Process:
    """Return a process on a ledger with the houses, their tables and players with money."""
    process = Process(**options)
    process.do(c.StartLedger(demo=True), *map(c.PublishRuleset, HOUSES.values()))
    process.do(c.OpenJackpot("pot", "USD", 100_000, "0.70"))
    process.do(*tables())
    for n in range(players):
        currency = "CZK" if n % 4 == 3 else "USD"
        process.do(c.OpenPlayer(f"player-{n}", f"p{n}", currency))
        process.do(c.Deposit(f"player-{n}", 1_000_000, "first", f"tx{n}"))
    return process


def tables() -> list[c.OpenTable]:
    """Return a table for each house: some take one round at a time, some let the clock decide."""
    limits = {"currency": "USD", "min_ante": 100, "max_ante": 10_000, "deal_source": "rng"}
    czech = {**limits, "currency": "CZK", "raise_win_cap": 10**9, "bonus_stake": 5_000}
    return [
        c.OpenTable("pots", "pot-house", **limits, jackpot_id="pot", decision_seconds=20),  # type: ignore[arg-type]
        c.OpenTable("slow", "slow-house", **limits, parallel_rounds=False, decision_seconds=20),  # type: ignore[arg-type]
        c.OpenTable("bought", "czech", **czech),  # type: ignore[arg-type]
        c.OpenTable("three", "cyber", **limits),  # type: ignore[arg-type]
        c.OpenTable("live", "evolution-live", **limits, decision_seconds=20),  # type: ignore[arg-type]
    ]


def beside(process: Process) -> Process:
    """Return another process on the same ledger, which knows nothing yet."""
    return Process(process.ledger, process.clock, process.settle_seats_max)


def stake(seat: int, player: int | None = None, ante: int = 100, **side_bets: int) -> c.SeatStake:
    """Return a seat's stakes; its player has the seat's number unless said otherwise."""
    return c.SeatStake(seat, f"player-{seat if player is None else player}", ante, side_bets)


def events(ledger: MemoryLedger, kind: type) -> list[Any]:
    """Return the events of one kind."""
    return [e for e in (decode(row.data).event for row in ledger.events) if isinstance(e, kind)]


def deposit(player: int, amount: int, reference: str) -> c.Deposit:
    """Return a deposit."""
    return c.Deposit(f"player-{player}", amount, reference, f"t-{reference}")

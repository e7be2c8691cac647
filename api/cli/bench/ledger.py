"""A throwaway ledger on an embedded server of its own, ready to be played on."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from domain import commands as c
from infrastructure import bootstrap, ids
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import ACCEPTED, own_submission
from infrastructure.ledger.writer import Writer
from infrastructure.postgres import EmbeddedPostgres
from infrastructure.seals import KEY_BYTES, Seals

ROOT: Final = Path(__file__).resolve().parents[3]
TABLE_WITH_JACKPOT: Final = "bench-jackpot"
TABLE_WITHOUT: Final = "bench-plain"
PLAYERS: Final = 64
FUNDS: Final = 10**11
ANTE: Final = 500
JACKPOT_STAKE: Final = 100


def now_us() -> int:
    """The clock."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class BenchServer:
    """The embedded server with an empty, prepared ledger."""

    home: Path
    admin_dsn: str
    dsn: str


@contextlib.contextmanager
def bench_server() -> Iterator[BenchServer]:
    """Start a server on a folder that is removed afterwards."""
    home = Path(tempfile.mkdtemp(prefix="stud-ledger-bench-"))
    home.chmod(0o711)  # PostgreSQL's own user has to pass through
    try:
        with EmbeddedPostgres(home / "postgres") as server:
            passwords = {role: secrets.token_urlsafe(24) for role in ("app", "auditor")}
            yield BenchServer(home, server.dsn, bootstrap.prepare(server.dsn, passwords=passwords).app)
    finally:
        shutil.rmtree(home)


@contextlib.contextmanager
def bench_writer(server: BenchServer) -> Iterator[Writer]:
    """A writer on the ledger, with a house, two tables and funded players in it."""
    writer = Writer(PostgresStore(server.dsn), Seals(os.urandom(KEY_BYTES)), now_us, "bench")
    writer.start()
    try:
        furnish(writer)
        yield writer
    finally:
        writer.stop()


def furnish(writer: Writer) -> None:
    """Publish `us-casino`, open a table with a jackpot and one without, and fund the players."""
    document = next(d for d in bootstrap.shipped_documents() if d["id"] == "us-casino")
    commands: list[c.Command] = [
        c.StartLedger(demo=True),
        c.PublishRuleset(document),
        c.OpenJackpot("bench", "USD", 1_000_000, "0.70"),
        c.OpenTable(TABLE_WITH_JACKPOT, "us-casino", "USD", 100, 10_000, "rng", "bench"),
        c.OpenTable(TABLE_WITHOUT, "us-casino", "USD", 100, 10_000, "rng"),
    ]
    for n in range(PLAYERS):
        commands.append(c.OpenPlayer(f"bench-{n}", ids.pseudonym(), "USD"))
        commands.append(c.Deposit(f"bench-{n}", FUNDS, "bench", ids.transaction_id()))
    for n, command in enumerate(commands):
        result = writer.call(own_submission(command, f"bench:{n}"))
        if result.outcome != ACCEPTED:
            raise RuntimeError(result.body.decode())

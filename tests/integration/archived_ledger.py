"""A ledger of several days with an evidence log that seals it when a test says so, for archives."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest

from api.cli import archive
from domain import commands as c
from infrastructure import log_keys
from infrastructure.bootstrap import prepare, shipped_documents
from infrastructure.evidence import files, folder, merkle
from infrastructure.evidence.notes import Checkpoint, Signer, write_note
from infrastructure.evidence.tiles import tile_path, tiles_between
from infrastructure.keys import Keys
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import ACCEPTED, own_submission
from infrastructure.ledger.writer import Writer
from infrastructure.seals import Seals

SCHEMA = "ledger"
PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
ORIGIN = "stud-ledger/0123456789abcdef/1"
HOUR_US = 3_600 * 1_000_000
DAY_US = 24 * HOUR_US
TODAY = datetime.now(UTC).date()
"""The day on which the ledger's last events are recorded."""
BEGIN_US = int(datetime.combine(TODAY, datetime.min.time(), UTC).timestamp()) * 1_000_000 - 4 * DAY_US
_numbers = itertools.count(1)


@dataclass
class Ledger:
    """A ledger of its own: how to log in, and where keys and log are."""

    admin: str
    app: str
    home: Path

    @property
    def keys(self) -> Path:
        """The keys' folder."""
        return self.home / "keys"

    def do(self, clock_us: int, *commands: c.Command) -> None:
        """Have commands accepted at a time."""
        keys = Keys.load_or_create(self.keys, ledger_is_empty=False)
        writer = Writer(PostgresStore(self.app, SCHEMA), Seals(keys.deck), lambda: clock_us, "test")
        writer.start()
        try:
            for command in commands:
                result = writer.call(own_submission(command, f"{next(_numbers)}"))
                assert result.outcome == ACCEPTED, result.body
        finally:
            writer.stop()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask as a superuser."""
        with psycopg.connect(self.admin, autocommit=True) as connection:
            return connection.execute(query).fetchall()

    def seal(self, size: int | None = None) -> None:
        """Let the log seal all events, or the first so many."""
        rows = self.rows("SELECT data FROM ledger.events ORDER BY position")
        leaves = [merkle.leaf_hash(data) for (data,) in rows][:size]
        signer: Signer = log_keys.load_or_create(self.keys, ORIGIN)
        place = self.home / "log" / "1"
        for level, number, width in tiles_between(0, len(leaves)):
            path = place / tile_path(level, number, width)
            path.parent.mkdir(parents=True, exist_ok=True)
            below = leaves[number * 256 ** (level + 1) :]
            step = 256**level
            hashes = [merkle.root_of(below[at * step : (at + 1) * step]) for at in range(width)]
            files.write(path, b"".join(hashes))
        text = Checkpoint(ORIGIN, len(leaves), merkle.root_of(leaves)).body()
        files.write(place / folder.KEYS, signer.verifier.vkey.encode())
        files.write(place / folder.CHECKPOINT, write_note(text, [signer.sign(text)]))

    def recorded(self) -> list[dict[str, Any]]:
        """What the ledger says of its exports."""
        rows = self.rows("SELECT data FROM ledger.events WHERE stream LIKE 'archive-%' ORDER BY position")
        return [orjson.loads(data)["data"] for (data,) in rows]

    def command(self, *arguments: str) -> int:
        """Run the command in this process."""
        places = [
            "--data-dir",
            str(self.home / "data"),
            "--keys",
            str(self.keys),
            "--log",
            str(self.home / "log"),
        ]
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DATABASE_URL", self.app)
            patch.setattr(archive, "stop_on_signals", lambda: None)
            patch.setattr(archive.collector, "relax", lambda: None)
            return archive.main([*arguments, *places])


def begun(admin: str, home: Path) -> Ledger:
    """Return an empty ledger in a database, with its keys in a folder."""
    ledger = Ledger(admin, prepare(admin, SCHEMA, passwords=PASSWORDS).app, home)
    Keys.load_or_create(ledger.keys, ledger_is_empty=True)
    return ledger


def play(ledger: Ledger) -> None:
    """Let a ledger have four days and this one; a round goes on over the second midnight."""
    signer = log_keys.load_or_create(ledger.keys, ORIGIN)
    house = next(document for document in shipped_documents() if document["id"] == "us-casino")
    ledger.do(
        BEGIN_US + HOUR_US,
        c.StartLedger(demo=True),
        c.StartLog(ORIGIN, signer.verifier.vkey),
        c.PublishRuleset(house),
        c.OpenJackpot("pot", "USD", 100_000, "0.70"),
        c.OpenTable("one", "us-casino", "USD", 100, 100_000, "rng", "pot", parallel_rounds=True),
        c.OpenPlayer("anna", "pANNA", "USD"),
        c.OpenPlayer("bert", "pBERT", "USD"),
        c.Deposit("anna", 1_000_000, "one", "t1"),
        c.Deposit("bert", 1_000_000, "one", "t1"),
        *whole_round("first"),
    )
    ledger.do(BEGIN_US + 2 * DAY_US - 1_000, *whole_round("second"), opening("over"))
    ledger.do(BEGIN_US + 2 * DAY_US + 1_000, *ending("over"), c.Withdraw("anna", 500, "two", "t2"))
    ledger.do(BEGIN_US + 4 * DAY_US + 1_000, *whole_round("today"))
    ledger.seal()


def opening(round_id: str) -> c.Command:
    """Two players open a round and are dealt their cards."""
    stakes = (c.SeatStake(1, "anna", 1_000, {"jackpot": 100}), c.SeatStake(2, "bert", 500))
    return c.OpenRound(round_id, "one", stakes, deal=True)


def ending(round_id: str) -> list[c.Command]:
    """Both decide."""
    return [c.Decide(round_id, 1, "raise"), c.Decide(round_id, 2, "fold")]


def whole_round(round_id: str) -> list[c.Command]:
    """A round from its opening to its end."""
    return [opening(round_id), *ending(round_id)]

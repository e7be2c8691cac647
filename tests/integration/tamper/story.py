"""A ledger with a past, and what of it others have kept: the one whose copies are tampered with.

Everything has happened once on it (`checked_ledger`), and a day was exported. Then somebody made a backup.
More was played; a witness signed the log's checkpoint, which a player kept too. A second day was exported,
and the auditor kept its manifest's signature. Then the witness signed the newest checkpoint.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from domain import commands as c
from domain.commands import RecordArchive
from infrastructure.archive.due import NotDueError
from infrastructure.archive.layout import SIGNATURE
from infrastructure.archive.reader import Archive
from infrastructure.clock import system_clock
from infrastructure.evidence import files, folder
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.notes import Checkpoint, parse_checkpoint, parse_note, write_note
from infrastructure.keys import Keys
from infrastructure.ledger.once import submit_once
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import ACCEPTED, own_submission
from infrastructure.ledger.writer import Writer
from infrastructure.seals import Seals
from infrastructure.witness.state import State
from infrastructure.witness.trust import KnownLogs
from infrastructure.witness.witness import Asked, Witness
from tests.integration import audited_ledger, checked_ledger
from tests.integration.audited_ledger import Audited
from tests.integration.checked_ledger import PASSWORDS, SCHEMA

AHEAD_US: Final = 4 * 86_400 * 1_000_000
LATER: Final = 30
"""So many rounds are played after the backup."""
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Kept:
    """What is kept where no insider reaches it.

    `key` is the log's, `checkpoint` an earlier one that the witness has signed, `manifest` the signature of
    the last exported day's manifest, `witness` a copy of the witness's own folder, `witness_key` its key.
    """

    key: str
    checkpoint: bytes
    manifest: bytes
    witness: Path
    witness_key: str

    @property
    def size(self) -> int:
        """How many events the earlier checkpoint is of."""
        return parse_checkpoint(parse_note(self.checkpoint).text).size


@dataclass(frozen=True)
class Story:
    """The ledger, the backup of it, from before `kept.checkpoint`, and what is kept of it.

    `jackpot_round` was played for a jackpot and is in the log's first tiles; `rounds` are two with one seat
    each. `backed_up` is the backup's last position.
    """

    ledger: Audited
    backup: Audited
    backed_up: int
    kept: Kept
    jackpot_round: str
    rounds: tuple[str, str]


def told(postgres: str, database: str, home: Path) -> Story:
    """Make the ledger in an empty database."""
    ledger = audited_ledger.made(database, home / "ledger")
    export(ledger)
    backup = Audited(*copied_database(postgres, ledger.admin), home / "backup")
    shutil.copytree(ledger.home, backup.home)
    backed_up = newest(ledger).size
    rounds = go_on(ledger, "later")
    ledger.seal()
    with State.open(home / "witness", "witness.example/tamper") as state:
        key = LogFolder(ledger.log).keys()[0]
        witness = Witness(state, KnownLogs([key]), lambda: 1_796_000_000.0, lambda _: None)
        checkpoint = cosigned(ledger, witness)
        export(ledger)
        cosigned(ledger, witness)
        witness_key = witness.vkey
    manifest = (Archive(ledger.archive).days[-1].folder / SIGNATURE).read_bytes()
    kept = Kept(key, checkpoint, manifest, home / "witness", witness_key)
    return Story(ledger, backup, backed_up, kept, _jackpot_round(ledger), rounds)


def copied_database(postgres: str, template: str) -> tuple[str, str]:
    """Copy a database that nobody uses; return how to log in as a superuser and as the service."""
    name = f"tamper_{next(_numbers)}"
    source = conninfo_to_dict(template)["dbname"]
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {source}")
    admin = make_conninfo(postgres, dbname=name)
    return admin, make_conninfo(admin, user="ledger_app", password=PASSWORDS["app"])


def dropped_database(postgres: str, dsn: str) -> None:
    """Take a copy away again."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {conninfo_to_dict(dsn)['dbname']} WITH (FORCE)")


def do(ledger: Audited, commands: Sequence[c.Command]) -> None:
    """Have commands accepted."""
    keys = Keys.load_or_create(ledger.keys, ledger_is_empty=False)
    writer = Writer(PostgresStore(ledger.app, SCHEMA), Seals(keys.deck), system_clock, "test")
    writer.start()
    try:
        for command in commands:
            result = writer.call(own_submission(command, f"tamper {next(_numbers)}"))
            assert result.outcome == ACCEPTED, result.body
    finally:
        writer.stop()


def go_on(ledger: Audited, name: str) -> tuple[str, str]:
    """Play rounds of one seat, and project them; return the first two."""
    rounds = [f"{name}-{number}" for number in range(LATER)]
    commands: list[c.Command] = [
        c.OpenPlayer(name, f"p{name}", "USD"),
        c.Deposit(name, 1_000_000, name, f"t-{name}"),
    ]
    for round_id in rounds:
        commands.append(c.OpenRound(round_id, "mine", (c.SeatStake(1, name, 1_000),), deal=True))
        commands.append(c.Decide(round_id, 1, "raise"))
    do(ledger, commands)
    checked_ledger.project(ledger.app)
    return rounds[0], rounds[1]


def export(ledger: Audited) -> None:
    """Export a day, have the ledger record it, and seal that."""

    def record(command: RecordArchive) -> None:
        submission = own_submission(command, f"archive:{command.sequence}")
        submit_once(ledger.app, SCHEMA, ledger.keys, submission, throwaway=True)

    with suppress(NotDueError):  # that this was exported is an event of the next day, not sealed yet
        ledger.export(record, ahead_us=AHEAD_US)
    checked_ledger.project(ledger.app)
    ledger.seal()


def newest(ledger: Audited) -> Checkpoint:
    """The log's newest checkpoint."""
    checkpoint = LogFolder(ledger.log).newest()
    assert checkpoint is not None
    return checkpoint


def cosigned(ledger: Audited, witness: Witness) -> bytes:
    """Have the witness sign the log's newest checkpoint, publish it as the sealer does, and return it."""
    log = LogFolder(ledger.log)
    note, checkpoint, last = log.note() or b"", newest(ledger), witness.last(newest(ledger).origin)
    old = 0 if last is None else last.size
    line = witness.cosign(Asked(old, log.consistency(old, checkpoint.size), parse_note(note), checkpoint))
    parsed = parse_note(note)
    signed = write_note(parsed.text, [*(each.line for each in parsed.signatures), line])
    for name in (folder.COSIGNED, folder.CHECKPOINT):
        files.write(ledger.log / "1" / name, signed)
    return signed


def _jackpot_round(ledger: Audited) -> str:
    """The first round that was played for a jackpot, and closed."""
    with psycopg.connect(ledger.admin) as connection:
        row = connection.execute(
            """SELECT bet.stream FROM ledger.events AS bet JOIN ledger.events AS ending USING (stream)
            WHERE position('"bet":"jackpot"'::bytea IN bet.data) > 0
            AND position('"type":"RoundClosed"'::bytea IN ending.data) > 0
            ORDER BY ending.position LIMIT 1"""
        ).fetchone()
    assert row is not None
    return str(row[0]).removeprefix("round-")

"""A copy of the ledger in the hands of somebody who has everything: database, files, and the keys.

What is not touched is not copied: a folder is a link to the original's until it is asked for, and the
database is the original's. So what a tool finds in what was not touched needs to be asked once only.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import psycopg

from infrastructure import log_keys
from infrastructure.archive import manifest as manifests
from infrastructure.archive.due import LedgerDays
from infrastructure.archive.export import export_day, open_archive
from infrastructure.archive.sealing import LogSeal
from infrastructure.evidence import folder
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.notes import Signer
from infrastructure.projections.source import PostgresSource
from tests.integration import checked_ledger
from tests.integration.audited_ledger import Audited
from tests.integration.checked_ledger import GUARDS, SCHEMA, edit, event
from tests.integration.tamper.story import Story, copied_database

FOLDERS = ("log", "archive", "keys")


@dataclass(frozen=True)
class Change:
    """What was done: to find it is to name position `at`, or the one of `where`'s texts that a tool tells.

    `round_id` is the round whose evidence somebody asks for afterwards; none: any that was not touched.
    """

    at: int | None = None
    where: tuple[str, ...] = ()
    round_id: str | None = None


@dataclass
class Copy:
    """A copy of the ledger, made piece by piece as it is asked for."""

    story: Story
    postgres: str
    home: Path
    place: Audited = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the original."""
        original = self.story.ledger
        self.place = Audited(original.admin, original.app, self.home)
        self.home.mkdir()
        for name in FOLDERS:
            (self.home / name).symlink_to(original.home / name)

    @property
    def touched(self) -> set[str]:
        """Which of the folders, and ``database``, are copies."""
        copied = {name for name in FOLDERS if not (self.home / name).is_symlink()}
        return copied | ({"database"} if self.place.admin != self.story.ledger.admin else set())

    def folder(self, name: str) -> Path:
        """A folder that may be changed."""
        path = self.home / name
        if name not in self.touched:
            original = path.resolve()
            path.unlink()
            shutil.copytree(original, path)
        return path

    def without(self, name: str) -> Path:
        """A folder in whose place there is nothing."""
        path = self.folder(name)
        shutil.rmtree(path)
        return path

    @property
    def log(self) -> Path:
        """The first generation of a log that may be changed."""
        return self.folder("log") / "1"

    def database(self, template: str | None = None) -> None:
        """Make the database a copy of the original, or of another one."""
        if "database" not in self.touched:
            self.place.admin, self.place.app = copied_database(
                self.postgres, template or self.story.ledger.admin
            )

    @contextlib.contextmanager
    def sql(self) -> Iterator[psycopg.Connection]:
        """Yield a superuser's connection with all guards off; they are on again afterwards."""
        self.database()
        with psycopg.connect(self.place.admin, autocommit=True) as connection:
            for table in GUARDS:
                connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER ALL")
            yield connection
            for table, names in GUARDS.items():
                for name in names:
                    connection.execute(f"ALTER TABLE ledger.{table} ENABLE ALWAYS TRIGGER {name}")

    def back_to_the_backup(self, *names: str) -> None:
        """Put the database, and folders, in the place of what there is."""
        self.database(self.story.backup.admin)
        for name in names:
            self.without(name)
            shutil.copytree(self.story.backup.home / name, self.home / name)

    # ── Hashing and signing again ───────────────────────────────────────────────────────────────────────────
    def reseal(self) -> None:
        """Make the whole log again from the events as they are now, with the key that the ledger names."""
        folder.begin(self.without("log"), 1)
        self.place.seal()

    def change_key(self) -> Signer:
        """Let another key be the log's from its beginning: in its event, in the register, in the folder."""
        with self.sql() as connection:
            origin = LogFolder(self.story.ledger.log).newest()
            assert origin is not None
            signer = log_keys.create_next(self.folder("keys"), origin.origin)
            vkey = signer.verifier.vkey
            edit(connection, position_of(connection, "log-1", 1), vkey=vkey)
            change_register(connection, "log", keys=[vkey])
        return signer

    def export_again(self) -> None:
        """Make log and archive again from the events as they are now, and have the ledger say so."""
        for final in (False, True):  # how a day is recorded is an event of the next: first the manifests
            self.reseal()
            self.without("archive")
            with psycopg.connect(self.place.app, autocommit=True) as connection:
                days = LedgerDays(connection, SCHEMA)
                log = days.log()
                archive = open_archive(self.home / "archive")
                for sequence in range(1, log.archive_sequence + 1):
                    signer = log_keys.load_for(self.place.keys, log.vkey)
                    seal = LogSeal(LogFolder(self.place.log), signer)
                    due = days.recorded(sequence).due
                    day = export_day(archive, due, PostgresSource(connection, SCHEMA), seal)
                    if not final:
                        self._record(sequence, manifests.sha256(day.stored))
                        self.reseal()
        self._project_again()

    def _record(self, sequence: int, sha256: str) -> None:
        with self.sql() as connection:
            edit(connection, position_of(connection, f"archive-{sequence}", 1), manifest_sha256=sha256)
            change_register(connection, "log", archive_sha256=sha256)

    def _project_again(self) -> None:
        """Let the projections come to what the events are now."""
        with self.sql() as connection:
            tables = connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'ledger_read'"
                " AND tablename NOT IN ('projections', 'alarms')"
            ).fetchall()
            for (table,) in tables:
                connection.execute(f"TRUNCATE ledger_read.{table}")
            connection.execute("UPDATE ledger_read.projections SET position = 0")
        checked_ledger.project(self.place.app)


# ── In the database ─────────────────────────────────────────────────────────────────────────────────────────
def position_of(connection: psycopg.Connection, stream: str, version: int) -> int:
    """Where an event of a stream is."""
    row = connection.execute(
        "SELECT position FROM ledger.events WHERE stream = %s AND version = %s", [stream, version]
    ).fetchone()
    assert row is not None
    return int(row[0])


def change_register(connection: psycopg.Connection, name: str, **state: Any) -> None:
    """Change what a register says."""
    ((kept,),) = connection.execute("SELECT state FROM ledger.registers WHERE name = %s", [name]).fetchall()
    changed = orjson.dumps({**orjson.loads(kept), **state})
    connection.execute("UPDATE ledger.registers SET state = %s WHERE name = %s", [changed, name])


def in_its_round(connection: psycopg.Connection, position: int) -> Change:
    """An event that was changed: the verifier names it by its version in its round."""
    found = event(connection, position)
    if not found["stream"].startswith("round-"):
        return Change(position)
    return Change(position, (f"event {found['version']} (",), found["stream"].removeprefix("round-"))

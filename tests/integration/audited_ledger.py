"""A ledger on which everything has happened once, sealed by its log and exported, to be audited."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psycopg

from api.log import starting
from infrastructure import log_keys
from infrastructure.archive.due import LedgerDays
from infrastructure.archive.run import export
from infrastructure.archive.sealing import LogSeal
from infrastructure.audit.archived import Archived, of_archive
from infrastructure.audit.database import Database
from infrastructure.audit.prepare import Held, of_database
from infrastructure.audit.report import Report
from infrastructure.audit.run import Execute, audit, here
from infrastructure.clock import system_clock
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.sealer import Sealer
from infrastructure.evidence.witnesses import Witnesses
from infrastructure.keys import Keys
from infrastructure.ledger.once import submit_once
from infrastructure.ledger.submission import own_submission
from tests.integration import checked_ledger
from tests.integration.checked_ledger import PASSWORDS, SCHEMA

TWO_DAYS_US = 2 * 86_400 * 1_000_000


@dataclass
class Audited:
    """How to log in, and where the keys, the log and the archive are."""

    admin: str
    app: str
    home: Path

    @property
    def keys(self) -> Path:
        """The keys' folder."""
        return self.home / "keys"

    @property
    def log(self) -> Path:
        """The log's folder."""
        return self.home / "log"

    @property
    def archive(self) -> Path:
        """The archive's folder."""
        return self.home / "archive"

    def seal(self) -> None:
        """Let the log seal what there is."""
        with Sealer(self.app, SCHEMA, self.log, self.keys, Witnesses([])) as sealer:
            assert sealer.try_to_act()
            while sealer.turn():
                pass

    def export(self) -> None:
        """Export all days, as if they had ended, and the round that is open with them."""
        with (
            psycopg.connect(self.admin, autocommit=True) as admin,
            psycopg.connect(self.app, autocommit=True) as connection,
        ):
            admin.execute("CREATE TABLE kept AS TABLE ledger.open_rounds")
            admin.execute("DELETE FROM ledger.open_rounds")
            state = LedgerDays(connection, SCHEMA).log()
            seal = LogSeal(LogFolder(self.log), log_keys.load_for(self.keys, state.vkey))
            now_us = system_clock() + TWO_DAYS_US
            list(export(connection, SCHEMA, self.archive, seal, lambda _: None, now_us))
            admin.execute("INSERT INTO ledger.open_rounds SELECT * FROM kept")
            admin.execute("DROP TABLE kept")

    def of_database(
        self,
        execute: Execute = here,
        *,
        span: tuple[int, int] | None = None,
        partition: int = 256,
        held: Held | None = None,
        with_tables: bool = False,
        log: Path | None = None,
    ) -> Report:
        """Audit the database."""
        source = Database(self.admin, SCHEMA, partition)
        wanted = of_database(
            source,
            (self.admin, SCHEMA),
            span or (0, max(source.last, source.head)),
            run_id="run",
            software="test",
            log_folder=log or self.log,
            held=held,
            with_tables=with_tables,
        )
        return audit(source, wanted, execute, lambda *_: None)

    def of_archive(
        self,
        execute: Execute = here,
        *,
        span: tuple[int, int] | None = None,
        held: Held | None = None,
        archive: Path | None = None,
        with_files: bool = False,
    ) -> Report:
        """Audit the archive."""
        source = Archived(archive or self.archive)
        span = span or (source.first - 1, source.last)
        wanted = of_archive(source, span, run_id="run", software="test", held=held, with_files=with_files)
        return audit(source, wanted, execute, lambda *_: None)


def made(admin: str, home: Path) -> Audited:
    """Fill a database, begin its log, seal and export."""
    checked_ledger.fill(admin, with_log=False)
    app = psycopg.conninfo.make_conninfo(admin, user="ledger_app", password=PASSWORDS["app"])
    ledger = Audited(admin, app, home)
    Keys.load_or_create(ledger.keys, ledger_is_empty=True)
    command = starting.first(ledger.keys, ledger.log)
    submit_once(app, SCHEMA, ledger.keys, own_submission(command, "log:start"), throwaway=True)
    checked_ledger.project(app)
    ledger.seal()
    return ledger


def told(report: Report) -> dict[str, object]:
    """A report without what differs from one audit to the next, or between where the events came from."""
    value = report.as_json()
    for name in ("made_at", "seconds", "checks", "source", "log"):
        del value[name]
    return value

"""A ledger on which everything has happened once, sealed by its log and exported, to be audited."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from api.log import starting
from domain import commands as c
from infrastructure import log_keys
from infrastructure.archive.due import LedgerDays
from infrastructure.archive.run import Record, export
from infrastructure.archive.sealing import LogSeal
from infrastructure.audit.archived import Archived, of_archive
from infrastructure.audit.database import Database
from infrastructure.audit.prepare import Held, of_database
from infrastructure.audit.report import Report
from infrastructure.audit.run import Execute, audit, here
from infrastructure.bootstrap import prepare, shipped_documents
from infrastructure.clock import system_clock
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.sealer import Sealer
from infrastructure.evidence.witnesses import Witnesses
from infrastructure.keys import Keys
from infrastructure.ledger.once import submit_once
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import ACCEPTED, own_submission
from infrastructure.ledger.writer import Writer
from infrastructure.seals import Seals
from tests.integration import checked_ledger
from tests.integration.checked_ledger import PASSWORDS, SCHEMA

DAY_US = 86_400 * 1_000_000
TODAY = datetime.now(UTC).date()
MIDNIGHT_US = int(datetime.combine(TODAY, datetime.min.time(), UTC).timestamp()) * 1_000_000


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

    def export(self, record: Record = lambda _: None, *, ahead_us: int = 2 * DAY_US) -> None:
        """Export all days, as if they had ended, and the round that is open with them.

        `ahead_us` is by how much the clock is ahead.
        """
        with (
            psycopg.connect(self.admin, autocommit=True) as admin,
            psycopg.connect(self.app, autocommit=True) as connection,
        ):
            admin.execute("CREATE TABLE kept AS TABLE ledger.open_rounds")
            admin.execute("DELETE FROM ledger.open_rounds")
            state = LedgerDays(connection, SCHEMA).log()
            seal = LogSeal(LogFolder(self.log), log_keys.load_for(self.keys, state.vkey))
            now_us = system_clock() + ahead_us
            try:
                list(export(connection, SCHEMA, self.archive, seal, record, now_us))
            finally:
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


def opening(round_id: str) -> c.OpenRound:
    """A round of anna's, with a bet on the jackpot."""
    return c.OpenRound(round_id, "one", (c.SeatStake(1, "anna", 1_000, {"jackpot": 100}),), deal=True)


def of_days(database: str, home: Path) -> Audited:
    """Make a ledger of three days, with a round over each midnight, sealed and exported."""
    app = prepare(database, SCHEMA, passwords=PASSWORDS).app
    ledger = Audited(database, app, home)
    keys = Keys.load_or_create(ledger.keys, ledger_is_empty=True)
    house = next(document for document in shipped_documents() if document["id"] == "us-casino")
    started = starting.first(ledger.keys, ledger.log)

    def do(at_us: int, *commands: c.Command) -> None:
        writer = Writer(PostgresStore(app, SCHEMA), Seals(keys.deck), lambda: at_us, "test")
        writer.start()
        try:
            for command in commands:
                result = writer.call(own_submission(command, f"{at_us}:{command!r}"))
                assert result.outcome == ACCEPTED, result.body
        finally:
            writer.stop()

    first_us = MIDNIGHT_US - 3 * DAY_US
    do(
        first_us,
        c.StartLedger(demo=True),
        started,
        c.PublishRuleset(house),
        c.OpenJackpot("pot", "USD", 100_000, "0.70"),
        c.OpenTable("one", "us-casino", "USD", 100, 100_000, "rng", "pot", parallel_rounds=True),
        c.OpenPlayer("anna", "pANNA", "USD"),
        c.Deposit("anna", 1_000_000, "one", "t1"),
        opening("r1"),
        c.Decide("r1", 1, "raise"),
    )
    for day in (1, 2):
        do(first_us + day * DAY_US - 1_000, opening(f"over{day}"))
        do(
            first_us + day * DAY_US + 1_000,
            c.Decide(f"over{day}", 1, "raise"),
            c.Deposit("anna", 5, f"d{day}", f"u{day}"),
        )
    ledger.seal()
    ledger.export()
    return ledger


def told(report: Report) -> dict[str, object]:
    """A report without what differs from one audit to the next, or between where the events came from."""
    value = report.as_json()
    for name in ("made_at", "seconds", "checks", "source", "log"):
        del value[name]
    return value

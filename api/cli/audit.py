"""`scripts/audit`: derive a ledger again from its events alone, and tell where it is not what it says.

Every round is derived again by code that shares nothing with what wrote it, every balance and every jackpot
is followed from zero, and the events are hashed and compared with what the evidence log, its witnesses and
whoever kept a checkpoint hold of them. Of a database's whole ledger its tables and projections are compared
as well, by a process of their own.

It works on the data directory of a service that runs or does not run, with DATABASE_URL on that database,
and with --archive on exported files alone. Exit status 0: everything that was checked is as it has to be;
1: something is not, and each exception has its position; 2: the audit could not be made.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import orjson
import psycopg

from api.audit.rendering import html
from api.cli import data_directory
from api.cli.ledger_place import ledger
from api.cli.progress import Progress
from api.cli.serve import complain, stop_on_signals
from api.composition import BUILD
from infrastructure import bootstrap, ids
from infrastructure.archive.manifest import ArchiveError
from infrastructure.audit import signed
from infrastructure.audit.archived import Archived, broken, of_archive
from infrastructure.audit.bounds import BoundsError, bounds
from infrastructure.audit.dask_adapter import NotInstalledError, on_dask
from infrastructure.audit.database import Database
from infrastructure.audit.pool import WorkerDied, WorkFailed
from infrastructure.audit.prepare import Held, of_database
from infrastructure.audit.recording import NotRecordedError, Recording
from infrastructure.audit.report import Report, exact_text, told
from infrastructure.audit.results import Finding
from infrastructure.audit.run import Execute, NothingToAuditError, Wanted, audit, in_processes
from infrastructure.bootstrap import DEFAULT_SCHEMA, NotReadyError
from infrastructure.clock import system_clock
from infrastructure.evidence.notes import NoteError, Verifier, parse_vkey
from infrastructure.evidence.unavailable import LogUnavailable
from infrastructure.keys import KeysError
from infrastructure.postgres import LauncherError

CLEAN, EXCEPTIONS, NO_AUDIT = 0, 1, 2
SHOWN_MAX: Final = 20
DASK_SECONDS: Final = 20.0
_TROUBLE: Final = (
    LauncherError,
    NotReadyError,
    KeysError,
    BoundsError,
    NothingToAuditError,
    LogUnavailable,
    ArchiveError,
    NotInstalledError,
    WorkFailed,
    WorkerDied,
    OSError,
    psycopg.Error,
)


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    directory: data_directory.DataDirectory
    pg_bin: Path | None
    archive: Path | None
    log: Path | None
    first: str | None
    last: str | None
    held: Held
    execute: Execute
    events_only: bool
    recorded: bool
    as_json: bool
    report: Path | None


def main(arguments: list[str] | None = None) -> int:
    """Audit; return 0, 1 or 2."""
    stop_on_signals()
    try:
        options = parse(arguments)
        report = of_files(options) if options.archive is not None else of_ledger(options)
    except KeyboardInterrupt:
        complain("stopped before the end")
        return NO_AUDIT
    except _TROUBLE as problem:
        complain(str(problem).strip().partition("\n")[0])
        return NO_AUDIT
    return show(report, options)


def parse(arguments: list[str] | None) -> Options:
    """Return the options, or print what is wrong with them and exit with 2. Raises OSError."""
    parser = argparse.ArgumentParser(
        prog="scripts/audit", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, help="where the ledger is kept (.data in the project)")
    parser.add_argument("--keys", type=Path, help="where the keys are kept (keys in the data directory)")
    parser.add_argument("--pg-bin", type=Path, help="directory of other PostgreSQL programs")
    parser.add_argument("--archive", type=Path, metavar="DIR", help="audit exported days, with no database")
    parser.add_argument("--from", dest="first", help="the first position, or a moment (RFC 3339)")
    parser.add_argument("--to", dest="last", help="the last position, or a moment (RFC 3339)")
    parser.add_argument("--log", type=Path, help="folder of the evidence log (log in the data directory)")
    parser.add_argument("--key", action="append", default=[], metavar="VKEY", help="a key of the log that is "
                        "known from elsewhere: no other counts")  # fmt: skip
    parser.add_argument("--witness", action="append", default=[], metavar="VKEY", help="a witness that must "
                        "have cosigned")  # fmt: skip
    parser.add_argument("--checkpoint", action="append", default=[], type=Path, metavar="FILE",
                        help="a checkpoint that was kept since then")  # fmt: skip
    parser.add_argument("--processes", type=int, help="how many work (as many as there are processors)")
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="let the workers of this Dask scheduler do the work"
    )
    parser.add_argument(
        "--events-only",
        action="store_true",
        help="leave tables, projections and the archive's own signatures alone",
    )
    parser.add_argument("--no-record", action="store_true", help="do not have the ledger record the audit")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--report", type=Path, metavar="FILE.html", help="write the report as a page, too")
    chosen = parser.parse_args(arguments)
    if chosen.processes is not None and chosen.processes < 1:
        parser.error("there is nothing to work with in less than one process")
    try:
        witnesses = [_known(text) for text in chosen.witness]
        keys = [_known(text).vkey for text in chosen.key]
    except NoteError as error:
        parser.error(str(error))
    directory = data_directory.choose(chosen.data_dir, chosen.keys, chosen.log)
    log = directory.log if chosen.archive is None or chosen.log is not None else None
    return Options(
        directory=directory,
        pg_bin=chosen.pg_bin,
        archive=chosen.archive,
        log=log,
        first=chosen.first,
        last=chosen.last,
        held=Held([(path.name, signed.read_note(path)) for path in chosen.checkpoint], witnesses, keys),
        execute=in_processes(chosen.processes) if chosen.dask is None else on_dask(chosen.dask, DASK_SECONDS),
        events_only=chosen.events_only,
        recorded=not chosen.no_record,
        as_json=chosen.json,
        report=chosen.report,
    )


def _known(text: str) -> Verifier:
    return parse_vkey(text.strip())


def of_files(options: Options) -> Report:
    """Audit an archive. Raises as `audit`, ArchiveError, BoundsError."""
    assert options.archive is not None  # noqa: S101 - that is why we are here
    run_id = ids.approval_id(system_clock())
    try:
        source = Archived(options.archive)
    except ArchiveError as problem:
        return broken(options.archive, problem, run_id=run_id, software=BUILD)
    span = bounds(source, options.first, options.last)
    wanted = of_archive(
        source,
        span,
        run_id=run_id,
        software=BUILD,
        log_folder=options.log,
        held=options.held,
        with_files=not options.events_only,
    )
    return audit(source, wanted, options.execute, Progress("events"))


def of_ledger(options: Options) -> Report:
    """Audit a database. Raises as `audit`, and what a database that cannot be used raises."""
    url = os.environ.get("DATABASE_URL") or None
    with ledger(options.directory, options.pg_bin, url, "auditor") as dsn:
        unguarded = guards(dsn)
        source = Database(dsn, DEFAULT_SCHEMA)
        span = bounds(source, options.first, options.last)
        # With a database elsewhere, the log's folder may be there too.
        folder = options.log if url is None or (options.log is not None and options.log.is_dir()) else None
        wanted = of_database(
            source,
            (dsn, DEFAULT_SCHEMA),
            span,
            run_id=ids.approval_id(system_clock()),
            software=BUILD,
            log_folder=folder,
            held=options.held,
            with_tables=not options.events_only and options.last is None,
        )
        wanted = replace(wanted, found=[*wanted.found, *unguarded])
        if not options.recorded:
            return audit(source, wanted, options.execute, Progress("events"))
        with ledger(options.directory, options.pg_bin, url, "app") as writing:
            recording = Recording(writing, DEFAULT_SCHEMA, options.directory.keys)
            return recorded(recording, source, wanted, options.execute)


def recorded(recording: Recording, source: Database, wanted: Wanted, execute: Execute) -> Report:
    """Audit, and have the ledger record that; where it cannot, say so and audit all the same."""
    try:
        recording.begin(wanted)
    except NotRecordedError as problem:
        complain(f"the audit is not on record: {problem}")
        return audit(source, wanted, execute, Progress("events"))
    report = None
    try:
        report = audit(source, wanted, execute, Progress("events"))
    finally:
        with suppress(NotRecordedError):
            recording.give_up(wanted.run_id) if report is None else recording.end(report)
    return report


def guards(dsn: str) -> list[Finding]:
    """Return what no longer guards the ledger against changes. Raises NotReadyError where it is not one."""
    try:
        bootstrap.check(dsn, throwaway=True)
    except bootstrap.UnguardedError as problem:
        return [Finding(1, "table.unguarded", "triggers and grants that refuse changes", str(problem))]
    return []


def show(report: Report, options: Options) -> int:
    """Print the report, and write the page."""
    value = report.as_json()
    if options.report is not None:
        options.report.write_text(html(value), encoding="utf-8")
    if options.as_json:
        print(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
    else:
        for line in lines(report):
            print(line)
    return EXCEPTIONS if report.found else CLEAN


def lines(report: Report) -> Iterator[str]:
    """The report for a person at a terminal."""
    scope, totals = report.scope, report.totals
    rate = totals.rounds / max(report.seconds, 1e-3)
    yield (
        f"{scope.source}, positions {scope.from_position} to {scope.to_position}: {totals.rounds} rounds and"
        f" {totals.events} events in {report.seconds:.1f} s ({rate:,.0f} rounds/s)"
    )
    for check in report.checks:
        counted = "" if check.counted is None else f"{check.counted} {check.unit}"
        yield f"  {check.result.replace('_', ' '):<12} {check.check:<16} {counted:<20} {check.note}".rstrip()
    for (account_class, currency, game), figures in sorted(totals.figures.items()):
        yield (
            f"  {game} ({account_class}, {currency}): {figures.rounds} rounds, {figures.staked} staked,"
            f" {figures.returned} returned, {figures.won} won, {figures.jackpot_won} from jackpots"
        )
    for jackpot, (meter, *_) in sorted(totals.pots.items()):
        yield f"  jackpot {jackpot}: meter {exact_text(meter)}"
    if not report.found:
        yield "everything that was checked is as it has to be"
        return
    yield f"{report.found} exception{'' if report.found == 1 else 's'}; by position:"
    for finding in report.exceptions[:SHOWN_MAX]:
        each = told(finding)
        yield f"  {finding.position:>10}  {each['what']}: expected {each['expected']}, found {each['found']}"
    if report.found > SHOWN_MAX:
        yield f"  and {report.found - SHOWN_MAX} more: --json and --report show more of them"


if __name__ == "__main__":
    sys.exit(main())

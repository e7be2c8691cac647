"""`scripts/archive`: export finished days as Parquet files, or check what was exported.

With --to every finished day (UTC) that the folder does not have is added to it, in order: its events, a table
of its hands, what everybody held when it began and ended, and a manifest that names the one before and is
signed with the evidence log's key. A day is finished ten minutes after midnight, when its rounds have ended
and the log has sealed it; the ledger records each export. Exit status 0, also where nothing was due; 1 where
a day could not be exported.

With --verify an archive is checked with nothing but its folder: the chain of its manifests, their signatures,
every file, and the evidence log's tree over all events. Say --key to accept no other signature than that of a
log you know. That the newest days were taken away nobody can see who has only the folder: keep a manifest.sig
elsewhere and give it with --saved, or say --data-dir to ask the ledger. Exit status 0: whole and genuine; 1:
not, with a line for each reason; 2: it could not be checked.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from datetime import date
from pathlib import Path
from typing import Final

import orjson
import psycopg

from api.cli import data_directory
from api.cli.data_directory import DataDirectory
from api.cli.ledger_place import ledger
from api.cli.progress import Progress
from api.cli.serve import complain, say, stop_on_signals
from domain.commands import RecordArchive
from infrastructure import bootstrap, log_keys
from infrastructure.archive.check import Found, Known, check, known_from
from infrastructure.archive.due import LedgerDays, NotDueError
from infrastructure.archive.manifest import ArchiveError
from infrastructure.archive.run import export
from infrastructure.archive.sealing import LogSeal
from infrastructure.bootstrap import DEFAULT_SCHEMA, NotReadyError
from infrastructure.clock import system_clock
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.notes import NoteError, Verifier, parse_vkey
from infrastructure.keys import KeysError
from infrastructure.ledger.once import submit_once
from infrastructure.ledger.submission import (
    ACCEPTED,
    CommandFailed,
    Overloaded,
    ReadOnly,
    Reused,
    own_submission,
)
from infrastructure.postgres import LauncherError
from infrastructure.projections import collector

DONE, NOT_DONE, NO_CHECK = 0, 1, 2
MEBI: Final = 1 << 20


def main(arguments: list[str] | None = None) -> int:
    """Export or check; return the exit status."""
    stop_on_signals()
    chosen = parse(arguments)
    directory = data_directory.choose(chosen.data_dir, chosen.keys, chosen.log)
    database_url = os.environ.get("DATABASE_URL") or None
    failed = NOT_DONE if chosen.verify is None else NO_CHECK
    try:
        if chosen.verify is None:
            with ledger(directory, chosen.pg_bin, database_url, "app") as dsn:
                return export_to(chosen.to.absolute(), dsn, directory, chosen.day)
        known = [known_from(path.read_bytes()) for path in chosen.saved]
        if chosen.data_dir is not None or database_url is not None:
            with ledger(directory, chosen.pg_bin, database_url, "app") as dsn:
                known += recorded(dsn)
        return verify(chosen.verify, chosen.key, known, as_json=chosen.json)
    except KeyboardInterrupt:
        complain("stopped before the end")
    except (ArchiveError, LauncherError, NotReadyError, KeysError, OSError, psycopg.Error) as problem:
        complain(str(problem).strip().partition("\n")[0])
    return failed


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options, or print what is wrong with them and exit with 2."""
    parser = argparse.ArgumentParser(
        prog="scripts/archive", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--to", type=Path, metavar="DIR", help="the archive's folder, best on another disk")
    what.add_argument("--verify", type=Path, metavar="DIR", help="check the archive in a folder")
    parser.add_argument("--day", type=day, metavar="YYYY-MM-DD", help="export no day after this one")
    parser.add_argument(
        "--key", type=key, action="append", default=[], metavar="VKEY", help="a key whose signatures count"
    )
    parser.add_argument(
        "--saved",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a manifest.sig kept elsewhere",
    )
    parser.add_argument("--json", action="store_true", help="print what --verify found as JSON")
    parser.add_argument("--data-dir", type=Path, help="where the ledger is kept (.data in the project)")
    parser.add_argument("--keys", type=Path, help="where the keys are kept (keys in the data directory)")
    parser.add_argument("--log", type=Path, help="where the log is kept (log in the data directory)")
    parser.add_argument("--pg-bin", type=Path, help="directory of other PostgreSQL programs")
    return parser.parse_args(arguments)


def day(text: str) -> str:
    """A day in its one spelling."""
    if date.fromisoformat(text).isoformat() != text:
        raise ValueError(text)
    return text


def key(text: str) -> Verifier:
    """A verifier key."""
    try:
        return parse_vkey(text)
    except NoteError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


# ── Exporting ───────────────────────────────────────────────────────────────────────────────────────────────
def export_to(target: Path, dsn: str, directory: DataDirectory, until: str | None) -> int:
    """Export what is due, and say what was."""
    if target.is_relative_to(directory.path) or directory.path.is_relative_to(target):
        raise ArchiveError(f"{target} and the data directory lie in one another: they would be lost together")
    bootstrap.check(dsn, throwaway=True)
    collector.relax()
    with psycopg.connect(
        dsn, autocommit=True, connect_timeout=10, application_name="stud-ledger archive"
    ) as connection:
        log = LedgerDays(connection, DEFAULT_SCHEMA).log()
        if not log.generation:
            raise ArchiveError("this ledger has no evidence log: start the service once")
        seal = LogSeal(LogFolder(directory.log), log_keys.load_for(directory.keys, log.vkey))
        progress, began, count = Progress("positions"), time.monotonic(), 0
        exports = export(
            connection,
            DEFAULT_SCHEMA,
            target,
            seal,
            lambda command: record(command, dsn, directory.keys),
            system_clock(),
            until=until,
            progress=progress,
        )
        try:
            for exported in exports:
                manifest = exported.day.manifest
                size = sum(file.bytes for file in manifest.files.values())
                seconds, began = time.monotonic() - began, time.monotonic()
                again = ", as it was before" if exported.again else ""
                say(
                    f"{manifest.day}: number {manifest.sequence}, positions {manifest.first_position} to "
                    f"{manifest.last_position}, {size / MEBI:.1f} MiB in {seconds:.1f} s{again}"
                )
                count += 1
        except NotDueError as reason:
            say(str(reason))
    say(f"{count} {'day' if count == 1 else 'days'} exported to {target}")
    return DONE


def record(command: RecordArchive, dsn: str, keys: Path) -> None:
    """Have the ledger record an export. Raises ArchiveError where it does not, KeysError."""
    submission = own_submission(command, f"archive:{command.sequence}:{command.manifest_sha256}")
    again = "the day was exported, and is recorded by the next export"
    try:
        result = submit_once(dsn, DEFAULT_SCHEMA, keys, submission)
    except (Overloaded, CommandFailed, ReadOnly, Reused, TimeoutError) as error:
        raise ArchiveError(f"the ledger takes no record now ({type(error).__name__}): {again}") from error
    if result.outcome != ACCEPTED:
        raise ArchiveError(f"the ledger does not record it: {orjson.loads(result.body)['detail']}")


# ── Checking ────────────────────────────────────────────────────────────────────────────────────────────────
def recorded(dsn: str) -> list[Known]:
    """Every export that a ledger recorded."""
    with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection:
        days = LedgerDays(connection, DEFAULT_SCHEMA)
        log = days.log()
        if not log.archive_sequence:
            return []
        return [Known(log.archive_sequence, log.archive_day, log.archive_sha256)]


def verify(path: Path, keys: list[Verifier], known: list[Known], *, as_json: bool) -> int:
    """Check an archive and say what was found."""
    found = check(path, keys, known, progress=Progress("events"))
    if as_json:
        print(orjson.dumps(report(found), option=orjson.OPT_INDENT_2).decode())
    else:
        show(found, trusted=bool(keys))
    return NOT_DONE if found.problems else DONE


def report(found: Found) -> dict[str, object]:
    """What was found, for a program."""
    checkpoint = found.checkpoint
    return {
        "days": found.days,
        "events": found.events,
        "problems": found.problems,
        "keys": found.keys,
        "checkpoint": checkpoint and {"size": checkpoint.size, "root": checkpoint.root_text},
    }


def show(found: Found, *, trusted: bool) -> None:
    """What was found, for a person."""
    for problem in found.problems:
        print(problem)
    if found.problems:
        return
    print(f"{found.days} days with {found.events} events are whole, and the evidence log has signed them")
    if not trusted:
        for name in found.keys:
            print(f"signed by {name}: that proves something to who knows this key (--key)")


if __name__ == "__main__":
    sys.exit(main())

"""`scripts/check`: read the whole ledger again from its first event, and compare every table with it.

Exit status 0: every position's trial balance is zero, nothing is missing, and every balance, meter and open
round is what the events say. 1: something is not, and the first position from which it is not is named. 2:
the check could not be made.

It works on the data directory of a service that runs or does not run; with DATABASE_URL on that database.
It only reads, as the auditor where the directory has that login.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Final

import orjson
import psycopg

from api.cli import data_directory
from api.cli.ledger_place import ledger
from api.cli.progress import Progress
from api.cli.serve import complain, stop_on_signals
from infrastructure import bootstrap
from infrastructure.bootstrap import DEFAULT_SCHEMA, NotReadyError
from infrastructure.checking import full
from infrastructure.checking.findings import Finding
from infrastructure.keys import KeysError
from infrastructure.ledger import horizon
from infrastructure.ledger.horizon import ArchivedError
from infrastructure.postgres import LauncherError

CLEAN, DISCREPANCY, NO_CHECK = 0, 1, 2
SHOWN_MAX: Final = 20


def main(arguments: list[str] | None = None) -> int:
    """Check; return 0, 1 or 2."""
    stop_on_signals()
    parser = argparse.ArgumentParser(
        prog="scripts/check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, help="where the ledger is kept (.data in the project)")
    parser.add_argument("--keys", type=Path, help="where the keys are kept (keys in the data directory)")
    parser.add_argument("--pg-bin", type=Path, help="directory of other PostgreSQL programs")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    chosen = parser.parse_args(arguments)
    directory = data_directory.choose(chosen.data_dir, chosen.keys)
    try:
        with ledger(directory, chosen.pg_bin, os.environ.get("DATABASE_URL") or None, "auditor") as dsn:
            began = time.monotonic()
            unguarded = guards(dsn)
            with connect(dsn) as connection:
                horizon.require_whole(connection, DEFAULT_SCHEMA, "a check")
            report = full.check(lambda: connect(dsn), DEFAULT_SCHEMA, Progress("events"))
        seconds = time.monotonic() - began
    except KeyboardInterrupt:
        complain("stopped before the end")
        return NO_CHECK
    except (LauncherError, NotReadyError, KeysError, ArchivedError, OSError, psycopg.Error) as problem:
        complain(str(problem).strip().partition("\n")[0])
        return NO_CHECK
    show = show_json if chosen.json else show_text
    whole = full.Report(report.position, unguarded + report.findings, report.total + len(unguarded))
    return show(whole, seconds)


def connect(dsn: str) -> psycopg.Connection:
    """Connect to read. Raises psycopg.Error."""
    return psycopg.connect(
        dsn, autocommit=True, connect_timeout=10, application_name="stud-ledger check", options="-c jit=off"
    )


def guards(dsn: str) -> list[Finding]:
    """Return what no longer guards the ledger against changes. Raises NotReadyError where it is not one."""
    try:
        bootstrap.check(dsn, throwaway=True)
    except bootstrap.UnguardedError as problem:
        return [Finding("unguarded", 0, str(problem))]
    return []


def show_text(report: full.Report, seconds: float) -> int:
    """Print the report for a person."""
    speed = f"{report.position / max(seconds, 1e-3):,.0f} events/s"
    if not report.total:
        print(f"{report.position} events in {seconds:.1f} s ({speed}): everything is as the events say")
        return CLEAN
    noun = "discrepancy" if report.total == 1 else "discrepancies"
    print(f"{report.total} {noun} in {report.position} events; the first is at position", end=" ")
    print(report.findings[0].position)
    for finding in report.findings[:SHOWN_MAX]:
        print(f"  {finding.position:>10}  {finding.name}: {finding.detail}")
    return DISCREPANCY


def show_json(report: full.Report, seconds: float) -> int:
    """Print the report for a program."""
    first = report.findings[0].position if report.findings else None
    value = {
        "position": report.position,
        "seconds": round(seconds, 3),
        "discrepancies": report.total,
        "first_position": first,
        "findings": [finding._asdict() for finding in report.findings],
    }
    print(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
    return DISCREPANCY if report.total else CLEAN


if __name__ == "__main__":
    sys.exit(main())

"""`scripts/partitions`: the tables that a ledger's events lie in, and taking old ones out of it.

A detached partition stays in the database as a table of its own until somebody moves it elsewhere (pg_dump,
then DROP TABLE). Balances, statements and reports keep what they took from its events; the events themselves
can no longer be read, and nothing can be derived from the beginning, until the table is back and attached
again. Works while the service runs. With DATABASE_URL on that database; the URL is an administrator's.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import psycopg

from api.cli import data_directory
from api.cli.administrator import administrator
from api.cli.serve import complain, stop_on_signals
from infrastructure import partitions
from infrastructure.bootstrap import DEFAULT_SCHEMA, NotReadyError
from infrastructure.partitions import PartitionsError
from infrastructure.postgres import LauncherError

MEBI = 1 << 20


def main(arguments: list[str] | None = None) -> int:
    """Do what was asked; return 0, or 1 where that cannot be."""
    stop_on_signals()
    parser = argparse.ArgumentParser(
        prog="scripts/partitions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="show them (this is what happens without options)")
    what.add_argument(
        "--detach-before",
        type=int,
        metavar="POSITION",
        help="take those that lie wholly before a position out of the ledger",
    )
    what.add_argument("--attach", action="store_true", help="put detached ones back, the newest first")
    parser.add_argument("--data-dir", type=Path, help="where the ledger is kept (.data in the project)")
    parser.add_argument("--pg-bin", type=Path, help="directory of other PostgreSQL programs")
    chosen = parser.parse_args(arguments)
    directory = data_directory.choose(chosen.data_dir)
    database_url = os.environ.get("DATABASE_URL") or None
    try:
        with (
            administrator(directory, chosen.pg_bin, database_url) as dsn,
            psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection,
        ):
            return act(connection, chosen.detach_before, attach=chosen.attach)
    except KeyboardInterrupt:
        return complain("stopped before the end")
    except psycopg.errors.LockNotAvailable:
        return complain("somebody is reading the events without end: try again later")
    except (LauncherError, NotReadyError, PartitionsError, OSError, psycopg.Error) as problem:
        return complain(str(problem).strip().partition("\n")[0])


def act(connection: psycopg.Connection, before: int | None, *, attach: bool) -> int:
    """Detach, attach, or neither; then show all partitions."""
    if before is not None:
        for part in partitions.detach_before(connection, DEFAULT_SCHEMA, before):
            print(f"detached {part.name}: positions {part.first_position} to {part.last_position}")
    elif attach:
        for part in partitions.attach(connection, DEFAULT_SCHEMA):
            print(f"attached {part.name}: positions {part.first_position} to {part.last_position}")
    for part in partitions.listing(connection, DEFAULT_SCHEMA):
        size = f"{part.bytes / MEBI:>9.1f} MiB"
        print(f"{part.name:<28}{part.first_position:>13} to {part.last_position:>13}  {part.state:<10}{size}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`scripts/upgrade`: move a data directory of an older PostgreSQL to the one that comes with the project.

The database is dumped and loaded into a new one beside it, every table is compared, and the two change
places. The old one is kept as `postgres-NN`: remove it when you are sure. No service may be using it.

The old version's programs are needed once: name their directory with --old-pg-bin (or in
STUD_LEDGER_OLD_PG_BIN), where they are not in the system's usual places.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import psycopg

from api.cli import data_directory
from api.cli.serve import complain, say, stop_on_signals
from infrastructure.postgres import DirectoryLock, LauncherError
from infrastructure.postgres.upgrade import upgrade


def main(arguments: list[str] | None = None) -> int:
    """Upgrade; return 0, or 1 where that cannot be."""
    stop_on_signals()
    parser = argparse.ArgumentParser(
        prog="scripts/upgrade", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, help="where the ledger is kept (.data in the project)")
    parser.add_argument("--pg-bin", type=Path, help="directory of other PostgreSQL programs, the new ones")
    parser.add_argument("--old-pg-bin", type=Path, help="directory of the old version's programs")
    chosen = parser.parse_args(arguments)
    directory = data_directory.choose(chosen.data_dir)
    if not directory.path.is_dir():
        return complain(f"there is no ledger in {directory.path}")
    try:
        with DirectoryLock(directory.path):
            done = upgrade(directory.postgres, chosen.pg_bin, chosen.old_pg_bin, say)
    except KeyboardInterrupt:
        return complain("stopped before the end: nothing has changed, run it again")
    except (LauncherError, OSError, psycopg.Error) as problem:
        return complain(str(problem).strip().partition("\n")[0])
    say(f"{done.rows} rows are the same in PostgreSQL {done.new_major}; the old database is in {done.kept}")
    say("it is another database to a backup: run scripts/backup with a new folder")
    return 0


if __name__ == "__main__":
    sys.exit(main())

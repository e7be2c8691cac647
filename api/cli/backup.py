"""`scripts/backup`: copy the embedded database to another folder, now and from now on.

It takes a base backup and has the server copy its log of changes there from then on, also after its next
starts: `scripts/restore` makes of both the ledger as of a minute ago, or of any time since the base.
Run it again for another base (with --keep, old ones go). A service may be running.

The keys are not in the backup unless you say --with-keys: whoever has them can open the seeds of open rounds
and sign access tokens, and without them a restored ledger cannot be started. Keep a copy of them elsewhere.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import psycopg

from api.cli import data_directory
from api.cli.administrator import administrator
from api.cli.serve import complain, say, stop_on_signals
from infrastructure.bootstrap import NotReadyError
from infrastructure.postgres import LauncherError, archive, binaries
from infrastructure.postgres.account import server_account


def main(arguments: list[str] | None = None) -> int:
    """Back up; return 0, or 1 where that cannot be."""
    stop_on_signals()
    parser = argparse.ArgumentParser(
        prog="scripts/backup", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, help="where the ledger is kept (.data in the project)")
    parser.add_argument("--keys", type=Path, help="where the keys are kept (keys in the data directory)")
    parser.add_argument("--pg-bin", type=Path, help="directory of other PostgreSQL programs")
    parser.add_argument("--to", type=Path, metavar="DIR", help="the backup's folder, best on another disk")
    parser.add_argument("--with-keys", action="store_true", help="copy the keys there too")
    parser.add_argument(
        "--keep", type=int, metavar="N", help="afterwards remove all bases but the newest N, and older log"
    )
    parser.add_argument("--stop", action="store_true", help="copy the log nowhere from now on")
    chosen = parser.parse_args(arguments)
    if (chosen.to is None) != chosen.stop:
        parser.error("say --to DIR, or --stop")
    if chosen.keep is not None and chosen.keep < 1:
        parser.error("--keep keeps one base at least")
    if os.environ.get("DATABASE_URL"):
        return complain("this backs up the embedded database: for DATABASE_URL use its server's own tools")
    directory = data_directory.choose(chosen.data_dir, chosen.keys)
    try:
        with (
            administrator(directory, chosen.pg_bin, None) as dsn,
            psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection,
        ):
            if chosen.stop:
                archive.stop_archiving(directory.postgres, connection)
                say("the log of changes is copied nowhere from now on")
            else:
                back_up(connection, dsn, directory, chosen.to.absolute(), chosen.pg_bin)
                if chosen.keep is not None:
                    for base in archive.prune(chosen.to.absolute(), chosen.keep):
                        say(f"removed {base.path.name}, and the log before the oldest that is kept")
                keep_keys(directory.keys, chosen.to.absolute(), wanted=chosen.with_keys)
    except KeyboardInterrupt:
        return complain("stopped before the end")
    except (LauncherError, NotReadyError, OSError, psycopg.Error) as problem:
        return complain(str(problem).strip().partition("\n")[0])
    return 0


def back_up(
    connection: psycopg.Connection,
    dsn: str,
    directory: data_directory.DataDirectory,
    folder: Path,
    pg_bin: Path | None,
) -> None:
    """Start copying the log and take a base. Raises LauncherError, OSError, psycopg.Error."""
    if folder.is_relative_to(directory.path) or directory.path.is_relative_to(folder):
        raise LauncherError(
            f"{folder} and the data directory lie in one another: they would be lost together"
        )
    system = archive.system_of(connection)
    if any(base.system != system for base in archive.bases(folder)):
        raise LauncherError(f"{folder} has the backup of another database: choose another folder")
    programs = binaries.find(pg_bin, server_account())
    archive.start_archiving(directory.postgres, connection, folder)
    archive.flush(connection, folder)
    say(f"copying {directory.postgres} to {folder}")
    facts = ledger_facts(connection)
    base = archive.take_base(programs, connection, dsn, folder, facts)
    say(f"{base.path.name} is whole; it has the ledger up to position {facts.get('position', 0)} and more")
    say(f"the log of changes is copied to {folder / 'wal'}, at least once a minute (--stop ends that)")


def ledger_facts(connection: psycopg.Connection) -> dict[str, Any]:
    """Return how far the ledger has come, if there is one."""
    try:
        row = connection.execute("SELECT position FROM ledger.head").fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return {}
    return {"position": row[0]} if row else {}


def keep_keys(keys: Path, folder: Path, *, wanted: bool) -> None:
    """Copy the keys if that is wanted, and say what is so. Raises OSError."""
    if not wanted:
        say(f"the keys are NOT in the backup: keep a copy of {keys} in another place")
        return
    copy = folder / "keys"
    copy.mkdir(mode=0o700, exist_ok=True)
    for key in keys.iterdir():
        shutil.copy2(key, copy / key.name)  # with its mode, which is its owner's alone
    say(f"the keys are in {copy}: whoever reads them can open sealed seeds and sign tokens")


if __name__ == "__main__":
    sys.exit(main())

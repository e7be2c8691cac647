"""`scripts/restore`: make a ledger's data directory from what `scripts/backup` kept.

The ledger comes back as of the last change that was copied, or as of a time (--until), in a data directory
that has none. It is a copy with a life of its own: never serve it beside the one it is a copy of. It is not
backed up until you say so (scripts/backup), to another folder.

The evidence log is in no backup: it is what a restored ledger is compared with. A ledger that comes back
without events that its log has signed is read-only from its first start on, until two people have started a
new log (scripts/log new-key, POST /v1/log/generations); the old log's folder stays, and what it proves.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from api.cli import data_directory
from api.cli.administrator import administrator
from api.cli.serve import complain, say, stop_on_signals
from infrastructure.bootstrap import NotReadyError, prepare
from infrastructure.keys import KeysError, load_passwords
from infrastructure.postgres import LauncherError, restore


def main(arguments: list[str] | None = None) -> int:
    """Restore; return 0, or 1 where that cannot be."""
    stop_on_signals()
    parser = argparse.ArgumentParser(
        prog="scripts/restore", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--from", dest="folder", type=Path, metavar="DIR", required=True, help="the backup")
    parser.add_argument("--data-dir", type=Path, required=True, help="where the ledger is to be kept")
    parser.add_argument("--keys", type=Path, help="where its keys are kept (keys in the data directory)")
    parser.add_argument("--pg-bin", type=Path, help="directory of other PostgreSQL programs")
    parser.add_argument(
        "--until", type=instant, metavar="TIME", help="as of this time, such as 2026-11-30T12:00:00Z"
    )
    chosen = parser.parse_args(arguments)
    directory = data_directory.choose(chosen.data_dir, chosen.keys)
    try:
        data_directory.make(directory)
        base = restore.restore(chosen.folder.absolute(), directory.postgres, chosen.until, chosen.pg_bin)
        say(f"restored from {base.path.name}")
        bring_keys(chosen.folder, directory.keys)
        tell(directory, chosen.pg_bin)
        tell_of_log(directory.log)
    except KeyboardInterrupt:
        return complain("stopped before the end: run it again")
    except (LauncherError, NotReadyError, KeysError, OSError, psycopg.Error) as problem:
        return complain(str(problem).strip().partition("\n")[0])
    return 0


def instant(text: str) -> datetime:
    """Return a time with its zone. Raises ValueError."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError(text)
    return value.astimezone(UTC)


def tell(directory: data_directory.DataDirectory, pg_bin: Path | None) -> None:
    """Let the roles in again and say how far the ledger goes.

    Raises NotReadyError, KeysError, LauncherError, psycopg.Error.
    """
    with administrator(directory, pg_bin, None) as dsn, psycopg.connect(dsn) as connection:
        prepare(dsn, passwords=load_passwords(directory.keys))
        row = connection.execute(
            "SELECT position, to_timestamp(recorded_at_us / 1e6) AT TIME ZONE 'UTC' FROM ledger.head"
        ).fetchone()
    position, recorded_at = row or (0, None)
    say(f"the ledger ends at position {position}, recorded at {recorded_at} UTC (scripts/check reads it all)")


def tell_of_log(log: Path) -> None:
    """Say what the evidence log, which no backup has, needs before the ledger's first start."""
    say(f"the evidence log is in no backup: put its newest copy into {log} before the first start;")
    say("where there is none, or it goes on past this position, two people have to start a new log then")


def bring_keys(folder: Path, keys: Path) -> None:
    """Put the backup's keys in their place if it has any; else say that they are needed. Raises OSError."""
    copy = folder / "keys"
    if not copy.is_dir():
        say(f"put the ledger's keys into {keys} before you start it: the backup has none")
        return
    for key in copy.iterdir():
        if not (keys / key.name).exists():
            shutil.copy2(key, keys / key.name)
    say(f"its keys are in {keys}")


if __name__ == "__main__":
    sys.exit(main())

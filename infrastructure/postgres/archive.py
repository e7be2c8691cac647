"""Copying a server's log of changes (WAL) away while it runs, and taking base backups that it builds on.

A backup's folder holds

- `base-…/`: the cluster as it was at a time, and `base-….json` beside it, written last: without it the base
  is not whole
- `wal/`: every finished file of the log since archiving began, compressed; each whole or not there
- `keys/`: only where that was asked for

The server itself copies each file of the log (its ``archive_command``), as its own user, and keeps what it
could not copy yet until it can. It begins a new file at least once a minute while something is written.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg

from infrastructure.postgres import account as accounts
from infrastructure.postgres import files, settings
from infrastructure.postgres.binaries import Binaries
from infrastructure.postgres.cluster import program_environment
from infrastructure.postgres.errors import LauncherError

TIMEOUT_S: Final = 60
"""After so many seconds with changes the server ends a file of the log early, so that it is copied."""
COPIED_WITHIN_S: Final = 120.0
POLL_S: Final = 0.05
FORMAT: Final = "stud-ledger/base-backup/1"
_LOG_FILE: Final = re.compile(r"([0-9A-F]{8})([0-9A-F]{16})")


class Base(NamedTuple):
    """A base backup that is whole. `finished_at` is UTC: it can be recovered to any time after it."""

    path: Path
    finished_at: datetime
    major: int
    system: str


def start_archiving(home: Path, connection: psycopg.Connection, folder: Path) -> None:
    """Have the running server copy its log to a backup's folder from now on, and after its next starts too.

    `home` is the embedded server's, `connection` its superuser's. Raises LauncherError where the server's
    user cannot write there, psycopg.Error.
    """
    account = accounts.server_account()
    files.make_directory(folder, account)
    wal = folder / "wal"
    wal.mkdir(mode=0o700, exist_ok=True)
    accounts.give(account, wal)
    accounts.require_way(account, wal)
    _configure(
        home,
        connection,
        f"archive_command = {settings.quote(_command(wal))}\narchive_timeout = {TIMEOUT_S}\n",
    )


def stop_archiving(home: Path, connection: psycopg.Connection) -> None:
    """Have the server copy its log nowhere. Raises psycopg.Error."""
    _configure(home, connection, "")


def flush(connection: psycopg.Connection, folder: Path) -> None:
    """Wait until what was committed before is in the folder. Raises LauncherError, psycopg.Error."""
    connection.execute("SELECT pg_create_restore_point('stud-ledger')")  # so that there is something to copy
    (name,) = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone() or ("",)
    deadline = time.monotonic() + COPIED_WITHIN_S
    while not (folder / "wal" / f"{name}.gz").exists():
        if time.monotonic() > deadline:
            raise LauncherError(f"the server cannot copy its log to {folder / 'wal'}: see its postgres.log")
        time.sleep(POLL_S)


def take_base(
    programs: Binaries, connection: psycopg.Connection, dsn: str, folder: Path, facts: dict[str, Any]
) -> Base:
    """Copy the running server's cluster into a backup's folder, with `facts` told beside it.

    Raises LauncherError, psycopg.Error.
    """
    started_at = datetime.now(UTC)
    path = folder / f"base-{started_at:%Y%m%dT%H%M%SZ}"
    command = ["--checkpoint=fast", "--wal-method=stream", "--no-sync", "--manifest-checksums=SHA256"]
    _run(programs.directory / "pg_basebackup", [f"--dbname={dsn}", f"--pgdata={path}", *command])
    flush(connection, folder)
    base = Base(path, datetime.now(UTC), programs.major, system_of(connection))
    os.sync()  # all files at once: one after the other takes far longer
    told = {"format": FORMAT, "finished_at": base.finished_at.isoformat(), "major": base.major}
    told |= {"system": base.system, **facts}
    files.write_private(path.with_suffix(".json"), json.dumps(told, indent=2) + "\n")
    files.sync_directory(folder)
    return base


def system_of(connection: psycopg.Connection) -> str:
    """Return the identifier a cluster has had since it was made. Raises psycopg.Error."""
    row = connection.execute("SELECT system_identifier::text FROM pg_control_system()").fetchone()
    return str(row[0]) if row else ""


def bases(folder: Path) -> list[Base]:
    """Return the whole base backups of a folder, the oldest first. Raises LauncherError for a damaged one."""
    found = []
    for told in sorted(folder.glob("base-*.json")):
        try:
            facts = json.loads(told.read_text(encoding="utf-8"))
            finished_at = datetime.fromisoformat(facts["finished_at"])
            base = Base(told.with_suffix(""), finished_at, facts["major"], facts["system"])
        except (ValueError, KeyError, TypeError):
            raise LauncherError(f"{told} is damaged: remove it to go by another base backup") from None
        found.append(base)
    return found


def prune(folder: Path, keep: int) -> list[Base]:
    """Remove all base backups but the newest `keep`, and the log before them; return the removed bases.

    A base's description goes first: what is half removed is none. Raises LauncherError, OSError.
    """
    found = bases(folder)
    removed, kept = found[:-keep], found[-keep:]
    for base in removed:
        base.path.with_suffix(".json").unlink()
        files.sync_directory(folder)
        shutil.rmtree(base.path)
    if kept:
        first = _LOG_FILE.search((kept[0].path / "backup_label").read_text(encoding="utf-8"))
        if first is None:
            raise LauncherError(f"{kept[0].path} does not say where its log begins: it is damaged")
        for path in (folder / "wal").glob("*.gz"):
            name = _LOG_FILE.match(path.name)  # timelines go in front: what counts is the place behind
            if name is not None and name[2] < first[2]:
                path.unlink()
    return removed


def verify_base(programs: Binaries, base: Base) -> None:
    """Raise LauncherError unless every file of a base backup is as it was taken."""
    _run(programs.directory / "pg_verifybackup", ["--no-parse-wal", "--quiet", str(base.path)])


def copy_base(base: Base, cluster: Path) -> None:
    """Copy a base backup to where a server is to run on it, as its own user's. Raises OSError."""
    account = accounts.server_account()
    shutil.copytree(base.path, cluster, symlinks=True)
    (cluster / "recovery.signal").touch(mode=0o600)
    cluster.chmod(0o700)
    for path in (cluster, *cluster.rglob("*")):
        accounts.give(account, path)


def recovery_settings(folder: Path, until: datetime | None) -> str:
    """Return the settings with which a server recovers from a backup's folder, to its end or to a time.

    Raises LauncherError where the server's user cannot read the folder.
    """
    account = accounts.server_account()
    wal = folder / "wal"
    accounts.let_in(account, folder)  # a copy of the folder may be ours alone
    for path in (wal, *wal.glob("*.gz")):
        accounts.give(account, path)
    accounts.require_way(account, wal)
    copy = f"gzip -dc < {shlex.quote(str(wal)).replace('%', '%%')}/%f.gz > %p"
    lines = [f"restore_command = {settings.quote(copy)}", "archive_command = 'true'"]
    if until is not None:
        lines += [f"recovery_target_time = '{until.isoformat()}'", "recovery_target_action = promote"]
    return "\n".join([*lines, ""])


def _command(wal: Path) -> str:
    """Return the shell command that copies a file of the log: whole, on the disk, and never over another.

    A file that was copied before the server could take note of it is met again, and must be the same.
    """
    folder = shlex.quote(str(wal)).replace("%", "%%")
    return (
        f'cd {folder}/ && if [ -e %f.gz ]; then gzip -dc %f.gz | cmp -s - "$OLDPWD/"%p; else '
        f'gzip -1 -c "$OLDPWD/"%p > %f.part && sync %f.part && mv %f.part %f.gz && sync .; fi'
    )


def _configure(home: Path, connection: psycopg.Connection, text: str) -> None:
    path = home / settings.ARCHIVE
    files.write_private(path, text)
    accounts.let_read(accounts.server_account(), path)
    connection.execute("SELECT pg_reload_conf()")


def _run(program: Path, arguments: list[str]) -> None:
    if not program.is_file():
        raise LauncherError(f"no {program.name} in {program.parent}: name a whole installation with --pg-bin")
    done = subprocess.run(
        [program, *arguments],
        check=False,
        cwd="/",
        env=program_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise LauncherError(f"{program.name} failed: {said[-1] if said else 'it said nothing'}")

"""A cluster made of a backup: a base and the log (WAL) that was copied since, up to its end or to a time.

It grows beside the place where it is to be and appears there only when it is whole and has recovered: what
was interrupted is begun anew.
"""

from __future__ import annotations

import shutil
import time
from datetime import datetime
from pathlib import Path

import psycopg

from infrastructure.postgres import account as accounts
from infrastructure.postgres import archive, binaries, files, settings
from infrastructure.postgres.archive import Base
from infrastructure.postgres.cluster import EmbeddedPostgres
from infrastructure.postgres.errors import LauncherError
from infrastructure.postgres.lock import DirectoryLock

POLL_S = 0.05


def choose_base(folder: Path, until: datetime | None) -> Base:
    """Return the newest base backup that leads to a time. Raises LauncherError where there is none."""
    found = archive.bases(folder)
    if not found:
        raise LauncherError(f"there is no whole base backup in {folder}")
    early = [base for base in found if until is None or base.finished_at <= until]
    if not early:
        raise LauncherError(
            f"the oldest base backup is of {found[0].finished_at.isoformat()}: a later time is needed"
        )
    return early[-1]


def restore(folder: Path, home: Path, until: datetime | None, pg_bin: Path | None) -> Base:
    """Make the home of an embedded server from a backup's folder; return the base that was used.

    The superuser gets a new password. Raises LauncherError, also where there is a home already; OSError,
    psycopg.Error.
    """
    if home.exists():
        raise LauncherError(
            f"there is a database in {home}: restore into another --data-dir, or move it away"
        )
    account = accounts.server_account()
    base = choose_base(folder, until)
    programs = binaries.find(pg_bin, account)
    if programs.major != base.major:
        raise LauncherError(
            f"the backup is of PostgreSQL {base.major} and the programs are {programs.major}: "
            "name programs of that version with --pg-bin"
        )
    archive.verify_base(programs, base)
    draft = files.unfinished(home, "restoring")
    files.make_directory(draft, account)
    with DirectoryLock(draft):  # two restores into one place
        shutil.rmtree(draft / "cluster", ignore_errors=True)
        archive.copy_base(base, draft / "cluster")
    recovery = archive.recovery_settings(folder, until)
    try:
        with (
            EmbeddedPostgres(draft, pg_bin, recovery=recovery) as server,
            psycopg.connect(server.dsn, autocommit=True) as connection,
        ):
            _wait_for_the_end(connection)
            _set_password(connection, files.new_password(draft))
    except (LauncherError, psycopg.OperationalError) as error:
        if until is None:
            raise
        raise LauncherError(
            f"the backup does not lead to {until.isoformat()}: see the end of {draft / 'postgres.log'}"
        ) from error
    draft.rename(home)
    files.sync_directory(home.parent)
    return base


def _wait_for_the_end(connection: psycopg.Connection) -> None:
    """Wait until the log is replayed and the cluster is one that can be written. Raises psycopg.Error."""
    while connection.execute("SELECT pg_is_in_recovery()").fetchone() != (False,):
        time.sleep(POLL_S)


def _set_password(connection: psycopg.Connection, password: str) -> None:
    user = settings.SUPERUSER.encode()
    verifier = connection.pgconn.encrypt_password(password.encode(), user, b"scram-sha-256").decode()
    connection.execute(f"ALTER ROLE {settings.SUPERUSER} PASSWORD '{verifier}'".encode())

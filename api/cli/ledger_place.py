"""Where the ledger is that a command works on: a service's, which may be running, or one in DATABASE_URL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from psycopg.conninfo import make_conninfo

from api.cli.data_directory import DataDirectory
from api.cli.serve import with_password
from infrastructure.bootstrap import DEFAULT_SCHEMA, NotReadyError
from infrastructure.keys import load_passwords
from infrastructure.postgres import DirectoryInUseError, EmbeddedPostgres


@contextlib.contextmanager
def ledger(
    directory: DataDirectory,
    pg_bin: Path | None,
    database_url: str | None,
    role: Literal["app", "auditor"],
) -> Iterator[str]:
    """Yield how a role logs in where the ledger is; its server is started if it is not running.

    `database_url` says itself who logs in. Raises LauncherError, KeysError, NotReadyError, OSError.
    """
    if database_url is not None:
        yield with_password(database_url, directory.keys)
        return
    if not directory.postgres.is_dir():
        raise NotReadyError(f"there is no ledger in {directory.path}")
    server = EmbeddedPostgres(directory.postgres, pg_bin)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(DirectoryInUseError):  # a service is running: its server is asked
            stack.enter_context(server)
        password = load_passwords(directory.keys)[role]
        yield make_conninfo(server.dsn, user=f"{DEFAULT_SCHEMA}_{role}", password=password)

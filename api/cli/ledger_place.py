"""Where the ledger is that a command works on: a service's, which may be running, or one in DATABASE_URL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from psycopg.conninfo import make_conninfo

from api.cli.administrator import administrator
from api.cli.data_directory import DataDirectory
from api.cli.serve import with_password
from infrastructure.bootstrap import DEFAULT_SCHEMA
from infrastructure.keys import load_passwords


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
    with administrator(directory, pg_bin, None) as dsn:
        password = load_passwords(directory.keys)[role]
        yield make_conninfo(dsn, user=f"{DEFAULT_SCHEMA}_{role}", password=password)

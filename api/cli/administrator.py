"""How a command gets at a ledger as its administrator: the database of a URL, or the embedded server."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from api.cli.data_directory import DataDirectory
from infrastructure.guards import NotReadyError
from infrastructure.postgres import DirectoryInUseError, EmbeddedPostgres


@contextlib.contextmanager
def administrator(directory: DataDirectory, pg_bin: Path | None, database_url: str | None) -> Iterator[str]:
    """Yield an administrator's connection string; the embedded server is started if it is not running.

    Raises LauncherError where it cannot be, NotReadyError where there is no ledger in the directory.
    """
    if database_url is not None:
        yield database_url
        return
    if not directory.postgres.is_dir():
        raise NotReadyError(f"there is no ledger in {directory.path}")
    server = EmbeddedPostgres(directory.postgres, pg_bin)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(DirectoryInUseError):  # a service is running: its server is asked
            stack.enter_context(server)
        yield server.dsn

"""Where a service keeps what it must not lose: its embedded PostgreSQL, its keys and its evidence log.

The default is `.data` in the project. Only where root runs the service from a private folder, which
PostgreSQL's own user cannot enter, it is below /var/lib/stud-ledger, one folder for each clone.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from infrastructure.postgres import files
from infrastructure.postgres.account import can_enter, server_account

ROOT = Path(__file__).parents[2]
STATE = Path("/var/lib/stud-ledger")


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """The folder of one service. `keys` and `log`, the evidence log, may be elsewhere."""

    path: Path
    keys: Path
    log: Path

    @property
    def postgres(self) -> Path:
        """The home of the embedded PostgreSQL."""
        return self.path / "postgres"

    @property
    def odds(self) -> Path:
        """What takes long to count for exact odds: it can be removed at any time."""
        return self.path / "odds"


def choose(path: Path | None = None, keys: Path | None = None, log: Path | None = None) -> DataDirectory:
    """Return the folder a command works on; nothing is made. Relative paths are the caller's."""
    folder = (path or default_path()).absolute()
    return DataDirectory(folder, (keys or folder / "keys").absolute(), (log or folder / "log").absolute())


def default_path() -> Path:
    """Return the default folder of this clone."""
    if can_enter(server_account(), ROOT):
        return ROOT / ".data"
    clone = hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:12]
    return STATE / f"{ROOT.name}-{clone}"


def make(directory: DataDirectory, *, with_postgres: bool = True) -> None:
    """Make the folder and the keys' folder, for us alone but for PostgreSQL's user passing through.

    Raises LauncherError where that user is to have its cluster there and cannot reach the folder, OSError
    where it cannot be made.
    """
    files.make_directory(directory.path, server_account() if with_postgres else None)
    directory.keys.mkdir(mode=0o700, parents=True, exist_ok=True)

"""The launcher's files: written whole or not at all, readable by nobody they are not for."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from pathlib import Path

from infrastructure.postgres.account import Account, give, let_in, require_way
from infrastructure.postgres.errors import LauncherError
from infrastructure.postgres.settings import SUPERUSER

SOCKET_PATH_BYTES_MAX = 100  # Linux allows 107, macOS 103


def write_private(path: Path, text: str) -> None:
    """Write a file that only we can read, whole or not at all, and on the disk when this returns."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)


def new_password(home: Path) -> str:
    """Make a new password for the superuser, kept in the home's `pgpass`; return it."""
    password = secrets.token_urlsafe(32)
    write_private(home / "pgpass", f"*:*:*:{SUPERUSER}:{password}\n")
    return password


def unfinished(home: Path, what: str) -> Path:
    """Return where a home grows beside its place, while `what` is done: ``restoring`` or ``upgrading``."""
    return home.with_name(f"{home.name}.{what}")


def require_finished(home: Path) -> None:
    """Raise LauncherError where a home is missing because something that was to make it was interrupted."""
    for what in ("restoring", "upgrading"):
        if (draft := unfinished(home, what)).exists():
            raise LauncherError(f"{what} was interrupted here: run that command again, or remove {draft}")


def make_directory(directory: Path, account: Account | None) -> None:
    """Make a directory and what is missing above it, open to us and, for passing through, the server's user.

    What is there already stays as private as it is, but for the directory itself where it is empty: it was
    named for us to fill. Raises LauncherError, before anything is made, where that user cannot pass.
    """
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    if missing:
        if missing[-1].parent.is_dir():  # making something below a file fails, and says so
            require_way(account, missing[-1].parent)
    elif any(directory.iterdir()):
        require_way(account, directory)
    else:
        let_in(account, directory)
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
        let_in(account, path)


def sync_directory(directory: Path) -> None:
    """Put renames in a directory on the disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def socket_directory(home: Path, name: str, port: int) -> Path:
    """Return where the socket goes: in the home, or at a short path where that one is too long."""
    temporary = f"{name}-{os.geteuid()}"
    candidates = [home / "socket", Path(tempfile.gettempdir()) / temporary]
    for directory in candidates:
        if len(os.fsencode(directory / f".s.PGSQL.{port}")) <= SOCKET_PATH_BYTES_MAX:
            return directory
    return Path("/tmp") / temporary  # noqa: S108  # whose it is gets checked before it is used


def make_socket_directory(directory: Path, account: Account | None) -> None:
    """Make the socket's directory, the server's user's alone; refuse one that somebody else put there."""
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.lstat()
    expected = {os.geteuid(), account.uid if account else os.geteuid()}
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in expected:
        raise LauncherError(
            f"{directory} belongs to somebody else: remove it, or choose a shorter --data-dir"
        )
    directory.chmod(0o700)
    give(account, directory)

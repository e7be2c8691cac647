"""Who the server runs as.

PostgreSQL refuses to run as root. Started by root, it runs as a system user of its own, who owns the cluster
and the socket and nothing else, and who is let into the directories above them by group, without opening them
to everyone. Started by anybody else, it runs as that user.
"""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import stat
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from infrastructure.postgres.errors import LauncherError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "studledger"
ATTEMPTS = 20


class ProcessUser(TypedDict, total=False):
    """The arguments of `subprocess` that say whom a program runs as; without them it is us."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Account:
    """The system user PostgreSQL runs as when we are root."""

    uid: int
    gid: int

    def as_process(self) -> ProcessUser:
        """Return the arguments of `subprocess` that start a program as this user, with no other groups."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def server_account() -> Account | None:
    """Return the server's own user where we are root, making it if need be; None where we are not.

    Raises LauncherError where it cannot be made.
    """
    if os.geteuid() != 0:
        return None
    for _ in range(ATTEMPTS):
        try:
            entry = pwd.getpwnam(NAME)
        except KeyError:
            problem = _make_user()
        else:
            return Account(entry.pw_uid, entry.pw_gid)
        time.sleep(0.1)  # two first starts at once: the user database is locked by the other, or just written
    raise LauncherError(f"cannot make the system user {NAME} ({problem}): make it, or run as a plain user")


def _make_user() -> str:
    """Make the user; return what the system said. Whether it worked is seen by looking it up."""
    if shutil.which("useradd"):
        command = ["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
        command += ["--shell", "/usr/sbin/nologin", NAME]
    elif shutil.which("adduser"):
        command = ["adduser", "-S", "-D", "-H", "-h", "/nonexistent", "-s", "/sbin/nologin", NAME]
    else:
        return "neither useradd nor adduser found"
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return (done.stderr or done.stdout).strip().replace(
        "\n", "; "
    ) or f"{command[0]} exited with {done.returncode}"


def process_of(account: Account | None) -> ProcessUser:
    """Return the arguments of `subprocess` for a program of the server."""
    return account.as_process() if account else {}


def own_name() -> str:
    """Return the name of the user we are. Raises LauncherError where the system has none for us."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise LauncherError(f"user {os.geteuid()} has no name on this system: run as one that has") from None


def can_enter(account: Account | None, path: Path) -> bool:
    """Tell whether the server's user can reach and enter a directory, or run a file."""
    if account is None:
        return os.access(path, os.X_OK)
    command = ["/bin/sh", "-c", '[ -x "$1" ]', "sh", str(path)]
    try:
        done = subprocess.run(command, check=False, cwd="/", capture_output=True, **account.as_process())
    except PermissionError:
        raise LauncherError("cannot act as another user here (no right to): run as a plain user") from None
    return done.returncode == 0


def require_way(account: Account | None, directory: Path) -> None:
    """Raise LauncherError unless the server's user can reach and enter a directory; change nothing."""
    if account is None or can_enter(account, directory):
        return
    way = [*reversed(directory.parents), directory]
    closed = next((path for path in way if not can_enter(account, path)), directory)
    raise LauncherError(
        f"PostgreSQL's user {NAME} cannot pass through {closed}, which is private: "
        f"choose another --data-dir, or let it pass with chmod o+x {shlex.quote(str(closed))}"
    )


def let_in(account: Account | None, directory: Path) -> None:
    """Let the server's user pass through a directory of ours, by group and to no one else.

    Only for one that is new or empty: the mode of any other protects something. A directory that another
    group may use is left as it is: it has one group, and that one would be shut out. Raises LauncherError
    where it stays out of reach: it is such a one, or a directory above it is private.
    """
    if account is None or can_enter(account, directory):
        return
    require_way(account, directory.parent)
    status = directory.stat()
    is_free = status.st_gid in (os.getegid(), account.gid) or not status.st_mode & stat.S_IRWXG
    if status.st_uid == os.geteuid() and is_free:
        os.chown(directory, -1, account.gid)
        directory.chmod(stat.S_IMODE(status.st_mode) & ~stat.S_IRWXG | stat.S_IXGRP)
    require_way(account, directory)


def give(account: Account | None, path: Path) -> None:
    """Make the server's user the owner of a file or directory."""
    if account:
        os.chown(path, account.uid, account.gid)


def let_read(account: Account | None, path: Path) -> None:
    """Let the server's user read a file of ours, by group."""
    if account:
        os.chown(path, -1, account.gid)
        path.chmod(0o640)

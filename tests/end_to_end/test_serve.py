"""`scripts/serve` as a person meets it: real processes, a real database, kill -9 at every part (G11)."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from infrastructure.postgres import EmbeddedPostgres

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
READY = re.compile(r"ready at http://127\.0\.0\.1:(\d+)")
needs_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a child that its parent died"
)


@dataclass
class Service:
    """A running `serve`, everything it printed until it was ready, and its port."""

    process: subprocess.Popen[str]
    printed: str
    port: int

    def children(self, part: str) -> list[psutil.Process]:
        """Return its living children with a word in their command lines."""
        found = [child for child in psutil.Process(self.process.pid).children() if not is_gone(child)]
        return [child for child in found if any(part in word for word in command_line(child))]

    def is_ready(self) -> bool:
        """Tell whether it says it is ready."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start `serve` with what a caller's environment could not change."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "DATABASE"))}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "api.cli.serve", *arguments],
        env=inherited | {"PYTHONPATH": str(ROOT)} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def refusal(*arguments: str, **environment: str) -> tuple[int, str]:
    """Return the exit status and the output of a `serve` that is expected to end."""
    process = start(*arguments, **environment)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


def eventually(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Tell whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def is_gone(process: psutil.Process) -> bool:
    """Tell whether a process is dead; a zombie nobody collected yet is."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def command_line(process: psutil.Process) -> list[str]:
    """Return a process's command line, nothing where it is dead by now."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder that the server's user can pass through."""
    made = Path(tempfile.mkdtemp(prefix="stud-ledger-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def serve(folder: Path) -> Iterator[Callable[..., Service]]:
    """Yield what starts a service on the folder, on a free port, and waits until it is ready."""
    processes: list[subprocess.Popen[str]] = []

    def run(*arguments: str, **environment: str) -> Service:
        process = start("--data-dir", str(folder / "data"), "--port", "0", *arguments, **environment)
        processes.append(process)
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            if "Ctrl-C" in line:
                break
        printed = "".join(lines)
        ready = READY.search(printed)
        assert ready is not None, printed
        return Service(process, printed, int(ready[1]))

    yield run
    for process in processes:
        process.terminate()
        process.communicate(timeout=60)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the printed commands need curl")
def test_the_printed_hand_can_be_played_and_verified(serve: Callable[..., Service], folder: Path) -> None:
    """What a first start prints, pasted into a shell, plays a hand to its verified payout."""
    service = serve()
    commands = service.printed[service.printed.index("TOKEN=") : service.printed.index("\n\nCtrl-C")]
    script = commands.replace("scripts/verify.py", str(ROOT / "scripts" / "verify.py"))
    done = subprocess.run(["/bin/sh", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "VERIFIED" in done.stdout


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_all_of_it(serve: Callable[..., Service], signum: signal.Signals) -> None:
    """Ctrl-C, a service manager's stop and a closed terminal end everything, with status 0."""
    service = serve("--workers", "2")
    everything = psutil.Process(service.process.pid).children(recursive=True)
    assert len(service.children("api.cli.worker")) == 2
    assert len(service.children("postgres")) == 1
    service.process.send_signal(signum)
    output, _ = service.process.communicate(timeout=60)
    assert (service.process.returncode, output) == (0, "")
    assert [process for process in everything if not is_gone(process)] == []


@needs_linux
def test_a_killed_service_leaves_nothing_and_starts_again(
    serve: Callable[..., Service], folder: Path
) -> None:
    """Kill -9 of the supervisor ends what it started; the next start on the same port and data goes on."""
    service = serve()
    everything = psutil.Process(service.process.pid).children(recursive=True)
    service.process.kill()
    service.process.wait()
    again = serve("--port", str(service.port))
    assert again.port == service.port
    assert again.is_ready()
    assert eventually(lambda: all(map(is_gone, everything)))
    assert (folder / "data" / "postgres" / "cluster").exists()


def others(processes: list[psutil.Process], victim: psutil.Process) -> bool:
    """Tell whether somebody else has taken a victim's place."""
    return bool({process.pid for process in processes} - {victim.pid})


def test_a_killed_database_comes_back(serve: Callable[..., Service]) -> None:
    """Kill -9 of PostgreSQL under a running service: it is started again, and the service is ready again."""
    service = serve()
    (victim,) = service.children("postgres")
    victim.kill()
    assert eventually(lambda: others(service.children("postgres"), victim))
    assert eventually(service.is_ready)
    assert service.process.poll() is None


def test_a_killed_worker_comes_back(serve: Callable[..., Service]) -> None:
    """Kill -9 of the worker: another one takes over."""
    service = serve()
    (victim,) = service.children("api.cli.worker")
    victim.kill()
    assert eventually(lambda: others(service.children("api.cli.worker"), victim))
    assert eventually(service.is_ready)


def test_a_directory_in_use_is_one_line(serve: Callable[..., Service], folder: Path) -> None:
    """A second service on the same data says whose it is, and leaves the first alone."""
    service = serve()
    status, output = refusal("--data-dir", str(folder / "data"), "--port", "0")
    assert status == 1
    assert output.startswith(f"stud-ledger: data directory in use by pid {service.process.pid}: ")
    assert output.count("\n") == 1
    assert service.is_ready()


def test_a_taken_port_is_one_line(folder: Path) -> None:
    """A port that somebody has is said before anything is started."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        status, output = refusal("--data-dir", str(folder / "data"), "--port", port)
    assert (status, output.count("\n")) == (1, 1)
    assert f"cannot listen on 127.0.0.1:{port}" in output
    assert not (folder / "data" / "postgres").exists()


def test_a_lost_key_is_one_line(serve: Callable[..., Service], folder: Path) -> None:
    """A ledger with events and without its key is refused, and no key is made for it."""
    service = serve()
    service.process.terminate()
    service.process.wait()
    key = folder / "data" / "keys" / "token.key"
    key.unlink()
    status, output = refusal("--data-dir", str(folder / "data"), "--port", "0")
    assert (status, output.count("\n")) == (1, 1)
    assert f"the key {key} is missing" in output
    assert not key.exists()


def test_a_folder_that_cannot_be_made_is_one_line(folder: Path) -> None:
    """A data directory below a file is refused by name."""
    (folder / "file").touch()
    status, output = refusal("--data-dir", str(folder / "file" / "data"), "--port", "0")
    assert (status, output.count("\n")) == (1, 1)
    assert str(folder / "file" / "data") in output


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--init-db"], "there is no DATABASE_URL"),
        (["--workers", "0"], "--workers must be between"),
        (["--port", "eighty"], "invalid int value"),
        (["--port", "65536"], "--port must be between"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: list[str], complaint: str) -> None:
    """A wrong option is told with the usage, and nothing is started."""
    status, output = refusal(*arguments)
    assert status == 2
    assert complaint in output


def test_another_server_is_prepared_and_then_used(serve: Callable[..., Service], folder: Path) -> None:
    """With DATABASE_URL the service runs there, opens no demo tables, and shows no token or password.

    Another service of that ledger has to be told where its evidence log is.
    """
    with EmbeddedPostgres(folder / "elsewhere") as server:
        keys = ["--keys", str(folder / "keys")]
        status, output = refusal(*keys, "--data-dir", str(folder / "d"), DATABASE_URL=server.dsn)
        assert (status, output.count("\n")) == (1, 1)
        assert "run serve --init-db" in output
        status, output = refusal(*keys, "--init-db", DATABASE_URL=server.dsn)
        password = (folder / "keys" / "app.password").read_text().strip()
        url = output[output.index("DATABASE_URL='") + len("DATABASE_URL='") : output.index("'\n")]
        assert status == 0
        assert password not in output
        assert conninfo_to_dict(url)["user"] == "ledger_app"
        service = serve(*keys, "--workers", "2", DATABASE_URL=url)
        assert service.children("postgres") == []
        assert "eyJ" not in service.printed
        assert password not in service.printed
        with psycopg.connect(server.dsn) as connection:
            row = connection.execute("SELECT position FROM ledger.head").fetchone()
            assert row is not None
            assert row[0] > 0
            tables = "SELECT count(*) FROM ledger.events WHERE stream LIKE 'table-%'"
            assert connection.execute(tables).fetchone() == (0,)
        service.process.terminate()
        assert service.process.wait(60) == 0
        status, output = refusal(*keys, "--data-dir", str(folder / "other"), DATABASE_URL=url)
        assert (status, output.count("\n")) == (1, 1)
        assert "name its folder with --log" in output


def test_a_server_that_is_not_there_is_one_line(folder: Path) -> None:
    """A DATABASE_URL nobody answers at, or that is none, is told without its password."""
    arguments = ("--data-dir", str(folder / "data"), "--port", "0")
    for url in ("postgresql://ledger_app:hidden@127.0.0.1:1/ledger", "nonsense:hidden"):
        status, output = refusal(*arguments, DATABASE_URL=url)
        assert (status, output.count("\n")) == (1, 1), output
        assert "hidden" not in output

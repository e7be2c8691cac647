"""Workers that die, hang or never start, and what the supervisor makes of it."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from api.cli import supervisor
from api.cli.supervisor import ServiceError, Workers, listen
from infrastructure import metrics_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ANSWERING = """
import http.server, os, signal, socket, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = f"{os.getpid()} {os.environ['TOLD']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
class Server(http.server.HTTPServer):
    def server_bind(self):
        pass
    def server_activate(self):
        pass
server = Server(("", 0), Answer, bind_and_activate=False)
server.socket.close()
server.socket = socket.socket(fileno=int(sys.argv[1]))
"""
SERVING = (sys.executable, "-c", ANSWERING + "server.serve_forever()")
STUBBORN = (
    sys.executable,
    "-c",
    ANSWERING + "signal.signal(signal.SIGTERM, signal.SIG_IGN); server.serve_forever()",
)
ALARMED = (
    sys.executable,
    "-c",
    ANSWERING.replace("send_response(200)", "send_response(503)") + "server.serve_forever()",
)
FAILING = (sys.executable, "-c", "raise SystemExit(7)")
TOLD = {"TOLD": "so"}


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Yield a listening socket on a free port."""
    with listen("127.0.0.1", 0) as found:
        yield found


@pytest.fixture
def started(listener: socket.socket) -> Iterator[Callable[..., Workers]]:
    """Yield what starts workers that are stopped after the test."""
    running: list[Workers] = []

    def start(
        program: tuple[str, ...] = SERVING, count: int = 1, beside: tuple[str, ...] | None = None
    ) -> Workers:
        workers = Workers(listener, TOLD, program, beside)
        running.append(workers)
        workers.start(count)
        return workers

    yield start
    for workers in running:
        workers.stop()


def ask(listener: socket.socket) -> tuple[int, str]:
    """Return which worker answers, and what it was told."""
    connection = http.client.HTTPConnection(*listener.getsockname(), timeout=20)
    try:
        connection.request("GET", "/")
        pid, told = connection.getresponse().read().decode().split()
    finally:
        connection.close()
    return int(pid), told


def children() -> set[int]:
    """Return our child processes that are alive."""
    found = psutil.Process().children()
    return {child.pid for child in found if child.status() != psutil.STATUS_ZOMBIE}


def until_said(workers: Workers, text: str) -> str:
    """Look after workers until there is something to say that holds a text; return it."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for line in workers.look_after():
            if text in line:
                return line
        time.sleep(0.01)
    raise AssertionError(f"nothing said about {text}")


def test_a_taken_port_is_one_line(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    """A port somebody listens on is named with the option that chooses another."""
    monkeypatch.setattr(supervisor, "PORT_PATIENCE_S", 0.0)
    port = listener.getsockname()[1]
    with pytest.raises(
        ServiceError, match=rf"cannot listen on 127\.0\.0\.1:{port} \(Address .*use\).*--port"
    ):
        listen("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", 70000), ("127.0.0.1", -1), ("192.0.2.1", 0), ("no host", 0)]
)
def test_an_impossible_address_is_one_line(host: str, port: int) -> None:
    """An address that is not ours, or none at all, is refused at once."""
    with pytest.raises(ServiceError, match="cannot listen on"):
        listen(host, port)


def test_a_port_given_up_in_time_is_taken(listener: socket.socket) -> None:
    """A port that the workers of a killed service still hold for a moment is waited for."""
    address = listener.getsockname()
    holds = [sys.executable, "-c", "import time; time.sleep(0.3)"]
    with subprocess.Popen(holds, pass_fds=[listener.fileno()]):
        listener.close()
        with listen(*address) as taken:
            assert taken.getsockname() == address


def test_workers_share_the_socket_and_what_they_are_told(
    listener: socket.socket, started: Callable[..., Workers]
) -> None:
    """Every worker answers on the one socket, and knows its environment."""
    before = children()
    started(count=2)
    assert len(children() - before) == 2
    pid, told = ask(listener)
    assert pid in children()
    assert told == "so"


def test_a_killed_worker_is_replaced(listener: socket.socket, started: Callable[..., Workers]) -> None:
    """A worker that dies is said and replaced, and the service answers again."""
    before = children()
    workers = started()
    victim, _ = ask(listener)
    os.kill(victim, signal.SIGKILL)
    assert f"worker {victim} ended with status -9" in until_said(workers, str(victim))
    deadline = time.monotonic() + 30
    while not (children() - before) and time.monotonic() < deadline:
        workers.look_after()
        time.sleep(0.01)
    assert ask(listener)[0] != victim


def test_a_worker_that_cannot_start_ends_the_start(started: Callable[..., Workers]) -> None:
    """A worker that ends before the service is ready is not tried again: its own words say why."""
    with pytest.raises(ServiceError, match="ended at its start with status 7"):
        started(FAILING)


def test_a_worker_that_ends_again_and_again_ends_the_service(
    listener: socket.socket, started: Callable[..., Workers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is a bound on starting again, and the waits grow up to it."""
    workers = started()
    victim, _ = ask(listener)
    monkeypatch.setattr(supervisor, "FIRST_DELAY_S", 0.001)
    monkeypatch.setattr(workers, "_program", FAILING)
    os.kill(victim, signal.SIGKILL)
    with pytest.raises(ServiceError, match=f"ended {supervisor.FAILURES_MAX + 1} times in a row"):
        until_said(workers, "this is never said")


def test_a_service_that_is_never_ready_is_said(
    started: Callable[..., Workers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that runs but does not answer does not keep a start waiting for ever."""
    monkeypatch.setattr(supervisor, "READY_TIMEOUT_S", 0.2)
    monkeypatch.setattr(supervisor, "PROBE_TIMEOUT_S", 0.1)
    with pytest.raises(ServiceError, match="not ready"):
        started((sys.executable, "-c", "import time; time.sleep(60)"))


@pytest.mark.parametrize("program", [SERVING, STUBBORN])
def test_a_stop_leaves_no_worker(
    program: tuple[str, ...], started: Callable[..., Workers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told to stop, workers are gone when the call returns, those that will not listen too."""
    monkeypatch.setattr(supervisor, "KILL_AFTER_S", 0.5)
    before = children()
    workers = started(program)
    assert children() - before
    workers.stop()
    assert children() - before == set()


def test_the_one_beside_is_started_again_for_ever_and_ends_nothing(
    started: Callable[..., Workers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it ends, the service goes on without it, and it is stopped with the workers."""
    monkeypatch.setattr(supervisor, "DELAY_S_MAX", 0.01)
    before = children()
    workers = started(beside=FAILING)
    for _ in range(supervisor.FAILURES_MAX + 3):
        assert "projector" in until_said(workers, "with status 7")
    workers.stop()
    waiting = (sys.executable, "-c", "import time; time.sleep(60)")
    workers = started(beside=waiting)
    assert len(children() - before) == 2
    workers.stop()
    assert children() == before


def test_the_one_beside_may_have_ended_a_thousand_times(started: Callable[..., Workers]) -> None:
    """A night of ends is no number too large for the pause: it is the longest, and the service goes on."""
    workers = started(beside=FAILING)
    workers._children[-1].failures = 5_000
    assert until_said(workers, "with status 7").endswith("starting another in 10.0 s")


def test_a_process_that_cannot_be_made_is_tried_again(
    listener: socket.socket, started: Callable[..., Workers], tmp_path: Path
) -> None:
    """A machine that makes no process now, for want of memory or files, does not end the service."""
    program = tmp_path / "beside"
    program.write_text(f"#!{sys.executable}\nraise SystemExit(7)\n")
    program.chmod(0o700)
    workers = started(beside=(str(program),))
    program.rename(tmp_path / "away")
    until_said(workers, "projector cannot be started (No such file or directory); trying again in 0.2 s")
    until_said(workers, "projector cannot be started (No such file or directory); trying again in 0.4 s")
    (tmp_path / "away").rename(program)
    until_said(workers, "ended with status 7; starting another in 1.6 s")
    assert ask(listener)[1] == "so"


@pytest.mark.parametrize("code", ["ledger_alarm", "ledger_read_only"])
def test_a_service_that_tells_of_its_ledger_has_started(listener: socket.socket, code: str) -> None:
    """Something wrong with the ledger is no reason to keep those out who look after it."""
    workers = Workers(listener, {"TOLD": f'"code":"{code}"'}, ALARMED)
    try:
        workers.start(1)
        assert code in ask(listener)[1]
    finally:
        workers.stop()


def test_what_a_worker_counted_of_itself_goes_with_it(listener: socket.socket, tmp_path: Path) -> None:
    """A worker that ended is no longer among those that live; what it counted for good stays."""
    workers = Workers(listener, {**TOLD, metrics_folder.VARIABLE: str(tmp_path)}, SERVING)
    workers.start(1)
    try:
        pid, _ = ask(listener)
        for name in (f"gauge_livesum_{pid}.db", f"counter_{pid}.db", "gauge_livesum_1.db"):
            (tmp_path / name).touch()
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while not workers.look_after():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert {path.name for path in tmp_path.iterdir()} == {f"counter_{pid}.db", "gauge_livesum_1.db"}
    finally:
        workers.stop()

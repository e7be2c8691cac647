"""Keeping processes alive: start them, start again the one that ends, stop them all in order.

It runs in the main thread, and in no other: the kernel ends a child when the thread that started it does.
"""

from __future__ import annotations

import errno
import http.client
import math
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from api.cli import projector, worker
from infrastructure import metrics_folder
from infrastructure.children import dies_with_parent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WORKER = (sys.executable, "-P", "-m", worker.__name__)
PROJECTOR = (sys.executable, "-P", "-m", projector.__name__)
BACKLOG = 1024
FAILURES_MAX = 10  # with the delays below: most of a minute, in which a database may come back
FIRST_DELAY_S = 0.1
DELAY_S_MAX = 10.0
DOUBLINGS_MAX = 16
HEALTHY_AFTER_S = 60.0
READY_TIMEOUT_S = 120.0
PROBE_TIMEOUT_S = 1.0
PORT_PATIENCE_S = 2.0  # the workers of a killed service give the port up within this
POLL_S = 0.02
_WORKER, _PROJECTOR = "worker", "projector"
TOLD_OF_THE_LEDGER = (b'"code":"ledger_alarm"', b'"code":"ledger_read_only"')
KILL_AFTER_S = worker.GRACE_S + 5.0


class ServiceError(Exception):
    """The service cannot run; the message is the one line a person reads."""


def listen(host: str, port: int) -> socket.socket:
    """Take the port, so that nobody else can, and let callers wait in line until a worker is there.

    A port that is just being given up is waited for a moment. Raises ServiceError where it stays taken or may
    not be used.
    """
    deadline = time.monotonic() + PORT_PATIENCE_S
    while True:
        try:
            return _listen_now(host, port)
        except (OSError, OverflowError) as problem:
            if getattr(problem, "errno", None) != errno.EADDRINUSE or time.monotonic() > deadline:
                why = getattr(problem, "strerror", None) or "there is no such port"
                raise ServiceError(
                    f"cannot listen on {host}:{port} ({why}): choose another with --port"
                ) from None
        time.sleep(POLL_S)


def _listen_now(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


@dataclass(frozen=True, slots=True)
class Beside:
    """A process to keep beside the workers, and the listening socket it inherits.

    The socket's descriptor is its last argument.
    """

    name: str
    program: Sequence[str]
    listener: socket.socket


@dataclass(slots=True)
class _Child:
    """A process that is kept. `failures_max`: how often in a row it may end; None: however often."""

    name: str
    process: subprocess.Popen[bytes]
    started_at: float
    failures_max: int | None
    failures: int = 0
    start_again_at: float | None = None


class Workers:
    """Some processes that serve one listening socket, one beside them that projects, and maybe others.

    `environment` is what each of them is told; `program` is what each worker runs, with the socket's
    descriptor as its last argument; `beside` is what the one that projects runs, where there is one, and
    `others` run once the service is ready. The service answers without all of these, so they are started
    again for ever and never end the service.
    """

    def __init__(
        self,
        listener: socket.socket,
        environment: Mapping[str, str],
        program: Sequence[str] = WORKER,
        beside: Sequence[str] | None = None,
        others: Sequence[Beside] = (),
    ) -> None:
        self._listener = listener
        self._environment = dict(environment)
        self._program = program
        self._beside = beside
        self._others = {each.name: each for each in others}
        self._children: list[_Child] = []

    def start(self, count: int) -> None:
        """Start the workers and wait until the service says it is ready.

        Raises ServiceError where a worker ends before that, or none gets ready in time.
        """
        workers = [self._child(_WORKER, FAILURES_MAX) for _ in range(count)]
        self._children = workers + ([self._child(_PROJECTOR, None)] if self._beside is not None else [])
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not self._is_ready():
            for each in workers:
                if (status := each.process.poll()) is not None:
                    raise ServiceError(f"a worker ended at its start with status {status}: it said why above")
            if time.monotonic() > deadline:
                raise ServiceError(f"the service is not ready after {READY_TIMEOUT_S:.0f} s")
            time.sleep(POLL_S)
        for name in self._others:  # only now, so that what is waited for has the processors to itself
            self._children.append(self._child(name, None))

    def look_after(self) -> list[str]:
        """Start again what ended, later each time it ends early; return what there is to say about it.

        Raises ServiceError where a worker ends again and again.
        """
        return [line for each in self._children if (line := self._look_after(each))]

    def stop(self) -> None:
        """Tell the processes to finish what they answer or write and end; end by force those that do not."""
        running = [each.process for each in self._children if each.process.poll() is None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + KILL_AFTER_S
        for process in running:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._children = []

    def _look_after(self, each: _Child) -> str:
        now = time.monotonic()
        if each.start_again_at is not None:
            return self._start_again(each, now) if now >= each.start_again_at else ""
        status = each.process.poll()
        if status is None:
            return ""
        if (folder := self._environment.get(metrics_folder.VARIABLE)) is not None:
            metrics_folder.forget_process(Path(folder), each.process.pid)
        if now - each.started_at > HEALTHY_AFTER_S:
            each.failures = 0
        delay_s = self._put_off(each, now, f"status {status}")
        return (
            f"{each.name} {each.process.pid} ended with status {status}; starting another in {delay_s:.1f} s"
        )

    def _start_again(self, each: _Child, now: float) -> str:
        try:
            each.process, each.started_at, each.start_again_at = self._spawn(each.name), now, None
        except OSError as problem:  # no memory, no process, no file: for now
            why = problem.strerror or type(problem).__name__
            delay_s = self._put_off(each, now, why)
            return f"{each.name} cannot be started ({why}); trying again in {delay_s:.1f} s"
        return ""

    @staticmethod
    def _put_off(each: _Child, now: float, why: str) -> float:
        """Start a process that has failed again in a while; return in how many seconds.

        Raises ServiceError where it has failed too often.
        """
        each.failures += 1
        if each.failures_max is not None and each.failures > each.failures_max:
            raise ServiceError(f"a worker ended {each.failures} times in a row, now with {why}")
        doubled = min(each.failures - 1, DOUBLINGS_MAX)  # it may fail all night, and 2**1024 is no float
        delay_s = min(math.ldexp(FIRST_DELAY_S, doubled), DELAY_S_MAX)
        each.start_again_at = now + delay_s
        return delay_s

    def _child(self, name: str, failures_max: int | None) -> _Child:
        return _Child(name, self._spawn(name), time.monotonic(), failures_max)

    def _spawn(self, name: str) -> subprocess.Popen[bytes]:
        program, descriptors = self._what_runs(name)
        return subprocess.Popen(
            [*program, *map(str, descriptors)],
            env=os.environ | self._environment,
            stdin=subprocess.DEVNULL,
            pass_fds=descriptors,
            start_new_session=True,  # Ctrl-C at a terminal is for the supervisor, which stops them in order
            preexec_fn=dies_with_parent(signal.SIGTERM),
        )

    def _what_runs(self, name: str) -> tuple[Sequence[str], list[int]]:
        """Return a process's program, and the descriptors it inherits and is told of."""
        if name == _WORKER:
            return self._program, [self._listener.fileno()]
        if (other := self._others.get(name)) is not None:
            return other.program, [other.listener.fileno()]
        return self._beside or (), []

    def _is_ready(self) -> bool:
        """Ask the service itself, as a load balancer would."""
        host, port = self._listener.getsockname()[:2]
        # An any-address is not one to connect to; the loopback of its family is.
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
        connection = http.client.HTTPConnection(host, port, timeout=PROBE_TIMEOUT_S)
        try:
            connection.request("GET", "/readyz")
            answer = connection.getresponse()
            # A service that tells what is wrong with its ledger has started; that is why it can tell.
            told = answer.read()
            return answer.status == http.client.OK or any(code in told for code in TOLD_OF_THE_LEDGER)
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

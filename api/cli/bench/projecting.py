"""The projector as `scripts/serve` starts it: a process of its own, watched from here."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Final

import psutil
import psycopg

from api.cli.bench.figures import per_second
from api.cli.bench.ledger import ROOT, BenchServer
from api.settings import ServiceSettings

POLL_SECONDS: Final = 0.1
ENOUGH_EVENTS: Final = 50_000
STANDSTILL_SECONDS_MAX: Final = 60.0

_PROJECTED: Final = """
    SELECT (SELECT position FROM ledger.head), min(position), bool_or(state = 'stopped')
    FROM ledger_read.projections WHERE live"""


class NotProjectedError(RuntimeError):
    """A projection has stopped, or nothing moves any more."""


def standing(connection: psycopg.Connection) -> tuple[int, int]:
    """The ledger's position and that of the projection that is furthest behind. Raises NotProjectedError."""
    head, projected, stopped = connection.execute(_PROJECTED).fetchone() or (0, 0, True)
    if stopped:
        raise NotProjectedError("a projection has stopped: its row in ledger_read.projections says why")
    return head, projected or 0


class ProjectorProcess:
    """The process that projects. `memory_mb` is the most that was seen of its proportional set size."""

    def __init__(self, server: BenchServer) -> None:
        settings = ServiceSettings(server.dsn, server.home / "keys", projector_inside=False)
        self.memory_mb = 0.0
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "api.cli.projector"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **settings.to_environment()},
        )
        self._watched = psutil.Process(self._process.pid)

    def look(self) -> None:
        """Take note of its memory."""
        with contextlib.suppress(psutil.Error):
            self.memory_mb = max(self.memory_mb, float(self._watched.memory_full_info().pss) / 1e6)

    def catch_up(self, connection: psycopg.Connection) -> tuple[int, float]:
        """Wait until everything is projected; return how many events a second that were, and the seconds.

        Its start is not counted where there is enough to measure without: the clock begins when the first
        batches are there. Raises NotProjectedError.
        """
        began, first = time.perf_counter(), standing(connection)[1]
        moved_at, last, starting = began, first, True
        while True:
            head, projected = standing(connection)
            now = time.perf_counter()
            if projected > last:
                if starting and head - projected > ENOUGH_EVENTS:
                    began, first = now, projected
                starting = False
                moved_at, last = now, projected
                self.look()
            if projected >= head:
                return per_second(projected - first, moved_at - began), moved_at - began
            if now - moved_at > STANDSTILL_SECONDS_MAX or self._process.poll() is not None:
                raise NotProjectedError(f"the projections stand still at {projected} of {head}")
            time.sleep(POLL_SECONDS)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Let it stand still for a while."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End it in order."""
        self._process.terminate()
        self._process.wait(30)

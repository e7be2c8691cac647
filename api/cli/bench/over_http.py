"""Full rounds over HTTP: one worker process, the load generator in another, PostgreSQL beside them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, Final

import psutil

from api.cli.bench.figures import Latencies, Run
from api.cli.bench.ledger import ROOT, TABLE_WITH_JACKPOT, BenchServer
from api.settings import ServiceSettings
from api.tokens import mint
from infrastructure.keys import Keys

READY_SECONDS_MAX: Final = 20.0
WATCH_SECONDS: Final = 0.05


class Service:
    """One worker on a socket of its own, as `scripts/serve` starts it.

    `projects`: with what follows the events in a thread, for want of a process that does.
    """

    def __init__(self, server: BenchServer, *, projects: bool = True) -> None:
        self._keys = Keys.load_or_create(server.home / "keys", ledger_is_empty=True)
        settings = ServiceSettings(server.dsn, server.home / "keys", projector_inside=projects)
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = listener.getsockname()[1]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "api.cli.worker", str(listener.fileno())],
            cwd=ROOT,
            env={**os.environ, **settings.to_environment()},
            pass_fds=[listener.fileno()],
        )
        listener.close()
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + READY_SECONDS_MAX
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=2):
                    return
            except (urllib.error.URLError, OSError):
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.1)

    def token(self, scope: str = "play") -> str:
        """A token; a game server's unless another scope is named."""
        return mint(self._keys.token, scope, client_id="bench", actor="bench", ttl_seconds=3600)

    def memory_mb(self) -> float:
        """Proportional set size of the worker, MB: its own memory and its part of what it shares."""
        return float(psutil.Process(self.process.pid).memory_full_info().pss) / 1e6

    def stop(self) -> None:
        """End the worker in order."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def play(
    service: Service, clients: int, rounds: int, *, rate: float = 0, watch: Callable[[], None] | None = None
) -> Run:
    """Run the load generator once and return what it measured.

    With a `rate` it begins so many rounds a second at most. `watch` is called again and again meanwhile.
    """
    command = [sys.executable, "-m", "api.cli.bench.http_load", str(service.port), TABLE_WITH_JACKPOT]
    environment: Mapping[str, str] = {**os.environ, "BENCH_TOKEN": service.token()}
    with subprocess.Popen(
        [*command, str(clients), str(rounds), str(rate)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as load:
        while watch is not None and load.poll() is None:
            watch()
            time.sleep(WATCH_SECONDS)
        output, _ = load.communicate()
    if load.returncode:
        raise RuntimeError(f"the load generator ended with status {load.returncode}")
    told: dict[str, Any] = json.loads(output)
    return Run(
        "over HTTP, one worker",
        clients,
        rounds,
        round(told["seconds"], 3),
        round(rounds / told["seconds"], 1),
        Latencies(told["p50"], told["p99"], told["worst"]),
    )

"""`scripts/witness` as a process of its own, and what tests ask of it."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from infrastructure.evidence.notes import Verifier, parse_note, parse_vkey, verify

ROOT = Path(__file__).parents[2]
SAID = re.compile(r"witness: (\S+) http://127\.0\.0\.1:(\d+)\n")
SECONDS_MAX = 60


@dataclass
class WitnessProcess:
    """A running witness: its public key, and the port it answers on."""

    process: subprocess.Popen[str]
    verifier: Verifier
    port: int

    @property
    def address(self) -> str:
        """What names it: ``VKEY URL``."""
        return f"{self.verifier.vkey} http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, str, str]:
        """Return the status, the type and the text of its answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, answer.headers.get_content_type(), answer.read().decode()
        finally:
            connection.close()

    def add(self, body: bytes) -> int:
        """Send a checkpoint; return the status, after its signature was verified."""
        status, _, said = self.ask("POST", "/add-checkpoint", body)
        if status == http.client.OK:
            note = parse_note(body.partition(b"\n\n")[2] + said.encode())
            assert [each.verifier for each in verify(note, [self.verifier])] == [self.verifier]
        return status

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(SECONDS_MAX)


def command(*arguments: str | Path) -> list[str]:
    """Return how it is run."""
    return [sys.executable, "-P", "-m", "api.cli.witness", *map(str, arguments)]


def environment() -> dict[str, str]:
    """Return what it is run in."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    return subprocess.run(
        command(*arguments),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


@contextlib.contextmanager
def running(state: Path, vkeys: Sequence[str], *more: str | Path, port: int = 0) -> Iterator[WitnessProcess]:
    """Yield a witness of some logs, ended afterwards."""
    logs = [word for vkey in vkeys for word in ("--log", vkey)]
    process = subprocess.Popen(
        command("--state", state, *logs, "--port", str(port), *more),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        said = SAID.fullmatch(line)
        assert said is not None, line + process.stdout.read()
        found = WitnessProcess(process, parse_vkey(said[1]), int(said[2]))
        _until_it_answers(found)
        yield found
    finally:
        process.terminate()
        process.wait(SECONDS_MAX)
        process.stdout.close()


def _until_it_answers(found: WitnessProcess) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        with contextlib.suppress(ConnectionError):
            found.ask("GET", "/key")
            return
        assert time.monotonic() < deadline
        time.sleep(0.02)

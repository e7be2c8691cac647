"""The process that projects, as `scripts/serve` keeps it: killed, started again, asked to rebuild."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.service import ROOT, Service, done, rows, stake, start, stop


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """Yield a service with two workers."""
    folder = Path(tempfile.mkdtemp(prefix="stud-ledger-"))
    folder.chmod(0o711)
    running = start(folder / "data", "--port", "0", "--workers", "2")
    for player_id in ("anna", "bert"):
        running.player(player_id)
    running.table("t")
    yield running
    stop(running)
    shutil.rmtree(folder)


def eventually(check: Callable[[], Any], seconds: float = 30) -> Any:
    """Return the first true answer; fail where there is none in time."""
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
    return found


def play(service: Service, hands: int) -> None:
    """Play some hands."""
    for _ in range(hands):
        seats = [stake("anna", 1), stake("bert", 2)]
        opened = done(service.post("/v1/rounds", {"table_id": "t", "seats": seats, "deal": True}))
        for seat, action in ((1, "raise"), (2, "fold")):
            body = {"seat": seat, "action": action}
            done(service.post(f"/v1/rounds/{opened['round_id']}/decisions", body))


def rebuild(service: Service, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `scripts/rebuild` on the running service's data."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "DATABASE"))}
    return subprocess.run(
        [sys.executable, "-P", "-m", "api.cli.rebuild", "--data-dir", str(service.data), *arguments],
        check=False,
        env=inherited | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def is_at_head(service: Service) -> bool:
    """Say whether every projection has taken in every event."""
    return not rows(
        service.admin_dsn,
        "SELECT 1 FROM ledger_read.projections, head WHERE live AND projections.position < head.position",
    )


def test_a_killed_projector_is_started_again_and_its_rows_are_a_rebuilds(service: Service) -> None:
    """Killed again and again under play, it ends where a rebuild does; one runs beside two workers."""
    killed: set[int] = set()
    for _ in range(4):
        (projector,) = eventually(lambda: service.children("api.cli.projector"))
        assert projector.pid not in killed
        play(service, 5)
        projector.kill()
        killed.add(projector.pid)
        play(service, 3)
        eventually(lambda: {p.pid for p in service.children("api.cli.projector")} - killed)
    assert len(service.children("api.cli.worker")) == 2
    eventually(lambda: is_at_head(service))
    listed = done(service.get("/v1/players/anna/rounds"))["items"]
    assert len(listed) == 32
    rebuilt = rebuild(service, "--all")
    assert rebuilt.returncode == 0, rebuilt.stdout + rebuilt.stderr
    assert rebuilt.stdout.count("rebuilt and switched") == len(rebuilt.stdout.splitlines()) > 5
    assert done(service.get("/v1/players/anna/rounds"))["items"] == listed
    builds = rows(service.admin_dsn, "SELECT build, live FROM ledger_read.projections")
    assert set(builds) == {(2, True)}


def test_what_was_written_can_be_read_at_once(service: Service) -> None:
    """A read that names its command's position waits for the projector, a process of its own."""
    before = len(done(service.get("/v1/players/anna/rounds"))["items"])
    for played in range(1, 9):
        play(service, 1)
        (position,) = rows(service.admin_dsn, "SELECT position FROM head")[0]
        answer = done(service.get(f"/v1/players/anna/rounds?min_position={position}"))
        assert len(answer["items"]) == before + played


def test_a_rebuild_is_told_given_up_and_refused(service: Service) -> None:
    """The command's status, its cancelling, and what it cannot do, with their exit statuses."""
    status = rebuild(service, "--status")
    assert status.returncode == 0
    assert all("live" in line and "running" in line for line in status.stdout.splitlines())
    assert rebuild(service, "--cancel", "postings").returncode == 1
    unknown = rebuild(service, "nothing")
    assert unknown.returncode == 2
    assert "there is no projection nothing" in unknown.stderr
    assert rebuild(service).returncode == 2

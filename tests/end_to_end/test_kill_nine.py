"""Kill -9 at random moments under load (G11): no answered command is lost, none happens twice.

Clients play through a service whose parts are killed one after the other: a worker, the projector, a server
process of PostgreSQL, PostgreSQL itself (or it is only shut down), and the supervisor, which whoever runs the
service starts again. A client whose request breaks off sends the same one again, as its operator's software
would.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.end_to_end.load import Load, check_everything, check_read_side, furnish, under_fire
from tests.end_to_end.service import Service, quiet_port, rows, start, stop

SECONDS_BETWEEN = (0.1, 0.8)
TARGETS = ["worker"] * 3 + ["backend"] * 2 + ["projector"] * 2 + ["postmaster"] * 2 + ["restart"] * 2
TARGETS += ["supervisor"] * 2


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder that the server's user can pass through."""
    made = Path(tempfile.mkdtemp(prefix="stud-ledger-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize("seed", [1])
def test_killing_anything_at_any_time_loses_and_doubles_nothing(folder: Path, seed: int) -> None:
    """After a dozen kills every answer stands, every command happened once, and the service is there."""
    load = Load(start(folder / "data", "--port", str(quiet_port()), "--workers", "2"))
    try:
        furnish(load.service)
        chance = random.Random(seed)
        targets = chance.sample(TARGETS, len(TARGETS))
        shots = [functools.partial(shoot, load, target, chance, folder) for target in targets]
        asyncio.run(under_fire(load, shots))
        assert load.broken
        assert any(sent.times > 1 for sent in load.sent)
        check_everything(load.service, load)
        check_read_side(load.service, "--data-dir", str(load.service.data))
    finally:
        stop(load.service)


async def shoot(load: Load, target: str, chance: random.Random, folder: Path) -> None:
    """Kill a part after a while."""
    await asyncio.sleep(chance.uniform(*SECONDS_BETWEEN))
    await asyncio.to_thread(kill, load, target, chance, folder)


def kill(load: Load, target: str, chance: random.Random, folder: Path) -> None:
    """Kill -9 one part of the service that we have started; a killed supervisor is started again."""
    service = load.service
    with contextlib.suppress(psutil.NoSuchProcess, IndexError):
        if target == "worker":
            chance.choice(service.children("api.cli.worker")).kill()
        elif target == "projector":
            service.children("api.cli.projector")[0].kill()
        elif target == "postmaster":
            service.children("postgres")[0].kill()
        elif target == "restart":
            service.children("postgres")[0].send_signal(signal.SIGINT)
        elif target == "backend":
            psutil.Process(chance.choice(backends(service))).kill()
        else:
            service.process.kill()
            service.process.wait()
            service.http.close()
            load.service = start(folder / "data", "--port", str(service.port), "--workers", "2")


def backends(service: Service) -> list[int]:
    """Return the processes of PostgreSQL that serve our writers and readers."""
    with contextlib.suppress(psycopg.OperationalError):
        query = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'stud-ledger%'"
        return [pid for (pid,) in rows(service.admin_dsn, query)]
    return []

"""What surrounds the service fails under load: the network to PostgreSQL, and the disk.

Nothing answered is lost, nothing happens twice, and when it is over the service goes on by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from infrastructure.bootstrap import prepare
from tests.end_to_end.load import CLIENTS, Load, check_everything, check_read_side, furnish, under_fire
from tests.end_to_end.service import quiet_port, start, stop
from tests.end_to_end.tcp_proxy import TcpProxy

SECONDS_BETWEEN = (0.1, 0.6)
PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
WHAT_HAPPENS = ["cut"] * 5 + ["closed"] * 2 + ["silent"] * 2
DISK_MB = 400
FULL_SECONDS_MAX = 60


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder that the server's user can pass through."""
    made = Path(tempfile.mkdtemp(prefix="stud-ledger-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


# ── The network ─────────────────────────────────────────────────────────────────────────────────────────────
def test_a_network_that_fails_loses_and_doubles_nothing(database: str, folder: Path) -> None:
    """Connections that are reset, refused or silent: each command happens once, and is answered."""
    prepare(database, "ledger", passwords=PASSWORDS)
    with TcpProxy(database, user="ledger_app", password=PASSWORDS["app"]) as proxy:
        started = start(
            folder / "data", "--port", str(quiet_port()), "--workers", "2", DATABASE_URL=proxy.dsn
        )
        started.elsewhere = database
        load = Load(started)
        try:
            furnish(started)
            chance = random.Random(1)
            happenings = chance.sample(WHAT_HAPPENS, len(WHAT_HAPPENS))
            shots = [functools.partial(disturb, proxy, what, chance) for what in happenings]
            asyncio.run(under_fire(load, shots))
            assert proxy.cuts
            assert b"store_lost" in started.log.read_bytes()  # so that hardly a client notices
            check_everything(started, load)
            check_read_side(started, DATABASE_URL=proxy.dsn)
        finally:
            stop(started)


async def disturb(proxy: TcpProxy, what: str, chance: random.Random) -> None:
    """Let something happen to the network after a while."""
    await asyncio.sleep(chance.uniform(*SECONDS_BETWEEN))
    if what == "cut":
        proxy.cut()
    elif what == "closed":
        proxy.close_for(1.0)
    else:
        proxy.silence_for(1.5)


# ── The disk ────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """Yield a folder on a small file system of its own, which only root can make: for data and logs.

    DISK_MB are for the write-ahead log, whose segments are made early on.
    """
    disk = folder / "disk"
    disk.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=0711", "tmpfs", str(disk)],
        check=False,
        capture_output=True,
        text=True,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_loses_and_doubles_nothing(small_disk: Path) -> None:
    """While the disk is full nothing is answered as done that is not; when there is room it goes on."""
    load = Load(start(small_disk / "data", "--port", str(quiet_port()), "--workers", "2"))
    try:
        furnish(load.service)
        asyncio.run(under_fire(load, [functools.partial(fill, load, small_disk)]))
        check_everything(load.service, load)
        check_read_side(load.service, "--data-dir", str(load.service.data))
    finally:
        stop(load.service)


async def fill(load: Load, disk: Path) -> None:
    """Fill the disk to the last byte until clients are put off, and a little longer; then give room back."""
    await asyncio.sleep(0.3)
    before = load.broken + load.put_off
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        async with asyncio.timeout(FULL_SECONDS_MAX):
            while load.broken + load.put_off < before + CLIENTS:
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(1 << 14))
                await asyncio.sleep(0.02)  # whatever comes free meanwhile is taken too
    ballast.unlink()

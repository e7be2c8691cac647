"""A worker that is told to end before it has begun."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STARTING = """
import asyncio, socket, sys, uvicorn
from api.cli.worker import Server
async def app(scope, receive, send):
    await receive()
    print("starting", flush=True)
    await asyncio.Event().wait()
config = uvicorn.Config(app, lifespan="on", log_level="critical")
Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
"""


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_still_starting_ends_at_once(signum: signal.Signals) -> None:
    """It may wait for a database that is gone; meanwhile it would hold the port that others need."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", STARTING, str(listener.fileno())],
            env={"PYTHONPATH": str(ROOT)},
            pass_fds=[listener.fileno()],
            stdout=subprocess.PIPE,
            text=True,
        )
    assert process.stdout is not None
    assert process.stdout.readline() == "starting\n"
    process.send_signal(signum)
    try:
        assert process.wait(10) == 1
    finally:
        process.kill()
        process.communicate()
    with socket.create_server(address):
        pass

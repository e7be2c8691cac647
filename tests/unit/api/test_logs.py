"""Logs: one JSON object a line, with where it comes from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import structlog
from api import logs
from opentelemetry.sdk.trace import TracerProvider
logs.configure()
log = structlog.get_logger("any")
log.warning("store_lost", commands=3)
with TracerProvider().get_tracer("any").start_as_current_span("one"):
    log.error("batch_failed", at="writer.py:1")
"""


def test_a_line_is_an_object_with_time_level_process_and_trace() -> None:
    """A program can read each line alone, and find the process and the request behind it."""
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout == ""
    plain, traced = (json.loads(line) for line in done.stderr.splitlines())
    assert (plain["event"], plain["level"], plain["commands"]) == ("store_lost", "warning", 3)
    assert plain["timestamp"].endswith("Z")
    assert plain["pid"] == traced["pid"] != os.getpid()
    assert "trace" not in plain
    assert len(traced["trace"]) == 32

"""The benchmark of exact odds measures processes, holds them against limits and tells which is exceeded."""

from __future__ import annotations

import json

import pytest

from api.cli.bench import odds
from api.cli.bench.__main__ import main
from api.cli.bench.odds import Step


def test_each_step_is_a_process_with_its_own_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a process takes is told with what may be taken, and what is exceeded with exit status 1."""
    small = Step("a pass", "two_up_pass", 600), Step("the compiler", "compiler", 0.001, cold=True)
    monkeypatch.setattr(odds, "STEPS", small)
    assert main(["odds"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("a pass")
    assert "at most 600 s, 2048 MB" in told[0]
    assert "EXCEEDED" not in told[0]
    assert told[1] == "    = 526"
    assert told[2].startswith("the compiler")
    assert told[2].endswith("EXCEEDED")


def test_a_program_reads_the_same_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One object, with a figure for each process; exit status 0 where nothing is exceeded."""
    monkeypatch.setattr(odds, "STEPS", (Step("a pass", "two_up_pass"),))
    assert main(["odds", "--json"]) == 0
    (measured,) = json.loads(capsys.readouterr().out)["measured"]
    assert measured["told"] == {"result": 526}
    assert measured["processor_seconds"] > 0
    assert 20 < measured["memory_mb"] < 500
    assert measured["within"]

"""`scripts/bench audit` measures what it says, on a small ledger."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from api.cli.bench import audit
from api.cli.bench.__main__ import main


def test_a_small_run_measures_everything_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every figure that is promised is there and is one that can be, and the folder of the server is gone."""
    temporary = Path(tempfile.gettempdir())
    before = set(temporary.glob("stud-ledger-bench-*"))
    monkeypatch.setattr(audit, "RUNS", {"archive": ["--events-only"]})
    monkeypatch.setattr(audit, "usable_processors", lambda: 1)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    assert main(["audit", "--rounds", "150", "--singles", "20", "--requests", "5", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["rounds"] == 150
    assert report["events"] > 150 * 8
    assert report["sealed_events"] == report["events"] + 1
    for rate in (
        "sealing_events_per_second",
        "floor_archive_read_events_per_second",
        "floor_archive_parse_events_per_second",
        "floor_database_read_events_per_second",
        "floor_database_parse_events_per_second",
        "log_leaves_per_second",
        "one_by_one_rounds_per_second",
    ):
        assert report[rate] > 0, rate
    found = report["archive"]
    assert found["events"] == report["exported"]["events"] <= report["events"]
    assert 0 < found["rounds"] <= 150
    assert found["rounds_per_second"] > 0
    assert found["processor_us_a_round"] > 1
    assert 20 < found["memory_mb"] < 1_000
    assert 0 < report["evidence"]["p50"] <= report["evidence"]["worst"]
    assert 0 < report["evidence"]["verified_seconds"] < 20
    assert set(temporary.glob("stud-ledger-bench-*")) == before


@pytest.mark.parametrize("options", ["--rounds 5", "--rounds 99999999", "--singles 0", "--requests 0"])
def test_what_cannot_be_measured_is_refused(options: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is begun."""
    with pytest.raises(SystemExit, match="2"):
        main(["audit", *options.split()])
    assert "rounds are" in capsys.readouterr().err

"""`scripts/bench read` measures what it says, on a small ledger."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from api.cli.bench.__main__ import main
from api.cli.bench.figures import Spread, per_second, spread
from api.cli.bench.read import ratios
from api.cli.bench.sizes import a_round

ROOT = Path(__file__).parents[2]
SMALL = "read --rounds 300 --turns 1 --turn-rounds 64 --requests 12 --rate 40 --seconds 1 --json"


def test_a_small_run_measures_everything_and_leaves_nothing_behind() -> None:
    """Every figure that is promised is there and is one that can be, and the folder of the server is gone."""
    temporary = Path(tempfile.gettempdir())
    before = set(temporary.glob("stud-ledger-bench-*"))
    done = subprocess.run(
        [sys.executable, "-m", "api.cli.bench", *SMALL.split()],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "DATABASE_URL"},
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["rounds"] == 300
    assert report["events"] > 300 * 8
    for rate in ("fill", "catch_up", "floor_copy", "floor_read", "floor_parse"):
        assert report[f"{rate}_events_per_second"] > 0, rate
    for kind in (
        "floor",
        "statement",
        "record",
        "round",
        "rounds_page",
        "balance_then",
        "trial_balance_then",
    ):
        asked = report[kind]
        assert 0 < asked["p50"] <= asked["p95"] <= asked["worst"], kind
    steady = report["steady"]
    assert 0 < steady["rounds_per_second"] < 60
    assert 0 <= steady["lag_ms"]["p50"] <= steady["lag_ms"]["p95"] < 60_000
    assert -20 < report["projections_cost_the_writer"] < 1
    sizes = report["bytes_a_round"]
    assert {"events", "answers", "postings", "round_records", "total"} <= set(sizes)
    assert sizes["total"] == sum(sizes.values()) - sizes["total"] > sizes["events"] > 1_000
    assert report["projector_memory_mb"] > 10
    assert set(temporary.glob("stud-ledger-bench-*")) <= before


def test_a_larger_ledger_is_compared_by_how_many_times_slower_it_is() -> None:
    """A rate that falls and a time that grows are both ratios above one; of times the p95 counts."""
    small = {name: {"p50": 1.0, "p95": 2.0, "worst": 9.0} for name in ("statement", "record", "rounds_page")}
    small |= {"balance_then": {"p50": 1.0, "p95": 4.0, "worst": 4.0}, "write_rounds_per_second": 1_000.0}
    large = small | {"statement": {"p50": 1.0, "p95": 3.0, "worst": 3.0}, "write_rounds_per_second": 800.0}
    found = ratios(small, large)
    assert found == {
        "write_rounds_per_second": 1.25,
        "statement": 1.5,
        "record": 1.0,
        "rounds_page": 1.0,
        "balance_then": 1.0,
    }


def test_figures_are_what_was_measured() -> None:
    """A spread tells the middle, the ninety-fifth of a hundred and the largest; nothing measured is zero."""
    assert spread([n / 1000 for n in range(1, 101)]) == Spread(50.0, 96.0, 100.0)
    assert spread([7.0], unit=1) == Spread(7.0, 7.0, 7.0)
    assert spread([]) == Spread(0.0, 0.0, 0.0)
    assert (per_second(500, 2.0), per_second(5, 0.0)) == (250, 0)


def test_small_parts_of_a_round_are_told_together() -> None:
    """What takes less than five bytes of a round is under «other», and nothing is lost of the sum."""
    shares = a_round({"events": 5_000_000, "postings": 700_000, "sessions": 3_000, "snapshots": 1_400}, 1_000)
    assert shares == {"events": 5_000, "postings": 700, "other": 4}


@pytest.mark.parametrize(
    "arguments", ["read --rounds 1", "read --turns 0", "read --compare-rounds 99999999", "read --rate x"]
)
def test_what_cannot_be_measured_is_refused(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line says what is wrong and ends with 2 before anything is started."""
    with pytest.raises(SystemExit) as ended:
        main(arguments.split())
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err

"""Metrics: what several processes count is added up, and what only the living have goes with them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.requests import Request

from api.near import is_near
from infrastructure import metrics, metrics_folder
from infrastructure.ledger.submission import ACCEPTED, REJECTED, CommandFailed, Result, Reused

COUNTING = """
import os
from infrastructure import metrics
from infrastructure.ledger.submission import ACCEPTED, REJECTED, Result
counts = metrics.Counts()
refused = Result(REJECTED, b'{"code":"table_closed","detail":"The table."}', 3)
counts.wrote([Result(ACCEPTED, b"{}", 3), refused, refused._replace(replayed=True)], 0.25, 5)
metrics.refused("unauthenticated")
print(os.getpid())
"""
TELLING = """
from infrastructure import metrics
known = metrics.Known(7, [metrics.Lag("postings", 3, 0.5)], [("check_books", 4)], True)
print(metrics.exposition(known).decode())
"""


def run(program: str, folder: Path) -> str:
    """Run a program as one of a service's processes."""
    environment = os.environ | {metrics_folder.VARIABLE: str(folder), "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def samples(text: str) -> dict[str, float]:
    """Return the samples of an exposition."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_what_processes_count_is_added_up(tmp_path: Path) -> None:
    """Two processes count, a third tells; one that ended is left out of what only the living have."""
    folder = tmp_path / "metrics"
    metrics_folder.begin(folder)
    pids = [int(run(COUNTING, folder)) for _ in range(2)]
    found = samples(run(TELLING, folder))
    assert found["stud_ledger_batch_commands_sum"] == found["stud_ledger_commands_total"] == 6
    assert found["stud_ledger_batch_commands_count"] == 2
    assert found["stud_ledger_commit_seconds_sum"] == 0.5
    assert found['stud_ledger_commit_seconds_bucket{le="0.128"}'] == 0
    assert found['stud_ledger_rejections_total{code="table_closed"}'] == 2
    assert found['stud_ledger_rejections_total{code="unauthenticated"}'] == 2
    assert found["stud_ledger_queue_depth"] == 10
    metrics_folder.forget_process(folder, pids[0])
    found = samples(run(TELLING, folder))
    assert found["stud_ledger_queue_depth"] == 5
    assert found["stud_ledger_batch_commands_count"] == 2


def test_a_process_counts_on_when_the_disk_is_full(tmp_path: Path) -> None:
    """It has its files, with every block of them, before it counts: nothing new is written to be counted."""
    (pid,) = run("import os; from infrastructure import metrics; print(os.getpid())", tmp_path).split()
    made = {path: path.stat() for path in tmp_path.glob(f"*_{pid}.db")}
    assert {path.name.partition("_")[0] for path in made} >= {"counter", "histogram", "gauge"}
    assert all(stat.st_blocks * 512 >= stat.st_size > 0 for stat in made.values())


def test_what_the_database_knows_is_told(tmp_path: Path) -> None:
    """Position, lag, alarms and the software, each under its name."""
    found = samples(run(TELLING, tmp_path))
    assert found["stud_ledger_position"] == 7
    assert found['stud_ledger_projection_lag_positions{projection="postings"}'] == 3
    assert found['stud_ledger_projection_lag_seconds{projection="postings"}'] == 0.5
    assert found["stud_ledger_alarms"] == 1
    assert found['stud_ledger_alarm_position{name="check_books"}'] == 4
    assert found["stud_ledger_software_halted"] == 1


def test_a_folder_begins_empty(tmp_path: Path) -> None:
    """What the processes of an earlier start counted is gone; what is not theirs stays."""
    (tmp_path / "counter_1.db").write_bytes(b"old")
    (tmp_path / "notes.txt").write_bytes(b"kept")
    metrics_folder.begin(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_every_end_of_a_command_can_be_counted() -> None:
    """Failures and reused keys are no refusals by the ledger, and their count does not raise."""
    before = samples(metrics.exposition(metrics.Known(0, [], [], halted=False)).decode())
    rejected = Result(REJECTED, b'{"code":"seat_taken","detail":""}', 1)
    metrics.Counts().wrote([Reused(), CommandFailed(), Result(ACCEPTED, b"{}", 1), rejected], 0.001, 0)
    after = samples(metrics.exposition(metrics.Known(0, [], [], halted=False)).decode())
    grown = {name: after[name] - before.get(name, 0) for name in after if "rejections_total" in name}
    assert {name: value for name, value in grown.items() if value} == {
        'stud_ledger_rejections_total{code="seat_taken"}': 1
    }


@pytest.mark.parametrize(
    ("peer", "headers", "near"),
    [
        (("127.0.0.1", 5), [], True),
        (("127.8.8.8", 5), [], True),
        (("::1", 5), [], True),
        (("10.0.0.7", 5), [], False),
        (("10.0.0.7", 5), [(b"x-forwarded-for", b"127.0.0.1")], False),
        (("127.0.0.1", 5), [(b"x-forwarded-for", b"127.0.0.1")], False),
        (("127.0.0.1", 5), [(b"forwarded", b"for=127.0.0.1")], False),
        (("127.0.0.1", 5), [(b"via", b"1.1 proxy")], False),
        (("127.0.0.1", 5), [(b"x-forwarded-proto", b"https")], False),
        (("127.0.0.1", 5), [(b"x-real-ip", b"10.0.0.7")], False),
        (("127.0.0.1", 5), [(b"cf-connecting-ip", b"10.0.0.7")], False),
        (("localhost", 5), [], False),
        (None, [], False),
    ],
)
def test_only_the_connections_peer_says_who_is_near(
    peer: tuple[str, int] | None, headers: list[tuple[bytes, bytes]], near: object
) -> None:
    """An address of this machine, and no sign that it asks for another."""
    assert is_near(Request({"type": "http", "headers": headers, "client": peer})) is near

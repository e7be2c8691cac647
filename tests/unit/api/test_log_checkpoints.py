"""Which checkpoint answers and evidence are made with, where a ledger has begun another log."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.composition import newest_checkpoint
from api.log import checkpoints
from api.problems import Problem
from domain.registers import LogState
from infrastructure.evidence import files, folder, merkle
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.notes import Checkpoint, Signer, write_note

RECORDED = datetime(2026, 1, 1, tzinfo=UTC)


def publish(path: Path, generation: int, size: int) -> bytes:
    """Publish a checkpoint of a generation."""
    signer = Signer.from_seed(f"stud-ledger/0123456789abcdef/{generation}", b"s" * 32)
    text = Checkpoint(signer.name, size, merkle.leaf_hash(b"")).body()
    note = write_note(text, [signer.sign(text)])
    folder.begin(path, generation)
    files.write(path / str(generation) / "checkpoint", note)
    return note


def sealed(log: LogFolder, state: LogState, size: int) -> bytes:
    """Return the checkpoint that evidence of the first so many events is made with."""
    _, note = asyncio.run(checkpoints.sealed(log, state, size, RECORDED, lambda: 2_000_000_000_000_000))
    return note


@pytest.fixture(autouse=True)
def _look_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for nothing, and look at the folder each time."""
    monkeypatch.setattr(folder, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "WAIT_SECONDS_MAX", 0.0)


def test_a_log_that_was_left_proves_nothing_of_what_came_since(tmp_path: Path) -> None:
    """However many events it has: until the new log has signed there is no evidence, and no checkpoint."""
    log = LogFolder(tmp_path)
    publish(tmp_path, 1, 100)
    folder.begin(tmp_path, 2)
    state = LogState(2, "stud-ledger/0123456789abcdef/2", [])
    with pytest.raises(Problem) as refused:
        sealed(log, state, 50)
    assert refused.value.code == "evidence_not_ready"
    assert newest_checkpoint(log, 2) is None
    note = publish(tmp_path, 2, 60)
    assert sealed(log, state, 50) == note
    assert (newest_checkpoint(log, 2) or {})["size"] == 60


def test_a_halted_ledger_proves_what_it_and_its_log_agree_on(tmp_path: Path) -> None:
    """Up to the last position that both have; nothing behind it."""
    log = LogFolder(tmp_path)
    note = publish(tmp_path, 1, 100)
    state = LogState(1, "stud-ledger/0123456789abcdef/1", [], halted="differs", position=70)
    assert sealed(log, state, 70) == note
    with pytest.raises(Problem):
        sealed(log, state, 71)

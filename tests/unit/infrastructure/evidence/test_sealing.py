"""Sealing a ledger that grows: what is published, when, and by whose key."""

from __future__ import annotations

from pathlib import Path

import pytest

from infrastructure.evidence.folder import read_head
from infrastructure.evidence.tiles import unpack_entries
from tests.unit.infrastructure.evidence.sealing_tools import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Return a ledger whose log has begun."""
    return Ledger(tmp_path / "log")


@pytest.mark.parametrize("steps", [[1], [255, 1, 1], [256], [300, 300, 70_000, 1], [65_535, 1, 1]])
def test_everything_is_sealed_and_verifies(ledger: Ledger, steps: list[int]) -> None:
    """However the ledger grows, its log has all of it: root, proofs, whole bundles, one head."""
    sealing = ledger.sealing(events_max=100_000)
    ledger.slice_max = 100_000
    for step in steps:
        ledger.append(step)
        while sealing.turn():
            pass
        assert ledger.verify() == len(ledger.rows) == sealing.size
    while sealing.turn():
        pass
    for number in range(len(ledger.rows) // 256):
        bundle = ledger.generation.entries(number)
        assert bundle is not None
        assert unpack_entries(bundle) == [row[2] for row in ledger.rows[number * 256 : number * 256 + 256]]
    assert ledger.generation.entries(len(ledger.rows) // 256) is None
    head = read_head(ledger.folder)
    assert head is not None
    assert head.note == ledger.generation.note()
    assert ledger.alarms == {}


def test_a_turn_is_bounded(ledger: Ledger) -> None:
    """A turn seals so many events at most, and says that there are more."""
    ledger.append(2_500)
    sealing = ledger.sealing(events_max=1_000)
    assert sealing.turn()
    assert sealing.size == 1_000
    while sealing.turn():
        pass
    assert ledger.verify() == 2_500

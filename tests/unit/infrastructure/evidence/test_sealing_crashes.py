"""Sealing that is killed between any two steps, on a machine that may lose what was not synced."""

from __future__ import annotations

import itertools
import random
from contextlib import suppress
from pathlib import Path

import pytest

from infrastructure.evidence import merkle
from infrastructure.evidence.folder import HEAD, read_head
from infrastructure.evidence.notes import parse_checkpoint, parse_note
from infrastructure.evidence.sealing import Sealing
from tests.unit.infrastructure.evidence.sealing_tools import Died, DyingDisk, Ledger

STEPS = (1, 200, 55, 1, 300, 3, 512)
HALF_WAY = 3


def go_on(ledger: Ledger, sealing: Sealing) -> None:
    """Seal step by step up to the end, wherever it begins: keys change, and a round holds back its bundle."""
    ends = list(itertools.accumulate(STEPS))
    for step, end in enumerate(ends):
        if len(ledger.rows) < end:
            ledger.append(end - len(ledger.rows), f"round-{step}")
            if step == HALF_WAY:
                ledger.unfinished = {"round-3"}
                ledger.rotate(77)
        if step > HALF_WAY + 1:
            ledger.unfinished.clear()
        while sealing.turn():
            pass


def size_of_head(ledger: Ledger) -> int:
    """How large the tree is that was signed last."""
    head = read_head(ledger.folder)
    return 0 if head is None else head.checkpoint.size


def check_what_is_left(ledger: Ledger) -> None:
    """After a death: what is published verifies, and was signed on disk before."""
    assert size_of_head(ledger) >= ledger.verify()
    if (head := read_head(ledger.folder)) is not None:
        assert head.checkpoint.root == ledger.root(head.checkpoint.size)


def check_the_end(ledger: Ledger) -> None:
    """Everything is sealed, bundled and told, and nothing was wrong on the way."""
    assert ledger.verify() == sum(STEPS)
    for number in range(sum(STEPS) // 256):
        assert ledger.generation.entries(number) is not None, number
        assert not (ledger.generation.place / f"tile/0/{number:03}.p").exists()
    assert ledger.generation.keys() == ledger.state.keys
    assert (ledger.alarms, ledger.halts) == ({}, [])


def operations(folder: Path) -> int:
    """How many operations of the disk the whole way takes."""
    ledger, disk = Ledger(folder), DyingDisk()
    go_on(ledger, ledger.sealing(disk))
    check_the_end(ledger)
    return disk.operations


@pytest.mark.parametrize("machine_stops", [False, True], ids=["killed", "machine stops"])
def test_it_can_die_at_any_step_and_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, machine_stops: bool
) -> None:
    """Killed at each operation in turn, it leaves a log that verifies, and the next one ends where all do."""
    monkeypatch.setattr("infrastructure.evidence.bundles.LOOK_SHARE", 0)
    count = operations(tmp_path / "whole")
    assert count > 60
    for dies_at in range(1, count + 1):
        ledger, disk = Ledger(tmp_path / str(dies_at)), DyingDisk(dies_at)
        with pytest.raises(Died):
            go_on(ledger, ledger.sealing(disk))
        if machine_stops:
            disk.cut(random.Random(dies_at))
        check_what_is_left(ledger)
        go_on(ledger, ledger.sealing())
        check_the_end(ledger)


def test_it_can_die_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed every few operations until it is through, it loses nothing and signs nothing twice."""
    monkeypatch.setattr("infrastructure.evidence.bundles.LOOK_SHARE", 0)
    rng = random.Random(4)
    for run in range(5):
        ledger = Ledger(tmp_path / str(run))
        for _ in range(200):
            disk = DyingDisk(rng.randrange(1, 30))
            with suppress(Died):
                go_on(ledger, ledger.sealing(disk))
                break
            disk.cut(rng)
            check_what_is_left(ledger)
        check_the_end(ledger)


def test_what_was_signed_is_published_before_anything_else_is_signed(tmp_path: Path) -> None:
    """Killed between its head and its checkpoint, it publishes that head, though there are more events."""
    ledger = Ledger(tmp_path)
    ledger.append(10)
    sealing = ledger.sealing()
    sealing.turn()
    for dies_at in itertools.count(1):
        ledger.append(1)
        with pytest.raises(Died):
            ledger.sealing(DyingDisk(dies_at)).turn()
        if (signed := size_of_head(ledger)) > ledger.verify():
            break
    ledger.append(5)
    seen = []
    disk = DyingDisk()
    put = disk.put

    def remember(path: Path, data: bytes) -> None:
        put(path, data)
        if path.name == "checkpoint":
            seen.append(parse_checkpoint(parse_note(data).text).size)

    disk.put = remember  # type: ignore[method-assign]
    ledger.sealing(disk).turn()
    assert seen == [signed, len(ledger.rows)]


@pytest.mark.parametrize("dies_at", range(1, 6))
def test_a_full_disk_is_told_and_waited_for(tmp_path: Path, dies_at: int) -> None:
    """An operation that fails raises an alarm, which ends when the next attempt goes through."""
    ledger = Ledger(tmp_path)
    ledger.append(300)
    disk = DyingDisk()
    sealing = ledger.sealing(disk)
    put = disk.put

    def full(path: Path, data: bytes) -> None:
        if disk.operations >= dies_at:
            raise OSError(28, "No space left on device")
        put(path, data)

    disk.put = full  # type: ignore[method-assign]
    assert not sealing.turn()
    assert list(ledger.alarms) == ["log_stuck"]
    assert "No space left" in ledger.alarms["log_stuck"][1]
    disk.put = put  # type: ignore[method-assign]
    sealing.turn()
    assert ledger.verify() == 300
    assert ledger.alarms == {}


class NoHead(DyingDisk):
    """Dies when a head would be written: the tiles are there, and were never signed."""

    def write(self, path: Path, data: bytes) -> None:
        """Write a file, but for the head."""
        if path.name == HEAD:
            raise Died
        super().write(path, data)


@pytest.mark.parametrize(
    ("sealed", "lost", "others"), [(0, 300, 5), (10, 2, 3), (10, 300, 3), (250, 700, 300)]
)
def test_what_was_never_signed_is_not_read_for_what_came_in_its_place(
    tmp_path: Path, sealed: int, lost: int, others: int
) -> None:
    """Killed between tiles and head on a ledger that then loses those events, it goes on with other ones."""
    ledger = Ledger(tmp_path)
    ledger.append(sealed)
    ledger.sealing().turn()
    ledger.append(lost)
    with pytest.raises(Died):
        ledger.sealing(NoHead()).turn()
    assert size_of_head(ledger) == sealed
    del ledger.rows[sealed:]
    ledger.signed.clear()  # what it died with was seen by nobody
    ledger.append(others)
    for _ in range(2):
        ledger.sealing().turn()
        assert ledger.verify() == sealed + others
        for width in range(1, min(sealed + others, 256) + 1):
            leaves = merkle.leaf_hashes(row[2] for row in ledger.rows[:width])
            assert ledger.generation.tile(0, 0, width) == b"".join(leaves)
    assert (ledger.alarms, ledger.halts) == ({}, [])

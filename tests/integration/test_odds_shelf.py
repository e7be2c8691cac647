"""The folder where tables that take long to count are kept: whole, or not there."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from infrastructure.odds.shelf import ALIGNMENT, DRAFT_SECONDS_MAX, Arrays, Shelf

KEY = {"qualify": "ace_king", "engine": "1"}
COUNTS: Arrays = {
    "counts": np.arange(1_000, dtype=np.int32).reshape(10, 100),
    "marks": np.array([1, 0, 2], np.uint8),
    "nothing": np.zeros((0, 3), np.int64),
    "one": np.array(7, np.int64),
}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Return a shelf in a folder that is not there yet."""
    return Shelf(tmp_path / "data" / "odds")


def only_file(tmp_path: Path) -> Path:
    """Return the one file that is on the shelf."""
    (path,) = (tmp_path / "data" / "odds").iterdir()
    return path


def test_arrays_come_back_as_they_were_and_cannot_be_written_to(shelf: Shelf) -> None:
    """Types, shapes and contents are those that were put, and each begins where processors like it."""
    assert shelf.get("basis", KEY) is None
    assert shelf.put("basis", KEY, COUNTS)
    found = shelf.get("basis", KEY)
    assert found is not None
    assert list(found) == list(COUNTS)
    for name, array in COUNTS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(found[name], array)
        assert not found[name].flags.writeable
        assert found[name].ctypes.data % ALIGNMENT == 0


def test_what_lies_in_another_order_in_memory_comes_back_right(shelf: Shelf) -> None:
    """Columns first, or every second element: the contents count."""
    columns = np.asfortranarray(COUNTS["counts"])
    shelf.put("basis", KEY, {"columns": columns, "second": COUNTS["counts"][::2, ::2]})
    found = shelf.get("basis", KEY)
    assert found is not None
    assert np.array_equal(found["columns"], COUNTS["counts"])
    assert np.array_equal(found["second"], COUNTS["counts"][::2, ::2])


def test_what_depends_on_something_else_is_not_found(shelf: Shelf) -> None:
    """Kind and key both count."""
    shelf.put("basis", KEY, COUNTS)
    assert shelf.get("basis", {**KEY, "engine": "2"}) is None
    assert shelf.get("other", KEY) is None
    assert shelf.get("basis", dict(reversed(KEY.items()))) is not None


def flip(content: bytes) -> bytes:
    """Change one bit near the end."""
    return content[:-90] + bytes([content[-90] ^ 1]) + content[-89:]


@pytest.mark.parametrize(
    "damage",
    [
        flip,
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: content.replace(b'"counts"', b'"county"', 1).replace(b'"sha256"', b'"sha257"'),
        lambda content: content.replace(b"stud-ledger odds 1", b"stud-ledger odds 0"),
        lambda content: content.replace(b"[10, 100]", b"[10, 900]"),
        lambda content: content.replace(b'"<i4"', b'"|O8"'),
        lambda content: content.replace(b"ace_king", b"two_pair", 1),
        lambda _: b"not a file of ours\n",
        lambda _: b"[]\n",
        lambda _: b"\0" * 100_000,
    ],
)
def test_a_damaged_file_is_not_there_and_can_be_put_again(
    shelf: Shelf, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    """Whatever was changed of it, it is removed."""
    shelf.put("basis", KEY, COUNTS)
    path = only_file(tmp_path)
    content = path.read_bytes()
    assert damage(content) != content
    path.write_bytes(damage(content))
    assert shelf.get("basis", KEY) is None
    assert not path.exists()
    assert shelf.put("basis", KEY, COUNTS)
    assert path.read_bytes() == content


def test_an_empty_file_is_not_there(shelf: Shelf, tmp_path: Path) -> None:
    """A disk that lost its contents loses no more than time."""
    shelf.put("basis", KEY, COUNTS)
    only_file(tmp_path).write_bytes(b"")
    assert shelf.get("basis", KEY) is None
    assert shelf.put("basis", KEY, COUNTS)
    assert shelf.get("basis", KEY) is not None


def test_a_file_that_a_reader_has_stays_his_when_it_is_replaced(shelf: Shelf) -> None:
    """Replacing or dropping a file changes no arrays that somebody works with."""
    shelf.put("basis", KEY, COUNTS)
    found = shelf.get("basis", KEY)
    assert found is not None
    shelf.put("basis", KEY, {"counts": np.zeros((10, 100), np.int32)})
    assert np.array_equal(found["counts"], COUNTS["counts"])


def test_of_each_kind_the_files_used_last_are_kept(shelf: Shelf, tmp_path: Path) -> None:
    """Reading a file makes it young; other kinds have their own bound."""
    shelf.put("other", {}, COUNTS)
    for number in range(3):
        shelf.put("basis", {"number": number}, COUNTS, keep=3)
    for path in (tmp_path / "data" / "odds").glob("basis-*"):
        os.utime(path, (0, 0))
    assert shelf.get("basis", {"number": 0}) is not None
    shelf.put("basis", {"number": 3}, COUNTS, keep=3)
    kept = [number for number in range(4) if shelf.get("basis", {"number": number}) is not None]
    assert len(kept) == 3
    assert {0, 3} <= set(kept)
    assert shelf.get("other", {}) is not None


def test_drafts_that_nobody_will_finish_are_removed(shelf: Shelf, tmp_path: Path) -> None:
    """A process that ended in the middle leaves one; those being written are young."""
    shelf.put("basis", KEY, COUNTS)
    old, young = tmp_path / "data" / "odds" / "old.new", tmp_path / "data" / "odds" / "young.new"
    for path, seconds in ((old, DRAFT_SECONDS_MAX + 60), (young, 60)):
        path.write_bytes(b"half")
        os.utime(path, (time.time() - seconds,) * 2)
    shelf.put("basis", {"number": 1}, COUNTS)
    assert (old.exists(), young.exists()) == (False, True)


def test_a_folder_that_cannot_be_made_keeps_nothing_and_hurts_nobody(tmp_path: Path) -> None:
    """The path leads through a file."""
    (tmp_path / "file").write_text("in the way")
    shelf = Shelf(tmp_path / "file" / "odds")
    assert shelf.put("basis", KEY, COUNTS) is False
    assert shelf.get("basis", KEY) is None


def test_a_full_disk_leaves_nothing_half_written(shelf: Shelf, tmp_path: Path) -> None:
    """What there is no room for is not kept, and its draft is removed."""
    shelf.put("basis", KEY, COUNTS)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        assert shelf.put("basis", {"number": 1}, COUNTS) is False
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert only_file(tmp_path).name.startswith("basis-")
    assert shelf.get("basis", KEY) is not None


def test_files_are_for_their_owner_alone(shelf: Shelf, tmp_path: Path) -> None:
    """So is the folder, where the shelf makes it."""
    shelf.put("basis", KEY, COUNTS)
    assert only_file(tmp_path).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "data" / "odds").stat().st_mode & 0o777 == 0o700


def test_a_kind_is_a_plain_word(shelf: Shelf) -> None:
    """It is part of a file's name."""
    with pytest.raises(ValueError, match="not a kind of table"):
        shelf.get("../basis", KEY)

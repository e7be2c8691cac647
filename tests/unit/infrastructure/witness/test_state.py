"""A witness's folder: made once, held by one process, never begun anew where a part of it was lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from infrastructure.witness import state as state_module
from infrastructure.witness.state import InUseError, Seen, State, StateError

SEEN = Seen(7, bytes(range(32)), "note\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a witness that has signed a tree of two logs."""
    place = tmp_path / "witness"
    with State.open(place, "w1") as state:
        state.record("log/a", SEEN)
        state.record("log/b", Seen(1, bytes(32), "other\n"))
    return place


def reopened(folder: Path, name: str | None = None) -> State:
    """Return the state as another process finds it."""
    with State.open(folder, name) as state:
        return state


def test_what_was_recorded_is_there_again(folder: Path) -> None:
    """Key, name and trees are those of before; the key is in no representation."""
    with State.open(folder) as state:
        assert state.origins == ["log/a", "log/b"]
        assert state.last("log/a") == SEEN
        assert state.last("log/c") is None
        assert state.name == "w1"
        assert state.seed == reopened_seed(folder)
        assert state.seed.hex() not in repr(state)


def reopened_seed(folder: Path) -> bytes:
    """Return the seed as its file has it."""
    return bytes.fromhex((folder / "witness.key").read_text().strip())


def test_its_files_are_its_owners_alone(folder: Path) -> None:
    """Nobody else reads the folder or any file in it."""
    for path in [folder, *folder.iterdir()]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_two_witnesses_are_two(tmp_path: Path) -> None:
    """A new witness has a key and a name of its own."""
    first, second = reopened(tmp_path / "1"), reopened(tmp_path / "2")
    assert first.seed != second.seed
    assert first.name != second.name


def test_one_process_holds_it(folder: Path) -> None:
    """A second one is told so, and finds it free afterwards."""
    with State.open(folder), pytest.raises(InUseError, match="another witness"), State.open(folder):
        pass
    assert reopened(folder).name == "w1"


@pytest.mark.parametrize("name", ["witness.key", "witness.name", "state.json"])
def test_a_lost_part_is_not_made_anew(folder: Path, name: str) -> None:
    """Without its key, its name or its memory a witness that has signed does not start."""
    (folder / name).unlink()
    with pytest.raises(StateError, match=f"{name} is missing"):
        reopened(folder)


@pytest.mark.parametrize("left", [[], ["state.json"], ["state.json", "witness.key"]])
def test_a_first_start_that_was_cut_short_is_finished(tmp_path: Path, left: list[str]) -> None:
    """Killed between any two of the files it makes, a witness that has signed nothing starts all the same."""
    place = tmp_path / "witness"
    reopened(place)
    for path in place.iterdir():
        if path.name not in left:
            path.unlink()
    assert reopened(place).origins == []


@pytest.mark.parametrize(
    "kind", ["empty", "cut", "other format", "no size", "short root", "a list", "size is text"]
)
def test_a_damaged_memory_is_refused(folder: Path, kind: str) -> None:
    """A memory that cannot be read is not begun anew."""
    path = folder / "state.json"
    whole = path.read_text()
    memory = json.loads(whole)
    entry = memory["logs"]["log/a"]
    if kind == "other format":
        memory["format"] = "stud-ledger/witness/0"
    elif kind == "no size":
        del entry["size"]
    elif kind == "short root":
        entry["root"] = "00"
    elif kind == "a list":
        memory["logs"] = []
    elif kind == "size is text":
        entry["size"] = "7"
    texts = {"empty": "", "cut": whole[: len(whole) // 2]}
    path.write_text(texts.get(kind, json.dumps(memory)))
    with pytest.raises(StateError, match="is damaged"):
        reopened(folder)


def test_a_memory_beyond_all_bounds_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is larger than any memory is not read to its end."""
    monkeypatch.setattr(state_module, "_STATE_BYTES_MAX", 10)
    with pytest.raises(StateError, match="is damaged"):
        reopened(folder)


@pytest.mark.parametrize("text", ["", "00", "x" * 64, "é" * 64])
def test_a_damaged_key_is_refused(folder: Path, text: str) -> None:
    """A key that is none is not made anew either."""
    (folder / "witness.key").write_text(text)
    with pytest.raises(StateError, match="not a key"):
        reopened(folder)


def test_a_key_that_others_read_is_refused(folder: Path) -> None:
    """The message says how to close it."""
    (folder / "witness.key").chmod(0o644)
    with pytest.raises(StateError, match="chmod 600"):
        reopened(folder)


def test_a_folder_that_others_write_to_is_refused(folder: Path) -> None:
    """Whoever may write to the folder may put another memory into it."""
    folder.chmod(0o777)
    with pytest.raises(StateError, match="chmod 700"):
        reopened(folder)


def test_a_name_is_kept(folder: Path) -> None:
    """The same name may be said again, another one may not."""
    assert reopened(folder, "w1").name == "w1"
    with pytest.raises(StateError, match="is called w1"):
        reopened(folder, "w2")


@pytest.mark.parametrize("name", ["", "a b", "a+b", "é", "a\n", "x" * 201])
def test_a_name_no_signature_can_have_is_refused(tmp_path: Path, name: str) -> None:
    """A name is visible ASCII without the sign that divides a key's text."""
    with pytest.raises(StateError, match="name is"):
        reopened(tmp_path / "witness", name)


def test_a_damaged_name_is_refused(folder: Path) -> None:
    """A name that is none is not replaced: signatures would be another's."""
    (folder / "witness.name").write_text("a b\n")
    with pytest.raises(StateError, match="is not a name"):
        reopened(folder)


def test_a_folder_that_cannot_be_is_told(tmp_path: Path) -> None:
    """A file in the folder's place is one line."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="cannot be used"):
        reopened(tmp_path / "file" / "witness")


def test_a_part_that_cannot_be_read_is_told(folder: Path) -> None:
    """A folder in a file's place is one line that names it."""
    (folder / "state.json").unlink()
    (folder / "state.json").mkdir()
    with pytest.raises(StateError, match=r"state\.json cannot be used"):
        reopened(folder)


def test_a_record_that_fails_leaves_the_last_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the new memory cannot be written, the old one is whole, in memory and on the disk."""

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with State.open(folder) as state:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(OSError, match="No space"):
                state.record("log/a", Seen(8, bytes(32), "newer\n"))
        assert state.last("log/a") == SEEN
        assert not list(folder.glob(".*"))
    assert reopened(folder).last("log/a") == SEEN

"""Keys in files: made once, kept private, never made anew under a ledger that needs the old ones."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from infrastructure.keys import Keys, KeysError, load_passwords
from infrastructure.seals import Seals

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where keys go; it is not there yet."""
    return tmp_path / "data" / "keys"


def test_a_first_start_makes_every_key(folder: Path) -> None:
    """On an empty ledger keys are made, in files of their owner alone, and the next start finds the same."""
    keys = Keys.load_or_create(folder, ledger_is_empty=True)
    assert (len(keys.token), len(keys.deck[0])) == (32, 32)
    assert keys.token != keys.deck[0]
    assert keys.passwords["app"] != keys.passwords["auditor"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == ["app.password", "auditor.password", "deck-0.key", "token.key"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert Keys.load_or_create(folder, ledger_is_empty=False) == keys


@pytest.mark.parametrize("name", ["token.key", "deck-0.key"])
def test_a_missing_key_of_a_ledger_with_events_is_never_replaced(folder: Path, name: str) -> None:
    """Where events exist, a missing key stops the start, is named, and is not made."""
    Keys.load_or_create(folder, ledger_is_empty=True)
    (folder / name).unlink()
    with pytest.raises(KeysError, match=f"{name} is missing but the ledger has events"):
        Keys.load_or_create(folder, ledger_is_empty=False)
    assert not (folder / name).exists()


def test_a_missing_password_is_made_anew(folder: Path) -> None:
    """A password can be set again in the database, so a new one does no harm."""
    keys = Keys.load_or_create(folder, ledger_is_empty=True)
    (folder / "app.password").unlink()
    again = Keys.load_or_create(folder, ledger_is_empty=False)
    assert again.passwords["app"] != keys.passwords["app"]
    assert again.passwords["auditor"] == keys.passwords["auditor"]
    assert load_passwords(folder) == again.passwords


def test_services_that_start_at_once_have_the_same_keys(folder: Path) -> None:
    """Whoever writes first wins, and nobody reads half a key."""
    with ThreadPoolExecutor(8) as pool:
        starts = [pool.submit(Keys.load_or_create, folder, ledger_is_empty=True) for _ in range(32)]
        found = [start.result() for start in starts]
    assert all(keys == found[0] for keys in found)
    assert not [file for file in folder.iterdir() if file.name.startswith(".")]


def test_a_further_deck_key_seals(folder: Path) -> None:
    """A key put beside the first with the next number is found, and seals opened by either are told apart."""
    Keys.load_or_create(folder, ledger_is_empty=True)
    (folder / "deck-1.key").write_text("ab" * 32)
    (folder / "deck-1.key").chmod(0o600)
    keys = Keys.load_or_create(folder, ledger_is_empty=False)
    assert sorted(keys.deck) == [0, 1]
    assert Seals(keys.deck).seal("R1", b"seed")[1] == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_key_that_others_may_read_is_refused(folder: Path, mode: int) -> None:
    """A key open to group or world stops the start and says how to close it."""
    Keys.load_or_create(folder, ledger_is_empty=True)
    (folder / "token.key").chmod(mode)
    with pytest.raises(KeysError, match=r"token\.key is open to others .* chmod 600"):
        Keys.load_or_create(folder, ledger_is_empty=True)


def test_a_directory_that_others_may_write_is_refused(folder: Path) -> None:
    """Who can write the directory can replace the keys."""
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    with pytest.raises(KeysError, match="chmod 700"):
        Keys.load_or_create(folder, ledger_is_empty=True)


@pytest.mark.parametrize("text", ["", "abc", "g" * 64, "ab" * 33, "ab" * 32 + "\n\n", "ABCDEF" + "0" * 58])
def test_a_file_that_is_no_key_is_refused(folder: Path, text: str) -> None:
    """A key is 64 lowercase hexadecimal digits, whatever stands in the file."""
    Keys.load_or_create(folder, ledger_is_empty=True)
    (folder / "token.key").write_text(text)
    with pytest.raises(KeysError, match="is not a key"):
        Keys.load_or_create(folder, ledger_is_empty=True)


def test_a_malformed_password_is_refused(folder: Path) -> None:
    """A password file with something else in it is named."""
    load_passwords(folder)
    (folder / "app.password").write_text("short")
    with pytest.raises(KeysError, match=r"app\.password is malformed"):
        load_passwords(folder)


def test_a_place_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """A file where the directory should be, or a directory where a key should be, is one line."""
    (tmp_path / "file").write_text("")
    with pytest.raises(KeysError, match="cannot be used"):
        Keys.load_or_create(tmp_path / "file" / "keys", ledger_is_empty=True)
    (tmp_path / "keys" / "token.key").mkdir(parents=True)
    with pytest.raises(KeysError, match=r"token\.key cannot be used"):
        Keys.load_or_create(tmp_path / "keys", ledger_is_empty=True)


def test_nothing_secret_is_printed(folder: Path) -> None:
    """Printing the keys shows where they are and nothing of them."""
    keys = Keys.load_or_create(folder, ledger_is_empty=True)
    text = repr(keys)
    assert str(folder) in text
    secrets = [
        keys.token.hex(),
        repr(keys.token),
        *keys.passwords.values(),
        keys.deck[0].hex(),
        repr(keys.deck[0]),
    ]
    assert not [secret for secret in secrets if secret in text]

"""The keys that sign the log: made once, found by their public half, never replaced."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from infrastructure import log_keys
from infrastructure.keys import Keys, KeysError

ORIGIN = "stud-ledger/0123456789abcdef/1"


def test_the_first_key_is_made_once(tmp_path: Path) -> None:
    """A second start finds the first one's key, in a file that its owner alone reads."""
    made = log_keys.load_or_create(tmp_path / "keys", ORIGIN)
    assert log_keys.load_or_create(tmp_path / "keys", ORIGIN).verifier == made.verifier
    assert made.name == ORIGIN
    assert stat.S_IMODE((tmp_path / "keys" / "log-1.key").stat().st_mode) == 0o600


def test_a_log_is_signed_by_the_key_it_names(tmp_path: Path) -> None:
    """Of several keys, the one with the verifier key's public half signs, under the verifier key's name."""
    first = log_keys.load_or_create(tmp_path, ORIGIN)
    second = log_keys.create_next(tmp_path, ORIGIN)
    third = log_keys.create_next(tmp_path, "stud-ledger/0123456789abcdef/2")
    assert len({signer.verifier.public for signer in (first, second, third)}) == 3
    for signer in (first, second, third):
        assert log_keys.load_for(tmp_path, signer.verifier.vkey).verifier == signer.verifier
    assert log_keys.load_or_create(tmp_path, third.name).verifier == third.verifier


def test_a_missing_key_is_not_replaced(tmp_path: Path) -> None:
    """Where the key of a log is gone, or its text is damaged, there is an error and no new file."""
    vkey = log_keys.load_or_create(tmp_path, ORIGIN).verifier.vkey
    (tmp_path / "log-1.key").unlink()
    log_keys.create_next(tmp_path, ORIGIN)
    with pytest.raises(KeysError, match="put it back from a backup"):
        log_keys.load_for(tmp_path, vkey)
    with pytest.raises(KeysError, match="damaged"):
        log_keys.load_for(tmp_path, vkey[:-1])
    with pytest.raises(KeysError, match="cannot be used"):
        log_keys.load_for(tmp_path / "elsewhere", vkey)
    assert [each.name for each in tmp_path.iterdir()] == ["log-1.key"]


@pytest.mark.parametrize("text", ["", "00" * 31, "00" * 33, "zz" * 32])
def test_a_damaged_key_is_told(tmp_path: Path, text: str) -> None:
    """A file that is no key, or one that others may read, is an error."""
    log_keys.load_or_create(tmp_path, ORIGIN)
    path = tmp_path / "log-1.key"
    path.write_text(text)
    with pytest.raises(KeysError, match="is not a key"):
        log_keys.load_or_create(tmp_path, ORIGIN)
    path.chmod(0o644)
    with pytest.raises(KeysError, match="chmod 600"):
        log_keys.load_or_create(tmp_path, ORIGIN)


def test_the_service_keeps_its_other_keys_beside(tmp_path: Path) -> None:
    """A key of the log is no key of decks: the two do not take each other's files."""
    log_keys.load_or_create(tmp_path, ORIGIN)
    assert set(Keys.load_or_create(tmp_path, ledger_is_empty=True).deck) == {0}

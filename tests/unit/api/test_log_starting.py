"""How the evidence log of a ledger begins that may have had one before."""

from __future__ import annotations

from pathlib import Path

from api.log import starting
from domain.registers import LogState
from infrastructure import log_keys
from infrastructure.evidence import files
from infrastructure.evidence.folder import HEAD, Head, head_text
from infrastructure.evidence.notes import Checkpoint, write_note


def test_a_ledger_of_before_its_log_keeps_the_name_when_the_key_has_changed_since(tmp_path: Path) -> None:
    """Its log is the folder's: it is behind that one, and not another ledger's."""
    keys, place = tmp_path / "keys", tmp_path / "log"
    began = starting.first(keys, place)
    newer = log_keys.create_next(keys, began.origin)
    checkpoint = Checkpoint(began.origin, 40, b"r" * 32)
    note = write_note(checkpoint.body(), [newer.sign(checkpoint.body())])
    files.write(place / HEAD, head_text(Head(1, checkpoint, note)))

    again = starting.first(keys, place)

    assert again.origin == began.origin
    assert again.vkey == newer.verifier.vkey
    halt = starting.disagreement(place, LogState(1, again.origin, [again.vkey]), 7)
    assert halt is not None
    assert (halt.reason, halt.position, halt.size) == ("behind", 7, 40)


def test_a_new_log_is_named_after_its_key(tmp_path: Path) -> None:
    """Services that start together find the same key, and so the same name; other ledgers have others."""
    one = starting.first(tmp_path / "keys", tmp_path / "log")

    assert starting.first(tmp_path / "keys", tmp_path / "log") == one
    assert starting.first(tmp_path / "other", tmp_path / "log").origin != one.origin

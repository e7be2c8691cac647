"""What an export asks of the evidence log: a checkpoint that covers a day, and the proof that it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from infrastructure.archive.manifest import ArchiveError, hash_from
from infrastructure.archive.sealing import LogSeal
from infrastructure.evidence import files, folder, merkle
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.merkle import verify_consistency
from infrastructure.evidence.notes import Checkpoint, Signer, parse_checkpoint, parse_note, verify, write_note
from infrastructure.evidence.tiles import tile_path, tiles_between

LEAVES = [merkle.leaf_hash(bytes([number])) for number in range(10)]
SIGNER = Signer.from_seed("stud-ledger/5e1f/1", b"s" * 32)


@pytest.fixture
def seal(tmp_path: Path) -> LogSeal:
    """Return the log of ten events; the witnesses have cosigned the first eight."""
    place = tmp_path / "1"
    for level, number, width in tiles_between(0, len(LEAVES)):
        path = place / tile_path(level, number, width)
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, b"".join(LEAVES))
    files.write(place / folder.KEYS, SIGNER.verifier.vkey.encode())
    files.write(place / folder.COSIGNED, note(8))
    files.write(place / folder.CHECKPOINT, note(10))
    return LogSeal(LogFolder(tmp_path), SIGNER)


def note(size: int) -> bytes:
    """Return a signed checkpoint."""
    text = Checkpoint(SIGNER.name, size, merkle.root_of(LEAVES[:size])).body()
    return write_note(text, [SIGNER.sign(text)])


@pytest.mark.parametrize(("size", "covering"), [(1, 8), (8, 8), (9, 10), (10, 10)])
def test_a_day_is_proved_by_the_newest_checkpoint_that_witnesses_cosigned(
    seal: LogSeal, size: int, covering: int
) -> None:
    """Where that does not cover the day yet, the newest that is signed at all does."""
    root = merkle.root_of(LEAVES[:size])
    sealed = seal.prove(size, root)
    found = parse_checkpoint(parse_note(sealed.checkpoint.encode()).text)
    assert found.size == covering
    assert verify_consistency(size, root, found.size, found.root, [*map(hash_from, sealed.proof)])
    assert sealed.keys == (SIGNER.verifier.vkey,)
    assert seal.size() == 10


def test_other_events_are_not_proved(seal: LogSeal) -> None:
    """Another root than the log's, or more events than it has, is refused."""
    with pytest.raises(ArchiveError, match="not those that the evidence log has sealed"):
        seal.prove(9, merkle.root_of(LEAVES[:8]))
    with pytest.raises(ArchiveError, match="not sealed position 11 yet"):
        seal.prove(11, merkle.root_of(LEAVES))


def test_a_log_that_cannot_be_read_is_said_to_be(seal: LogSeal, tmp_path: Path) -> None:
    """Missing tiles or a damaged checkpoint are one line; before the first checkpoint nothing is sealed."""
    assert LogSeal(LogFolder(tmp_path / "none"), SIGNER).size() == 0
    for path in (tmp_path / "1" / "tile").rglob("*"):
        if path.is_file():
            path.unlink()
    with pytest.raises(ArchiveError, match="cannot be read"):
        seal.prove(9, merkle.root_of(LEAVES[:9]))
    files.write(tmp_path / "1" / folder.CHECKPOINT, b"nothing")
    with pytest.raises(ArchiveError, match="cannot be read"):
        LogSeal(LogFolder(tmp_path), SIGNER).size()


def test_a_text_is_signed_as_a_note(seal: LogSeal) -> None:
    """Whoever has the log's key can verify it with any tool for signed notes."""
    signed = parse_note(seal.sign("one\ntwo\n"))
    assert signed.text == "one\ntwo\n"
    assert [each.name for each in verify(signed, [SIGNER.verifier])] == [SIGNER.name]

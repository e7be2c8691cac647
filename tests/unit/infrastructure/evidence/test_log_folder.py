"""A log's folder as others read it: whole and partial tiles, checkpoints that change, damage, generations."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from infrastructure.evidence import cached_tiles, files, folder, merkle
from infrastructure.evidence.folder import Generation, Head, LogFolder
from infrastructure.evidence.notes import Checkpoint, Signer, write_note
from infrastructure.evidence.tiles import tile_path, tiles_between
from infrastructure.evidence.unavailable import LogUnavailable

LEAVES = [merkle.leaf_hash(number.to_bytes(3, "big")) for number in range(70_000)]
SIGNER = Signer.from_seed("stud-ledger/0123456789abcdef/1", b"s" * 32)


def hashes_of(level: int, first: int, count: int) -> bytes:
    """Adjoining hashes of a tile level."""
    width = 256**level
    return b"".join(
        merkle.root_of(LEAVES[at * width : (at + 1) * width]) for at in range(first, first + count)
    )


def write_tiles(place: Path, old: int, new: int) -> None:
    """Write the tiles that a growing tree needs."""
    for level, number, width in tiles_between(old, new):
        path = place / tile_path(level, number, width)
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, hashes_of(level, number * 256, width))


def note(size: int) -> bytes:
    """The signed checkpoint of the first so many leaves."""
    text = Checkpoint(SIGNER.name, size, merkle.root_of(LEAVES[:size])).body()
    return write_note(text, [SIGNER.sign(text)])


def publish(path: Path, generation: int, size: int, old: int = 0) -> Generation:
    """Publish a tree as a sealer would."""
    folder.begin(path, generation)
    write_tiles(path / str(generation), old, size)
    files.write(path / str(generation) / "checkpoint", note(size))
    return Generation(path / str(generation))


@pytest.fixture(autouse=True)
def _look_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the folder be looked at each time."""
    monkeypatch.setattr(folder, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(cached_tiles, "LOOK_SECONDS", 0.0)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Generation:
    """A log of three levels of tiles."""
    return publish(tmp_path_factory.mktemp("log"), 1, len(LEAVES))


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 511, 65_535, 65_536, 65_537, 70_000])
def test_roots_and_proofs_come_out_of_the_tiles(big: Generation, size: int) -> None:
    """The root of any size, and inclusion and consistency proofs, are read from a larger tree's tiles."""
    root = merkle.root_of(LEAVES[:size])
    assert big.root(size) == root
    for index in {0, size // 2, size - 1}:
        assert big.leaf_hash(index) == LEAVES[index]
        assert merkle.verify_inclusion(LEAVES[index], index, size, big.inclusion(index, size), root)
    proof = big.consistency(size, 70_000)
    assert merkle.verify_consistency(size, root, 70_000, big.root(70_000), proof)


def test_before_the_first_checkpoint_there_is_nothing(tmp_path: Path) -> None:
    """A folder that is not there, or not published in, has no checkpoint, no keys and no proofs."""
    log = LogFolder(tmp_path / "log")
    assert (log.newest(), log.note(), log.cosigned(), log.keys(), log.generations()) == (
        None,
        None,
        None,
        [],
        [],
    )
    folder.begin(tmp_path / "log", 1)
    assert log.newest() is None
    with pytest.raises(LogUnavailable, match="published nothing"):
        log.inclusion(0, 1)


def test_a_new_checkpoint_is_seen(tmp_path: Path) -> None:
    """What is published is read from then on; the tree before can still be proved to belong to it."""
    log = LogFolder(tmp_path)
    for old, size in [(0, 5), (5, 300), (300, 301)]:
        publish(tmp_path, 1, size, old)
        newest = log.newest()
        assert newest == Checkpoint(SIGNER.name, size, merkle.root_of(LEAVES[:size]))
        assert log.note() == note(size)
        proof = log.consistency(old, size)
        assert merkle.verify_consistency(old, merkle.root_of(LEAVES[:old]), size, newest.root, proof)


def test_a_checkpoint_is_looked_at_so_often_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two looks what was read stands, however often it is asked for."""
    publish(tmp_path, 1, 5)
    log = LogFolder(tmp_path)
    monkeypatch.setattr(folder, "LOOK_SECONDS", 3600.0)
    assert log.note() == note(5)
    publish(tmp_path, 1, 6, 5)
    assert log.note() == note(5)
    monkeypatch.setattr(folder, "LOOK_SECONDS", 0.0)
    assert log.note() == note(6)


def test_the_newest_generation_that_has_published_is_the_log(tmp_path: Path) -> None:
    """A generation that only begins changes nothing; the old one can be read where it was."""
    publish(tmp_path, 1, 7)
    log = LogFolder(tmp_path)
    folder.begin(tmp_path, 2)
    assert log.generations() == [1]
    publish(tmp_path, 2, 3)
    assert log.generations() == [1, 2]
    assert log.note() == note(3)
    assert log.generation(1).note() == note(7)


def test_keys_are_told_the_newest_first(tmp_path: Path) -> None:
    """The keys' file is told line by line, and the cosigned note as it is."""
    publish(tmp_path, 1, 1)
    (tmp_path / "1" / "keys").write_text("new\nold\n")
    (tmp_path / "1" / "cosigned").write_bytes(note(1))
    log = LogFolder(tmp_path)
    assert log.keys() == ["new", "old"]
    assert log.cosigned() == note(1)


def test_what_each_witness_signed_is_told(tmp_path: Path) -> None:
    """The newest published tree with a witness's signature counts, cosigned by all or not; without any, 0."""
    witnesses = [Signer.from_seed(f"witness-{number}.example", bytes([number]) * 32) for number in range(3)]
    one = publish(tmp_path, 1, 9)
    text = Checkpoint(SIGNER.name, 9, merkle.root_of(LEAVES[:9])).body()
    lines = [SIGNER.sign(text), witnesses[0].cosign(text, 1)]
    (one.place / "checkpoint").write_bytes(write_note(text, lines))
    older = Checkpoint(SIGNER.name, 5, merkle.root_of(LEAVES[:5])).body()
    lines = [SIGNER.sign(older), *(witness.cosign(older, 1) for witness in witnesses[:2])]
    (one.place / "cosigned").write_bytes(write_note(older, lines))
    found = one.cosigned_by([witness.cosigner for witness in witnesses])
    assert found == {"witness-0.example": 9, "witness-1.example": 5, "witness-2.example": 0}


def test_a_partial_tile_is_found_in_one_that_has_more(tmp_path: Path) -> None:
    """A tile of fewer hashes is the beginning of a longer partial one, or of the whole one."""
    one = publish(tmp_path, 1, 9)
    publish(tmp_path, 1, 200, 9)
    for path in [one.place / tile_path(0, 0, 9), one.place / tile_path(0, 0, 200)]:
        assert one.tile(0, 0, 5) == b"".join(LEAVES[:5])
        path.unlink()
    with pytest.raises(LogUnavailable, match="missing or damaged"):
        one.tile(0, 0, 5)
    publish(tmp_path, 1, 256, 200)
    assert one.tile(0, 0, 5) == b"".join(LEAVES[:5])


def test_what_lies_beyond_the_tree_is_never_kept(tmp_path: Path) -> None:
    """Hashes behind the tree that was asked about may still change, and are read when asked about."""
    one = publish(tmp_path, 1, 256)
    path = one.place / tile_path(0, 0)
    right = path.read_bytes()
    path.write_bytes(right[: 200 * 32] + b"?" * (56 * 32))
    assert one.inclusion(3, 200)
    path.write_bytes(right)
    proof = one.inclusion(3, 256)
    assert merkle.verify_inclusion(LEAVES[3], 3, 256, proof, merkle.root_of(LEAVES[:256]))


@pytest.mark.parametrize(("size", "width"), [(300, 256), (200, 200)], ids=["whole", "partial"])
def test_a_tile_that_was_mended_is_read_again(tmp_path: Path, size: int, width: int) -> None:
    """Who read it while it was damaged proves with the mended one from the next look on."""
    one = publish(tmp_path, 1, size)
    path = one.place / tile_path(0, 0, width)
    right, root = path.read_bytes(), merkle.root_of(LEAVES[:size])
    path.write_bytes(b"?" * len(right))
    assert not merkle.verify_inclusion(LEAVES[3], 3, size, one.inclusion(3, size), root)
    files.write(path, right)
    assert merkle.verify_inclusion(LEAVES[3], 3, size, one.inclusion(3, size), root)


def test_a_tile_whose_file_stays_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the file is all that a tile costs which is known."""
    one = publish(tmp_path, 1, 300)
    proof = one.inclusion(3, 300)

    def read(path: Path) -> bytes:
        raise AssertionError(path)

    monkeypatch.setattr(cached_tiles, "read_file", read)
    assert one.inclusion(3, 300) == proof


def test_damage_is_told(tmp_path: Path) -> None:
    """A short tile, a file that is no checkpoint, a place that is no tile: each is LogUnavailable."""
    one = publish(tmp_path, 1, 300)
    path = one.place / tile_path(0, 1, 44)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LogUnavailable, match="missing or damaged"):
        one.inclusion(299, 300)
    for level, width in [(8, 1), (0, 0), (0, 257)]:
        with pytest.raises(LogUnavailable, match="no such tile"):
            one.tile(level, 0, width)
    with pytest.raises(LogUnavailable, match="has no subtree"):
        one.hashes(200)(0, 250)
    (one.place / "checkpoint").write_bytes(b"nothing")
    with pytest.raises(LogUnavailable, match="is damaged"):
        one.newest()
    (one.place / "checkpoint").unlink()
    (one.place / "checkpoint").mkdir()
    with pytest.raises(LogUnavailable, match="cannot be read"):
        one.note()


def test_the_head_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Generation, checkpoint and note come back; anything else there is an error, never no head."""
    assert folder.read_head(tmp_path) is None
    head = Head(3, Checkpoint(SIGNER.name, 5, merkle.root_of(LEAVES[:5])), note(5))
    files.write(tmp_path / "head", folder.head_text(head))
    assert folder.read_head(tmp_path) == head
    whole = (tmp_path / "head").read_bytes()
    for damaged in (b"", whole[:-1], b"[]", b"{}", whole.replace(b'"size": 5', b'"size": 6')):
        (tmp_path / "head").write_bytes(damaged)
        with pytest.raises(LogUnavailable, match="is damaged"):
            folder.read_head(tmp_path)


def test_a_log_s_folder_is_made_durably(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each folder's entry is on disk before anything stands in it, that of the log's own folder too."""
    synced: list[Path] = []
    sync_folder = files.sync_folder

    def sync(place: Path) -> None:
        sync_folder(place)
        synced.append(place)

    monkeypatch.setattr(files, "sync_folder", sync)
    place = tmp_path / "data" / "log"
    folder.begin(place, 1)
    assert synced == [tmp_path, place.parent, place, place / "1"]


def test_a_generation_is_marked_before_it_begins(tmp_path: Path) -> None:
    """The mark says that this folder is the log's; making it again changes nothing."""
    place = tmp_path / "a" / "log"
    assert not folder.has_begun(place, 1)
    folder.begin(place, 1)
    folder.begin(place, 1)
    assert folder.has_begun(place, 1)
    assert os.listdir(place / "1") == ["begun"]  # noqa: PTH208 - names are what is compared

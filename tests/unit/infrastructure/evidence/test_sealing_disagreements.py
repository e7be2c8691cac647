"""A ledger that is not the one that was sealed, and a log's folder that is damaged, lost or another's."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from domain.commands import HaltLog
from infrastructure.evidence import comparing, folder
from infrastructure.evidence.sealing import Sealing
from infrastructure.evidence.tiles import unpack_entries
from tests.unit.infrastructure.evidence.sealing_tools import Ledger


@pytest.fixture(autouse=True)
def _compare_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything be compared in each turn."""
    monkeypatch.setattr(comparing, "TURN_SECONDS", 60.0)
    monkeypatch.setattr(comparing, "SHARE", 0)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Return a ledger of 3000 events, sealed a moment ago."""
    ledger = Ledger(tmp_path / "log")
    ledger.append(3_000)
    settled(ledger.sealing())
    assert ledger.verify() == 3_000
    return ledger


def settled(sealing: Sealing) -> Sealing:
    """Let it turn until there is nothing more to do."""
    while sealing.turn():
        pass
    return sealing


def halted(ledger: Ledger, reason: str, position: int) -> None:
    """Check that the ledger was halted once, loudly, and that nothing more is signed."""
    checkpoint = folder.read_head(ledger.folder)
    assert [(halt.reason, halt.position) for halt in ledger.halts] == [(reason, position)]
    assert ledger.halts[0].generation == 1
    if checkpoint is not None:
        assert ledger.halts[0].size == checkpoint.checkpoint.size == 3_000
        assert ledger.halts[0].root == checkpoint.checkpoint.root_text
    assert ledger.alarms[f"log_{reason}"][0] == position + 1
    ledger.append(500)
    assert not ledger.sealing().turn()
    assert ledger.generation.newest() == (None if checkpoint is None else checkpoint.checkpoint)


def restore(ledger: Ledger) -> None:
    """Put the ledger back by 700 events."""
    ledger.restore(2_300)


def restore_and_play(ledger: Ledger) -> None:
    """Put the ledger back and go on with fewer events than before."""
    ledger.restore(2_300)
    ledger.append(100)


def fork(ledger: Ledger) -> None:
    """Put the ledger back and go on further than before."""
    ledger.restore(2_300)
    ledger.append(1_000)


def edit(ledger: Ledger) -> None:
    """Change an event."""
    ledger.rows[2_300] = (2_301, "other", b"another")


def delete(ledger: Ledger) -> None:
    """Take an event out."""
    del ledger.rows[2_300]


def renumber(ledger: Ledger) -> None:
    """Take an event out and let the ones behind move up, as if there had been none."""
    ledger.rows[2_300:] = [(position - 1, stream, data) for position, stream, data in ledger.rows[2_301:]]
    ledger.append(1)


def swap(ledger: Ledger) -> None:
    """Exchange two events."""
    first, second = ledger.rows[2_300], ledger.rows[2_301]
    ledger.rows[2_300:2_302] = [(2_301, *second[1:]), (2_302, *first[1:])]


CHANGES = [
    (restore, "behind"), (restore_and_play, "behind"), (fork, "differs"), (edit, "differs"),
    (delete, "differs"), (renumber, "differs"), (swap, "differs"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "reason"), CHANGES)
def test_a_changed_ledger_is_halted_at_the_start(
    ledger: Ledger, change: Callable[[Ledger], None], reason: str
) -> None:
    """Whatever was changed while nobody sealed, the next sealer halts the ledger and names the place."""
    change(ledger)
    settled(ledger.sealing())
    halted(ledger, reason, 2_300)


@pytest.mark.parametrize(("change", "reason"), CHANGES)
def test_a_changed_ledger_is_halted_while_it_is_sealed(
    ledger: Ledger, change: Callable[[Ledger], None], reason: str
) -> None:
    """Whatever is changed under a sealer that runs, it halts the ledger, and seals nothing of it."""
    sealing = settled(ledger.sealing())
    change(ledger)
    settled(sealing)
    halted(ledger, reason, 2_300)


def test_an_old_change_is_found_in_the_round(ledger: Ledger) -> None:
    """An event far from the end is compared as well, in its time."""
    sealing = settled(ledger.sealing())
    ledger.rows[7] = (8, "other", b"another")
    settled(sealing)
    assert [(halt.reason, halt.position) for halt in ledger.halts] == [("differs", 7)]


@pytest.mark.parametrize(("first", "last"), [(3_000, 3_000), (3_004, 3_004), (3_000, 8_500)])
def test_a_hole_is_not_sealed_over(ledger: Ledger, first: int, last: int) -> None:
    """Events that lack some before them are not sealed, however many: the ledger is halted."""
    ledger.append(6_000)
    del ledger.rows[first : last + 1]
    settled(ledger.sealing())
    assert [(halt.reason, halt.position) for halt in ledger.halts] == [("differs", 3_000)]
    assert ledger.generation.newest().size == 3_000  # type: ignore[union-attr]


def test_a_new_log_begins_where_the_old_one_stays(ledger: Ledger) -> None:
    """After a restore, another log is started: it has the events that are, under its own name and key."""
    restore(ledger)
    sealing = settled(ledger.sealing())
    old = folder.Generation(ledger.folder / "1")
    note = old.note()
    ledger.start_log(2)
    ledger.append(400)
    settled(sealing)
    assert ledger.verify() == 2_700
    assert ledger.alarms == {}
    assert old.note() == note
    assert old.inclusion(2_999, 3_000)
    assert folder.LogFolder(ledger.folder).generations() == [1, 2]


def test_a_ledger_from_before_its_log_is_halted(ledger: Ledger) -> None:
    """A ledger that was put back to before its newest log began is halted, and told of that log."""
    state = ledger.state
    ledger.state.halted = "lost"
    ledger.start_log(2)
    settled(ledger.sealing())
    later = ledger.state
    ledger.state = state
    ledger.state.halted = None
    ledger.append(5)
    settled(ledger.sealing())
    newest = ledger.generation.newest()
    assert newest is not None
    root = folder.read_head(ledger.folder).checkpoint.root_text  # type: ignore[union-attr]
    expected = HaltLog(1, "behind", 3_005, 3_000, root, later.origin, later.vkey)
    assert ledger.halts == [expected]


@pytest.mark.parametrize("gone", ["head", "everything", "mark"])
def test_a_lost_log_halts_the_ledger(ledger: Ledger, gone: str) -> None:
    """Where what was signed last is gone, nothing takes its place by itself."""
    if gone == "everything":
        shutil.rmtree(ledger.folder)
        ledger.folder.mkdir()
    else:
        (ledger.folder / "head").unlink()
    if gone == "mark":
        (ledger.folder / "1" / "begun").unlink()
        (ledger.folder / "1" / "checkpoint").unlink()
    settled(ledger.sealing())
    assert [(halt.reason, halt.size) for halt in ledger.halts] == [("lost", None)]
    assert list(ledger.alarms) == ["log_lost"]


def test_a_head_that_we_did_not_sign_is_no_head(ledger: Ledger) -> None:
    """A head under somebody else's signature is as good as lost."""
    ledger.state.keys = [ledger._key(ledger.state.origin, 99)]
    settled(ledger.sealing())
    assert [halt.reason for halt in ledger.halts] == ["lost"]


def test_another_tree_that_was_published_is_told(ledger: Ledger) -> None:
    """Where another tree is published that is not older, the head was put back: nothing is signed."""
    head = (ledger.folder / "head").read_bytes()
    ledger.append(1)
    settled(ledger.sealing())
    (ledger.folder / "head").write_bytes(head)
    settled(ledger.sealing())
    assert [halt.reason for halt in ledger.halts] == ["lost"]


@pytest.mark.parametrize("damage", ["head", "other ledger's", "key"])
def test_what_can_be_put_right_is_waited_for(ledger: Ledger, damage: str) -> None:
    """An unreadable head, another's folder, a missing key: an alarm, no halt, and on when it is right."""
    ledger.append(1)
    head = (ledger.folder / "head").read_bytes()
    state, signers = ledger.state, dict(ledger.signers)
    sealing = ledger.sealing()
    if damage == "head":
        (ledger.folder / "head").write_bytes(head[:-1])
    elif damage == "key":
        ledger.signers.clear()
    else:
        ledger.state = ledger.state.__class__(1, "stud-ledger/ffffffffffffffff/1", state.keys)
    settled(sealing)
    assert (list(ledger.alarms), ledger.halts) == (["log_stuck"], [])
    (ledger.folder / "head").write_bytes(head)
    ledger.state = state
    ledger.signers.update(signers)
    settled(sealing)
    assert (ledger.verify(), ledger.alarms) == (3_001, {})


@pytest.mark.parametrize(
    "path",
    ["tile/0/003", "tile/0/011.p/184", "tile/1/000.p/11", "tile/entries/004"],
)  # fmt: skip
@pytest.mark.parametrize("how", ["changed", "cut", "gone"])
@pytest.mark.parametrize("running", [False, True], ids=["at the start", "running"])
def test_damaged_files_are_written_again_from_the_events(
    ledger: Ledger, path: str, how: str, *, running: bool
) -> None:
    """The signed root says that the events are right: the file comes back as it was, and an alarm says so."""
    sealing = settled(ledger.sealing()) if running else ledger.sealing()
    file = ledger.generation.place / path
    whole = file.read_bytes()
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(
            whole[:100] + bytes([whole[100] ^ 1]) + whole[101:] if how == "changed" else whole[:64]
        )
    settled(sealing)
    if how == "gone" and path == "tile/entries/004" and running:
        settled(ledger.sealing())  # one that is not there is missed at the next start
    assert file.read_bytes() == whole
    assert ledger.halts == []
    assert (list(ledger.alarms) == ["log_tiles"]) or (how == "gone" and "entries" in path)
    ledger.append(1)
    settled(sealing)
    assert ledger.verify() == 3_001
    settled(ledger.sealing())
    assert ledger.alarms == {}


@pytest.mark.parametrize("path", ["tile/0/011", "tile/0/011.p/200", "tile/1/000"])
@pytest.mark.parametrize("running", [False, True], ids=["at the start", "running"])
def test_a_tile_wider_than_what_was_signed_is_taken_away(ledger: Ledger, path: str, *, running: bool) -> None:
    """Nobody signed it, and whoever reads the edge of the tree would read it there."""
    sealing = settled(ledger.sealing()) if running else ledger.sealing()
    edge = ledger.generation.place / "tile/0/011.p/184"
    whole = edge.read_bytes()
    (ledger.generation.place / path).write_bytes(b"x" * 32 * (200 if path.endswith("200") else 256))
    if path.endswith("200"):
        edge.unlink()  # or it would be read
    settled(sealing)
    assert ledger.generation.tile(0, 11, 184) == edge.read_bytes() == whole
    ledger.append(1)
    settled(sealing)
    assert (ledger.verify(), ledger.halts) == (3_001, [])
    settled(ledger.sealing())
    assert ledger.alarms == {}


def test_damaged_files_do_not_hide_a_changed_ledger(ledger: Ledger) -> None:
    """Where both the events and the tiles above were changed, nothing is repaired: the ledger is halted."""
    edit(ledger)
    (ledger.generation.place / "tile/1/000.p/11").unlink()
    settled(ledger.sealing())
    assert [halt.reason for halt in ledger.halts] == ["differs"]


def test_a_new_log_waits_for_events_that_were_taken_out(ledger: Ledger) -> None:
    """Events that are kept elsewhere are needed for a new log; a log that has them goes on without."""
    del ledger.rows[:1_000]
    ledger.taken_out = 1_000
    sealing = settled(ledger.sealing())
    assert ledger.alarms == {}
    assert sealing.size == 3_000
    ledger.start_log(2)
    settled(sealing)
    assert ledger.halts == []
    assert "attach their partitions" in ledger.alarms["log_stuck"][1]


@pytest.mark.parametrize("damaged", ["events", "tile"])
def test_a_bundle_that_had_to_wait_is_of_what_was_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: str
) -> None:
    """Events read again for one are held against the tile: changed ones halt the ledger."""
    monkeypatch.setattr("infrastructure.evidence.bundles.LOOK_SHARE", 0)
    monkeypatch.setattr(comparing, "TURN_SECONDS", -1.0)  # so that nothing else sees it
    ledger = Ledger(tmp_path)
    ledger.unfinished = {"round-a"}
    ledger.append(256, "round-a")
    ledger.append(2_000)
    sealing = settled(ledger.sealing())
    assert ledger.generation.entries(0) is None
    if damaged == "events":
        ledger.rows[7] = (8, "round-a", b"another")
    else:
        (ledger.generation.place / "tile/0/000").write_bytes(b"?" * 8_192)
    ledger.unfinished.clear()
    settled(sealing)
    if damaged == "events":
        assert [(halt.reason, halt.position) for halt in ledger.halts] == [("differs", 7)]
        assert ledger.generation.entries(0) is None
    else:
        assert (ledger.halts, list(ledger.alarms), ledger.verify()) == ([], ["log_tiles"], 2_256)
        bundle = ledger.generation.entries(0)
        assert bundle is not None
        assert unpack_entries(bundle) == [row[2] for row in ledger.rows[:256]]


def test_bundles_wait_for_their_rounds_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round that stays open holds back the bundles it has events in, and no other; also over a restart."""
    monkeypatch.setattr("infrastructure.evidence.bundles.LOOK_SHARE", 0)
    ledger = Ledger(tmp_path)
    ledger.unfinished = {"round-a", "round-b", "round-c"}
    for stream in ("round-x", "round-a", "round-y", "round-b", "round-z"):
        ledger.append(256, stream)
    sealing = settled(ledger.sealing())

    def there() -> list[int]:
        return [number for number in range(5) if ledger.generation.entries(number) is not None]

    assert there() == [0, 2, 4]
    ledger.unfinished.remove("round-a")
    settled(sealing)
    assert there() == [0, 1, 2, 4]
    ledger.unfinished.clear()
    settled(ledger.sealing())
    assert there() == [0, 1, 2, 3, 4]
    bundle = ledger.generation.entries(3)
    assert bundle is not None
    assert unpack_entries(bundle) == [row[2] for row in ledger.rows[768:1024]]

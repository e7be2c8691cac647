"""Checking an archive: whatever somebody does to its files is found, and said where."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from domain import commands as c
from infrastructure.archive import manifest as manifests
from infrastructure.archive.check import Found, Known, check, known_from
from infrastructure.archive.layout import EVENTS, FILES, MANIFEST, ROUNDS, SEALED, SIGNATURE
from infrastructure.archive.manifest import ArchiveError, decode, encode, sha256
from infrastructure.archive.reader import Archive
from infrastructure.evidence.notes import Signer
from infrastructure.ledger.memory import MemoryLedger
from tests.unit.infrastructure.archives import ORIGIN, OwnSeal, archive
from tests.unit.infrastructure.ledgers import Process, furnished, stake

KEY = OwnSeal(MemoryLedger()).signer.verifier
FORGER = Signer.from_seed(ORIGIN, b"f" * 32)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive of four days, of a ledger that recorded the exports of the first three."""
    process = furnished(players=3)
    process.do(c.StartLog(ORIGIN, KEY.vkey))
    target = tmp_path_factory.mktemp("archives") / "whole"
    ends: list[int] = []
    for number in range(4):
        play(process, number)
        if number < 3:
            ends.append(process.ledger.position)
            found = archive(target, process.ledger, ends, only=number + 1)
            record(process, found)
    archive(target, process.ledger, ends)
    return target


def play(process: Process, number: int) -> None:
    """Play a few rounds."""
    for count in range(3):
        round_id = f"r-{number}-{count}"
        process.do(c.OpenRound(round_id, "pots", (stake(1, jackpot=100), stake(2)), deal=True))
        process.do(c.Decide(round_id, 1, "fold"), c.Decide(round_id, 2, "raise"))


def record(process: Process, found: Archive) -> None:
    """Let the ledger record the last export."""
    last = found.days[-1].manifest
    process.do(
        c.RecordArchive(
            last.sequence, last.day, last.first_position, last.last_position, sha256(found.days[-1].stored)
        )
    )


@pytest.fixture
def copy(exported: Path, tmp_path: Path) -> Path:
    """Return a copy of the archive, to be spoilt."""
    return Path(shutil.copytree(exported, tmp_path / "copy"))


def days(path: Path) -> list[Path]:
    """Return the folders of the days."""
    return sorted(path.iterdir())


def resign(path: Path, signer: Signer) -> None:
    """Make the whole chain of manifests anew over the files as they are, and sign it."""
    previous = ""
    for folder in days(path):
        manifest = decode((folder / MANIFEST).read_bytes())
        files = {}
        for name, said in manifest.files.items():
            data = (folder / name).read_bytes()
            files[name] = said._replace(bytes=len(data), sha256=sha256(data))
        stored = encode(manifest._replace(files=files, previous=previous))
        (folder / MANIFEST).write_bytes(stored)
        note = OwnSeal(MemoryLedger(), signer).sign(manifests.signed_text(decode(stored), stored))
        (folder / SIGNATURE).write_bytes(note)
        previous = sha256(stored)


def the_problem(found: Found) -> str:
    """Return what a check found, which is something."""
    assert found.problems
    return " | ".join(found.problems)


def test_a_whole_archive_passes(exported: Path) -> None:
    """Without a key it is proved to who knows the log's key, which is told; with that key it is proved."""
    for keys in ((), (KEY,)):
        found = check(exported, keys)
        assert (found.days, found.problems, found.keys) == (4, [], [KEY.vkey])
        assert found.events == Archive(exported).days[-1].manifest.last_position
        assert found.checkpoint is not None
        assert found.checkpoint.size >= found.events


@pytest.mark.parametrize("name", [MANIFEST, SIGNATURE, SEALED])
def test_a_file_without_end_is_not_read_to_its_end(copy: Path, name: str) -> None:
    """What is read as a whole is read up to a bound: a sparse file of a terabyte is named as any other."""
    with (days(copy)[1] / name).open("r+b") as file:
        file.truncate(1 << 40)
    problem = the_problem(check(copy, [KEY]))
    assert f"{days(copy)[1].name}/{name}: it is larger than" in problem


@pytest.mark.parametrize("name", [*FILES, MANIFEST, SIGNATURE, SEALED])
def test_a_changed_byte_is_found(copy: Path, name: str) -> None:
    """One bit, near the beginning, the middle or the end of any file of a day, and that day is named."""
    folder = days(copy)[1]
    whole = (folder / name).read_bytes()
    for at in (3, len(whole) // 2, len(whole) - 2):
        (folder / name).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert folder.name in the_problem(check(copy)), at


@pytest.mark.parametrize("name", [*FILES, MANIFEST, SIGNATURE, SEALED])
def test_a_missing_file_is_found(copy: Path, name: str) -> None:
    """A file that was taken away is named with its day."""
    folder = days(copy)[2]
    (folder / name).unlink()
    assert f"{folder.name}/{name}" in the_problem(check(copy))


def test_any_bit_anywhere_is_found(copy: Path) -> None:
    """Random bits of random files, one at a time: each is found, by a line that names the day."""
    random = Random(41)
    files = sorted(path for path in copy.rglob("*") if path.is_file())
    for _ in range(60):
        path = random.choice(files)
        whole = path.read_bytes()
        at = random.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << random.randrange(8)]) + whole[at + 1 :])
        assert path.parent.name in the_problem(check(copy)), (path, at)
        path.write_bytes(whole)
    assert not check(copy).problems


def test_a_missing_day_is_found(copy: Path) -> None:
    """A day in the middle, or the first, is missed by its neighbours."""
    middle, first = days(copy)[2], days(copy)[0]
    shutil.move(middle, copy.parent / "middle")
    assert "missing" in the_problem(check(copy))
    shutil.move(copy.parent / "middle", middle)
    shutil.rmtree(first)
    assert f"the days before {days(copy)[0].name} are missing" in the_problem(check(copy))


def test_a_missing_last_day_is_found_by_who_knew_it(copy: Path) -> None:
    """The folder alone does not tell; its signature that was kept elsewhere does, and so does the ledger."""
    last = days(copy)[-1]
    saved = known_from((last / SIGNATURE).read_bytes())
    assert (saved.sequence, saved.day) == (4, last.name)
    assert not check(copy, known=[saved]).problems
    shutil.rmtree(last)
    assert not check(copy).problems
    assert f"export number 4, of {saved.day}, is missing" in the_problem(check(copy, known=[saved]))


def test_exchanged_files_are_found(copy: Path) -> None:
    """The files of two days change places, or the days do."""
    one, two = days(copy)[1:3]
    exchange(one / EVENTS, two / EVENTS)
    problem = the_problem(check(copy))
    assert f"{one.name}/{EVENTS}" in problem
    assert f"{two.name}/{EVENTS}" in problem
    exchange(one / EVENTS, two / EVENTS)
    assert not check(copy).problems
    exchange(one, two)
    assert one.name in the_problem(check(copy))


def exchange(one: Path, two: Path) -> None:
    """Let two files, or folders, change places."""
    between = one.with_name("between")
    one.rename(between)
    two.rename(one)
    between.rename(two)


def test_a_chain_that_is_signed_with_another_key_is_found(copy: Path) -> None:
    """A forger's key is none that the archive's own events name, nor the one that was given."""
    alter_hands(days(copy)[1])
    resign(copy, FORGER)
    assert "signature" in the_problem(check(copy))
    assert "signature" in the_problem(check(copy, [KEY]))
    # Who takes the forger's key for the log's still sees that it has not signed the log, and that the ledger
    # recorded other manifests.
    problem = the_problem(check(copy, [FORGER.verifier]))
    assert f"{days(copy)[1].name}/{SEALED}" in problem
    assert "its manifest was" in problem


def alter_hands(folder: Path) -> None:
    """Write a day's hands anew, with another amount in the first."""
    table = pq.read_table(folder / ROUNDS).to_pylist()
    table[0]["game_win"] += 1
    schema = pq.read_schema(folder / ROUNDS)
    pq.write_table(pa.Table.from_pylist(table, schema), folder / ROUNDS)


def alter_events(folder: Path) -> None:
    """Write a day's events anew, with another card in one."""
    table = pq.read_table(folder / EVENTS).to_pylist()
    place = next(number for number, row in enumerate(table) if row["type"] == "DealerQualified")
    event = orjson.loads(table[place]["data"])
    event["data"]["cards"].reverse()
    table[place]["data"] = orjson.dumps(event, option=orjson.OPT_SORT_KEYS)
    pq.write_table(pa.Table.from_pylist(table, pq.read_schema(folder / EVENTS)), folder / EVENTS)


def spoil_an_export(folder: Path) -> None:
    """Write a day's events anew, with nothing in the one that tells of an export."""
    table = pq.read_table(folder / EVENTS).to_pylist()
    place = next(number for number, row in enumerate(table) if row["type"] == "ArchiveExported")
    event = orjson.loads(table[place]["data"]) | {"data": []}
    table[place]["data"] = orjson.dumps(event, option=orjson.OPT_SORT_KEYS)
    pq.write_table(pa.Table.from_pylist(table, pq.read_schema(folder / EVENTS)), folder / EVENTS)


def put_a_picture(folder: Path) -> None:
    """Put something else where the hands are."""
    (folder / ROUNDS).write_bytes(b"GIF89a")


@pytest.mark.parametrize(
    ("alter", "day", "said"),
    [
        (alter_hands, 1, "its manifest was"),
        (alter_events, 1, "do not have the root"),
        (alter_events, 3, "do not have the root"),
        (spoil_an_export, 1, "not one of its kind"),
        (put_a_picture, 1, f"{ROUNDS} is no Parquet file"),
    ],
)
def test_what_is_signed_again_with_the_real_key_is_found(
    copy: Path, alter: Callable[[Path], None], day: int, said: str
) -> None:
    """Who has the key can sign a false manifest; the sealed events, and later ones, still say otherwise."""
    alter(days(copy)[day])
    resign(copy, OwnSeal(MemoryLedger()).signer)
    problem = the_problem(check(copy, [KEY]))
    assert said in problem
    assert days(copy)[day].name in problem


def test_the_last_days_hands_signed_again_need_who_knew_the_manifest(copy: Path) -> None:
    """No later event tells of the last day: its signature that was kept elsewhere does."""
    saved = known_from((days(copy)[3] / SIGNATURE).read_bytes())
    alter_hands(days(copy)[3])
    resign(copy, OwnSeal(MemoryLedger()).signer)
    assert not check(copy, [KEY]).problems
    assert f"its manifest was {saved.sha256}" in the_problem(check(copy, [KEY], [saved]))


def test_what_is_no_archive_is_said_to_be_none(tmp_path: Path) -> None:
    """A folder that is not there, or holds something else, is a problem and no traceback."""
    assert "no archive" in the_problem(check(tmp_path / "nowhere"))
    (tmp_path / "a" / "photographs").mkdir(parents=True)
    assert "photographs" in the_problem(check(tmp_path / "a"))
    for text in (b"", b"text\n\nsignature", b"\xff", OwnSeal(MemoryLedger()).sign("one\ntwo\nthree\n")):
        with pytest.raises(ArchiveError, match="not the signature"):
            known_from(text)


def test_what_the_ledger_knows_is_compared(exported: Path) -> None:
    """An export that the ledger recorded with another hash is named."""
    day = Archive(exported).days[2].manifest
    found = check(exported, known=[Known(3, day.day, "0" * 64)])
    assert f"{day.day}: its manifest was {'0' * 64}" in the_problem(found)

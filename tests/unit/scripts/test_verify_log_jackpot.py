"""`--jackpot DIR`: a jackpot's meter followed through a copied log, from its opening to a file's hits.

The log is that of a golden ledger: jackpots with ceilings and diversions, won, voided, adjusted, transferred,
and parameters changed.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.unit.scripts.evidence_builder import canonical
from tests.unit.scripts.log_builder import LOG_KEY, leaf_of, sealed, write_log
from tests.unit.scripts.test_verify import run
from tests.unit.scripts.test_verify_log import asked
from tests.unit.scripts.verifier import Evidence, verify

GOLDEN = Path(__file__).parents[2] / "golden" / "stage-3"
ESCAPED = re.compile(rb"\\(\\|[0-7]{3})")


def unpacked(name: str) -> list[bytes]:
    """Return the lines of a packed file."""
    return zstandard.ZstdDecompressor().decompress((GOLDEN / name).read_bytes()).split(b"\n")


def unescaped(text: bytes) -> bytes:
    """Undo one layer of escapes."""
    return ESCAPED.sub(lambda found: b"\\" if found[1] == b"\\" else bytes([int(found[1], 8)]), text)


@cache
def entries() -> tuple[bytes, ...]:
    """Return all events of the golden ledger, in order."""
    found, columns = {}, list[str]()
    for line in unpacked("rows.zst"):
        if head := re.match(rb"-- (\w+) \((.*)\)", line):
            columns = head[2].decode().split(", ") if head[1] == b"events" else []
        elif columns and line != rb"\.":
            data = unescaped(unescaped(line.split(b"\t")[columns.index("data")]))
            found[json.loads(data)["position"]] = data
    assert sorted(found) == list(range(1, len(found) + 1))
    return tuple(found[position] for position in sorted(found))


@cache
def files() -> tuple[Evidence, ...]:
    """Return evidence of the golden ledger's rounds at a jackpot; in the last one somebody won it."""
    jackpots = [file for file in map(json.loads, filter(None, unpacked("evidence.zst"))) if "jackpot" in file]
    return tuple(
        sorted(jackpots, key=lambda file: any("JackpotHit" in event.values() for event in file["events"]))
    )


def file_of(log: tuple[bytes, ...] | list[bytes], number: int = -1) -> bytes:
    """Return such a file, with its proof in a log."""
    return canonical(sealed(files()[number], [*map(leaf_of, log)], signers=[LOG_KEY]))


def examined(folder: Path, log: list[bytes] | None = None, number: int = -1) -> Any:
    """Return what the verifier finds in a file and the copy of a log."""
    return verify.examine(file_of(log or entries(), number), asked(jackpot=folder))


def altered(position: int, **fields: Any) -> list[bytes]:
    """Return the log with one event's fields changed, as whoever holds its key might write it."""
    event = json.loads(entries()[position - 1])
    assert all(event["data"].get(name) != value for name, value in fields.items())
    event["data"] |= fields
    return [*entries()[: position - 1], canonical(event), *entries()[position:]]


def first(kind: str, ok: Callable[[dict[str, Any]], bool] = bool, jackpot: str = "") -> int:
    """Return the position of the first event of a type."""
    events = map(json.loads, entries())
    return next(
        int(event["position"])
        for event in events
        if event["type"] == kind and ok(event["data"]) and jackpot in event["data"].get("jackpot_id", "")
    )


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the whole log."""
    folder = tmp_path_factory.mktemp("log")
    write_log(folder, entries())
    return folder


def test_the_log_has_all_that_moves_a_meter() -> None:
    """What is tested here happens in the golden ledger."""
    kinds = {json.loads(entry)["type"] for entry in entries()}
    assert kinds >= {*verify.MOVES, "JackpotParametersScheduled"}
    assert len(files()) > 1


@pytest.mark.parametrize("number", [0, -1])
def test_a_meter_is_proved_from_its_opening_on(copied: Path, number: int) -> None:
    """Every movement of every jackpot follows from the one before it, up to the checkpoint."""
    case = examined(copied, number=number)
    assert (case.verdict(), case.unusable, case.faults["log.jackpot"]) == ("verified", "", [])
    assert case.result("log.jackpot") == "PASS"
    name = files()[number]["jackpot"]["jackpot_id"]
    assert re.fullmatch(f"{name} holds [0-9.]+ after {len(entries())} entries", case.notes["log.jackpot"])


def test_a_log_of_many_generations_is_found_below_its_folder(copied: Path, tmp_path: Path) -> None:
    """The copy may be of the folder with every generation's log; the checkpoint's origin ends in which."""
    shutil.copytree(copied, tmp_path / "1")
    assert examined(tmp_path).result("log.jackpot") == "PASS"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("JackpotOpened", {"reset": 12_345}),
        ("JackpotOpened", {"contribution": "0.5"}),
        ("JackpotHit", {"meter_before": "1"}),
        ("JackpotHit", {"meter_after": "1"}),
        ("JackpotHit", {"order": 77}),
        ("JackpotHit", {"previous_position": 1}),
        ("JackpotHit", {"from_meter": "1"}),
        ("ContributionReversed", {"meter_before": "1"}),
        ("ContributionReversed", {"from_meter": "1"}),
        ("JackpotAdjusted", {"before": "1"}),
        ("JackpotAdjusted", {"amount": "1"}),
        ("JackpotAdjusted", {"after": "1"}),
        ("JackpotTransferred", {"amount": "1"}),
        ("JackpotTransferred", {"overflow": "1"}),
        ("JackpotTransferred", {"to_meter_before": "1"}),
        ("JackpotTransferred", {"to_meter_after": "1"}),
        ("JackpotParametersScheduled", {"reset": 12_345}),
        ("JackpotParametersActivated", {"sha256": "0" * 64}),
        ("JackpotParametersActivated", {"meter_after": "1"}),
        ("SideBetPlaced", {"contribution": "1"}),
    ],
)  # fmt: skip
def test_a_meter_that_does_not_follow_is_refuted(tmp_path: Path, kind: str, fields: dict[str, Any]) -> None:
    """A log that its own key signed, with one figure of a jackpot changed in it, is found at that event."""
    own = {event["position"] for event in files()[-1]["events"]}
    position = first(kind, lambda data: "jackpot_id" in data)
    assert position not in own
    log = altered(position, **fields)
    write_log(tmp_path, log)
    case = examined(tmp_path, log)
    assert [step for step, faults in case.faults.items() if faults] == ["log.jackpot"]
    found = re.match("position ([0-9]+)", case.faults["log.jackpot"][0][0])
    assert found
    assert int(found[1]) >= position


def test_a_bet_left_out_is_refuted(tmp_path: Path) -> None:
    """A log without one contribution has a meter that does not follow."""
    position = first("SideBetPlaced", lambda data: "jackpot_id" in data)
    other = entries()[first("RoundClosed") - 1]
    log = [*entries()[: position - 1], other, *entries()[position:]]
    write_log(tmp_path, log)
    assert examined(tmp_path, log).result("log.jackpot") == "FAIL"


@pytest.mark.parametrize("kind", ["entries", "0"])
def test_a_copy_of_another_log_is_refuted(copied: Path, tmp_path: Path, kind: str) -> None:
    """A byte changed in the copy leads to another root: in an entry or, where there is none, in a hash."""
    shutil.copytree(copied / "tile", tmp_path / "tile")
    if kind == "0":
        (tmp_path / "tile" / "entries" / "000").unlink()
    bundle = tmp_path / "tile" / kind / "000"
    data = bytearray(bundle.read_bytes())
    data[40] ^= 1
    bundle.write_bytes(data)
    case = examined(tmp_path)
    assert case.verdict() in ("refuted", "unusable")
    cut = tmp_path / "tile" / kind / "001"
    cut.write_bytes(cut.read_bytes()[:-7])
    assert examined(tmp_path).verdict() in ("refuted", "unusable")


def test_missing_entries_leave_the_meter_open(copied: Path, tmp_path: Path) -> None:
    """Entries that are not there yet are only hashed; the report says from where on nothing is proved."""
    shutil.copytree(copied / "tile", tmp_path / "tile")
    (tmp_path / "tile" / "entries" / "003").unlink()
    case = examined(tmp_path)
    assert (case.verdict(), case.result("log.jackpot")) == ("verified", "OPEN")
    assert case.notes["log.jackpot"] == "the copy has no entries from position 769 on"
    last = int(files()[0]["events"][-1]["position"])
    (tmp_path / "tile" / "entries" / f"{(last - 1) // 256 + 1:03}").unlink(missing_ok=True)
    (tmp_path / "tile" / "entries" / "003").write_bytes((copied / "tile" / "entries" / "003").read_bytes())
    assert examined(tmp_path, number=0).result("log.jackpot") == "PASS"


def test_a_wider_tile_serves_a_smaller_tree(copied: Path) -> None:
    """A copy made later than the file has longer last tiles: of these the checkpoint covers the beginning."""
    (copied / "tile" / "entries" / "007.p" / "half.tmp").write_bytes(b"what a copy may leave behind")
    log = list(entries()[:-5])
    assert examined(copied, log, number=0).result("log.jackpot") == "PASS"


def test_a_folder_without_a_log_is_said(tmp_path: Path) -> None:
    """It is no fault of the file."""
    case = examined(tmp_path / "absent")
    assert case.verdict() == "unusable"
    assert "log" in case.unusable


def test_the_command_line_takes_the_folder(copied: Path, tmp_path: Path) -> None:
    """`--jackpot DIR` is followed by the step's note."""
    (tmp_path / "hand.json").write_bytes(file_of(entries()))
    done = run(tmp_path, "hand.json", "--jackpot", str(copied))
    assert (done.returncode, done.stderr) == (0, b"")
    assert re.search(rb"PASS  log.jackpot .* \[[a-z-]+ holds [0-9.]+ after [0-9]+ entries\]", done.stdout)

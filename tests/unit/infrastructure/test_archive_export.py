"""Exporting days: what is in the files, that it follows from the events alone, and what is refused."""

from __future__ import annotations

import dataclasses
import errno
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from domain.accounts import account_name
from infrastructure.archive import day as days
from infrastructure.archive import export, parquet, reader
from infrastructure.archive.holdings import Holdings
from infrastructure.archive.layout import CLOSING, CONTEXT, EVENTS, ONWARD, OPENING, ROUNDS
from infrastructure.archive.manifest import ArchiveError, sha256
from infrastructure.archive.reader import Archive, read
from infrastructure.ledger.memory import MemoryLedger
from infrastructure.projections.kinds import Row
from infrastructure.projections.round_records import ROUND_RECORDS, RoundRecords
from infrastructure.projections.source import MemorySource
from infrastructure.projections.trial_balance import TrialBalance
from tests.unit.infrastructure.archives import OwnSeal, archive, contents, cut, lively
from tests.unit.infrastructure.projecting import happened, projected

ENDS = (260, 400, 401, 700)


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a row group have few rows, so that every file has several."""
    for module in (parquet, reader):
        monkeypatch.setattr(module, "ROW_GROUP", 64)


@pytest.fixture(scope="module")
def ledger() -> MemoryLedger:
    """Return a ledger on which everything has happened."""
    return lively()


def test_all_events_come_back_as_they_were_stored(tmp_path: Path, ledger: MemoryLedger) -> None:
    """The parts of an archive have every event once, in order, byte for byte, whatever their size."""
    found = archive(tmp_path / "a", ledger, ENDS)
    stored = [(row.position, row.stream, row.version, row.data) for row in ledger.events]
    for rows in (1, 64, 200, 10**6):
        parts = found.partitions(rows)
        assert [row for part in parts for row in read(part)] == stored
        assert all(part.rows <= max(rows, 64) for part in parts)
    some = found.partitions(64, 261, 410)
    assert [part.first_position for part in some] == [261, 325, 389, 401, 402]


def test_the_same_events_give_the_same_files(
    tmp_path: Path, ledger: MemoryLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However events come from the ledger, and whenever a day is exported, its files are the same bytes."""
    archive(tmp_path / "a", ledger, ENDS)
    monkeypatch.setattr(days, "BATCH_EVENTS", 7)
    archive(tmp_path / "b", ledger, ENDS)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert set(contents(tmp_path / "a")) >= {
        f"2026-10-04/{name}" for name in (EVENTS, ROUNDS, "manifest.sig")
    }


def test_balances_are_the_ledgers_own(tmp_path: Path, ledger: MemoryLedger) -> None:
    """What everybody holds at the end, folded from day to day, is what the ledger's own tables have."""
    found = archive(tmp_path / "a", ledger, ENDS)
    rows = [*found.closing(found.days[-1])]
    wallets = {row.owner: row for row in rows if row.kind == "wallet"}
    on_game = {row.owner: row.balance for row in rows if row.kind == "on_game"}
    assert set(wallets) == set(ledger.wallets)
    for player, held in ledger.wallets.items():
        row = wallets[player]
        assert (row.balance, on_game.get(player, 0)) == (held.balance * 10_000, held.on_game * 10_000)
        assert (row.currency, row.account_class, row.version) == (
            held.currency,
            held.account_class,
            held.version,
        )
    totals: Counter[tuple[str, str]] = Counter()
    named: Counter[tuple[str, str]] = Counter()
    for kind, owner, currency, account_class, balance, _ in rows:
        totals[f"{kind}:{account_class}", currency] += balance
        named[account_name(kind, owner, account_class=account_class, game=owner), currency] += balance  # type: ignore[arg-type]
    assert {key: totals[key] for key in ledger.accounts} == ledger.accounts
    trial_balance = projected(happened(ledger), projections=[TrialBalance]).rows["trial_balance_now"]
    assert named == Counter({(name, currency): balance for name, currency, balance, _ in trial_balance})
    pools = {(row.kind, row.owner): row.balance for row in rows if row.kind.startswith("jackpot")}
    for jackpot_id, jackpot in ledger.jackpots.items():
        state = orjson.loads(jackpot.state)
        assert pools["jackpot", jackpot_id] == jackpot.meter
        assert pools.get(("jackpot_overflow", jackpot_id), 0) == int(state["overflow"])
        assert pools.get(("jackpot_diversion", jackpot_id), 0) == int(state["diverted"])


def test_balances_do_not_depend_on_how_days_are_cut(tmp_path: Path, ledger: MemoryLedger) -> None:
    """A day ends with the same balances and the same open rounds whatever days came before."""
    many = archive(tmp_path / "many", ledger, ENDS)
    for number, end in enumerate(ENDS):
        one = archive(tmp_path / f"one-{number}", ledger, (end,))
        for name in (CLOSING, ONWARD):
            assert (one.days[0].folder / name).read_bytes() == (many.days[number].folder / name).read_bytes()


@pytest.mark.parametrize("moved_max", [1, 2, 5])
def test_players_that_do_not_fit_into_memory_change_nothing(
    tmp_path: Path, ledger: MemoryLedger, monkeypatch: pytest.MonkeyPatch, moved_max: int
) -> None:
    """The balances are the same when the movements of most players were laid down in files meanwhile."""
    archive(tmp_path / "a", ledger, ENDS)
    monkeypatch.setattr(days, "Holdings", lambda accounts: Holdings(accounts, moved_max))
    archive(tmp_path / "b", ledger, ENDS)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_hands_are_those_of_the_projection(tmp_path: Path, ledger: MemoryLedger) -> None:
    """The tables of hands of all days together are the rows of the projection round_records."""
    found = archive(tmp_path / "a", ledger, ENDS)
    names = [column.name for column in ROUND_RECORDS.columns]
    exported = [
        tuple(
            int(row[name]) if name in ("contribution", "diversion", "reversed") else row[name]
            for name in names
        )
        for day in found.days
        for row in pq.read_table(day.folder / ROUNDS).to_pylist()
    ]
    assert sorted(exported, key=by_round) == sorted(
        projected(happened(ledger), projections=[RoundRecords]).rows["round_records"], key=by_round
    )


def by_round(row: Row) -> tuple[Any, ...]:
    """Return what a hand is found by."""
    names = [column.name for column in ROUND_RECORDS.columns]
    return row[names.index("round_id")], row[names.index("seat")]


def test_a_day_has_what_its_rounds_need(tmp_path: Path, ledger: MemoryLedger) -> None:
    """With its context a day has each of its rounds from the first event on, and the rule sets they name."""
    found = archive(tmp_path / "a", ledger, ENDS)
    straddling = 0
    for day in found.days:
        context = found.context(day)
        assert context == sorted(context)
        rows = [
            *context,
            *(row for part in found.partitions() if part.day == day.manifest.day for row in read(part)),
        ]
        published = {
            orjson.loads(data)["data"]["sha256"]
            for _, stream, _, data in rows
            if stream.startswith("ruleset-")
        }
        versions: dict[str, int] = {}
        for _, stream, version, data in rows:
            if stream.startswith("round-"):
                assert version == versions.get(stream, 0) + 1
                versions[stream] = version
                event = orjson.loads(data)
                if event["type"] == "RoundOpened":
                    assert event["data"]["ruleset"]["sha256"] in published
        straddling += sum(stream.startswith("round-") for _, stream, _, _ in context)
    assert straddling > 10


def test_a_day_names_the_one_before(tmp_path: Path, ledger: MemoryLedger) -> None:
    """Manifests are numbered, name the one before by its hash, and begin with what that one ended with."""
    found = archive(tmp_path / "a", ledger, ENDS)
    for before, after in zip(found.days, found.days[1:], strict=False):
        earlier, later = before.manifest, after.manifest
        assert (later.sequence, later.previous) == (earlier.sequence + 1, sha256(before.stored))
        assert later.first_position == earlier.last_position + 1
        assert later.files[OPENING] == earlier.files[CLOSING]
        assert later.files[CONTEXT] == earlier.files[ONWARD]
    first, last = found.days[0].manifest, found.days[-1].manifest
    assert (first.sequence, first.previous, first.first_position) == (1, "", 1)
    times = [orjson.loads(row.data)["recorded_at"] for row in ledger.events]
    assert (first.first_time, first.last_time, last.last_time) == (times[0], times[ENDS[0] - 1], times[-1])
    assert last.last_position == ledger.position


def test_an_interrupted_export_leaves_nothing_and_is_made_again(
    tmp_path: Path, ledger: MemoryLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever an export fails, the days before it stay, and the next one gives what it would have given."""
    archive(tmp_path / "whole", ledger, ENDS)
    target = tmp_path / "a"
    steps = ("write_day", "encode_sealed", "signed_text", "encode", "sync_folder")

    def fail(*_: object) -> Any:
        raise OSError("the disk is full")

    for step in steps:
        with monkeypatch.context() as patch:
            place = export if hasattr(export, step) else export.manifests
            patch.setattr(place, step, fail)
            with pytest.raises(OSError, match="full"):
                archive(target, ledger, ENDS)
        there = [path.name for path in sorted(target.iterdir())]
        assert there in ([], ["2026-10-02"])
    archive(target, ledger, ENDS)
    assert contents(target) == contents(tmp_path / "whole")


@pytest.mark.parametrize("bytes_", [0, 5, 20_000, 60_000])
def test_a_full_disk_leaves_nothing(
    tmp_path: Path, ledger: MemoryLedger, monkeypatch: pytest.MonkeyPatch, bytes_: int
) -> None:
    """Where a file cannot be written on, the error says so, and the folder is as it was before."""
    written = 0
    write = parquet._Hashing.write

    def full(self: parquet._Hashing, data: bytes) -> int:
        nonlocal written
        written += len(data)
        if written > bytes_:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(self, data)

    monkeypatch.setattr(parquet._Hashing, "write", full)
    with pytest.raises(OSError, match="No space left"):
        archive(tmp_path / "a", ledger, ())
    assert not [*(tmp_path / "a").iterdir()]
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(
    parquet.WRITER != "pyarrow 26.0.1", reason=f"{parquet.WRITER} may write other bytes than pyarrow 26.0.1"
)
def test_the_files_of_this_writer_never_change(tmp_path: Path) -> None:
    """Another option of the writer would keep days that were exported from being made again as they were."""
    schema = pa.schema(
        [
            pa.field("position", pa.int64(), nullable=False),
            pa.field("type", pa.string()),
            pa.field("at", pa.timestamp("us", tz="UTC")),
            pa.field("amount", pa.decimal128(28, 4)),
            pa.field("shown", pa.bool_()),
            pa.field("data", pa.binary()),
        ]
    )
    kinds = ("AntePlaced", "Raised", None)
    rows = [
        (n, kinds[n % 3], 10**15 + n * 17, (-1) ** n * n**9, n % 5 == 0, b"%d" % n * (n % 7))
        for n in range(300)
    ]
    written = parquet.write(tmp_path / "file", schema, rows)
    assert pq.read_table(tmp_path / "file").num_rows == written.rows == 300
    assert written.sha256 == "643ebdf9e74241db3720fa2db15af79fe6b94ba98dc5b63bab03070fb7dd727b"


def test_what_a_killed_export_left_is_removed(tmp_path: Path, ledger: MemoryLedger) -> None:
    """A folder that was not finished is no day, and the next export makes the day anew."""
    left = tmp_path / "a" / ".unfinished-2026-10-02"
    left.mkdir(parents=True)
    (left / EVENTS).write_bytes(b"half")
    found = archive(tmp_path / "a", ledger, ENDS)
    assert len(found.days) == len(ENDS) + 1
    assert not left.exists()


def altered(ledger: MemoryLedger, position: int, **data: Any) -> MemoryLedger:
    """Return a ledger in which an event says something else."""
    events = list(ledger.events)
    event = orjson.loads(events[position - 1].data)
    event["data"] |= data
    changed = orjson.dumps(event, option=orjson.OPT_SORT_KEYS)
    events[position - 1] = dataclasses.replace(events[position - 1], data=changed)
    return dataclasses.replace(ledger, events=events)


def first_of(ledger: MemoryLedger, type_: str, after: int = 0) -> int:
    """Return the position of the first event of a type behind a position."""
    return next(row.position for row in ledger.events[after:] if orjson.loads(row.data)["type"] == type_)


@pytest.mark.parametrize(
    ("type_", "data"),
    [
        ("AntePlaced", {"balance_after": 1}),
        ("Deposited", {"amount": 1}),
        ("Settled", {"bets": []}),
        ("AntePlaced", {"seat": "1"}),
        ("JackpotOpened", {"reset": 1.5}),
    ],
)
def test_events_that_contradict_themselves_are_not_exported(
    tmp_path: Path, ledger: MemoryLedger, type_: str, data: dict[str, Any]
) -> None:
    """An event that money or rounds show to be false stops the export, which leaves the days before."""
    changed = altered(ledger, first_of(ledger, type_, 400 if type_ != "JackpotOpened" else 0), **data)
    with pytest.raises(ArchiveError, match=r"position|add up|not of its kind"):
        archive(tmp_path / "a", changed, ENDS, seal=OwnSeal(changed))
    assert not [*(tmp_path / "a").glob(".*")]
    assert len(Archive(tmp_path / "a").days) < len(ENDS)


def test_a_missing_event_is_named(tmp_path: Path, ledger: MemoryLedger) -> None:
    """Where a position has no event, the export stops there."""
    hole = dataclasses.replace(ledger, events=[row for row in ledger.events if row.position != 300])
    with pytest.raises(ArchiveError, match="position 300"):
        archive(tmp_path / "a", hole, ENDS, seal=OwnSeal(ledger))
    short = dataclasses.replace(ledger, position=500, events=ledger.events[:500])
    found = archive(tmp_path / "b", ledger, (400,), only=1)
    with pytest.raises(ArchiveError, match="position 501: the event is missing"):
        export.export_day(found, cut(ledger, (400,))[1], MemorySource(short), OwnSeal(ledger))


def test_a_day_has_to_follow(tmp_path: Path, ledger: MemoryLedger) -> None:
    """A day that does not begin where the archive ends is refused, and nothing is written."""
    found = archive(tmp_path / "a", ledger, (400,), only=1)
    for due in cut(ledger, (401,)):
        with pytest.raises(ArchiveError, match="goes on at 401"):
            export.export_day(found, due, MemorySource(ledger), OwnSeal(ledger))
    assert [path.name for path in found.path.iterdir()] == ["2026-10-02"]


def test_what_the_log_has_not_sealed_is_not_exported(tmp_path: Path, ledger: MemoryLedger) -> None:
    """Events that make sense and are not those that were signed are not exported."""
    position = first_of(ledger, "AntePlaced")
    changed = altered(ledger, position, session_id="another")
    with pytest.raises(ArchiveError, match="not those that were sealed"):
        archive(tmp_path / "a", changed, ENDS, seal=OwnSeal(ledger))
    assert not [*(tmp_path / "a").iterdir()]


def test_a_day_that_is_exported_again_has_to_come_out_the_same(tmp_path: Path, ledger: MemoryLedger) -> None:
    """Where the ledger recorded another manifest of the day, the export is refused."""
    whole = archive(tmp_path / "a", ledger, ENDS)
    again = export.open_archive(tmp_path / "b")
    first, second = cut(ledger, ENDS)[:2]
    known = sha256(whole.days[0].stored)
    export.export_day(again, first, MemorySource(ledger), OwnSeal(ledger), known=known)
    with pytest.raises(ArchiveError, match="recorded"):
        export.export_day(again, second, MemorySource(ledger), OwnSeal(ledger), known=known)
    assert [day.manifest.day for day in Archive(tmp_path / "b").days] == [first.day]


def test_a_damaged_day_is_not_gone_on_from(tmp_path: Path, ledger: MemoryLedger) -> None:
    """Balances that are not those the last day ended with are not carried on."""
    found = archive(tmp_path / "a", ledger, (400,), only=1)
    path = found.days[0].folder / CLOSING
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(ArchiveError, match="not the file that was exported"):
        archive(tmp_path / "a", ledger, (400,))

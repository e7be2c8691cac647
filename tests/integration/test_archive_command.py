"""`scripts/archive`: finished days of a ledger become files, are recorded, and are found whole or not."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from api.cli import archive
from domain import commands as c
from infrastructure import log_keys
from infrastructure.archive import due, run
from infrastructure.archive.due import LedgerDays, NotDueError
from infrastructure.archive.layout import MANIFEST
from infrastructure.archive.manifest import ArchiveError, sha256
from infrastructure.archive.reader import Archive, read
from tests.integration.archived_ledger import (
    BEGIN_US,
    DAY_US,
    ORIGIN,
    SCHEMA,
    TODAY,
    Ledger,
    begun,
    ending,
    opening,
    play,
)

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def played(database: str, tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """Return a ledger of four days and this one."""
    ledger = begun(database, tmp_path_factory.mktemp("ledger"))
    play(ledger)
    return ledger


@pytest.fixture
def ledger(played: Ledger, postgres: str, tmp_path: Path) -> Iterator[Ledger]:
    """Yield a copy of the ledger, to be changed."""
    name = f"archived_{next(_numbers)}"
    source = dict(
        part.split("=", 1) for part in psycopg.conninfo.make_conninfo(played.admin).split() if "=" in part
    )
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {source['dbname']}")
    home = Path(shutil.copytree(played.home, tmp_path / "home"))
    yield Ledger(make_conninfo(played.admin, dbname=name), make_conninfo(played.app, dbname=name), home)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def days_ago(*days: int) -> list[str]:
    """Return days before today."""
    return [(TODAY - timedelta(days=each)).isoformat() for each in days]


def test_finished_days_are_exported_once(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each finished day that has events becomes a folder, in order, and is recorded; today does not."""
    target = tmp_path / "archive"
    assert ledger.command("--to", str(target)) == 0
    printed = capsys.readouterr().out
    assert f"{TODAY} is exported after" in printed
    assert "3 days exported" in printed
    found = Archive(target)
    assert [day.manifest.day for day in found.days] == days_ago(4, 3, 2)
    assert ledger.recorded() == [
        {
            "sequence": number,
            "day": day.manifest.day,
            "first_position": day.manifest.first_position,
            "last_position": day.manifest.last_position,
            "manifest_sha256": sha256(day.stored),
        }
        for number, day in enumerate(found.days, 1)
    ]
    stored = ledger.rows("SELECT position, stream, version, data FROM ledger.events ORDER BY position")
    rows = [row for part in found.partitions() for row in read(part)]
    assert rows == stored[: len(rows)]
    assert not [*target.glob(".*")]
    assert ledger.command("--to", str(target)) == 0
    assert "0 days exported" in capsys.readouterr().out
    assert ledger.command("--verify", str(target)) == 0
    assert len(ledger.recorded()) == 3


def test_a_round_over_midnight_is_in_both_days(ledger: Ledger, tmp_path: Path) -> None:
    """A day that begins while a round is open has that round's earlier events in its context."""
    assert ledger.command("--to", str(tmp_path / "archive")) == 0
    found = Archive(tmp_path / "archive")
    contexts = [{stream for _, stream, _, _ in found.context(day)} for day in found.days]
    assert ["round-over" in streams for streams in contexts] == [False, False, True]
    assert not any("round-first" in streams for streams in contexts)


def test_no_day_after_the_one_that_was_named(ledger: Ledger, tmp_path: Path) -> None:
    """With --day the export ends there, and goes on another time."""
    target = tmp_path / "archive"
    (first, _, last) = days_ago(4, 3, 2)
    assert ledger.command("--to", str(target), "--day", first) == 0
    assert [each["day"] for each in ledger.recorded()] == [first]
    assert ledger.command("--to", str(target), "--day", last) == 0
    assert len(Archive(target).days) == 3


def test_an_export_that_was_not_recorded_is_recorded_later(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is ended between the two leaves a whole day, which the next export has recorded as it is."""
    target = tmp_path / "archive"

    def ended(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(archive, "record", ended)
        assert ledger.command("--to", str(target)) == 1
    assert ledger.recorded() == []
    (day,) = target.iterdir()
    before = (day / MANIFEST).read_bytes()
    capsys.readouterr()
    assert ledger.command("--to", str(target)) == 0
    assert "3 days exported" in capsys.readouterr().out
    assert (day / MANIFEST).read_bytes() == before
    assert ledger.recorded()[0]["manifest_sha256"] == sha256(before)


def test_another_copy_has_the_same_days(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An archive that was lost is made again, byte for byte but for the checkpoint, and recorded once."""
    one, two = tmp_path / "one", tmp_path / "two"
    assert ledger.command("--to", str(one)) == 0
    capsys.readouterr()
    ledger.seal()
    assert ledger.command("--to", str(two)) == 0
    assert capsys.readouterr().out.count("as it was before") == 3
    assert len(ledger.recorded()) == 3
    for path in one.rglob("*.*"):
        if path.is_file() and path.name != "log.json":
            assert path.read_bytes() == (two / path.relative_to(one)).read_bytes()


def test_what_comes_out_otherwise_than_it_was_recorded_is_refused(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of another software, or of other events, do not take the place of those that were exported."""
    assert ledger.command("--to", str(tmp_path / "one")) == 0
    monkeypatch.setattr("infrastructure.archive.parquet.WRITER", "pyarrow 0")
    assert ledger.command("--to", str(tmp_path / "two")) == 1
    assert "the ledger recorded" in capsys.readouterr().err
    assert [*(tmp_path / "two").iterdir()] == []


def test_a_round_that_is_open_holds_its_day_back(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A day is exported when every round with an event in it has ended, and the days before it at once."""
    ledger.do(BEGIN_US + 4 * DAY_US + 2_000, opening("stuck"))
    ledger.seal()
    with psycopg.connect(ledger.app, autocommit=True) as connection:
        days = LedgerDays(connection, SCHEMA)
        after = BEGIN_US + 5 * DAY_US + due.GRACE_US
        (last,) = [
            row[0]
            for row in ledger.rows("SELECT max(position) FROM ledger.events WHERE stream = 'wallet-pANNA'")
        ]
        with pytest.raises(NotDueError, match="waits for round stuck"):
            days.next(last, days_ago(2)[0], after)
        with pytest.raises(NotDueError, match="is exported after"):
            days.next(last, days_ago(2)[0], after - 1)
        ledger.do(BEGIN_US + 5 * DAY_US + 1_000, *ending("stuck"))
        found = days.next(last, days_ago(2)[0], after)
        assert found is not None
        ((opened,),) = ledger.rows(
            "SELECT max(position) FROM ledger.events WHERE stream = 'round-stuck' AND version < 9"
        )
        assert (found.day, found.first) == (TODAY.isoformat(), last + 1)
        assert last < found.last < opened + 9
        late = days.next(last, TODAY.isoformat(), after + 2 * DAY_US)
        assert late is not None
        assert late.day == (TODAY + timedelta(days=1)).isoformat()
        assert days.next(10**6, "", after) is None
    assert ledger.command("--to", str(tmp_path / "archive")) == 0
    assert "3 days exported" in capsys.readouterr().out


def test_what_is_not_sealed_waits(ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A day of which the log has not sealed every event is exported later."""
    ((size,),) = ledger.rows("SELECT max(position) FROM ledger.events WHERE stream = 'round-second'")
    ledger.seal(size)
    assert ledger.command("--to", str(tmp_path / "archive")) == 0
    printed = capsys.readouterr().out
    assert "waits until the evidence log has sealed position" in printed
    assert "1 day exported" in printed
    shutil.rmtree(ledger.home / "log")
    assert ledger.command("--to", str(tmp_path / "other")) == 0
    assert "0 days exported" in capsys.readouterr().out


def test_events_that_were_not_sealed_are_not_exported(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An edited event that still makes sense is seen by the log's root, and its day is not exported."""
    guards = {"events": ["never_change"], "events_1": ["never_change", "rows_never_change"]}
    with psycopg.connect(ledger.admin, autocommit=True) as connection:
        for table in guards:
            connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER ALL")
        connection.execute(
            "UPDATE ledger.events SET data = convert_to(replace(convert_from(data, 'UTF8'),"
            " '\"actor\":\"ledger\"', '\"actor\":\"legend\"'), 'UTF8') WHERE stream = 'round-second'"
        )
        for table, names in guards.items():
            for name in names:
                connection.execute(f"ALTER TABLE ledger.{table} ENABLE ALWAYS TRIGGER {table}_{name}")
    assert ledger.command("--to", str(tmp_path / "archive")) == 1
    assert "not those that the evidence log has sealed" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "archive").iterdir()] == days_ago(4)


def test_one_exports_at_a_time(ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While somebody exports, another is told so; when that one has gone, the next one may."""
    with psycopg.connect(ledger.app, autocommit=True) as connection, run._alone(connection, SCHEMA):
        assert ledger.command("--to", str(tmp_path / "archive")) == 1
        assert "already" in capsys.readouterr().err
    assert ledger.command("--to", str(tmp_path / "archive")) == 0


def test_detached_events_have_to_be_attached(ledger: Ledger) -> None:
    """Days that were not exported before their events were detached cannot be exported without them."""
    with psycopg.connect(ledger.admin, autocommit=True) as connection:
        connection.execute("INSERT INTO ledger.horizon VALUES (1, 40, 'events_0', 1, '\\x00')")
        days = LedgerDays(connection, SCHEMA)
        with pytest.raises(ArchiveError, match="scripts/partitions --attach"):
            days.next(23, days_ago(4)[0], BEGIN_US + 9 * DAY_US)
        with pytest.raises(ArchiveError, match="scripts/partitions --attach"):
            days.require_events(40)
        days.require_events(41)


def test_the_archive_of_another_ledger_is_not_gone_on_with(
    ledger: Ledger, played: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An archive that goes further than the ledger's records, or has another manifest, is refused."""
    target = tmp_path / "archive"
    assert ledger.command("--to", str(target)) == 0
    capsys.readouterr()
    behind = Ledger(played.admin, played.app, ledger.home)
    assert behind.command("--to", str(target)) == 1
    assert "another ledger's, or the ledger was restored" in capsys.readouterr().err
    shutil.rmtree(target / days_ago(2)[0])
    shutil.rmtree(target / days_ago(3)[0])
    manifest = target / days_ago(4)[0] / MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(b'"writer":"pyarrow', b'"writer":"pyArrow'))
    assert ledger.command("--to", str(target)) == 1
    assert "not the one that the ledger recorded" in capsys.readouterr().err


def test_a_halted_log_stops_exports(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While the ledger is not what its log signed, nothing is exported."""
    ledger.do(BEGIN_US + 4 * DAY_US + 5_000, c.HaltLog(1, "behind", 3, 9, "r" * 43 + "="))
    assert ledger.command("--to", str(tmp_path / "archive")) == 1
    assert "halted" in capsys.readouterr().err


def test_the_ledger_knows_when_the_last_day_was_taken_away(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--verify asks the ledger which day was exported last, and tells programs what it found."""
    target = tmp_path / "archive"
    assert ledger.command("--to", str(target)) == 0
    last = target / days_ago(2)[0]
    shutil.copy(last / "manifest.sig", tmp_path / "saved.sig")
    shutil.rmtree(last)
    capsys.readouterr()
    assert ledger.command("--verify", str(target), "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["problems"] == [f"export number 3, of {last.name}, is missing"]
    assert found["days"] == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DATABASE_URL", raising=False)
        patch.setattr(archive, "stop_on_signals", lambda: None)
        signer = log_keys.load_or_create(ledger.keys, ORIGIN)
        assert archive.main(["--verify", str(target)]) == 0
        assert "signed by" in capsys.readouterr().out
        assert archive.main(["--verify", str(target), "--key", signer.verifier.vkey]) == 0
        assert "signed by" not in capsys.readouterr().out
        assert archive.main(["--verify", str(target), "--saved", str(tmp_path / "saved.sig")]) == 1
        assert (
            archive.main(["--verify", str(target), "--saved", str(target / days_ago(4)[0] / MANIFEST)]) == 2
        )
        assert archive.main(["--verify", str(tmp_path / "nothing")]) == 1
        (tmp_path / "emptied").mkdir()
        assert archive.main(["--verify", str(tmp_path / "emptied")]) == 1


def test_a_folder_in_the_data_directory_is_refused(
    ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    """An archive is not kept where it is lost with the ledger."""
    assert ledger.command("--to", str(ledger.home / "data" / "archive")) == 1
    assert "lost together" in capsys.readouterr().err


def test_a_ledger_that_takes_no_record_leaves_the_day_to_the_next_export(
    ledger: Ledger, tmp_path: Path
) -> None:
    """What the ledger refuses to record is told, and nothing is exported behind it."""
    assert ledger.command("--to", str(tmp_path / "archive"), "--day", days_ago(4)[0]) == 0
    command = c.RecordArchive(1, days_ago(4)[0], 1, 2, "0" * 64)
    with pytest.raises(ArchiveError, match="does not record it: What is exported next has the number 2"):
        archive.record(command, ledger.app, ledger.keys)

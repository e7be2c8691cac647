"""The drill: a ledger is backed up while it is played on, its directory is lost, and all answers are back.

The commands run as a person runs them. One ledger is played, backed up and lost for the whole file; what can
be made of its backup is tested on copies.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import orjson
import psycopg
import pytest
import structlog

from api.cli import backup
from domain import commands as c
from domain.money import EXACT
from infrastructure import bootstrap
from infrastructure.clock import system_clock
from infrastructure.jobs import Jobs
from infrastructure.keys import Keys, load_passwords
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import Result, Submission, command_id, fingerprint
from infrastructure.ledger.writer import Writer
from infrastructure.postgres import EmbeddedPostgres, archive
from infrastructure.seals import Seals
from tests.golden import players

ROOT = Path(__file__).parents[2]
PLAYED_MIN = 15
"""Rounds that are played in each part of the drill, at least."""


def run(command: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one of the project's commands, as its launcher does."""
    return subprocess.run(
        [sys.executable, "-P", "-m", f"api.cli.{command}", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        cwd="/",
        env=os.environ | {"PYTHONPATH": str(ROOT), "DATABASE_URL": ""},
        timeout=120,
    )


class Table:
    """A player who plays all the time in a thread of its own, and keeps what was answered."""

    def __init__(self, dsn: str, keys: Path) -> None:
        found = Keys.load_or_create(keys, ledger_is_empty=True)
        self.writer = Writer(PostgresStore(dsn, "ledger"), Seals(found.deck), system_clock, "drill")
        self.player = Remembering(self.writer, players.Clock(), Random(3))
        documents = {document["id"]: document for document in bootstrap.shipped_documents()}
        self.writer.start()
        self.player.do(c.StartLedger(demo=True))
        self.house = players.house_of(self.player, documents["us-casino"])
        players.furnish(self.player, self.house)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def _play(self) -> None:
        while not self._stop.is_set():
            players.usual_rounds(self.player, self.house)

    def wait(self) -> None:
        """Wait until some rounds more were played."""
        enough = len(self.player.answered) + 4 * PLAYED_MIN
        while len(self.player.answered) < enough:
            time.sleep(0.01)

    def stop(self) -> None:
        """End between two rounds; one is left open."""
        self._stop.set()
        self._thread.join()
        players.open_round(self.player, self.house, 2)
        self.writer.stop()


@dataclass
class Remembering(players.Player):
    """Keeps each answer in the order in which it came."""

    answered: list[tuple[int, c.Command, bytes]] = field(default_factory=list)

    def ask(self, command: c.Command, person: str | None = None) -> dict[str, object]:
        """Ask under a key of its own, and remember the answer."""
        assert person is None
        number = len(self.answered) + 1
        result = self.writer.call(submission(number, command))
        self.answered.append((number, command, result.body))
        answer: dict[str, object] = orjson.loads(result.body)
        return answer


def submission(number: int, command: c.Command) -> Submission:
    """Return a numbered command of the drill."""
    key = f"drill-{number}"
    asked = fingerprint("DRILL", type(command).__name__, key.encode())
    return Submission(command_id("drill", key), asked, command, "drill")


@dataclass(frozen=True)
class Drill:
    """What is left of the lost ledger.

    `certain`: how many answers had been given when the log was last copied for sure; `middle`: a time, and
    between which positions the ledger was then.
    """

    folder: Path
    backup: Path
    keys: Path
    certain: int
    answered: list[tuple[int, c.Command, bytes]]
    middle: tuple[datetime, int, int]
    said: str


def head(connection: psycopg.Connection) -> int:
    """Return the ledger's last position."""
    return int((connection.execute("SELECT position FROM ledger.head").fetchone() or (0,))[0])


@pytest.fixture(scope="module")
def drill() -> Iterator[Drill]:
    """Play, back up while playing, play on, and lose the directory."""
    folder = Path(tempfile.mkdtemp(prefix="stud-ledger-drill-"))
    folder.chmod(0o711)
    lost, kept, keys = folder / "lost", folder / "backup", folder / "keys"
    lost.mkdir(mode=0o711)
    with EmbeddedPostgres(lost / "postgres") as server:
        table = Table(bootstrap.prepare(server.dsn, passwords=load_passwords(keys)).app, keys)
        done = run("backup", "--data-dir", lost, "--keys", keys, "--to", kept)
        assert done.returncode == 0, done.stderr
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            table.wait()
            before = head(connection)
            middle = datetime.now(UTC)
            after = head(connection)
            table.wait()
            certain = len(table.player.answered)
            archive.flush(connection, kept)
            table.wait()
        table.stop()
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
    shutil.rmtree(lost)
    yield Drill(folder, kept, keys, certain, table.player.answered, (middle, before, after), done.stdout)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def restored(drill: Drill) -> Path:
    """Return the data directory that was made of the backup, with the keys put in their place."""
    place = drill.folder / "restored"
    done = run("restore", "--from", drill.backup, "--data-dir", place)
    assert done.returncode == 0, done.stderr
    assert f"put the ledger's keys into {place / 'keys'} before you start it" in done.stdout
    assert f"put its newest copy into {place / 'log'} before the first start" in done.stdout
    shutil.copytree(drill.keys, place / "keys", dirs_exist_ok=True)
    return place


def test_everything_answered_is_back(drill: Drill, restored: Path) -> None:
    """What was answered before the log was last copied is there, word for word, and balances (G1, G11)."""
    with EmbeddedPostgres(restored / "postgres") as server:
        dsn = bootstrap.prepare(server.dsn, passwords=load_passwords(restored / "keys")).app
        bootstrap.check(dsn)
        keys = Keys.load_or_create(restored / "keys", ledger_is_empty=False)
        writer = Writer(PostgresStore(dsn, "ledger"), Seals(keys.deck), system_clock, "drill")
        writer.start()
        try:
            assert drill.certain > 2 * 4 * PLAYED_MIN
            for number, command, body in drill.answered[: drill.certain]:
                result = writer.call(submission(number, command))
                assert result.replayed
                assert result.body == body
            with psycopg.connect(server.dsn) as connection:
                assert books(connection) == {"USD": 0}
                for (round_id,) in connection.execute("SELECT round_id FROM ledger.open_rounds").fetchall():
                    void = c.VoidRound(round_id, "malfunction")  # its sealed seed opens with the keys
                    assert writer.call(submission(10**6, void)).outcome == 0
        finally:
            writer.stop()


def books(connection: psycopg.Connection) -> dict[str, int]:
    """Return what all accounts of each currency sum to, in 1/10000 minor units."""
    sums: Counter[str] = Counter()
    for currency, amount in connection.execute("SELECT currency, balance + on_game FROM ledger.wallets"):
        sums[currency] += amount * EXACT
    for currency, amount in connection.execute("SELECT currency, balance FROM ledger.accounts"):
        sums[currency] += int(amount)
    for state, meter in connection.execute("SELECT state, meter FROM ledger.jackpots"):
        sums[orjson.loads(state)["currency"]] += int(meter)
    return dict(sums)


def test_the_restored_ledger_passes_the_whole_check(restored: Path) -> None:
    """Read again from its first event, the restored ledger is what its tables say."""
    done = run("check", "--data-dir", restored)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_can_be_restored_to_a_time_with_its_keys(drill: Drill, capsys: pytest.CaptureFixture[str]) -> None:
    """With a time the ledger ends where it was then; keys that were backed up with it come along."""
    folder, place = drill.folder / "with-keys", drill.folder / "earlier"
    shutil.copytree(drill.backup, folder, copy_function=os.link)
    backup.keep_keys(drill.keys, folder, wanted=True)
    assert "whoever reads them can open sealed seeds" in capsys.readouterr().out
    middle, before, after = drill.middle
    done = run("restore", "--from", folder, "--data-dir", place, "--until", middle.isoformat())
    assert done.returncode == 0, done.stderr
    position = int(done.stdout.split("ends at position ")[1].split(",")[0])
    assert before <= position <= after + 20  # a batch that was under way then
    for key in drill.keys.iterdir():
        for copy in (folder / "keys" / key.name, place / "keys" / key.name):
            assert copy.read_bytes() == key.read_bytes()
            assert stat.S_IMODE(copy.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("until", "complaint"),
    [
        ("2020-01-01T00:00:00Z", "a later time is needed"),
        ("2120-01-01T00:00:00Z", "the backup does not lead to 2120"),
    ],
)
def test_a_time_out_of_reach_is_refused(drill: Drill, until: str, complaint: str) -> None:
    """A time before the first base, or after the last copied change, makes no ledger."""
    place = drill.folder / until[:4]
    done = run("restore", "--from", drill.backup, "--data-dir", place, "--until", until)
    assert done.returncode == 1
    assert complaint in done.stderr
    assert not (place / "postgres").exists()


def test_no_key_is_in_the_backup(drill: Drill) -> None:
    """Neither a key nor a password that opens anything is in the folder, and the command says so."""
    assert "the keys are NOT in the backup" in drill.said
    names = {path.name for path in drill.backup.rglob("*")}
    assert names.isdisjoint({"keys", "pgpass", *(key.name for key in drill.keys.iterdir())})
    mode = stat.S_IMODE(drill.backup.stat().st_mode)
    assert not mode & stat.S_IRWXO
    for path in (*drill.backup.glob("base-*"), drill.backup / "wal"):
        assert not stat.S_IMODE(path.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO), path


def test_a_damaged_base_is_refused(drill: Drill) -> None:
    """A base backup in which a byte has changed is not restored."""
    copy = drill.folder / "damaged"
    shutil.copytree(drill.backup, copy, copy_function=os.link)
    victim = next(copy.glob("base-*/base/*/1259"))
    data = bytearray(victim.read_bytes())
    data[5000] ^= 1
    victim.unlink()
    victim.write_bytes(data)
    done = run("restore", "--from", copy, "--data-dir", drill.folder / "of-damaged")
    assert done.returncode == 1
    assert "pg_verifybackup failed" in done.stderr
    assert not (drill.folder / "of-damaged" / "postgres").exists()


def test_an_unfinished_base_is_not_used(drill: Drill) -> None:
    """A base whose copying was interrupted has no description, and does not count."""
    copy = drill.folder / "unfinished"
    shutil.copytree(drill.backup, copy, copy_function=os.link)
    next(copy.glob("base-*.json")).unlink()
    done = run("restore", "--from", copy, "--data-dir", drill.folder / "of-unfinished")
    assert (done.returncode, "there is no whole base backup" in done.stderr) == (1, True)


def test_nothing_is_restored_over_a_ledger(drill: Drill, restored: Path) -> None:
    """A data directory that has a database is left as it is."""
    done = run("restore", "--from", drill.backup, "--data-dir", restored)
    assert done.returncode == 1
    assert "restore into another --data-dir" in done.stderr


def test_a_copy_does_not_write_into_the_backup_it_was_made_of(restored: Path) -> None:
    """A restored ledger's log is copied nowhere; where copying was begun it is ended with --stop."""
    conf = restored / "postgres" / "archive.conf"
    assert conf.read_text() == ""
    conf.write_text("archive_command = 'false'\n")
    with EmbeddedPostgres(restored / "postgres") as server:
        dsn = bootstrap.prepare(server.dsn, passwords=load_passwords(restored / "keys")).app
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            assert what_jobs_log(dsn) == []
            connection.execute("SELECT pg_create_restore_point('x'), pg_switch_wal()")
            deadline = time.monotonic() + 30
            while connection.execute("SELECT failed_count FROM pg_stat_archiver").fetchone() == (0,):
                assert time.monotonic() < deadline
                time.sleep(0.02)
            assert what_jobs_log(dsn) == ["backup_log_not_copied"]
        done = run("backup", "--data-dir", restored, "--stop")
    assert done.returncode == 0, done.stderr
    assert conf.read_text() == ""


def what_jobs_log(dsn: str) -> list[str]:
    """Return what a turn of the service's jobs has to say."""

    def no_work(_: Submission) -> Future[Result]:
        raise AssertionError

    with psycopg.connect(dsn, autocommit=True) as connection, structlog.testing.capture_logs() as logs:
        Jobs(dsn, "ledger", no_work, lambda: 0).turn(connection)
    return [entry["event"] for entry in logs]


def test_old_bases_go_with_the_log_that_only_they_need(tmp_path: Path) -> None:
    """With --keep the newest bases stay, and every file of the log from the oldest of them on."""
    (tmp_path / "wal").mkdir()
    for number, name in enumerate(("base-1", "base-2", "base-3"), 1):
        (tmp_path / name).mkdir()
        label = f"START WAL LOCATION: 0/{number}0 (file 0000000100000000000000{number}0)\n"
        (tmp_path / name / "backup_label").write_text(label)
        facts = {"finished_at": f"2026-11-0{number}T00:00:00+00:00", "major": 18, "system": "7"}
        (tmp_path / f"{name}.json").write_text(json.dumps(facts))
    log = [
        f"0000000{line}0000000000000{place}"
        for line, place in ((1, "00F"), (1, "01F"), (2, "020"), (1, "030"))
    ]
    for name in (*log, "00000002.history", f"{log[0]}.00000028.backup"):
        (tmp_path / "wal" / f"{name}.gz").touch()
    assert [base.path.name for base in archive.prune(tmp_path, 2)] == ["base-1"]
    assert [base.path.name for base in archive.bases(tmp_path)] == ["base-2", "base-3"]
    assert not (tmp_path / "base-1").exists()
    left = {path.name.removesuffix(".gz") for path in (tmp_path / "wal").iterdir()}
    assert left == {log[2], log[3], "00000002.history"}
    assert archive.prune(tmp_path, 2) == []


def test_a_backup_goes_where_it_makes_sense(
    drill: Drill, restored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not into the data directory, not into another ledger's backup, and not for somebody else's server."""
    other = drill.folder / "other"
    other.mkdir()
    told = next(drill.backup.glob("base-*.json"))
    (other / told.name).write_text(told.read_text().replace('"system": "', '"system": "9'))

    def complaint(directory: Path, to: Path) -> str:
        assert backup.main(["--data-dir", str(directory), "--to", str(to)]) == 1
        return capsys.readouterr().err

    assert "lie in one another" in complaint(restored, restored / "backup")
    assert "has the backup of another database" in complaint(restored, other)
    assert "there is no ledger in" in complaint(drill.folder / "nowhere", drill.folder / "x")
    monkeypatch.setenv("DATABASE_URL", "postgresql:///")
    assert "use its server's own tools" in complaint(restored, drill.folder / "x")
    with pytest.raises(SystemExit):
        backup.main(["--data-dir", str(restored)])

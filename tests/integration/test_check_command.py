"""`scripts/check`: a ledger is as its events say, and whatever is not is found where it begins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from api.cli import data_directory
from infrastructure.bootstrap import prepare
from infrastructure.checking import full
from infrastructure.keys import load_passwords
from infrastructure.postgres import DirectoryLock, EmbeddedPostgres
from tests.integration import checked_ledger as ledger
from tests.integration.checked_ledger import SCHEMA, head, last_of
from tests.integration.tampering import TAMPERINGS, Tamper

ROOT = Path(__file__).parents[2]
SECONDS_MAX = 120


@pytest.fixture(scope="module")
def filled(database: str) -> str:
    """Return the superuser's connection string of a ledger on which everything has happened once."""
    ledger.fill(database)
    return database


@pytest.fixture
def open_to_all(filled: str) -> Iterator[psycopg.Connection]:
    """Yield a superuser's connection to it; whatever is done with that is undone afterwards."""
    with psycopg.connect(filled, autocommit=True) as connection, ledger.undone(connection):
        yield connection


def check(dsn: str) -> full.Report:
    """Check a ledger in this process."""
    return full.check(lambda: psycopg.connect(dsn, autocommit=True), SCHEMA, lambda *_: None)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    known = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.run(
        [sys.executable, "-m", "api.cli.check", *arguments],
        cwd=ROOT,
        env=known | environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )


def told(done: subprocess.CompletedProcess[str]) -> Any:
    """Return the report that a command printed as JSON."""
    return json.loads(done.stdout)


# ── The command ─────────────────────────────────────────────────────────────────────────────────────────────
def test_a_ledger_that_nobody_tampered_with_is_clean(filled: str) -> None:
    """Everything that happens on a ledger follows from its events, and the check comes to its head."""
    seen: list[tuple[int, int]] = []
    report = full.check(
        lambda: psycopg.connect(filled, autocommit=True), SCHEMA, lambda *how_far: seen.append(how_far)
    )
    assert report.findings == []
    with psycopg.connect(filled) as connection:
        assert seen[-1] == (head(connection), head(connection)) == (report.position, report.position)


@pytest.mark.parametrize("join", ["hashjoin", "mergejoin", "nestloop"])
def test_a_clean_ledger_is_clean_however_the_database_joins(filled: str, join: str) -> None:
    """Rows come in the order of the planner's choice, which changes as tables grow: nothing rests on it."""
    others = {"hashjoin", "mergejoin", "nestloop"} - {join}
    options = " ".join(f"-c enable_{other}=off" for other in sorted(others))
    report = full.check(
        lambda: psycopg.connect(filled, autocommit=True, options=options), SCHEMA, lambda *_: None
    )
    assert report.findings == []


def test_a_ledger_is_checked_whether_its_server_runs_or_not(server_home: Path) -> None:
    """The server of a service that runs is asked, a stopped one started; what differs is named, status 1."""
    directory = data_directory.choose(server_home.parent / "data")
    data_directory.make(directory)
    options = ("--data-dir", str(directory.path))
    with DirectoryLock(directory.path), EmbeddedPostgres(directory.postgres) as server:
        prepare(server.dsn, passwords=load_passwords(directory.keys))
        ledger.fill_a_little(server.dsn, load_passwords(directory.keys))
        running = run(*options, "--json")
        assert (running.returncode, told(running)["discrepancies"]) == (0, 0), running.stderr
    stopped = run(*options)
    assert stopped.returncode == 0, stopped.stderr
    assert "everything is as the events say" in stopped.stdout
    assert f"{told(running)['position']} of {told(running)['position']} events" in stopped.stderr
    with EmbeddedPostgres(directory.postgres) as server, psycopg.connect(server.dsn) as connection:
        connection.execute("UPDATE ledger.wallets SET balance = balance + 1 WHERE player = 'pANNA'")
        position = last_of(connection, "wallet-pANNA")
    tampered = run(*options, "--json")
    assert tampered.returncode == 1
    assert told(tampered)["first_position"] == position
    assert told(tampered)["findings"][0]["name"] == "wallets"
    shown = run(*options).stdout.splitlines()
    assert (
        shown[0]
        == f"1 discrepancy in {told(running)['position']} events; the first is at position {position}"
    )


def test_a_database_elsewhere_is_checked_by_its_address(
    filled: str, open_to_all: psycopg.Connection, tmp_path: Path
) -> None:
    """With DATABASE_URL there is no server to start; guards that are switched off are told, status 1."""
    url = make_conninfo(filled, user="ledger_auditor", password=ledger.PASSWORDS["auditor"])
    done = run("--data-dir", str(tmp_path), "--json", DATABASE_URL=url)
    assert done.returncode == 1, done.stderr
    (finding,) = told(done)["findings"]
    assert finding["name"] == "unguarded"
    assert open_to_all.closed is False


def test_what_cannot_be_checked_is_said_in_a_line(filled: str, tmp_path: Path) -> None:
    """No ledger, no server or no ledger's schema: one line, and status 2."""
    url = make_conninfo(filled, dbname="template1")
    for done in (
        run("--data-dir", str(tmp_path / "nothing")),
        run("--data-dir", str(tmp_path), DATABASE_URL="host=/nowhere"),
        run("--data-dir", str(tmp_path), DATABASE_URL=url),
    ):
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr


def test_archived_events_have_to_be_there(
    filled: str, open_to_all: psycopg.Connection, tmp_path: Path
) -> None:
    """A ledger whose beginning was taken elsewhere cannot be checked from its beginning: status 2."""
    open_to_all.execute(
        "INSERT INTO ledger.horizon (first_position, last_position, partition, recorded_at_us, first_event)"
        " VALUES (1, 5, 'events_1', 1, 'x')"
    )
    url = make_conninfo(filled, user="ledger_auditor", password=ledger.PASSWORDS["auditor"])
    done = run("--data-dir", str(tmp_path), DATABASE_URL=url)
    assert (done.returncode, done.stdout) == (2, "")
    assert "attach them first" in done.stderr


# ── Tampering ───────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("tamper", "name"), TAMPERINGS)
def test_tampering_is_found_where_it_begins(
    filled: str, open_to_all: psycopg.Connection, tamper: Tamper, name: str
) -> None:
    """What a superuser changes past the ledger is a discrepancy, and the first one is at that position."""
    position = tamper(open_to_all)
    report = check(filled)
    assert report.total > 0
    assert report.findings[0].position == position, report.findings[:3]
    assert name in {finding.name for finding in report.findings if finding.position == position}

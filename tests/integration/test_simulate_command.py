"""`scripts/simulate` as it is run: on a server of its own, on a ledger that is kept, over HTTP."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

from api.cli import data_directory
from infrastructure.postgres import DirectoryLock, EmbeddedPostgres

ROOT = Path(__file__).parents[2]
SECONDS_MAX = 240


def simulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.run(
        [sys.executable, "-m", "api.cli.simulate", *arguments],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )


def test_without_a_data_directory_nothing_is_kept() -> None:
    """The summary ends with books that balance, the seed is told, and no server or folder is left."""
    temporary = Path(tempfile.gettempdir())
    before = set(temporary.glob("stud-ledger-simulate-*"))
    done = simulate("--rounds", "40", "--seed", "11", "--ruleset", "czech", "--ruleset", "nordic")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("rounds      40 in ")
    assert lines[1].startswith("houses      czech ")
    assert lines[-1] == "conservation holds: every trial balance is zero"
    assert "seed 11" in done.stderr
    assert "40 of 40 rounds" in done.stderr
    assert set(temporary.glob("stud-ledger-simulate-*")) <= before


def test_two_simulations_share_a_ledger_that_is_kept(server_home: Path) -> None:
    """In process and over HTTP the rounds of both are in the directory's ledger; one in use is refused."""
    folder = server_home.parent / "data"
    first = simulate("--rounds", "15", "--seed", "1", "--data-dir", str(folder))
    assert first.returncode == 0, first.stderr
    second = simulate("--rounds", "10", "--seed", "1", "--data-dir", str(folder), "--over-http")
    assert second.returncode == 0, second.stderr
    with DirectoryLock(folder):
        refused = simulate("--rounds", "10", "--data-dir", str(folder))
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith("stud-ledger: ")
        assert len(refused.stderr.splitlines()) == 1
    with (
        EmbeddedPostgres(data_directory.choose(folder).postgres) as server,
        psycopg.connect(server.dsn) as connection,
    ):
        finished = connection.execute(
            'SELECT count(*) FROM ledger.events WHERE data LIKE \'%"type":"RoundClosed"%\'::bytea'
            ' OR data LIKE \'%"type":"RoundVoided"%\'::bytea'
        ).fetchone()
        assert finished == (25,)
        connection.execute("UPDATE ledger.wallets SET balance = balance + 1 WHERE currency = 'USD'")
        connection.commit()
    third = simulate("--rounds", "5", "--seed", "1", "--data-dir", str(folder), "--ruleset", "macau")
    assert third.returncode == 1
    assert third.stdout.splitlines()[-1] == "CONSERVATION FAILS"
    assert "USD (test) is off by " in third.stdout

"""`scripts/audit`: what it prints, what it writes, what it has recorded, and how it ends."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest

from api.cli import audit
from infrastructure.archive.reader import Archive
from infrastructure.audit.report import encoded
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.notes import Signer
from tests.integration import audited_ledger, checked_ledger
from tests.integration.audited_ledger import Audited


@pytest.fixture(scope="module")
def ledger(database: str, tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """Return a ledger of three days, with its log, its archive and its projections."""
    ledger = audited_ledger.of_days(database, tmp_path_factory.mktemp("audited"))
    checked_ledger.project(ledger.app)
    return ledger


@pytest.fixture
def run(ledger: Audited, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    """Return what runs the command in this process and returns its status, output and complaints."""

    def run(*arguments: str, url: str = ledger.app) -> tuple[int, str, str]:
        monkeypatch.setenv("DATABASE_URL", url)
        monkeypatch.setattr(audit, "stop_on_signals", lambda: None)
        places = ("--data-dir", str(ledger.home), "--processes", "1")
        capfd.readouterr()
        status = audit.main([*arguments, *places])
        return status, *capfd.readouterr()

    return run


def recorded(ledger: Audited) -> list[dict[str, Any]]:
    """Return the events of all audits."""
    with psycopg.connect(ledger.admin) as connection:
        rows = connection.execute(
            "SELECT data FROM ledger.events WHERE stream LIKE 'audit-%' ORDER BY position"
        ).fetchall()
    return [orjson.loads(data) for (data,) in rows]


def test_a_clean_ledger_is_told_and_recorded(ledger: Audited, run: Any, tmp_path: Path) -> None:
    """Status 0, a line for each check, a page, and two events, the second with the report's hash."""
    before = len(recorded(ledger))
    page = tmp_path / "report.html"
    status, printed, complaints = run("--json", "--report", str(page))
    assert status == 0, (printed, complaints)
    report = json.loads(printed)
    results = {check["check"]: check["result"] for check in report["checks"]}
    assert set(results.values()) == {"pass"}
    assert {
        "events",
        "rounds",
        "wallets",
        "jackpots",
        "log_root",
        "log_files",
        "tables",
        "projections",
    } <= set(results)
    began, ended = recorded(ledger)[before:]
    assert (began["type"], ended["type"]) == ("AuditStarted", "AuditFinished")
    assert ended["data"]["report_sha256"] == hashlib.sha256(encoded(report)).hexdigest()
    assert report["run_id"] in page.read_text()
    assert "of" in complaints  # how far it had come


def test_a_person_reads_lines(ledger: Audited, run: Any) -> None:
    """Without --json each check is a line, and nothing is recorded that was not to be."""
    before = len(recorded(ledger))
    status, printed, _ = run("--events-only", "--no-record")
    assert status == 0
    lines = printed.splitlines()
    assert lines[0].startswith("database, positions 1 to ")
    assert lines[-1] == "everything that was checked is as it has to be"
    assert any(line.split()[:2] == ["pass", "rounds"] for line in lines)
    assert any("jackpot pot: meter" in line for line in lines)
    assert len(recorded(ledger)) == before


def test_who_may_only_read_audits_all_the_same(ledger: Audited, run: Any) -> None:
    """The auditor's login cannot have the audit recorded: that is said, and the audit is made."""
    url = psycopg.conninfo.make_conninfo(
        ledger.admin, user="ledger_auditor", password=audited_ledger.PASSWORDS["auditor"]
    )
    before = len(recorded(ledger))
    status, printed, complaints = run("--events-only", url=url)
    assert (status, len(recorded(ledger))) == (0, before), (printed, complaints)
    assert "the audit is not on record" in complaints


def test_exceptions_end_with_status_one(ledger: Audited, run: Any, tmp_path: Path) -> None:
    """What somebody kept and the ledger does not agree with is told by its position."""
    checkpoint = LogFolder(ledger.log).newest()
    assert checkpoint is not None
    kept = tmp_path / "kept.txt"
    kept.write_bytes((LogFolder(ledger.log).note() or b"").replace(b"\n", b"\n", 1))
    witness = Signer.from_seed("witness.example", b"w" * 32).cosigner.vkey
    status, printed, _ = run("--events-only", "--no-record", "--checkpoint", str(kept), "--witness", witness)
    assert status == 1
    assert "log.witness: expected" in printed
    assert "exceptions; by position:" in printed
    archive = tmp_path / "archive"
    shutil.copytree(ledger.archive, archive)
    days = Archive(archive).days
    day = days[0].folder
    (day / "manifest.json").write_bytes(days[0].stored.replace(b"2026", b"2025"))
    status, printed, _ = run("--archive", str(archive))
    assert status == 1
    assert "archive.chain" in printed


def test_an_archive_needs_no_database(ledger: Audited, run: Any) -> None:
    """Files alone are audited, from positions and up to positions."""
    status, printed, complaints = run("--archive", str(ledger.archive), "--json", url="host=/nowhere")
    assert status == 0, complaints
    whole = json.loads(printed)
    assert {check["check"]: check["result"] for check in whole["checks"]}["archive"] == "pass"
    status, printed, _ = run(
        "--archive", str(ledger.archive), "--from", "5", "--to", "20", "--json", url="host=/nowhere"
    )
    assert (status, json.loads(printed)["events"]) == (0, 16)


@pytest.mark.parametrize(
    ("arguments", "url"),
    [
        (("--archive", "/nowhere"), ""),
        (("--from", "tomorrow"), ""),
        (("--from", "99999999"), ""),
        (("--checkpoint", "/nowhere/at/all"), ""),
        ((), "host=/nowhere"),
        (("--dask", "tcp://127.0.0.1:1", "--events-only", "--no-record"), ""),
    ],
)
def test_what_cannot_be_audited_is_said_in_a_line(
    ledger: Audited, run: Any, arguments: tuple[str, ...], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status 2, one line, and nothing on standard output."""
    monkeypatch.setattr(audit, "DASK_SECONDS", 0.2)
    status, printed, complaints = run(*arguments, url=url or ledger.app)
    assert (status, printed, len(complaints.splitlines())) == (2, "", 1), complaints


def test_the_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` says what is checked, and how it ends."""
    with pytest.raises(SystemExit, match="0"):
        audit.parse(["--help"])
    printed = capsys.readouterr().out
    assert "Exit status 0" in printed
    assert "--archive DIR" in printed
    for wrong in (["--processes", "0"], ["--witness", "nobody"], ["--key", "a+b+c"]):
        with pytest.raises(SystemExit, match="2"):
            audit.parse(wrong)

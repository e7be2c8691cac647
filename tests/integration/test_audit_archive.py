"""An audit of some days of an archive, which begins with what was recorded of the days before."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from infrastructure.archive.layout import EVENTS
from infrastructure.archive.reader import Archive
from infrastructure.audit.archived import Archived
from infrastructure.audit.bounds import bounds
from infrastructure.audit.report import Report
from tests.integration import audited_ledger
from tests.integration.audited_ledger import Audited, told


@pytest.fixture(scope="module")
def ledger(database: str, tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """Return a ledger of three days, with a round over each midnight, sealed and exported."""
    return audited_ledger.of_days(database, tmp_path_factory.mktemp("days"))


@pytest.fixture
def copy(ledger: Audited, tmp_path: Path) -> Path:
    """Return a copy of the archive, to be tampered with."""
    return Path(shutil.copytree(ledger.archive, tmp_path / "copy"))


def results(report: Report) -> dict[str, str]:
    """Return the results by check."""
    return {check.check: check.result for check in report.checks}


def test_the_archive_has_the_days(ledger: Audited) -> None:
    """Three days, each with a part of a round that goes on in another, audited as a whole."""
    assert len(Archive(ledger.archive).days) == 3
    whole = ledger.of_archive(with_files=True)
    assert whole.exceptions == []
    assert whole.totals.rounds == 3
    assert told(whole) == told(ledger.of_database())


def test_a_later_day_begins_with_what_was_recorded(ledger: Audited) -> None:
    """Balances, meters, open rounds and the log's tree are those of the day before: all is checked."""
    second = Archive(ledger.archive).days[1].manifest
    report = ledger.of_archive(span=(second.first_position - 1, second.last_position))
    assert report.exceptions == []
    assert report.totals.rounds == 1
    assert report.totals.open_rounds == 1
    assert results(report)["log_root"] == "pass"
    notes = {check.check: check.note for check in report.checks}
    assert "before the first event" not in notes["rounds"]
    assert notes["wallets"] == "from what was recorded of the time before"
    source = Archived(ledger.archive)
    day = second.day
    assert bounds(source, f"{day}T00:00:00Z", f"{day}T23:59:59.999999Z") == (
        second.first_position - 1,
        second.last_position,
    )


def test_days_alone_are_audited_from_their_opening(ledger: Audited, copy: Path) -> None:
    """Where the first days are not at hand, the others are audited all the same, and agree with the log."""
    days = Archive(copy).days
    shutil.rmtree(days[0].folder)
    report = ledger.of_archive(archive=copy)
    assert report.exceptions == []
    assert report.scope.from_position == days[1].manifest.first_position
    assert report.totals.rounds == 2


def test_an_opening_that_is_another_days_is_found(ledger: Audited, copy: Path) -> None:
    """Balances that do not lead to those of the first events are told at these."""
    days = Archive(copy).days
    shutil.copy(days[0].folder / "opening.parquet", days[1].folder / "opening.parquet")
    report = ledger.of_archive(
        archive=copy, span=(days[0].manifest.last_position, days[1].manifest.last_position)
    )
    assert report.verdict == "fail"
    assert {each.what for each in report.exceptions} & {"wallet", "balance_after"}


def test_events_that_were_exchanged_are_found(ledger: Audited, copy: Path) -> None:
    """A day's file that is not the one of the manifest: by its hash, and by what is in it."""
    days = Archive(copy).days
    shutil.copy(days[0].folder / EVENTS, days[1].folder / EVENTS)
    report = ledger.of_archive(archive=copy, with_files=True)
    assert results(report)["archive"] == "fail"
    assert results(report)["events"] == "fail"
    assert report.exceptions[0].position <= days[1].manifest.first_position
    assert os.fspath(copy) not in str(report.as_json())

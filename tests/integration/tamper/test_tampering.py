"""Whatever an insider does to a ledger is found by the tools that the matrix says, and by no others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.cli import audit
from tests.integration.tamper import matrix, story
from tests.integration.tamper.insider import Change, Copy
from tests.integration.tamper.matrix import FOUND, NAMED, UNSEEN, Row
from tests.integration.tamper.story import Story
from tests.integration.tamper.tools import TOOLS, Hit, Scene

Tamper = Callable[[Copy], Change]
PLACES = {"data-dir": "data", "keys": "keys", "log": "log"}
TOLD = 5
"""A position is told if it is among the first so many that a tool names: whoever looks there has found it."""


@pytest.fixture(scope="module")
def past(postgres: str, database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Yield the ledger, and take its backup away afterwards."""
    told = story.told(postgres, database, tmp_path_factory.mktemp("tamper"))
    yield told
    story.dropped_database(postgres, told.backup.admin)


@pytest.fixture
def copy(past: Story, postgres: str, tmp_path: Path) -> Iterator[Copy]:
    """Yield a copy to tamper with."""
    copy = Copy(past, postgres, tmp_path / "copy")
    yield copy
    if "database" in copy.touched:
        story.dropped_database(postgres, copy.place.admin)


def told(hits: list[Hit], change: Change) -> str:
    """What a tool's findings amount to."""
    positions = list(dict.fromkeys(hit.position for hit in hits if hit.position is not None))[:TOLD]
    if change.at in positions or any(where in hit.text for hit in hits for where in change.where):
        return NAMED
    return FOUND if hits else UNSEEN


def test_where_nobody_tampered_no_tool_finds_anything(past: Story, tmp_path: Path) -> None:
    """The ledger itself passes everywhere, so that all that is found in a copy was done to it."""
    scene = Scene(past.ledger, past.kept, past.jackpot_round, tmp_path)
    for name, tool in TOOLS.items():
        assert tool.look(scene) == [], name
    assert past.backed_up < past.kept.size < story.newest(past.ledger).size


@pytest.mark.parametrize("row", matrix.ROWS, ids=lambda row: row.tamper.__name__)
def test_tampering_is_found_by_the_tools_that_the_matrix_says(
    row: Row, past: Story, copy: Copy, tmp_path: Path
) -> None:
    """Each tool finds it and names the place, only finds it, or does not: as the README's table has it.

    A tool that reads nothing of what was touched finds what it finds in the original: nothing.
    """
    change = row.tamper(copy)
    scene = Scene(copy.place, past.kept, change.round_id or past.jackpot_round, tmp_path)
    found = {name: tool.look(scene) if tool.reads & copy.touched else [] for name, tool in TOOLS.items()}
    expected = dict(zip(TOOLS, row.cells, strict=True))
    assert {name: told(hits, change) for name, hits in found.items()} == expected, found


def test_there_is_nothing_that_nobody_finds() -> None:
    """Each way to tamper is found by some tool; one that writes history again, by what others have kept."""
    for row in matrix.ROWS:
        assert set(row.cells) - {UNSEEN}, row.says
    for row in matrix.WITH_EVERYTHING:
        assert set(row.outside) - {UNSEEN}, row.says


def test_a_kept_checkpoint_says_nothing_of_what_came_after_it(
    past: Story, copy: Copy, tmp_path: Path
) -> None:
    """Whoever kept one from before the fork is shown a ledger that did grow out of it."""
    matrix.everything.fork_everything(copy)
    early = _checkpoint(past.backup.log)
    kept = story.Kept(past.kept.key, early, past.kept.manifest, past.kept.witness, past.kept.witness_key)
    scene = Scene(copy.place, kept, past.jackpot_round, tmp_path)
    assert scene.verified_since() == scene.audited_against() == []


def test_the_copied_log_of_the_clean_ledger_proves_the_meter(past: Story, tmp_path: Path) -> None:
    """The round whose evidence is asked for has a jackpot whose meter is derived from its opening."""
    scene = Scene(past.ledger, past.kept, past.jackpot_round, tmp_path)
    assert scene.proves("log.jackpot")


@pytest.mark.parametrize("partition", [100, 1_000])
@pytest.mark.parametrize("tamper", [matrix.files.change_a_bundle, matrix.files.change_a_node])
def test_the_logs_files_are_compared_wherever_events_are_cut(
    tamper: Tamper, partition: int, copy: Copy
) -> None:
    """A tile or bundle whose events are in two partitions is compared as well as any other."""
    change = tamper(copy)
    report = copy.place.of_database(partition=partition)
    assert [finding.position for finding in report.exceptions] == [change.at]


def test_a_report_is_json_whatever_is_logged_beside_it(
    copy: Copy, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the rebuild beside an audit logs of an event that does not follow is no part of the report."""
    matrix.sql.edit_a_payout(copy)
    monkeypatch.setenv("DATABASE_URL", copy.place.app)
    monkeypatch.setattr(audit, "stop_on_signals", lambda: None)
    places = [f"--{name}={copy.home / folder}" for name, folder in PLACES.items()]
    status = audit.main(["--json", "--no-record", "--processes=1", *places])
    printed = capfd.readouterr()
    assert (status, json.loads(printed.out)["verdict"]) == (1, "fail")
    assert "projection_stopped" in printed.err


def test_the_table_in_the_readme_is_the_matrix() -> None:
    """What the README says of tampering is what this suite asserts."""
    text = matrix.README.read_text(encoding="utf-8")
    assert matrix.rewritten(text) == text


def _checkpoint(log: Path) -> bytes:
    return (log / "1" / "checkpoint").read_bytes()

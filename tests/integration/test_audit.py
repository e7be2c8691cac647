"""An audit by replay: the same whatever the events come from, however they are cut, whoever does the work."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import orjson
import psycopg
import pytest
from distributed import Client, LocalCluster

from infrastructure.audit.archived import Archived
from infrastructure.audit.bounds import BoundsError, bounds
from infrastructure.audit.dask_adapter import on_client
from infrastructure.audit.database import Database
from infrastructure.audit.prepare import Held
from infrastructure.audit.rebuilt import check_projections
from infrastructure.audit.report import Report
from infrastructure.audit.run import in_processes
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.notes import Signer, parse_vkey, write_note
from infrastructure.evidence.tiles import tile_path
from tests.integration import audited_ledger, checked_ledger
from tests.integration.audited_ledger import Audited, told
from tests.integration.checked_ledger import SCHEMA


@pytest.fixture(scope="module")
def ledger(database: str, tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """Return a ledger on which everything has happened once, with its log and its archive."""
    ledger = audited_ledger.made(database, tmp_path_factory.mktemp("audited"))
    ledger.export()
    return ledger


@pytest.fixture(scope="module")
def clean(ledger: Audited) -> Report:
    """Return the audit of that ledger, in this process, in small partitions."""
    return ledger.of_database()


@pytest.fixture
def open_to_all(ledger: Audited) -> Iterator[psycopg.Connection]:
    """Yield a superuser's connection; whatever is done with that is undone afterwards."""
    with (
        psycopg.connect(ledger.admin, autocommit=True) as connection,
        checked_ledger.undone(connection),
    ):
        yield connection


def results(report: Report) -> dict[str, str]:
    """Return the results by check."""
    return {check.check: check.result for check in report.checks}


# ── Where the events come from, and who does the work ───────────────────────────────────────────────────────
def test_a_ledger_that_nobody_tampered_with_passes(ledger: Audited, clean: Report) -> None:
    """Whatever happened on it follows: rounds, wallets, jackpots, and the log that sealed it."""
    assert clean.exceptions == []
    for name in ("events", "rounds", "wallets", "jackpots", "log_root", "log_signatures", "log_files"):
        assert results(clean)[name] == "pass", name
    assert clean.totals.rounds >= checked_ledger.ROUNDS
    assert clean.totals.open_rounds == 1
    with psycopg.connect(ledger.admin) as connection:
        (head,) = connection.execute("SELECT position FROM ledger.head").fetchone() or (0,)
        pools = dict(connection.execute("SELECT jackpot_id, meter FROM ledger.jackpots").fetchall())
        balances = connection.execute(
            "SELECT account_class, currency, sum(balance), sum(on_game) FROM ledger.wallets GROUP BY 1, 2"
        ).fetchall()
    assert clean.totals.events == clean.scope.to_position == head
    assert {name: pool[0] for name, pool in clean.totals.pots.items()} == pools
    for account_class, currency, balance, on_game in balances:
        accounts = clean.totals.accounts
        assert accounts[f"wallet:{account_class}", currency] == balance * 10_000
        assert accounts.get((f"on_game:{account_class}", currency), 0) == on_game * 10_000


@pytest.mark.parametrize("partition", [7, 1_000_000])
def test_the_report_does_not_depend_on_where_events_are_cut(
    ledger: Audited, clean: Report, partition: int
) -> None:
    """Rounds, wallets and meters that go on in the next partition are put together."""
    assert told(ledger.of_database(partition=partition)) == told(clean)


def test_processes_of_this_machine_come_to_the_same(ledger: Audited, clean: Report) -> None:
    """Two processes give the report that one gives, and tables are compared by a third."""
    report = ledger.of_database(in_processes(2, niceness=0), with_tables=True)
    assert told(report) == told(clean)
    assert results(report)["tables"] == "pass"


def test_the_archive_alone_comes_to_the_same(ledger: Audited, clean: Report) -> None:
    """No database is asked: files are enough for the same totals and no exceptions."""
    report = ledger.of_archive(with_files=True)
    assert told(report) == told(clean)
    assert results(report)["log_root"] == results(report)["archive"] == "pass"


def test_dask_workers_come_to_the_same(ledger: Audited, clean: Report) -> None:
    """Two workers in processes of their own, of a scheduler, give the identical report."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,  # type: ignore[no-untyped-call]
        Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):
        report = ledger.of_database(lambda work, parts: on_client(client, work, parts), partition=100)
        archived = ledger.of_archive(lambda work, parts: on_client(client, work, parts))
    assert told(report) == told(archived) == told(clean)


# ── A part of the ledger ────────────────────────────────────────────────────────────────────────────────────
def test_a_part_says_what_was_not_checked(ledger: Audited, clean: Report) -> None:
    """What only earlier events tell is not made up: wallets go on from what was recorded."""
    middle = clean.scope.to_position // 2
    report = ledger.of_database(span=(middle, clean.scope.to_position))
    assert report.exceptions == []
    assert results(report)["log_root"] == results(report)["tables"] == "not_checked"
    notes = " ".join(check.note for check in report.checks)
    assert "nothing was recorded of the time before" in notes
    assert "from what was recorded of the time before" not in notes
    assert report.totals.rounds < clean.totals.rounds
    assert report.totals.events == clean.scope.to_position - middle


def test_a_part_is_given_by_positions_or_moments(ledger: Audited) -> None:
    """A moment stands for the events recorded at it or after it; what holds no event is refused."""
    for source in (Database(ledger.admin, SCHEMA), Archived(ledger.archive)):
        with psycopg.connect(ledger.admin) as connection:
            ((stored,),) = connection.execute(
                "SELECT data FROM ledger.events WHERE position = 100"
            ).fetchall()
        at = orjson.loads(stored)["recorded_at"]
        assert bounds(source, None, None) == (0, source.last)
        assert bounds(source, "100", "200") == (99, 200)
        assert bounds(source, at, None) == (99, source.last)
        assert bounds(source, None, at) == (0, 100)
        for first, last in (
            ("0", None),
            ("200", "100"),
            (None, "999999999"),
            ("soon", None),
            ("2026-11-29T21:24:01", None),
            ("2031-01-01T00:00:00Z", None),
        ):
            with pytest.raises(BoundsError) as problem:
                bounds(source, first, last)
            assert "\n" not in str(problem.value)


# ── What is found, and where ────────────────────────────────────────────────────────────────────────────────
def test_an_edited_event_is_found_by_replay_and_by_the_log(
    ledger: Audited, open_to_all: psycopg.Connection
) -> None:
    """Winnings that were changed do not follow from the cards, and the sealed leaf is another."""
    position, stored = open_to_all.execute(
        """SELECT position, data FROM ledger.events WHERE stream LIKE 'round-%'
        AND convert_from(data, 'UTF8') LIKE '%"type":"Settled"%' ORDER BY position LIMIT 1"""
    ).fetchone() or (0, b"")
    event = orjson.loads(stored)
    event["data"]["bets"][0]["won"] += 1
    event["data"]["balance_after"] += 1
    edited = orjson.dumps(event, option=orjson.OPT_SORT_KEYS)
    open_to_all.execute("UPDATE ledger.events SET data = %s WHERE position = %s", [edited, position])
    report = ledger.of_database()
    found = {each.what for each in report.exceptions if each.position == position}
    assert {"log.leaf", "log.entry"} <= found
    assert any(each.what.startswith("replay.") for each in report.exceptions)
    assert results(report)["log_root"] == results(report)["rounds"] == "fail"
    assert report.verdict == "fail"


def test_events_missing_at_the_end_are_found_by_the_log(
    ledger: Audited, clean: Report, open_to_all: psycopg.Connection
) -> None:
    """A ledger that was cut off, head, log's beginning and all, is consistent: what was signed is larger."""
    last = clean.scope.to_position - 3
    open_to_all.execute("DELETE FROM ledger.events WHERE position > %s", [last])
    open_to_all.execute("UPDATE ledger.head SET position = %s", [last])
    report = ledger.of_database()
    found = {(each.position, each.what) for each in report.exceptions}
    assert {(last + 1, "log.size"), (1, "log.events")} <= found


def test_a_head_that_says_something_else_is_found(ledger: Audited, open_to_all: psycopg.Connection) -> None:
    """Events that lie beyond the head, or that it claims and that are not there."""
    open_to_all.execute("UPDATE ledger.head SET position = position - 1")
    report = ledger.of_database()
    assert [each.what for each in report.exceptions] == ["position.head"]


@pytest.fixture
def log_copy(ledger: Audited, tmp_path: Path) -> Path:
    """Return a copy of the log's folder, to be tampered with."""
    return Path(shutil.copytree(ledger.log, tmp_path / "log"))


def test_a_changed_tile_is_found_by_position(ledger: Audited, log_copy: Path) -> None:
    """A hash in a tile that is not the event's is named; the events themselves agree with the root."""
    path = log_copy / "1" / tile_path(0, 1)
    tile = bytearray(path.read_bytes())
    tile[32 * 5] ^= 1
    path.write_bytes(tile)
    report = ledger.of_database(log=log_copy)
    assert [(each.position, each.what) for each in report.exceptions] == [(256 + 5 + 1, "log.leaf")]
    assert (results(report)["log_files"], results(report)["log_root"]) == ("fail", "pass")


def test_a_missing_tile_is_found(ledger: Audited, log_copy: Path) -> None:
    """Nothing of a signed tree may be gone."""
    (log_copy / "1" / tile_path(0, 0)).unlink()
    report = ledger.of_database(log=log_copy)
    assert (1, "log.tile") in {(each.position, each.what) for each in report.exceptions}


def test_a_checkpoint_of_another_key_is_found(ledger: Audited, log_copy: Path) -> None:
    """A tree that was signed anew with a key that the ledger does not know is not its log's."""
    folder = LogFolder(log_copy).generation(1)
    note, checkpoint = folder.note(), folder.newest()
    assert note is not None
    assert checkpoint is not None
    forger = Signer.from_seed(checkpoint.origin, b"f" * 32)
    (log_copy / "1" / "checkpoint").write_bytes(
        write_note(checkpoint.body(), [forger.sign(checkpoint.body())])
    )
    report = ledger.of_database(log=log_copy)
    assert "log.signature" in {each.what for each in report.exceptions}
    assert results(report)["log_signatures"] == "fail"


def test_a_log_whose_folder_is_gone_is_told(ledger: Audited, tmp_path: Path) -> None:
    """A ledger that says it has a log, and nothing where that should be."""
    report = ledger.of_database(log=tmp_path / "nothing")
    assert [each.what for each in report.exceptions] == ["log.checkpoint"]


def test_what_others_hold_is_compared(ledger: Audited) -> None:
    """An earlier checkpoint has to agree, one of another log does not; a witness has to have cosigned."""
    note = LogFolder(ledger.log).note() or b""
    report = ledger.of_database(held=Held([("kept.txt", note)]))
    assert report.exceptions == []
    origin = note.decode().partition("\n")[0]
    stranger = Signer.from_seed("someone.example/log", b"s" * 32)
    other = f"someone.example/log\n5\n{'A' * 43}=\n"
    strange = ledger.of_database(held=Held([("strange.txt", write_note(other, [stranger.sign(other)]))]))
    assert [each.what for each in strange.exceptions] == ["log.origin"]
    witness = Signer.from_seed("witness.example", b"w" * 32).cosigner
    unseen = ledger.of_database(held=Held([], [witness]))
    assert [each.what for each in unseen.exceptions] == ["log.witness"]
    key = Signer.from_seed(origin, b"k" * 32).verifier.vkey
    assert parse_vkey(key).name == origin
    trusting_another = ledger.of_database(held=Held([], [], [key]))
    assert {each.what for each in trusting_another.exceptions} == {"log.signature"}


# ── Tables and projections ──────────────────────────────────────────────────────────────────────────────────
def test_projections_are_what_a_rebuild_makes_of_the_events(ledger: Audited, clean: Report) -> None:
    """Every row of every projection is built anew, and the live ones are the same."""
    told_of: list[int] = []
    findings, position = check_projections((ledger.admin, SCHEMA), told_of.append)
    assert (findings, position) == ([], clean.scope.to_position)
    assert told_of == sorted(told_of)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("UPDATE ledger_read.postings__1 SET actor = 'x' WHERE kind = 0", "postings"),
        ("UPDATE ledger_read.trial_balance_now__1 SET balance = balance + 1", "trial_balance_now"),
        ("UPDATE ledger_read.performance__1 SET hands = hands + 1", "performance"),
        ("DELETE FROM ledger_read.round_records__1 WHERE seat = 3", "round_records"),
        ("DELETE FROM ledger_read.jackpot_days__1", "jackpot_days"),
        ("INSERT INTO ledger_read.player_rounds__1 (player, round_id) VALUES ('p', 'r')", "player_rounds"),
    ],
)
def test_a_changed_row_of_a_projection_is_found(
    ledger: Audited, open_to_all: psycopg.Connection, change: str, what: str
) -> None:
    """A row that is changed, gone or made up is not what the events come to."""
    assert open_to_all.execute(change).rowcount > 0
    findings, _ = check_projections((ledger.admin, SCHEMA), lambda _: None)
    assert {finding.what for finding in findings} == {f"projection.{what}"}
    assert all(finding.position > 0 for finding in findings)

"""What is read over HTTP when old partitions have been taken out of the ledger."""

from __future__ import annotations

import itertools
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
import pytest

from infrastructure import partitions
from infrastructure.bootstrap import prepare
from tests.integration.api.conftest import PASSWORDS, Api, running

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = "archived"
SIZE = 40
"""Events in a partition."""


class Gone(NamedTuple):
    """A service whose first events are archived, and what there was before."""

    api: Api
    horizon: int
    statement: list[dict[str, Any]]
    empty_round: str
    first_round: str
    astride: str


@pytest.fixture(scope="module")
def gone(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gone]:
    """Yield a service of which the first rounds, and the beginning of a void one, are archived."""
    prepare(database, SCHEMA, passwords=PASSWORDS)
    options = f"-c search_path={SCHEMA}"
    with psycopg.connect(database, autocommit=True, options=options) as admin:
        for (name,) in admin.execute("SELECT name FROM partitions()").fetchall():
            admin.execute(f"DROP TABLE {name}")
        admin.execute(f"SET ROLE {SCHEMA}_owner")
        for first in range(1, 40 * SIZE, SIZE):
            admin.execute("SELECT add_partition(%s, %s)", [first, first + SIZE])
        admin.execute("RESET ROLE")
        for api in running(database, tmp_path_factory.mktemp("keys"), schema=SCHEMA):
            yield _archive(api, admin)


def _archive(api: Api, admin: psycopg.Connection) -> Gone:
    api.jackpot("j")
    api.table("t", jackpot_id="j")
    api.table("pad")
    api.player("anna")
    first_round, *_ = [_play(api) for _ in range(8)]
    empty_round = api.open("t")["round_id"]
    edge = (_position(api) // SIZE + 2) * SIZE
    # A round that nobody stakes on begins as the last event of a partition and is void in the next one.
    for number in itertools.count():
        if _position(api) == edge - 1:
            break
        api.done(api.post(f"/v1/tables/pad/{('close', 'open')[number % 2]}"))
    astride = api.open("t")["round_id"]
    assert _position(api) == edge
    for round_id in (empty_round, astride):
        api.done(api.post(f"/v1/rounds/{round_id}/void", {"cause": "malfunction", "note": "A test."}))
    for _ in range(4):
        _play(api)
    statement = api.done(api.get("/v1/players/anna/statement", params={"min_position": _position(api)}))
    end = time.monotonic() + 10
    while True:
        try:
            partitions.detach_before(admin, SCHEMA, edge + 1)
            break
        except partitions.PartitionsError:
            assert time.monotonic() < end, "the projections do not catch up"
            time.sleep(0.05)
    return Gone(api, edge, statement["items"], empty_round, first_round, astride)


def _play(api: Api) -> str:
    round_id = str(api.open("t", api.seat(1, "anna", side_bets={"jackpot": 100}), deal=True)["round_id"])
    api.decide(round_id, 1, "fold")
    return round_id


def _position(api: Api) -> int:
    return int(api.service.reading._seen)


def test_a_statement_goes_back_beyond_what_is_archived(gone: Gone) -> None:
    """A statement, whole or of any period, is what it was before the events were archived."""
    listed = gone.statement
    path = "/v1/players/anna/statement"
    assert gone.api.done(gone.api.get(path))["items"] == listed
    assert listed[5]["position"] < gone.horizon < listed[-1]["position"]
    for first in (0, 1, 5, len(listed) - 3):
        since = {"from": listed[first]["at"]}
        assert gone.api.done(gone.api.get(path, params=since))["items"] == listed[first:]
        until = {"to": listed[first]["at"]}
        assert gone.api.done(gone.api.get(path, params=until))["items"] == listed[:first]


def test_reports_of_archived_days_stay(gone: Gone) -> None:
    """Significant events and jackpots' days are told of the time that is archived too."""
    today = datetime.now(UTC).date()
    days = {"from": str(today - timedelta(days=1)), "to": str(today)}
    listed = gone.api.done(gone.api.get("/v1/reports/significant-events", params=days))["items"]
    assert listed[0]["position"] == 1
    for path in ("/v1/reports/game-performance", "/v1/reports/jackpots", "/v1/jackpots/j/roll-forward"):
        assert gone.api.done(gone.api.get(path, params=days))["items"]


def test_the_books_of_an_archived_moment_are_told_or_refused(gone: Gone) -> None:
    """What needs archived events says so, and whatever does not is told as before."""
    api, moment = gone.api, gone.statement[2]["at"]
    position = {"position": gone.statement[2]["position"]}
    assert (
        api.done(api.get("/v1/players/anna", params=position))["balance"]
        == gone.statement[2]["balance_after"]
    )
    for path in ("/v1/trial-balance", "/v1/reports/liability", "/v1/jackpots/j"):
        for parameters in (position, {"at": moment}):
            problem = api.refused("validation_failed", 422, api.get(path, params=parameters))
            assert "archived" in problem["errors"][0]["detail"]
    api.refused("validation_failed", 422, api.get("/v1/players/anna", params={"at": moment}))
    for path in ("/v1/trial-balance", "/v1/reports/liability"):
        assert api.done(api.get(path))["position"] > gone.horizon
    now = {"at": datetime.now(UTC).isoformat()}
    assert api.done(api.get("/v1/players/anna", params=now))["position"] > gone.horizon


def test_records_of_archived_rounds_stay(gone: Gone) -> None:
    """The record of an archived round's hands is told; one without any is said to be archived."""
    api = gone.api
    record = api.done(api.get(f"/v1/rounds/{gone.first_round}/record"))
    assert (record["status"], len(record["items"])) == ("complete", 1)
    for round_id in (gone.empty_round, gone.astride):
        api.refused("round_archived", 404, api.get(f"/v1/rounds/{round_id}/record"))


def test_the_watch_finds_nothing_wrong_with_it(gone: Gone) -> None:
    """A ledger without its oldest events is whole: the checker looks at it and raises no alarm."""
    checker = gone.api.service.checker
    assert checker is not None
    looks, end = checker.looks + 2, time.monotonic() + 30
    while checker.looks < looks:
        assert time.monotonic() < end, "nobody looks"
        time.sleep(0.05)
    ready = gone.api.done(gone.api.client.get("/readyz"))
    assert ready["status"] == "ok"
    assert set(ready["lag"].values()) == {0}

"""An audit over HTTP: started, watched, reported, and on record."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Any

import orjson
import psycopg
import pytest
from psycopg import sql

from infrastructure.audit.pool import Beside, WorkFailed

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

SECONDS_MAX = 60.0


@pytest.fixture(scope="module", autouse=True)
def stage(api: Api) -> None:
    """Play a round, leave another one open."""
    api.player("anna")
    api.table("t-audit", parallel_rounds=True)
    round_ = api.open("t-audit", api.seat(1, "anna"), deal=True)
    api.decide(round_["round_id"], 1, "raise")
    api.open("t-audit", api.seat(1, "anna"), deal=True)


def finished(api: Api, run_id: str) -> Any:
    """Wait until an audit has finished; return it as it is shown."""
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        run = api.done(api.get(f"/v1/audit/runs/{run_id}", scope="audit"))
        if run["status"] == "finished":
            return run
        time.sleep(0.1)
    raise AssertionError(run)


@pytest.fixture(scope="module")
def run(api: Api) -> Any:
    """Return the audit of the whole ledger, finished."""
    started = api.post("/v1/audit/runs", {}, key="audit-once", scope="audit")
    assert started.status_code == 201, started.text
    assert started.json()["started_by"] == "tester"
    return finished(api, started.json()["run_id"])


def test_an_audit_of_everything_passes_and_says_what_it_checked(run: Any) -> None:
    """Rounds, balances, jackpots and tables are checked; what is open and not derived is said."""
    assert (run["verdict"], run["exceptions"], run["rounds"]) == ("pass", 0, 1), run["report"]["exceptions"]
    report = run["report"]
    results = {check["check"]: check["result"] for check in report["checks"]}
    for name in ("events", "rounds", "wallets", "jackpots", "tables"):
        assert results[name] == "pass"
    assert report["open_rounds"] == 1
    assert report["houses"][0]["game"] == "us-casino"
    assert {account["account"] for account in report["accounts"]} >= {"wallet:real", "on_game:real"}
    assert run["events"] == report["events"] == run["to_position"]


def test_the_ledger_has_the_hash_of_the_report(api: Api, run: Any) -> None:
    """What was found is an event, and the report is the one whose SHA-256 stands there."""
    with psycopg.connect(api.admin_dsn) as connection:
        rows = connection.execute(
            sql.SQL("SELECT data FROM {}.events WHERE stream = %s ORDER BY version").format(
                sql.Identifier(api.schema)
            ),
            [f"audit-{run['run_id']}"],
        ).fetchall()
        ((stored,),) = connection.execute(
            sql.SQL("SELECT report FROM {}.audit_runs WHERE run_id = %s").format(
                sql.Identifier(f"{api.schema}_read")
            ),
            [run["run_id"]],
        ).fetchall()
    began, ended = (orjson.loads(data) for (data,) in rows)
    assert (began["type"], ended["type"]) == ("AuditStarted", "AuditFinished")
    assert ended["data"]["report_sha256"] == run["report_sha256"] == hashlib.sha256(stored).hexdigest()
    assert orjson.loads(stored) == run["report"]
    assert ended["data"]["verdict"] == "pass"


def test_the_report_is_a_page_without_scripts(api: Api, run: Any) -> None:
    """The page says the same, and a browser that opens it runs nothing and fetches nothing."""
    page = api.get(f"/v1/audit/runs/{run['run_id']}/report.html", scope="audit")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "Everything checked is as it has to be" in page.text
    assert run["run_id"] in page.text
    for way_out in ("<script", "http://", "https://", "url("):
        assert way_out not in page.text


def test_audits_are_listed_newest_first(api: Api, run: Any) -> None:
    """Who watches over audits sees all of them, and how far each has come."""
    later = api.done(api.post("/v1/audit/runs", {"from": run["to_position"]}, scope="audit"))
    listed = api.done(api.get("/v1/audit/runs", scope="audit"))["items"]
    assert [each["run_id"] for each in listed][:2] == [later["run_id"], run["run_id"]]
    assert listed[0]["status"] in {"running", "finished"}
    ended = finished(api, later["run_id"])
    assert ended["verdict"] == "pass"
    results = {check["check"]: check["result"] for check in ended["report"]["checks"]}
    assert results["tables"] == "not_checked"


def test_a_repeat_starts_no_second_audit(api: Api, run: Any) -> None:
    """The same request sent again is answered as the first time."""
    again = api.post("/v1/audit/runs", {}, key="audit-once", scope="audit")
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["run_id"] == run["run_id"]


@pytest.mark.parametrize(
    "body",
    [
        {"from": 10_000_000},
        {"from": 5, "to": 4},
        {"from": "2031-01-01T00:00:00Z"},
        {"to": "2001-01-01T00:00:00Z"},
        {"from": "yesterday"},
        {"from": "2026-02-30T00:00:00Z"},
        {"from": True},
        {"since": 1},
    ],
)
def test_bounds_without_events_are_refused(api: Api, body: dict[str, Any]) -> None:
    """An audit of nothing, or of what cannot be understood, is not begun."""
    api.refused("validation_failed", 422, api.post("/v1/audit/runs", body, scope="audit"))


def test_audits_take_the_auditors_scope(api: Api, run: Any) -> None:
    """Nobody else starts them, nor reads what they say."""
    api.refused("scope_missing", 403, api.post("/v1/audit/runs", {}, scope="play cashier admin reports"))
    for path in ("", f"/{run['run_id']}", f"/{run['run_id']}/report.html"):
        api.refused("scope_missing", 403, api.get(f"/v1/audit/runs{path}", scope="play reports admin"))


def test_an_audit_that_never_was_is_not_found(api: Api) -> None:
    """Neither as JSON nor as a page, whatever it is called."""
    for name in ("nothing", "1K1ESNAG4YWAW3D9JF", "!"):
        api.refused("not_found", 404, api.get(f"/v1/audit/runs/{name}", scope="audit"))
        api.refused("not_found", 404, api.get(f"/v1/audit/runs/{name}/report.html", scope="audit"))


def test_what_was_tampered_with_is_told_with_its_position(api: Api) -> None:
    """A balance that was changed in a table fails the audit, and the exception says where it belongs."""
    schema = sql.Identifier(api.schema)
    change = sql.SQL("UPDATE {}.wallets SET balance = balance + %s WHERE player_id = 'anna'").format(schema)
    with psycopg.connect(api.admin_dsn, autocommit=True) as connection:
        connection.execute(change, [1])
        try:
            ended = finished(api, api.done(api.post("/v1/audit/runs", {}, scope="audit"))["run_id"])
        finally:
            connection.execute(change, [-1])
    assert (ended["verdict"], ended["exceptions"]) == ("fail", 1), ended["report"]["exceptions"]
    (exception,) = ended["report"]["exceptions"]
    assert exception["what"] == "table.wallets"
    assert exception["position"] > 1
    page = api.get(f"/v1/audit/runs/{ended['run_id']}/report.html", scope="audit").text
    assert "1 exception" in page
    assert "table.wallets" in page


def test_an_audit_that_keeps_failing_is_given_up(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some attempts the ledger records that it came to nothing, and the next one is made."""

    def fail(_: Beside[Any, Any]) -> None:
        raise WorkFailed("out of order")

    monkeypatch.setattr(Beside, "result", fail)
    monkeypatch.setattr(Beside, "ended", property(lambda _: True))
    ended = finished(api, api.done(api.post("/v1/audit/runs", {"to": 2}, scope="audit"))["run_id"])
    assert (ended["verdict"], "report" in ended) == ("error", False)
    api.refused("not_found", 404, api.get(f"/v1/audit/runs/{ended['run_id']}/report.html", scope="audit"))
    monkeypatch.undo()
    after = finished(api, api.done(api.post("/v1/audit/runs", {"to": 2}, scope="audit"))["run_id"])
    assert after["verdict"] == "pass"

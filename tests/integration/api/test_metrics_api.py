"""Metrics and readiness: who may see what, and that the figures are the ledger's."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

SECONDS_MAX = 30.0
FORWARDED = (
    {"X-Forwarded-For": "127.0.0.1"},
    {"Forwarded": "for=127.0.0.1"},
    {"X-Real-IP": "127.0.0.1"},
    {"X-Forwarded-Host": "localhost"},
    {"Via": "1.1 localhost"},
)


@pytest.fixture
def alarm(api: Api) -> Iterator[None]:
    """Let something be wrong with what is derived from the ledger, for the time of a test."""
    alarms = sql.SQL("{}.alarms").format(sql.Identifier(f"{api.schema}_read"))
    with psycopg.connect(api.admin_dsn, autocommit=True) as connection:
        connection.execute(
            sql.SQL("INSERT INTO {} VALUES ('projection_postings', 17, 'secret figures', 1)").format(alarms)
        )
        yield
        connection.execute(sql.SQL("DELETE FROM {}").format(alarms))


def metrics(api: Api) -> dict[str, float]:
    """Return the samples that this machine is shown, by their names and labels."""
    answer = api.client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def until(condition: Callable[[], object]) -> None:
    """Wait, a bounded time, until something is so."""
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_is_written_and_refused_is_counted(api: Api) -> None:
    """A batch, its size and time; a refusal by the ledger and one at the edge, each by its code, once."""
    before = metrics(api)

    def grown(name: str) -> float:
        return metrics(api)[name] - before.get(name, 0.0)

    api.player("counted")
    refused = {"amount": 10**9, "reference": "too-much"}
    for _ in range(2):  # the repeat is the first one's answer, and no refusal of its own
        answer = api.post("/v1/players/counted/withdrawals", refused, key="refused-once")
        api.refused("insufficient_funds", 409, answer)
    api.refused("validation_failed", 422, api.post("/v1/players", {"player_id": ""}))
    assert grown('stud_ledger_rejections_total{code="insufficient_funds"}') == 1
    assert grown('stud_ledger_rejections_total{code="validation_failed"}') == 1
    assert grown("stud_ledger_batch_commands_sum") >= 4
    assert grown("stud_ledger_batch_commands_count") == grown("stud_ledger_commit_seconds_count") > 0
    assert grown("stud_ledger_commit_seconds_sum") > 0
    assert metrics(api)["stud_ledger_queue_depth"] >= 0


def test_how_far_the_evidence_log_is_can_be_seen(api: Api) -> None:
    """Its size comes to the ledger's position, and nothing waits to be signed then."""
    api.post("/v1/players", {"player_id": "sealed", "currency": "USD"})

    def is_sealed() -> bool:
        known = metrics(api)
        return known.get("stud_ledger_log_size") == known["stud_ledger_position"]

    until(is_sealed)
    assert metrics(api)["stud_ledger_log_lag_seconds"] == 0


def test_the_figures_of_the_database_are_there(api: Api) -> None:
    """Position and lag of every projection, alarms, the software."""
    position = int(api.post("/v1/players", {"player_id": "at", "currency": "USD"}).headers["ledger-position"])
    until(lambda: metrics(api)['stud_ledger_projection_lag_positions{projection="postings"}'] == 0)
    found = metrics(api)
    assert found["stud_ledger_position"] >= position
    lags = [name for name in found if name.startswith("stud_ledger_projection_lag_seconds")]
    assert len(lags) == 9
    assert (found["stud_ledger_alarms"], found["stud_ledger_software_halted"]) == (0, 0)
    ready = api.client.get("/readyz").json()
    assert ready["status"] == "ok"
    assert ready["position"] >= position
    assert set(ready["lag"]) == {re.sub(r'.*"(.*)".*', r"\1", name) for name in lags}


def test_a_return_that_is_no_chance_is_an_alarm_and_the_service_is_ready(api: Api) -> None:
    """It is told in the metrics by its name; the ledger is what it should be, and goes on."""
    name = "return_us-casino_1_game"
    with psycopg.connect(api.admin_dsn, autocommit=True) as connection:
        connection.execute(
            f"INSERT INTO {api.schema}_read.alarms VALUES ('{name}', 7, 'more than it should', 1)"
        )
        found, ready = metrics(api), api.client.get("/readyz")
        connection.execute(f"DELETE FROM {api.schema}_read.alarms WHERE name = '{name}'")
    assert found[f'stud_ledger_alarm_position{{name="{name}"}}'] == 7
    assert ready.status_code == 200


@pytest.mark.parametrize("headers", FORWARDED, ids=lambda headers: next(iter(headers)))
def test_a_proxy_on_this_machine_is_not_this_machine(api: Api, headers: dict[str, str]) -> None:
    """Whoever is forwarded needs an administrator's token, whatever the headers say of them."""
    api.refused("unauthenticated", 401, api.client.get("/metrics", headers=headers))
    for scope, status in (("play cashier reports audit disputes", 403), ("admin", 200)):
        answer = api.client.get(
            "/metrics", headers={"Authorization": f"Bearer {api.token(scope)}", **headers}
        )
        assert answer.status_code == status


@pytest.mark.usefixtures("alarm")
def test_an_alarm_makes_the_service_not_ready(api: Api) -> None:
    """It says what is wrong and from where on; the figures themselves are not for everybody."""
    near = api.refused("ledger_alarm", 503, api.client.get("/readyz"))
    told = {"name": "projection_postings", "position": 17}
    assert near["alarms"] == [{**told, "detail": "secret figures"}]
    far = api.refused("ledger_alarm", 503, api.client.get("/readyz", headers=FORWARDED[0]))
    assert far["alarms"] == [told]
    found = metrics(api)
    assert found["stud_ledger_alarms"] == 1
    assert found['stud_ledger_alarm_position{name="projection_postings"}'] == 17
    assert api.client.get("/healthz").status_code == 200


def test_a_balance_that_is_changed_past_the_ledger_is_an_alarm(api: Api) -> None:
    """The service's own watch finds it, tells it, and is silent again once it is put right."""
    api.player("tampered", 5_000)
    wallets = sql.SQL("UPDATE {}.wallets SET balance = balance + %s WHERE player_id = 'tampered'").format(
        sql.Identifier(api.schema)
    )
    until(lambda: api.service.checker.looks > 0)
    with psycopg.connect(api.admin_dsn, autocommit=True) as connection:
        connection.execute(wallets, [1])
        until(lambda: api.client.get("/readyz").status_code == 503)
        names = {alarm["name"] for alarm in api.client.get("/readyz").json()["alarms"]}
        assert {"check_books", "check_unbalanced"} <= names
        connection.execute(wallets, [-1])
    until(lambda: api.client.get("/readyz").status_code == 200)

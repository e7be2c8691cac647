"""A demonstration: a table for every house, and players with money, once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import orjson
import psycopg

from api import demo
from domain.rulesets import SHIPPED

if TYPE_CHECKING:
    from conftest import Api


def test_every_house_has_a_table_that_a_newcomer_can_play(demo_api: Api) -> None:
    """At each demo table the demo player of its currency plays a hand at once."""
    tables = demo_api.get("/v1/tables").json()["items"]
    assert sorted(table["table_id"] for table in tables) == sorted(f"demo-{house}" for house in SHIPPED)
    for table in tables:
        player = demo.player_of(table["currency"])
        stake = {"macau": 1000, "adelaide": 250}.get(table["ruleset"]["id"], 100)
        bets = {"jackpot": stake} if "jackpot_id" in table else {}
        seat = demo_api.seat(1, player, side_bets=bets)
        round_id = demo_api.open(table["table_id"], seat, deal=True)["round_id"]
        assert demo_api.decide(round_id, 1, "raise")["phase"] == "closed"
        assert demo_api.get(f"/v1/rounds/{round_id}/replay").json()["verdict"] == "pass"
    assert demo_api.balance("demo")[1] == 0


def test_a_second_start_changes_nothing(demo_api: Api) -> None:
    """Furnishing again opens nothing, pays nothing, and writes no event."""
    before = demo_api.rows()

    asyncio.run(demo.furnish(demo_api.service))
    assert demo_api.rows() == before


def test_a_ledger_that_is_no_demonstration_is_empty(api: Api) -> None:
    """Without the mark nothing is opened by itself."""
    assert api.get("/v1/tables").json() == {"items": []}
    api.refused("player_not_found", 404, api.get("/v1/players/demo"))


def test_the_first_event_says_what_the_ledger_is(demo_api: Api, api: Api) -> None:
    """The mark stands in the ledger itself, at its beginning."""
    for one, mark in ((demo_api, True), (api, False)):
        with psycopg.connect(one.admin_dsn) as connection:
            query = f"SELECT data FROM {one.schema}.events WHERE position = 1"
            ((data,),) = connection.execute(query).fetchall()
        event = orjson.loads(data)
        assert (event["type"], event["data"]["demo"]) == ("LedgerStarted", mark)

"""Reading: pages, lists, meters as they grow."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Any

import orjson
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Api


@pytest.fixture(scope="module")
def stage(api: Api) -> Api:
    """Yield a service with a table and a player."""
    api.jackpot("j")
    api.table("t", jackpot_id="j")
    api.player("anna")
    return api


def pages(api: Api, path: str) -> Iterator[dict[str, Any]]:
    """Yield all pages of a list, by its links."""
    while path:
        response = api.get(path)
        yield api.done(response)
        link = response.links.get("next")
        assert (link is None) == ("next_cursor" not in response.json())
        path = "" if link is None else link["url"]


def play(api: Api, player_id: str = "anna") -> str:
    """Play a hand and return its round."""
    round_id = str(api.open("t", api.seat(1, player_id), deal=True)["round_id"])
    api.decide(round_id, 1, "fold")
    return round_id


def test_tables_are_paged_by_their_ids(stage: Api) -> None:
    """More tables than a page are listed once each, in order, even when one is added meanwhile."""
    for number in range(120):
        stage.table(f"page-{number:03}")
    listed = pages(stage, "/v1/tables")
    names = [table["table_id"] for table in next(listed)["items"]]
    stage.table("aaa-first")
    names += [table["table_id"] for page in listed for table in page["items"]]
    assert len(names) == 121
    assert names == sorted(set(names))
    assert stage.get("/v1/tables/page-007").json()["ruleset"]["id"] == "us-casino"


@pytest.mark.parametrize("cursor", ["!", "YWE/", "a" * 201, "wqM"])
def test_a_cursor_that_no_page_gave_out_is_refused(stage: Api, cursor: str) -> None:
    """A cursor is opaque, and one that was made up is an error of shape."""
    stage.refused("validation_failed", 422, stage.get("/v1/tables", params={"cursor": cursor}))
    stage.refused("validation_failed", 422, stage.get("/v1/rounds/x/events", params={"min_position": "-1"}))


def test_a_players_rounds_are_listed_newest_first(stage: Api) -> None:
    """Each round the player has staked on is listed once, newest first; a read can wait for its own write."""
    stage.player("bob")
    rounds = [play(stage, "bob") for _ in range(103)]
    last = stage.open("t", stage.seat(1, "bob"), deal=True)
    written = stage.post(f"/v1/rounds/{last['round_id']}/decisions", {"seat": 1, "action": "raise"})
    rounds.append(last["round_id"])
    path = f"/v1/players/bob/rounds?min_position={written.headers['ledger-position']}"
    listed = [item for page in pages(stage, path) for item in page["items"]]
    assert [item["round_id"] for item in listed] == list(reversed(rounds))
    assert listed[0]["table_id"] == "t"
    assert listed[0]["ruleset"] == "us-casino"
    assert listed[0]["opened_at"].endswith("Z")
    stage.player("idle")
    assert stage.get("/v1/players/idle/rounds").json() == {"items": []}


def test_several_hands_of_a_player_are_one_round(stage: Api) -> None:
    """Who plays three hands of a round has one round in the list."""
    stage.table("three", "cyber")
    stage.player("eve")
    seats = [stage.seat(number, "eve") for number in (1, 2, 3)]
    response = stage.post("/v1/rounds", {"table_id": "three", "seats": seats, "deal": True})
    path = f"/v1/players/eve/rounds?min_position={response.headers['ledger-position']}"
    assert [item["round_id"] for item in stage.get(path).json()["items"]] == [response.json()["round_id"]]


def test_a_round_with_many_seats_is_paged_by_seats(stage: Api) -> None:
    """A shared round shows a hundred seats a page, with the totals of all; its events are paged, too."""
    stage.table("live", "evolution-live")
    round_id = stage.open("live")["round_id"]
    seats = [stage.seat(number, name, 100) for number, name in enumerate(stage.crowd(205, 100), 1)]
    for part in (seats[:200], seats[200:]):
        answer = stage.done(stage.post(f"/v1/rounds/{round_id}/antes", {"seats": part}))
    assert len(answer["seats"]) == 5
    assert answer["totals"]["seats"] == 205
    found = list(pages(stage, f"/v1/rounds/{round_id}"))
    assert [len(page["seats"]) for page in found] == [100, 100, 5]
    shown = [seat for page in found for seat in page["seats"]]
    assert [seat["player_id"] for seat in shown] == [f"crowd-{number}" for number in range(1, 206)]
    versions = [e["version"] for page in pages(stage, f"/v1/rounds/{round_id}/events") for e in page["items"]]
    assert versions == list(range(1, 207))


def test_rule_sets_are_read_with_every_version(stage: Api) -> None:
    """The nine houses are published, each with its hash and whole content."""
    items = stage.get("/v1/rulesets").json()["items"]
    assert len(items) == 9
    whole = stage.get("/v1/rulesets/us-casino").json()
    assert whole["document"]["id"] == "us-casino"
    assert whole["versions"] == [{"version": 1, "sha256": whole["sha256"]}]


def test_a_meter_is_told_as_it_grows(stage: Api) -> None:
    """The stream tells the jackpot at once, and again when a side bet has moved its meter."""
    headers = {"Authorization": f"Bearer {stage.token('audit')}"}
    with stage.client.stream("GET", "/v1/jackpots/j/meter", headers=headers) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = (line for line in stream.iter_lines() if line.startswith("data: "))
        first = orjson.loads(next(lines)[6:])
        bet = [stage.seat(1, "anna", side_bets={"jackpot": 100})]
        worker = threading.Thread(target=stage.open, args=("t", *bet), kwargs={"deal": True})
        worker.start()
        second = orjson.loads(next(lines)[6:])
        worker.join()
    assert second["meter"] == first["meter"] + 70


def test_the_streams_of_a_process_are_bounded(stage: Api) -> None:
    """One stream more than the bound is told to come back."""
    stage.service.meter_streams += 64
    try:
        stage.refused("overloaded", 503, stage.get("/v1/jackpots/j/meter"))
    finally:
        stage.service.meter_streams -= 64


def test_joining_and_leaving_a_table(stage: Api) -> None:
    """A joined seat takes nobody else's stakes; who leaves gives it up."""
    stage.player("fay")
    stage.player("gus")
    for _ in itertools.repeat(None, 2):
        assert stage.done(stage.post("/v1/tables/t/join", {"player_id": "fay", "seat": 3}))["players"] == 1
    taken = stage.post("/v1/tables/t/join", {"player_id": "gus", "seat": 3})
    stage.refused("seat_taken", 409, taken)
    stakes = {"table_id": "t", "seats": [stage.seat(3, "gus")]}
    stage.refused("seat_taken", 409, stage.post("/v1/rounds", stakes))
    assert stage.done(stage.post("/v1/tables/t/leave", {"player_id": "fay"}))["players"] == 0
    assert stage.post("/v1/rounds", stakes).status_code == 201


def test_readiness_follows_the_service(stage: Api) -> None:
    """A service that is stopping says so to whoever sends it work."""
    assert stage.client.get("/readyz").json()["status"] == "ok"
    stage.service.started = False
    try:
        stage.refused("overloaded", 503, stage.client.get("/readyz"))
    finally:
        stage.service.started = True


def test_the_next_round_is_opened_with_the_last_decision(stage: Api) -> None:
    """With `open_next` the answer names the next round, whose commitment is known before its stakes."""
    stage.player("hal")
    first = stage.open("t", stage.seat(1, "hal"), deal=True)["round_id"]
    following = stage.decide(first, 1, "fold", open_next=True)["next_round"]
    path = f"/v1/rounds/{following['round_id']}"
    assert stage.get(path).json()["deck_commitment"] == following["deck_commitment"]
    antes = {"seats": [stage.seat(1, "hal", client_seed="lucky-7")], "deal": True}
    dealt = stage.done(stage.post(f"{path}/antes", antes))
    assert (dealt["phase"], dealt["committed"]) == ("dealt", "before_stake")
    stage.decide(following["round_id"], 1, "raise")
    assert stage.get(f"{path}/replay").json()["verdict"] == "pass"

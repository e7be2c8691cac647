"""Who sees which cards, and when (G5)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import orjson
import psycopg
import pytest

if TYPE_CHECKING:
    from conftest import Api

ANNA = "As Ah 7c 4d 2s".split()
BOB = "Ks Kh 8c 5d 3s".split()


@pytest.fixture(scope="module")
def stage(api: Api) -> Api:
    """Yield a service with a physical table, an `rng` one, one that deals face up, and players."""
    api.table("scan", deal_source="table")
    api.table("rng", "nordic")
    api.table("live", "evolution-live")
    api.player("anna")
    api.player("bob")
    return api


@pytest.fixture
def dealt(stage: Api) -> str:
    """Yield a round of two seats in which one has decided."""
    cards = {"1": " ".join(ANNA), "2": " ".join(BOB)}
    round_id = stage.scanned("scan", cards, "Kd", stage.seat(1, "anna"), stage.seat(2, "bob"))
    stage.decide(round_id, 1, "raise")
    return round_id


def finish(api: Api, round_id: str) -> None:
    """Decide the second seat and reveal the dealer."""
    api.decide(round_id, 2, "fold")
    api.done(api.post(f"/v1/rounds/{round_id}/reveal", {"dealer": ["9s", "8h", "3c", "Ac"]}))


def hides(text: str) -> bool:
    """Whether none of the players' cards is in a text."""
    return not any(f'"{card}"' in text for card in (*ANNA, *BOB))


def test_only_the_game_server_sees_face_down_cards_of_an_open_round(stage: Api, dealt: str) -> None:
    """`play` sees each seat's cards; others see none until the round is finished, then all."""
    path = f"/v1/rounds/{dealt}"
    assert stage.get(path, scope="play").json()["seats"][0]["cards"] == ANNA
    for scope in ("reports", "audit", "disputes", "reports audit"):
        seen = stage.get(path, scope=scope)
        assert seen.json()["seats"][0]["cards"] == []
        assert seen.json()["seats"][0]["category"] is None
        assert hides(seen.text)
    finish(stage, dealt)
    seen = stage.get(path, scope="audit").json()
    assert [seat["cards"] for seat in seen["seats"]] == [ANNA, BOB]


def test_events_with_face_down_cards_are_withheld_while_the_round_is_open(stage: Api, dealt: str) -> None:
    """Such events keep their place; nobody's token, and no hash of an answer, gives the cards away."""
    path = f"/v1/rounds/{dealt}/events"
    for scope in ("play", "audit", "reports"):
        seen = stage.get(path, scope=scope)
        assert hides(seen.text)
        items = seen.json()["items"]
        assert [item["version"] for item in items] == list(range(1, len(items) + 1))
        withheld = [item for item in items if item.get("withheld")]
        assert [item["type"] for item in withheld] == ["Dealt", "Dealt"]
        assert all(set(item) == {"position", "stream", "version", "type", "withheld"} for item in withheld)
        assert not any("shown" in item.get("meta", {}) for item in items)
    finish(stage, dealt)
    items = stage.get(path, scope="audit").json()["items"]
    assert not any(item.get("withheld") for item in items)
    assert [item["data"]["cards"] for item in items if item["type"] == "Dealt"] == [ANNA, BOB, ["Kd"]]
    assert any("shown" in item["meta"] for item in items)


def test_an_exchanged_card_is_withheld_too(stage: Api) -> None:
    """The card that was bought lies face down like the others."""
    stage.player("petr", currency="EUR")
    parameters = {"bonus_stake": 100, "raise_win_cap": 10_000}
    stage.table("czech", "czech", currency="EUR", deal_source="table", parameters=parameters)
    round_id = stage.scanned("czech", {"1": " ".join(ANNA)}, "Kd", stage.seat(1, "petr"))
    stage.decide(round_id, 1, "exchange", discard="2s", drawn="Qc")
    seen = stage.get(f"/v1/rounds/{round_id}/events", scope="play audit")
    assert [item["type"] for item in seen.json()["items"] if item.get("withheld")] == [
        "Dealt",
        "CardExchanged",
    ]
    assert '"Qc"' not in seen.text
    stage.decide(round_id, 1, "fold")


def test_a_hand_that_lies_face_up_is_seen_by_all(stage: Api) -> None:
    """Where the house deals the players' hand face up there is nothing to withhold."""
    round_id = stage.open("live", stage.seat(1, "anna"), deal=True)["round_id"]
    seen = stage.get(f"/v1/rounds/{round_id}", scope="audit").json()
    assert len(seen["seats"][0]["cards"]) == 5
    events = stage.get(f"/v1/rounds/{round_id}/events", scope="audit").json()["items"]
    assert not any(item.get("withheld") for item in events)
    stage.decide(round_id, 1, "fold")


def test_dealer_and_seed_are_nowhere_before_their_reveal(stage: Api) -> None:
    """No answer and no row of an open round holds the seed or the dealer's other cards."""
    opened = stage.post(
        "/v1/rounds",
        {"table_id": "rng", "seats": [stage.seat(1, "anna"), stage.seat(2, "bob")], "deal": True},
    )
    round_id = opened.json()["round_id"]
    told = opened.text + "".join(
        stage.get(f"/v1/rounds/{round_id}{what}", scope="play audit").text for what in ("", "/events")
    )
    with psycopg.connect(stage.admin_dsn) as connection:
        tables = ("events", "commands", "open_rounds", "tables", "wallets")
        rows = [
            connection.execute(f"SELECT t::text FROM {stage.schema}.{table} t").fetchall() for table in tables
        ]
        stored = connection.execute(
            f"SELECT data FROM {stage.schema}.events WHERE stream = 'round-{round_id}'"
        ).fetchall()
    stage.decide(round_id, 1, "raise")
    closed = stage.decide(round_id, 2, "raise")
    seed = closed["deck_seed"]
    hidden = [card for card in closed["dealer"]["cards"] if card not in closed["up_cards"]]
    assert len(hidden) == 4
    assert seed not in told
    assert seed not in str(rows)
    assert not any(f'"{card}"' in told for card in hidden)
    assert not any(f'"{card}"'.encode() in data for (data,) in stored for card in hidden)


def test_a_players_evidence_withholds_the_others(stage: Api, dealt: str) -> None:
    """With `player_id` another player's events are there as their place and leaf hash only."""
    finish(stage, dealt)
    whole = stage.get(f"/v1/rounds/{dealt}/evidence").json()
    own = stage.get(f"/v1/rounds/{dealt}/evidence?player_id=anna", scope="disputes").json()
    assert whole["player"] is None
    assert own["player"] == whole["events"][1]["data"]["player"]
    assert len(own["events"]) == len(whole["events"])
    for full, shown in zip(whole["events"], own["events"], strict=True):
        if full["data"].get("seat") == 2:
            leaf = hashlib.sha256(b"\x00" + orjson.dumps(full, option=orjson.OPT_SORT_KEYS)).hexdigest()
            assert shown["leaf_sha256"] == leaf
            assert set(shown) == {"position", "stream", "version", "withheld", "leaf_sha256"}
        else:
            assert shown == full
    assert not any(f'"{card}"' in orjson.dumps(own["events"]).decode() for card in BOB)


def test_a_note_is_kept_outside_the_log(stage: Api) -> None:
    """The log holds the salted hash of why a round is void; a repeat keeps nothing twice."""
    round_id = stage.open("rng", stage.seat(1, "anna"), deal=True)["round_id"]
    note = {"cause": "malfunction", "note": "The shuffler jammed.\nAgain."}
    voided = stage.done(stage.post(f"/v1/rounds/{round_id}/void", note, key="void-1"))
    assert (voided["phase"], voided["seats"][0]["result"]) == ("voided", "void")
    stage.done(stage.post(f"/v1/rounds/{round_id}/void", note, key="void-1"))
    events = stage.get(f"/v1/rounds/{round_id}/events").json()["items"]
    sha256 = next(event["data"]["note_sha256"] for event in events if event["type"] == "RoundVoided")
    assert "jammed" not in str(events)
    with psycopg.connect(stage.admin_dsn) as connection:
        query = f"SELECT salt, note FROM {stage.schema}.notes WHERE sha256 = %s"
        rows: list[Any] = connection.execute(query, [sha256]).fetchall()
    ((salt, text),) = rows
    assert hashlib.sha256(salt + text.encode()).hexdigest() == sha256
    assert text == note["note"]

"""A request that is sent again acts once and is answered as the first time (G3)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from conftest import Api


@pytest.fixture(scope="module")
def stage(api: Api) -> Api:
    """Yield a service with a table and a player."""
    api.table("t")
    api.player("anna")
    return api


def test_a_repeat_is_answered_as_the_first_time(stage: Api) -> None:
    """The same key and body gets the same bytes and position, and says that it is a repeat."""
    body = {"amount": 100, "reference": "twice"}
    first = stage.post("/v1/players/anna/deposits", body, key="twice")
    again = stage.post("/v1/players/anna/deposits", dict(reversed(body.items())), key="twice")
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert first.headers["ledger-position"] == again.headers["ledger-position"]
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"


def test_a_rejection_is_remembered_even_when_its_reason_is_gone(stage: Api) -> None:
    """What was rejected stays rejected under its key; a new try is a new key."""
    body = {"player_id": "late", "currency": "USD"}
    deposit = {"amount": 5, "reference": "late-1"}
    first = stage.post("/v1/players/late/deposits", deposit, key="too-early")
    stage.refused("player_not_found", 404, first)
    stage.done(stage.post("/v1/players", body))
    again = stage.post("/v1/players/late/deposits", deposit, key="too-early")
    stage.refused("player_not_found", 404, again)
    assert again.headers["idempotent-replayed"] == "true"
    assert stage.done(stage.post("/v1/players/late/deposits", deposit))["balance"] == 5


def test_a_key_used_for_another_request_is_refused(stage: Api) -> None:
    """The same key with another body or path is refused, and the first answer still stands."""
    body = {"amount": 7, "reference": "seven"}
    stage.done(stage.post("/v1/players/anna/deposits", body, key="seven"))
    reused = stage.post("/v1/players/anna/deposits", {**body, "amount": 8}, key="seven")
    stage.refused("idempotency_key_reused", 422, reused)
    stage.refused(
        "idempotency_key_reused", 422, stage.post("/v1/players/anna/withdrawals", body, key="seven")
    )
    assert stage.post("/v1/players/anna/deposits", body, key="seven").headers["idempotent-replayed"] == "true"


def test_keys_belong_to_the_client_and_not_to_the_token(stage: Api) -> None:
    """Another client's same key is another command; a renewed token of the same client is the same."""
    body = {"player_id": "keyed", "currency": "USD"}

    def send(client_id: str, now: int | None = None) -> httpx.Response:
        token = stage.token(client_id=client_id, now=now)
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "mine"}
        return stage.client.post("/v1/players", json=body, headers=headers)

    assert send("one").status_code == 201
    stage.refused("player_exists", 409, send("two"))
    renewed = send("one", now=1_790_000_000 if stage.clock() < 1_790_003_000_000_000 else None)
    assert renewed.headers.get("idempotent-replayed") == "true"


def test_an_error_of_shape_leaves_the_key_free(stage: Api) -> None:
    """A request that was refused at the edge can be put right under the same key."""
    stage.refused("validation_failed", 422, stage.post("/v1/players", {"player_id": "free"}, key="free"))
    assert stage.post("/v1/players", {"player_id": "free", "currency": "USD"}, key="free").status_code == 201


@pytest.mark.parametrize("key", ["k" * 255, "a key with spaces ~!"])
def test_a_key_is_printable_ascii_of_some_length(stage: Api, key: str) -> None:
    """Any 1 to 255 printable characters are a key."""
    name = f"player-{len(key)}"
    assert stage.post("/v1/players", {"player_id": name, "currency": "USD"}, key=key).status_code == 201


@pytest.mark.parametrize("key", ["k" * 256, "tab\tkey", "kľúč".encode()])
def test_what_is_no_key_is_refused(stage: Api, key: str | bytes) -> None:
    """A key that is too long or not printable ASCII is an error of shape."""
    headers = {b"Authorization": f"Bearer {stage.token()}".encode(), b"Idempotency-Key": key}
    response = stage.client.post("/v1/players", json={}, headers=headers)  # type: ignore[arg-type]
    stage.refused("validation_failed", 422, response)


@pytest.mark.parametrize("second", ["other", "first"])
def test_two_keys_on_one_request_are_refused(stage: Api, second: str) -> None:
    """Which of them would name the command is nobody's guess: nothing is done, even where they are alike."""
    player = {"player_id": f"two-keys-{second}", "currency": "USD"}
    headers = [
        ("Authorization", f"Bearer {stage.token()}"),
        ("Idempotency-Key", "first"),
        ("Idempotency-Key", second),
    ]
    problem = stage.refused(
        "validation_failed", 422, stage.client.post("/v1/players", json=player, headers=headers)
    )
    assert problem["errors"] == [{"pointer": "/Idempotency-Key", "detail": "must be sent once"}]
    stage.refused("player_not_found", 404, stage.get(f"/v1/players/{player['player_id']}"))


def test_one_key_sent_fifty_times_at_once_acts_once(stage: Api) -> None:
    """However many send it at the same time, money moves once and everybody hears the same."""
    before, _ = stage.balance("anna")
    body = {"amount": 1000, "reference": "fifty"}
    with ThreadPoolExecutor(16) as pool:
        sent = [pool.submit(stage.post, "/v1/players/anna/deposits", body, key="fifty") for _ in range(50)]
        answers = [future.result() for future in sent]
    assert len({answer.content for answer in answers}) == 1
    assert {answer.status_code for answer in answers} == {201}
    assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1
    assert stage.balance("anna")[0] == before + 1000


def test_a_write_tells_where_it_is_and_a_read_can_wait_for_it(stage: Api) -> None:
    """Each write answers with the ledger's position, which a read takes as the least it wants to see."""
    positions = []
    for number in range(3):
        written = stage.post("/v1/players", {"player_id": f"pos-{number}", "currency": "USD"})
        positions.append(int(written.headers["ledger-position"]))
        read = stage.get(f"/v1/players/pos-{number}", params={"min_position": positions[-1]})
        assert read.status_code == 200
    assert positions == sorted(set(positions))

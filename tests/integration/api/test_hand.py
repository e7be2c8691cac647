"""A hand over HTTP, from the ante to the verified payout."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Api


def test_a_hand_from_ante_to_settlement_moves_wallet_and_jackpot(api: Api) -> None:
    """Two commands play a hand; the wallet, the meter, the replay and the evidence tell the same story."""
    api.post(
        "/v1/jackpots", {"jackpot_id": "j1", "currency": "USD", "reset": 1_000_000, "contribution": "0.70"}
    )
    api.table("t1", jackpot_id="j1")
    api.player("anna")
    seat = {"seat": 1, "player_id": "anna", "ante": 1000, "side_bets": {"jackpot": 100}}
    opened = api.post("/v1/rounds", {"table_id": "t1", "seats": [seat], "deal": True})
    assert opened.status_code == 201, opened.text
    round_ = opened.json()
    assert round_["phase"] == "dealt"
    assert round_["committed"] == "same_command"
    assert len(round_["seats"][0]["cards"]) == 5
    assert round_["seats"][0]["options"] == ["raise", "fold"]
    assert api.balance("anna") == (1_000_000 - 1_100, 1_100)
    decided = api.post(f"/v1/rounds/{round_['round_id']}/decisions", {"seat": 1, "action": "raise"})
    assert decided.status_code == 200, decided.text
    closed = decided.json()
    assert closed["phase"] == "closed"
    assert len(closed["dealer"]["cards"]) == 5
    assert closed["deck_seed"]
    net = closed["seats"][0]["net"]
    assert api.balance("anna") == (1_000_000 + net, 0)
    meter = api.get("/v1/jackpots/j1").json()
    assert meter["meter_exact"] == "1000070"
    read = api.get(f"/v1/rounds/{round_['round_id']}").json()
    told = [answer.pop("checkpoint", {"size": 0})["size"] for answer in (closed, read)]
    assert told == sorted(told)  # the log has gone on meanwhile
    assert read == closed
    replay = api.get(f"/v1/rounds/{round_['round_id']}/replay").json()
    assert replay["verdict"] == "pass", replay
    evidence = api.get(f"/v1/rounds/{round_['round_id']}/evidence")
    assert evidence.json()["format"] == "stud-ledger/evidence/2"
    assert "attachment" in evidence.headers["content-disposition"]

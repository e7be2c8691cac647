"""Every way a request can fail has its code and status, as the HTTP contract lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Api

HAND = "As Ah 7c 4d 2s"
OTHER = "Ks Kh 8c 5d 3s"


@pytest.fixture(scope="module")
def stage(api: Api) -> Api:
    """Yield the service with tables, players and a round or two to go wrong with."""
    api.jackpot("j")
    api.jackpot("j-eur", currency="EUR")
    api.jackpot("j-test", account_class="test")
    api.table("t", jackpot_id="j")
    api.table("scan", deal_source="table")
    api.table(
        "czech",
        "czech",
        currency="EUR",
        deal_source="table",
        parameters={"bonus_stake": 100, "raise_win_cap": 10_000},
    )
    for name in ("anna", "bob", "carl", "dora", "emil"):
        api.player(name)
    api.player("poor", funds=1500)
    api.player("euro", currency="EUR")
    api.player("tester", account_class="test")
    return api


def decide(api: Api, round_id: str, **body: Any) -> Any:
    """Send a decision."""
    return api.post(f"/v1/rounds/{round_id}/decisions", {"seat": 1, "action": "raise", **body})


def test_a_post_without_a_key_is_told_so(api: Api) -> None:
    """The key is asked for before the body is looked at."""
    headers = {"Authorization": f"Bearer {api.token()}"}
    api.refused("idempotency_key_missing", 400, api.client.post("/v1/players", content=b"{", headers=headers))


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nonsense",
        b'{"player_id": NaN}',
        b'{"player_id": "a", "player_id": "b", "currency": "USD"}',
        b"\xff\xfe",
        b'{"player_id": "\\ud800", "currency": "USD"}',
        b'{"\\udc00": 1}',
        b"[" * 100_000,
        b'{"player_id": ' + b"9" * 5000 + b"}",
    ],
)
def test_a_body_that_two_readers_could_read_differently_is_malformed(api: Api, body: bytes) -> None:
    """Broken JSON, a name twice, NaN, half a surrogate pair, or no UTF-8 is refused as malformed."""
    problem = api.refused("malformed_json", 400, api.post("/v1/players", content=body))
    assert "USD" not in problem["detail"]


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_bound_is_refused(api: Api, *, chunked: bool) -> None:
    """A body over 256 KiB is refused, whether or not it says how long it is."""
    body = b" " * (256 * 1024 + 1)
    content: Any = iter([body[:100_000], body[100_000:200_000], body[200_000:]]) if chunked else body
    api.refused("body_too_large", 413, api.post("/v1/players", content=content))


def test_what_is_not_there_is_not_found(stage: Api) -> None:
    """Each kind of thing that does not exist has its own code, read or written."""
    api = stage
    api.refused("round_not_found", 404, api.get("/v1/rounds/nothing"))
    api.refused("round_not_found", 404, api.get("/v1/rounds/%00"))
    api.refused("round_not_found", 404, api.get("/v1/rounds/nothing/events"))
    api.refused("round_not_found", 404, api.get("/v1/rounds/nothing/replay"))
    api.refused("round_not_found", 404, api.get("/v1/rounds/nothing/evidence"))
    api.refused("round_not_found", 404, decide(api, "nothing"))
    api.refused("round_not_found", 404, decide(api, "%F0%9F%83%8F"))
    api.refused("player_not_found", 404, api.get("/v1/players/nobody"))
    api.refused("player_not_found", 404, api.get("/v1/players/nobody/rounds"))
    deposit = {"amount": 1, "reference": "r"}
    api.refused("player_not_found", 404, api.post("/v1/players/nobody/deposits", deposit))
    api.refused("table_not_found", 404, api.get("/v1/tables/none"))
    api.refused("table_not_found", 404, api.post("/v1/tables/none/close"))
    api.refused("jackpot_not_found", 404, api.get("/v1/jackpots/none"))
    api.refused("jackpot_not_found", 404, api.get("/v1/jackpots/none/meter"))
    api.refused("ruleset_not_found", 404, api.get("/v1/rulesets/none"))
    api.refused("ruleset_not_found", 404, api.post("/v1/tables/t/ruleset", {"ruleset": "none"}))


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/v1/jackpots/j/log",
        "/log/nothing",
        "/v1/disputes/1",
        "/console",
    ],
)
def test_what_later_work_builds_is_not_found(stage: Api, path: str) -> None:
    """A route that is not there answers with a problem, too."""
    stage.refused("not_found", 404, stage.get(path))


def test_the_wrong_method_is_refused_with_the_right_one(api: Api) -> None:
    """A DELETE is answered with what is allowed, by all the routes of the path."""
    for path, allowed in (("/v1/players", "POST"), ("/v1/tables", "GET, POST"), ("/v1/tables/t", "GET")):
        response = api.client.delete(path)
        problem = api.refused("method_not_allowed", 405, response)
        assert response.headers["allow"] == allowed
        assert problem["detail"] == f"This path takes {allowed}."


def test_what_exists_already_is_refused(stage: Api) -> None:
    """A second player, table or jackpot of the same name is a conflict."""
    api = stage
    api.refused("player_exists", 409, api.post("/v1/players", {"player_id": "anna", "currency": "USD"}))
    jackpot = {"jackpot_id": "j", "currency": "USD", "reset": 0, "contribution": "0.5"}
    api.refused("jackpot_exists", 409, api.post("/v1/jackpots", jackpot))
    table = {
        "table_id": "t",
        "ruleset": "us-casino",
        "currency": "USD",
        "min_ante": 1,
        "max_ante": 2,
        "deal_source": "rng",
    }
    api.refused("table_exists", 409, api.post("/v1/tables", table))
    new = {**table, "table_id": "new"}
    api.refused("ruleset_not_found", 404, api.post("/v1/tables", {**new, "ruleset": "none"}))
    api.refused("jackpot_not_found", 404, api.post("/v1/tables", {**new, "jackpot_id": "none"}))
    api.refused("currency_mismatch", 422, api.post("/v1/tables", {**new, "jackpot_id": "j-eur"}))
    api.refused("currency_mismatch", 422, api.post("/v1/tables", {**new, "currency": "EUR"}))
    api.refused("account_class_mismatch", 409, api.post("/v1/tables", {**new, "jackpot_id": "j-test"}))
    api.refused(
        "validation_failed", 422, api.post("/v1/tables", {**new, "parameters": {"zone": "Nowhere/Land"}})
    )


def test_money_that_is_not_there_is_refused(stage: Api) -> None:
    """Stakes, raises and withdrawals above the balance are refused and say how much there is."""
    api = stage
    stakes = {"table_id": "t", "seats": [api.seat(1, "poor", 1501)], "deal": True}
    problem = api.refused("insufficient_funds", 409, api.post("/v1/rounds", stakes))
    assert (problem["needed"], problem["balance"]) == (1501, 1500)
    round_id = api.open("t", api.seat(1, "poor", 1000), deal=True)["round_id"]
    api.refused("insufficient_funds", 409, decide(api, round_id))
    withdrawal = {"amount": 501, "reference": "out-1"}
    api.refused("insufficient_funds", 409, api.post("/v1/players/poor/withdrawals", withdrawal))
    api.decide(round_id, 1, "fold")


def test_a_reference_is_one_transfer(stage: Api) -> None:
    """The same reference and amount is the first transfer again; another amount is refused."""
    api = stage
    path, body = "/v1/players/bob/withdrawals", {"amount": 10, "reference": "w-1"}
    first = api.done(api.post(path, body))
    assert api.done(api.post(path, body)) == first
    assert api.refused("reference_already_used", 409, api.post(path, {**body, "amount": 11}))["amount"] == 10


def test_a_seat_that_may_not_is_refused(stage: Api) -> None:
    """Seats that are taken, missing, or have decided, and rounds in another phase, each have their code."""
    api = stage
    round_id = api.open("t", api.seat(1, "anna"))["round_id"]
    antes = f"/v1/rounds/{round_id}/antes"
    api.refused("wrong_phase", 409, decide(api, round_id))
    api.refused("seat_taken", 409, api.post(antes, {"seats": [api.seat(1, "bob")]}))
    api.refused(
        "round_unfinished", 409, api.post("/v1/rounds", {"table_id": "t", "seats": [api.seat(2, "anna")]})
    )
    api.done(api.post(antes, {"seats": [api.seat(2, "bob")], "deal": True}))
    api.refused("wrong_phase", 409, api.post(antes, {"seats": [api.seat(3, "carl")]}))
    api.refused("not_your_seat", 422, decide(api, round_id, seat=5))
    api.refused("round_unfinished", 409, api.get(f"/v1/rounds/{round_id}/replay"))
    api.refused("round_unfinished", 409, api.get(f"/v1/rounds/{round_id}/evidence"))
    api.refused("round_unfinished", 409, api.post("/v1/tables/t/leave", {"player_id": "anna"}))
    api.decide(round_id, 1, "raise")
    api.refused("already_decided", 409, decide(api, round_id))
    api.decide(round_id, 2, "fold")
    void = {"cause": "malfunction", "note": "too late"}
    api.refused("wrong_phase", 409, api.post(f"/v1/rounds/{round_id}/void", void))
    api.refused("player_not_found", 404, api.get(f"/v1/rounds/{round_id}/evidence?player_id=carl"))


def test_a_table_that_takes_nobody_is_refused(stage: Api) -> None:
    """A table with a round, a full table and a closed one each say why they take no more."""
    api = stage
    api.table("small", "cyber", parallel_rounds=False)
    round_id = api.open("small", api.seat(1, "anna"), api.seat(2, "anna"), api.seat(3, "anna"))["round_id"]
    problem = api.refused("round_open", 409, api.post("/v1/rounds", {"table_id": "small", "seats": []}))
    assert problem["round_id"] == round_id
    antes = {"seats": [api.seat(4, "bob")]}
    api.refused("table_full", 409, api.post(f"/v1/rounds/{round_id}/antes", antes))
    api.done(api.post("/v1/tables/small/close"))
    api.refused("table_closed", 409, api.post("/v1/rounds", {"table_id": "small", "seats": []}))
    api.refused("table_closed", 409, api.post("/v1/tables/small/join", {"player_id": "bob"}))
    api.done(api.post("/v1/tables/small/open"))


def test_stakes_that_the_table_does_not_take_are_refused(stage: Api) -> None:
    """Antes, side bets, currencies and classes of account are checked against the table and its house."""
    api = stage

    def stakes(**more: Any) -> Any:
        ante = more.pop("ante", 1000)
        body = {
            "table_id": more.pop("table_id", "t"),
            "seats": [api.seat(1, more.pop("who", "dora"), ante, **more)],
        }
        return api.post("/v1/rounds", body)

    api.refused("ante_out_of_limits", 422, stakes(ante=99))
    api.refused("ante_out_of_limits", 422, stakes(ante=100_001))
    api.refused("amount_out_of_range", 422, stakes(ante=10**12 + 1))
    api.refused("amount_out_of_range", 422, stakes(ante=10**40))
    api.refused("unknown_side_bet", 422, stakes(side_bets={"five_plus_one": 100}))
    api.refused("unknown_side_bet", 422, stakes(side_bets={"lottery": 100}))
    api.refused("side_bet_stake", 422, stakes(side_bets={"jackpot": 99}))
    api.refused("currency_mismatch", 422, stakes(who="euro"))
    api.refused("account_class_mismatch", 409, stakes(who="tester"))
    api.refused("player_not_found", 404, stakes(who="nobody"))
    api.refused("table_not_found", 404, stakes(table_id="none"))
    api.refused("validation_failed", 422, stakes(client_seed="lucky"))


@pytest.mark.parametrize(
    ("cards", "up"),
    [
        ({"1": "As Ah 7c 4d Zz"}, "Kd"),
        ({"1": "As As 7c 4d 2s"}, "Kd"),
        ({"1": "As Ah 7c 4d"}, "Kd"),
        ({"1": HAND}, "As"),
        ({"1": HAND}, "Kd Kh"),
        ({"1": HAND, "2": OTHER}, "Kd"),
    ],
)
def test_a_scan_that_cannot_be_is_a_misdeal_and_may_be_repeated(
    stage: Api, cards: dict[str, str], up: str
) -> None:
    """An unknown or repeated card, a wrong count or seat is refused, and the right scan is taken after."""
    api = stage
    round_id = api.open("scan", api.seat(1, "emil"))["round_id"]
    hands = {number: text.split() for number, text in cards.items()}
    path = f"/v1/rounds/{round_id}/deal"
    api.refused("misdeal", 422, api.post(path, {"seats": hands, "dealer_up": up.split()}))
    api.done(api.post(path, {"seats": {"1": HAND.split()}, "dealer_up": ["Kd"]}))
    api.decide(round_id, 1, "raise")
    reveal = f"/v1/rounds/{round_id}/reveal"
    api.refused("misdeal", 422, api.post(reveal, {"dealer": ["Zz", "8h", "3c", "Ac"]}))
    api.refused("misdeal", 422, api.post(reveal, {"dealer": ["9s", "8h", "3c"]}))
    api.refused("misdeal", 422, api.post(reveal, {"dealer": ["As", "8h", "3c", "Ac"]}))
    assert api.done(api.post(reveal, {"dealer": ["9s", "8h", "3c", "Ac"]}))["phase"] == "closed"


def test_no_cards_are_named_to_a_deck_that_is_fixed(stage: Api) -> None:
    """An `rng` round takes no cards from anybody."""
    api = stage
    round_id = api.open("t", api.seat(1, "emil"))["round_id"]
    cards = {"seats": {"1": HAND.split()}, "dealer_up": ["Kd"]}
    api.refused("validation_failed", 422, api.post(f"/v1/rounds/{round_id}/deal", cards))
    api.done(api.post(f"/v1/rounds/{round_id}/deal", {}))
    reveal = {"dealer": ["9s", "8h", "3c", "Ac"]}
    api.refused("validation_failed", 422, api.post(f"/v1/rounds/{round_id}/reveal", reveal))
    api.decide(round_id, 1, "fold")


def test_a_position_that_does_not_come_is_waited_for_within_a_bound(stage: Api) -> None:
    """A read that asks for a position that no answer has named is refused: it is not the service's fault."""
    response = stage.get("/v1/tables/t?min_position=9007199254740991")
    problem = stage.refused("validation_failed", 422, response)
    assert [error["pointer"] for error in problem["errors"]] == ["/min_position"]

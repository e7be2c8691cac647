"""Bad input changes nothing: not a row of the ledger, but for the rejection it remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Api


@pytest.fixture(scope="module")
def stage(api: Api) -> Api:
    """Yield a service with a table and a player."""
    api.jackpot("j")
    api.table("t", jackpot_id="j")
    api.table("czech", "czech", currency="EUR", parameters={"bonus_stake": 100, "raise_win_cap": 10_000})
    api.player("anna")
    api.player("bob")
    api.player("euro", currency="EUR")
    return api


SEAT = {"seat": 1, "player_id": "anna", "ante": 1000}


def seats(**more: Any) -> dict[str, Any]:
    """Return a request for a round with one seat, changed."""
    return {"table_id": "t", "seats": [{**SEAT, **more}], "deal": True}


SHAPES: list[tuple[str, Any]] = [
    ("/v1/players", {}),
    ("/v1/players", []),
    ("/v1/players", 7),
    ("/v1/players", {"player_id": "x", "currency": "USD", "vip": True}),
    ("/v1/players", {"player_id": "x", "currency": "usd"}),
    ("/v1/players", {"player_id": "x", "currency": 840}),
    ("/v1/players", {"player_id": "", "currency": "USD"}),
    ("/v1/players", {"player_id": "x" * 65, "currency": "USD"}),
    ("/v1/players", {"player_id": "a b", "currency": "USD"}),
    ("/v1/players", {"player_id": "a\u0000", "currency": "USD"}),
    ("/v1/players", {"player_id": "é", "currency": "USD"}),
    ("/v1/players", {"player_id": "x", "currency": "USD", "account_class": "vip"}),
    ("/v1/players/anna/deposits", {"amount": 0, "reference": "r"}),
    ("/v1/players/anna/deposits", {"amount": -1, "reference": "r"}),
    ("/v1/players/anna/deposits", {"amount": 1.0, "reference": "r"}),
    ("/v1/players/anna/deposits", {"amount": 0.1, "reference": "r"}),
    ("/v1/players/anna/deposits", {"amount": "1", "reference": "r"}),
    ("/v1/players/anna/deposits", {"amount": True, "reference": "r"}),
    ("/v1/players/anna/deposits", {"amount": None, "reference": "r"}),
    ("/v1/players/anna/deposits", {"amount": 1, "reference": ""}),
    ("/v1/players/anna/deposits", {"amount": 1, "reference": "a\u0000b"}),
    ("/v1/players/anna/deposits", {"amount": 1, "reference": "r" * 129}),
    ("/v1/players/anna/withdrawals", {"amount": -5, "reference": "r"}),
    ("/v1/jackpots", {"jackpot_id": "x", "currency": "USD", "reset": -1, "contribution": "0.7"}),
    ("/v1/jackpots", {"jackpot_id": "x", "currency": "USD", "reset": 1, "contribution": 0.7}),
    ("/v1/jackpots", {"jackpot_id": "x", "currency": "USD", "reset": 1, "contribution": "0.70001"}),
    ("/v1/rounds", seats(ante=0)),
    ("/v1/rounds", seats(ante=-1000)),
    ("/v1/rounds", seats(ante=1000.0)),
    ("/v1/rounds", seats(ante="1000")),
    ("/v1/rounds", seats(seat=0)),
    ("/v1/rounds", seats(seat="1")),
    ("/v1/rounds", seats(side_bets={"jackpot": -100})),
    ("/v1/rounds", seats(side_bets={"jackpot": 100.0})),
    ("/v1/rounds", seats(side_bets={"Jackpot!": 100})),
    ("/v1/rounds", seats(side_bets=[])),
    ("/v1/rounds", seats(channel="pigeon")),
    ("/v1/rounds", seats(session_id="a b")),
    ("/v1/rounds", seats(client_seed="x" * 65)),
    ("/v1/rounds", seats(client_seed="a\u0007")),
    ("/v1/rounds", seats(client_seed="e\u0301")),
    ("/v1/rounds", seats(client_seed="\ufdd0")),
    ("/v1/rounds", {"table_id": "t", "seats": [SEAT] * 501}),
    ("/v1/rounds", {"table_id": "t", "deal": "yes"}),
    ("/v1/rounds/ROUND/decisions", {"seat": 1, "action": "call"}),
    ("/v1/rounds/ROUND/decisions", {"seat": 1, "action": "raise", "amount": 2000}),
    ("/v1/rounds/ROUND/decisions", {"seat": 1, "action": "exchange", "discard": 7}),
    ("/v1/rounds/ROUND/deal", {"seats": {"one": ["As"]}}),
    ("/v1/rounds/ROUND/deal", {"seats": {"1": "As"}}),
    ("/v1/rounds/ROUND/void", {"cause": "malfunction"}),
    ("/v1/rounds/ROUND/void", {"cause": "malfunction", "note": ""}),
    ("/v1/rounds/ROUND/void", {"cause": "malfunction", "note": "a\u0000"}),
    ("/v1/rounds/ROUND/void", {"cause": "malfunction", "note": "n" * 2001}),
    ("/v1/tables/t/ruleset", {"ruleset": "us-casino", "version": 0}),
    ("/v1/tables/t/join", {"player_id": "anna", "seat": -1}),
]


@pytest.fixture(scope="module")
def round_id(stage: Api) -> str:
    """Yield a round that waits for its seat's decision."""
    return str(stage.open("t", SEAT, deal=True)["round_id"])


@pytest.mark.parametrize(("path", "body"), SHAPES)
def test_a_shape_that_is_refused_leaves_no_trace(stage: Api, round_id: str, path: str, body: Any) -> None:
    """What is not of the right shape is refused at the edge: every row is as it was, and the key is free."""
    before = stage.rows()
    key = f"shape-{SHAPES.index((path, body))}"
    problem = stage.refused(
        "validation_failed", 422, stage.post(path.replace("ROUND", round_id), body, key=key)
    )
    assert problem["errors"]
    assert stage.rows() == before


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/v1/players/anna/deposits", {"amount": 10**12 + 1, "reference": "r"}, "amount_out_of_range"),
        ("/v1/players/anna/deposits", {"amount": 2**63, "reference": "r"}, "amount_out_of_range"),
        ("/v1/rounds", seats(ante=10**30), "amount_out_of_range"),
        ("/v1/rounds", seats(side_bets={"jackpot": 10**15}), "amount_out_of_range"),
    ],
)
def test_an_amount_that_is_too_large_leaves_no_trace(stage: Api, path: str, body: Any, code: str) -> None:
    """An amount over the ledger's bound is told apart from one that is no amount."""
    before = stage.rows()
    stage.refused(code, 422, stage.post(path, body))
    assert stage.rows() == before


REJECTED: list[tuple[str, Any, str, int]] = [
    ("/v1/players", {"player_id": "anna", "currency": "USD"}, "player_exists", 409),
    ("/v1/players", {"player_id": "new", "currency": "XXX"}, "validation_failed", 422),
    ("/v1/players/nobody/deposits", {"amount": 1, "reference": "r"}, "player_not_found", 404),
    ("/v1/players/anna/deposits", {"amount": 1, "reference": "anna-1"}, "reference_already_used", 409),
    ("/v1/players/anna/withdrawals", {"amount": 10**12, "reference": "w"}, "insufficient_funds", 409),
    ("/v1/rounds", {"table_id": "t", "seats": [{**SEAT, "player_id": "euro"}]}, "currency_mismatch", 422),
    ("/v1/rounds", {"table_id": "t", "seats": [{**SEAT, "seat": 8}]}, "validation_failed", 422),
    (
        "/v1/rounds",
        {"table_id": "t", "seats": [{**SEAT, "player_id": "bob", "ante": 10**9}]},
        "ante_out_of_limits",
        422,
    ),
    ("/v1/rounds", {"table_id": "t", "seats": [SEAT]}, "round_unfinished", 409),
    ("/v1/rounds", {"table_id": "t", "seats": [], "deal": True}, "validation_failed", 422),
    ("/v1/rounds/ROUND/decisions", {"seat": 2, "action": "raise"}, "not_your_seat", 422),
    (
        "/v1/rounds/ROUND/decisions",
        {"seat": 1, "action": "exchange", "discard": "As"},
        "validation_failed",
        422,
    ),
    ("/v1/rounds/ROUND/decisions", {"seat": 1, "action": "raise", "discard": "As"}, "validation_failed", 422),
    ("/v1/rounds/ROUND/deal", {}, "wrong_phase", 409),
    ("/v1/rounds/ROUND/void", {"cause": "boredom", "note": "n"}, "validation_failed", 422),
    ("/v1/tables/t/ruleset", {"ruleset": "us-casino", "version": 99}, "ruleset_not_found", 404),
]


@pytest.mark.parametrize(("path", "body", "code", "status"), REJECTED)
def test_a_rejection_leaves_nothing_but_itself(
    stage: Api, round_id: str, path: str, body: Any, code: str, status: int
) -> None:
    """What the ledger decides against is remembered, and changes nothing else."""
    before = stage.rows()
    stage.refused(code, status, stage.post(path.replace("ROUND", round_id), body))
    after = stage.rows()
    assert len(after.pop("commands")) == len(before.pop("commands")) + 1
    assert after == before


def test_a_problem_shows_nothing_of_what_was_sent(stage: Api) -> None:
    """Errors name the place and what belongs there, never the value."""
    secret = "s3cr3t-v4lue"
    problem = stage.post(
        "/v1/players", {"player_id": f"{secret} !", "currency": secret, "account_class": secret}
    )
    assert secret not in problem.text
    assert [error["pointer"] for error in problem.json()["errors"]] == [
        "/player_id",
        "/currency",
        "/account_class",
    ]

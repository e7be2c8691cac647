"""Several services on one ledger: what one has written the other knows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Api


@pytest.fixture(scope="module")
def stage(api: Api) -> Api:
    """Yield the first service with a jackpot and a table."""
    api.jackpot("j")
    api.table("t", jackpot_id="j")
    return api


def test_a_hand_is_played_at_two_services(stage: Api, beside: Api) -> None:
    """One opens the round, the other takes the decision; both read the same, and the meter counts once."""
    stage.player("anna")
    hit = False
    for number, (first, second) in enumerate([(stage, beside), (beside, stage)] * 3, 1):
        seat = first.seat(1, "anna", side_bets={"jackpot": 100})
        round_id = first.open("t", seat, deal=True)["round_id"]
        closed = second.decide(round_id, 1, "raise")
        read = first.get(f"/v1/rounds/{round_id}").json()
        for answer in (read, closed):
            answer.pop("checkpoint", None)  # the log has gone on meanwhile
        assert read == closed
        hit = hit or "jackpot_hits" in closed  # from then on the meter is what chance has left of it
        meter = stage.get("/v1/jackpots/j").json()["meter"]
        assert hit or meter == 1_000_000 + 70 * number


def test_a_repeat_at_the_other_service_is_known(stage: Api, beside: Api) -> None:
    """A key belongs to the ledger, not to the service that heard it first."""
    stage.player("bob")
    body = {"amount": 5, "reference": "once"}
    first = stage.post("/v1/players/bob/deposits", body, key="at-both")
    again = beside.post("/v1/players/bob/deposits", body, key="at-both")
    assert first.content == again.content
    assert again.headers["idempotent-replayed"] == "true"


def test_no_wallet_is_overdrawn_from_two_services_at_once(stage: Api, beside: Api) -> None:
    """Of forty withdrawals of a tenth each exactly ten are paid (G2)."""
    stage.player("carl", funds=1000)

    def withdraw(at: Api, number: int) -> int:
        body = {"amount": 100, "reference": f"out-{number}"}
        return int(at.post("/v1/players/carl/withdrawals", body, key=f"out-{number}").status_code)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(withdraw, cycle((stage, beside)), range(40)))
    assert sorted(answers) == [201] * 10 + [409] * 30
    assert stage.balance("carl") == beside.balance("carl") == (0, 0)


def test_a_second_start_publishes_nothing_again(stage: Api, beside: Api) -> None:
    """The rule sets that both have shipped are published once."""
    first, second = (one.get("/v1/rulesets").json()["items"] for one in (stage, beside))
    assert first == second
    assert [item["version"] for item in first] == [1] * 9

"""A jackpot's life over HTTP: what is done at once, what takes two people, and what a round shows of it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

import psycopg
import pytest
from psycopg import sql

from tests.integration.api.individuals import Individual
from tests.integration.api.physical_table import Box, PhysicalTable, books

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

ANNA = Individual("anna")
BEN = Individual("ben")
BET: Final = {"jackpot": 100}
DEALER: Final = "4c 7h 9c Jd Qd"
ROYAL: Final = "Ts Js Qs Ks As"
PAIR: Final = "5h 5d Kc 9h 2c"
OTHER_PAIR: Final = "6h 6d Kd 8h 3c"
WHY: Final = "The floor manager asked for it."

_numbers = itertools.count(1)


@pytest.fixture(scope="module", autouse=True)
def people(api: Api) -> None:
    """Register two administrators."""
    for one in (ANNA, BEN):
        api.done(api.post("/v1/people", one.body))


def opened(api: Api, reset: int = 1_000_000, **more: Any) -> str:
    """Open a jackpot; return its id."""
    name = f"life-{next(_numbers)}"
    api.jackpot(name, reset, **more)
    return name


def shown(api: Api, jackpot_id: str) -> dict[str, Any]:
    """Return a jackpot as it is shown."""
    return dict(api.done(api.get(f"/v1/jackpots/{jackpot_id}")))


def pools(api: Api, jackpot_id: str) -> tuple[str, str, str]:
    """Return what a jackpot's pools hold, exactly."""
    jackpot = shown(api, jackpot_id)
    return jackpot["meter_exact"], jackpot["overflow_exact"], jackpot["diversion_exact"]


def proposed(api: Api, jackpot_id: str, what: str, body: dict[str, Any]) -> dict[str, Any]:
    """Propose something as anna; return the proposal, after which nothing has changed."""
    before = shown(api, jackpot_id)
    answer = ANNA.post(api, f"/v1/jackpots/{jackpot_id}/{what}", body)
    assert answer.status_code == 201, answer.text
    assert shown(api, jackpot_id) == before
    return dict(answer.json())


def approved(api: Api, proposal: dict[str, Any]) -> dict[str, Any]:
    """Approve it as ben; return what was done, which is what the proposal said."""
    answer = BEN.decides(api, proposal["approval_id"])
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()["result"]
    assert result == proposal["effect"]
    return result


def recorded(api: Api, jackpot_id: str) -> list[bytes]:
    """Return the stored events of a jackpot's own stream."""
    query = sql.SQL("SELECT data FROM {}.events WHERE stream = %s ORDER BY version")
    with psycopg.connect(api.admin_dsn) as connection:
        rows = connection.execute(query.format(sql.Identifier(api.schema)), [f"jackpot-{jackpot_id}"])
        return [data for (data,) in rows.fetchall()]


def test_a_win_lets_the_new_parameters_in(api: Api) -> None:
    """Ceiling, overflow, diversion, a scheduled change and the win, to the unit; the round is proved."""
    pot = opened(api, ceiling=1_000_100, diversion="0.10")
    table = PhysicalTable(api, "us-casino", jackpot_id=pot)
    first = table.play(DEALER, Box(PAIR, "fold", 100, BET), Box(OTHER_PAIR, "fold", 100, BET))
    assert [
        (bet["contribution"], bet.get("overflow"), bet["diversion"]) for bet in first.of("SideBetPlaced")
    ] == [
        ("70", None, "10"),
        ("70", "40", "10"),
    ]
    assert pools(api, pot) == ("1000100", "40", "20")

    new = {"contribution": "0.65", "reset": 2_000_000, "ceiling": 3_000_000, "diversion": "0.05"}
    result = approved(api, proposed(api, pot, "parameters", {**new, "note": WHY}))
    assert shown(api, pot)["scheduled"] == result["scheduled"] == {**new, **result["scheduled"]}
    assert result["scheduled"]["version"] == 2

    won = table.play(DEALER, Box(ROYAL, "raise", 100, BET))
    (hit,) = won.of("JackpotHit")
    assert (hit["award"], hit["restart"]) == (1_000_100, "1000000")
    assert (hit["restart_from_diversion"], hit["from_overflow"]) == ("30", "100")
    jackpot = shown(api, pot)
    assert {name: jackpot[name] for name in new} == new
    assert (jackpot["parameters_version"], "scheduled" in jackpot) == (2, False)
    assert pools(api, pot) == ("2000100", "10", "0")
    kinds = [data.split(b'"type":"')[1].split(b'"')[0] for data in recorded(api, pot)]
    assert kinds == [b"JackpotOpened", b"JackpotParametersScheduled", b"JackpotParametersActivated"]
    for part in (b'"proposed_by":"anna"', b'"approved_by":"ben"', b'"note_sha256":"'):
        assert part in recorded(api, pot)[1]
    assert WHY.encode() not in recorded(api, pot)[1]

    table.void(table.stake(Box(PAIR, "fold", 100, BET)))
    assert pools(api, pot) == ("2000100", "10", "0")


def test_a_disabled_jackpot_takes_no_bets(api: Api) -> None:
    """At once, with a reason; the ante alone is taken, and once enabled it goes on as it was."""
    pot = opened(api)
    table = PhysicalTable(api, "us-casino", jackpot_id=pot)
    staked = table.begin(DEALER, Box(PAIR, "fold", 100, BET))
    answer = api.post(f"/v1/jackpots/{pot}/disable", {"note": WHY})
    assert api.done(answer)["enabled"] is False
    assert shown(api, pot)["enabled"] is False
    table.finish(staked, DEALER)
    seat = api.seat(1, table.player(1, Box("")), side_bets=BET)
    api.refused("jackpot_disabled", 409, api.post("/v1/rounds", {"table_id": table.id, "seats": [seat]}))
    table.play(DEALER, Box(PAIR, "fold", 100))
    assert pools(api, pot) == ("1000070", "0", "0")
    enabled = api.done(api.post(f"/v1/jackpots/{pot}/enable", {"note": WHY}))
    assert enabled == shown(api, pot)
    table.play(DEALER, Box(PAIR, "fold", 100, BET))
    assert pools(api, pot) == ("1000140", "0", "0")
    assert [WHY.encode() in data for data in recorded(api, pot)] == [False] * 3


@pytest.mark.parametrize("pool", ["meter", "overflow", "diversion"])
def test_an_adjustment_takes_two(api: Api, pool: str) -> None:
    """Proposed it changes nothing; who proposed it cannot approve it, nor can a service token."""
    pot = opened(api)
    before = dict(zip(("meter", "overflow", "diversion"), (1_000_000, 0, 0), strict=True))
    proposal = proposed(api, pot, "adjustments", {"pool": pool, "amount": 1_250, "reason": WHY})
    path = f"/v1/approvals/{proposal['approval_id']}"
    api.refused("same_person", 403, ANNA.decides(api, proposal["approval_id"]))
    api.refused("personal_subject_required", 403, api.post(path, {"decision": "approve"}))
    assert approved(api, proposal)["after_exact"] == str(before[pool] + 1_250)
    after = [str(held + 1_250 * (name == pool)) for name, held in before.items()]
    assert list(pools(api, pot)) == after
    assert not any(books(api).values())


def test_a_service_token_proposes(api: Api) -> None:
    """The meter is what is adjusted where no pool is named."""
    pot = opened(api)
    answer = api.post(f"/v1/jackpots/{pot}/adjustments", {"amount": -1_000_000, "reason": WHY})
    assert answer.status_code == 201
    assert (answer.json()["by_person"], answer.json()["payload"]["pool"]) == (False, "meter")
    approved(api, answer.json())
    assert pools(api, pot) == ("0", "0", "0")
    late = api.post(f"/v1/jackpots/{pot}/adjustments", {"amount": -1, "reason": WHY})
    api.refused("amount_out_of_range", 422, late)


def test_a_jackpot_is_given_to_another_and_retires(api: Api) -> None:
    """Only disabled and with every bet settled; then its pools move and nothing can be done with it."""
    pot, heir = opened(api, ceiling=1_000_050, diversion="0.30"), opened(api, 5_000)
    table = PhysicalTable(api, "us-casino", jackpot_id=pot)
    path, body = f"/v1/jackpots/{pot}/transfers", {"to": heir, "note": WHY}
    api.refused("jackpot_enabled", 409, api.post(path, body))
    staked = table.begin(DEALER, Box(PAIR, "fold", 100, BET))
    api.done(api.post(f"/v1/jackpots/{pot}/disable", {"note": WHY}))
    assert api.refused("jackpot_unsettled", 409, api.post(path, body))["unsettled"] == 1
    table.finish(staked, DEALER)
    approved(api, proposed(api, pot, "transfers", body))
    assert pools(api, pot) == ("0", "0", "0")
    assert pools(api, heir) == ("1005050", "20", "30")
    assert (shown(api, pot)["retired"], shown(api, pot)["enabled"]) == (True, False)
    for what, own in (
        ("enable", {"note": WHY}),
        ("disable", {"note": WHY}),
        ("adjustments", {"amount": 1, "reason": WHY}),
        ("transfers", body),
        ("parameters", {"contribution": "1", "reset": 0, "note": WHY}),
    ):
        api.refused("jackpot_retired", 409, api.post(f"/v1/jackpots/{pot}/{what}", own))
    late = {
        "table_id": "late",
        "ruleset": "us-casino",
        "currency": "USD",
        "min_ante": 100,
        "max_ante": 1_000,
        "deal_source": "rng",
        "jackpot_id": pot,
    }
    api.refused("jackpot_retired", 409, api.post("/v1/tables", late))
    assert not any(books(api).values())


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("enable", {}),
        ("disable", {"note": ""}),
        ("parameters", {"contribution": "0.7", "reset": 1}),
        ("parameters", {"contribution": "2", "reset": 1, "note": WHY}),
        ("parameters", {"contribution": "0.7", "reset": -1, "note": WHY}),
        ("parameters", {"contribution": "0.7", "reset": 1, "ceiling": 0, "note": WHY}),
        ("parameters", {"contribution": "0.7", "reset": 1, "ceiling": 9 * 10**15 + 1, "note": WHY}),
        ("parameters", {"contribution": "0.7", "reset": 1, "diversion": "0.31", "note": WHY}),
        ("parameters", {"contribution": "0.7", "reset": 1, "diversion": ".1", "note": WHY}),
        ("transfers", {"to": "no such/id", "note": WHY}),
        ("transfers", {"to": "x"}),
        ("adjustments", {"amount": 1.5, "reason": WHY}),
        ("adjustments", {"amount": 1, "pool": "house", "reason": WHY}),
        ("adjustments", {"amount": 1}),
    ],
)
def test_what_is_no_request_changes_nothing(api: Api, what: str, body: dict[str, Any]) -> None:
    """Without a reason, with shares above the whole, beyond what an amount can be."""
    pot = opened(api)
    before = len(recorded(api, pot))
    api.refused("validation_failed", 422, api.post(f"/v1/jackpots/{pot}/{what}", body))
    too_much = {"amount": -(10**12) - 1, "reason": WHY}
    api.refused("amount_out_of_range", 422, api.post(f"/v1/jackpots/{pot}/adjustments", too_much))
    assert len(recorded(api, pot)) == before


@pytest.mark.parametrize("what", ["enable", "disable", "parameters", "transfers", "adjustments"])
def test_a_jackpot_that_is_not_there_cannot_be_changed(api: Api, what: str) -> None:
    """Every change names one that exists, and takes the scope `admin`."""
    body = {
        "parameters": {"contribution": "0.7", "reset": 1, "note": WHY},
        "transfers": {"to": "nobody", "note": WHY},
        "adjustments": {"amount": 1, "reason": WHY},
    }.get(what, {"note": WHY})
    api.refused("jackpot_not_found", 404, api.post(f"/v1/jackpots/nobody/{what}", body))
    api.refused("jackpot_not_found", 404, api.post(f"/v1/jackpots/no%20body/{what}", body))
    api.refused("scope_missing", 403, api.post(f"/v1/jackpots/nobody/{what}", body, scope="play cashier"))


def test_the_front_page_says_what_is_particular_to_the_jackpot(demo_api: Api) -> None:
    """A disabled one is not offered, and the page says why."""
    offered = demo_api.client.get("/?house=us-casino").text
    assert 'name="jackpot-1"' in offered
    assert "takes no bets" not in offered
    demo_api.done(demo_api.post("/v1/jackpots/demo-jackpot-us-casino/disable", {"note": WHY}))
    page = demo_api.client.get("/?house=us-casino").text
    assert 'name="jackpot-1"' not in page
    assert "The jackpot takes no bets for now. It keeps what it holds, and bets placed before count." in page
    demo_api.done(demo_api.post("/v1/jackpots/demo-jackpot-us-casino/enable", {"note": WHY}))
    assert demo_api.client.get("/?house=us-casino").text.count("takes no bets") == 0

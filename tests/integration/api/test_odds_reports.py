"""Exact odds in reports and records, over HTTP: what should have come back, what did, and why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from domain.odds.document import document
from domain.odds.house import TableSettings, house_odds, rules_for
from domain.odds.payoffs import Payoffs
from domain.rulesets.schema import RuleSet
from infrastructure.odds.store import OddsStore, Terms
from tests.unit.domain.odds.counted import STANDARD
from tests.unit.domain.playing import shipped

if TYPE_CHECKING:
    from conftest import Api

ACES = "As Ad 7c 5d 2h"
WEAK = "Qs 9d 7h 6d 3h"
UP, REST = "Kc", ["Kd", "8c", "4s", "Jh"]
PER_ANTE = Fraction(-1_041_372_912_372, 19_933_230_517_200)


def number(exact: dict[str, str]) -> Fraction:
    """Return an exact number."""
    return Fraction(int(exact["num"]), int(exact["den"]))


@pytest.fixture(scope="module")
def played(api: Api) -> Api:
    """Return a service on which aces were folded and a weak hand was raised, at a house of usual figures."""
    api.table("scanned", deal_source="table")
    api.player("ada")
    api.player("bob")
    seats = api.seat(1, "ada"), api.seat(2, "bob", ante=3000)
    round_id = api.scanned("scanned", {"1": ACES, "2": WEAK}, UP, *seats)
    api.decide(round_id, 1, "fold")
    api.decide(round_id, 2, "raise")
    open_records = api.done(api.get(f"/v1/rounds/{round_id}/record", params=now(api)))["items"]
    assert not any("decision_cost" in record for record in open_records)
    api.done(api.post(f"/v1/rounds/{round_id}/reveal", {"dealer": REST}))
    rules = rules_for(RuleSet.from_document(shipped("us-casino")), "USD", TableSettings())
    figures = document(house_odds(rules, 1000, Payoffs.from_rules(rules, 1000), STANDARD))
    with psycopg.connect(api.admin_dsn, autocommit=True) as connection:
        OddsStore(connection, api.schema).put(Terms("us-casino", 1, "USD", 1000), figures, {})
    api.client.headers["X-Round"] = round_id
    return api


def now(api: Api) -> dict[str, Any]:
    """Return what makes a report wait for all that was written."""
    return {"min_position": int(api.service.reading._seen)}


def days(api: Api) -> dict[str, Any]:
    """Return a period with today in it, and `now`."""
    today = datetime.now(UTC).date()
    return {"from": str(today - timedelta(days=1)), "to": str(today + timedelta(days=1)), **now(api)}


def test_a_record_tells_what_its_decision_cost_when_the_round_is_over(played: Api) -> None:
    """The folded aces gave away what a raise was worth more than the ante, and the record says by what."""
    path = f"/v1/rounds/{played.client.headers['X-Round']}/record"
    folded, raised = played.done(played.get(path, params=now(played)))["items"]
    cost = folded["decision_cost"]
    assert (cost["best"], number(cost["expected"]), number(cost["forced_cost"])) == ("raise", -1000, 0)
    assert number(cost["cost"]) == number(cost["worth"]) + 1000 > 1000
    assert raised["decision_cost"]["best"] == "fold"
    assert number(raised["decision_cost"]["worth"]) == -3000


def test_performance_has_theory_and_the_return_adjusted_for_luck(played: Api) -> None:
    """What came back of the antes, what was expected of the decisions, and what theory says, side by side."""
    played.done(played.get("/v1/reports/variance", params=days(played)))  # waits for the decisions
    (item,) = played.done(played.get("/v1/reports/game-performance", params=days(played)))["items"]
    theory, decisions = item["theoretical"], item["decisions"]
    assert number(theory["per_ante"]) == 1 + PER_ANTE
    assert 0.97 < number(theory["per_total_wagered"]) < 0.98
    assert (decisions["hands"], decisions["mistaken_hands"], decisions["antes"]) == (2, 2, 4000)
    assert decisions["net"] == item["game_wins"] + item["returned"] - item["handle"] == -10_000
    assert number(decisions["returned_per_ante"]) == Fraction(-6_000, 4_000)
    adjusted = number(decisions["adjusted_per_ante"])
    assert adjusted == 1 + number(decisions["expected"]) / 4000
    worth, cost = number(decisions["worth"]), number(decisions["cost"])
    assert number(decisions["expected"]) == worth - cost
    assert (decisions["unjudged"], number(decisions["cap_cost"])) == ({}, 0)


def test_variance_tells_the_reasons_and_they_add_up(played: Api) -> None:
    """Expected, cards, cap, decisions and luck make what was recorded; two rounds prove nothing."""
    answer = played.done(played.get("/v1/reports/variance", params=days(played)))
    (item,) = answer["items"]
    reasons = {name: number(reason) for name, reason in item["reasons"].items()}
    assert number(item["expected"]) == PER_ANTE * 4000
    assert number(item["expected"]) + sum(reasons.values()) == item["recorded"] == -10_000
    assert reasons["decisions"] < -1000
    assert reasons["forced_decisions"] == reasons["cap"] == 0
    watch = {each["series"]: each for each in answer["watch"]}
    assert watch.keys() == {"game", "cards"}
    assert all(each["rounds"] == 1 and "alarm" not in each for each in watch.values())
    game = watch["game"]
    assert game["low"] <= number(game["theoretical"]) <= game["high"]
    assert 1_000_000 < game["rounds_to_flag"] < 10_000_000
    assert answer["error_rate"] == 0.0001


def test_a_quiet_time_has_no_variance_and_days_have_to_be_in_order(played: Api) -> None:
    """Nothing happened long ago; the life of the versions is told all the same."""
    long_ago = {"from": "2001-01-01", "to": "2001-01-02"}
    answer = played.done(played.get("/v1/reports/variance", params=long_ago))
    assert (answer["no_activity"], answer["items"], len(answer["watch"])) == (True, [], 2)
    turned = {"from": "2026-02-01", "to": "2026-01-01"}
    played.refused("validation_failed", 422, played.get("/v1/reports/variance", params=turned))

"""Whether versions return what they should: played by the best decisions, through a ledger on PostgreSQL."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from domain import commands as c
from domain.cards import DECK
from domain.events import RulesetRef
from domain.odds.document import document
from domain.odds.figures import figures_of
from domain.odds.house import TableSettings, house_odds, rules_for
from domain.odds.lookup import Lookup
from domain.odds.monitoring import Theory, rounds_to_flag
from domain.odds.payoffs import Payoffs
from domain.rulesets.schema import RuleSet
from infrastructure.bootstrap import AppDsn, prepare
from infrastructure.odds.returns import ReturnsWatch
from infrastructure.odds.store import OddsStore, Terms
from infrastructure.projections.runner import Projector
from tests.integration.test_projected_on_postgres import PASSWORDS, fill
from tests.unit.domain.odds.counted import STANDARD
from tests.unit.domain.playing import CATEGORIES, plain_house
from tests.unit.infrastructure.ledgers import Process, furnished

ROUNDS = 200
HONEST = plain_house(id="honest")
GENEROUS = plain_house(
    id="generous", raise_pays=dict(zip(CATEGORIES, (1, 18, 18, 18, 18, 18, 18, 20, 50, 100), strict=True))
)
NAMES = {"honest": HONEST, "generous": GENEROUS}


def payoffs(house: dict[str, Any]) -> Payoffs:
    """Return the money of a hand with an ante of a dollar."""
    return Payoffs.from_rules(rules_for(RuleSet.from_document(house), "USD", TableSettings()), 100)


def predicted() -> int:
    """Return after how many rounds the generous house is flagged, held against the usual figures."""
    usual, real = (figures_of(STANDARD, payoffs(house)) for house in (HONEST, GENEROUS))
    theory = Theory.of_game(payoffs(HONEST), usual.per_ante.expected, real.variance)
    rounds = rounds_to_flag(real.per_ante.expected - usual.per_ante.expected, theory)
    assert rounds is not None
    return rounds


def play(process: Process, house: str, rounds: int, chance: random.Random) -> None:
    """Play at a physical table, by the best decisions for the house's own pay table."""
    odds, money = Lookup(), payoffs(NAMES[house])
    for number in range(rounds):
        cards = tuple(chance.sample(DECK, 10))
        own, dealer = cards[:5], cards[5:]
        round_id = f"{house}-{number}"
        decision = odds.judge(money, own, dealer[:1]).best
        process.do(
            c.OpenRound(round_id, house, (c.SeatStake(1, "player-0", 100),)),
            c.DealCards(round_id, {1: own}, None, dealer[:1]),
            c.Decide(round_id, 1, decision),  # type: ignore[arg-type]
            c.RevealDealer(round_id, dealer[1:]),
        )


@pytest.fixture(scope="module")
def ready(database: str) -> AppDsn:
    """Return a ledger on which both houses were played, with the usual figures for both of them."""
    process, chance = furnished(), random.Random(20_261_130)
    for name, house in NAMES.items():
        limits: dict[str, Any] = {"currency": "USD", "min_ante": 100, "max_ante": 100, "deal_source": "table"}
        process.do(c.PublishRuleset(house), c.OpenTable(name, name, **limits))
        play(process, name, ROUNDS if name == "honest" else predicted(), chance)
    ready = prepare(database, "returned", passwords=PASSWORDS)
    fill(ready, process.ledger, 0, len(process.ledger.events))
    with Projector(ready.app, ready.schema) as projector:
        assert projector.try_to_act()
        while projector.turn():
            pass
    with psycopg.connect(ready.app, autocommit=True) as connection:
        store = OddsStore(connection, ready.schema)
        for name in NAMES:
            rules = replace(
                rules_for(RuleSet.from_document(HONEST), "USD", TableSettings()), ref=RulesetRef(name, 1, "")
            )
            figures = document(house_odds(rules, 100, Payoffs.from_rules(rules, 100), STANDARD))
            store.put(Terms(name, 1, "USD", 100), figures, {})
    return ready


def test_the_best_decisions_cost_nothing(ready: AppDsn) -> None:
    """No hand that was played as the odds say has cost anything, whatever came of it."""
    with psycopg.connect(ready.app) as connection:
        rows = connection.execute(
            f"SELECT count(*), sum(cost + forced_cost), count(*) FILTER (WHERE done <> best)"
            f" FROM {ready.schema}_read.decisions"
        ).fetchone()
    assert rows == (ROUNDS + predicted(), 0, 0)


def test_what_returns_what_it_should_is_not_flagged_and_a_wrong_pay_table_is(ready: AppDsn) -> None:
    """After the rounds that were predicted the house that pays too much has alarms, the other has none."""
    with psycopg.connect(ready.app, autocommit=True) as connection:
        watch = ReturnsWatch(ready.schema, look_seconds=0)
        watch.turn(connection)
        alarms = f"SELECT name, position, detail FROM {ready.schema}_read.alarms"
        found = connection.execute(alarms).fetchall()
        # What hands are worth as dealt is judged by the pay table that was published: it is too much as well.
        assert sorted(name for name, _, _ in found) == ["return_generous_1_cards", "return_generous_1_game"]
        assert all(position > 500 for _, position, _ in found)
        assert any(f"game: {predicted()} rounds return more" in detail for _, _, detail in found)
        connection.execute(f"DELETE FROM {ready.schema}_read.returns__1 WHERE ruleset_id = 'generous'")
        watch.turn(connection)
        assert connection.execute(alarms).fetchall() == []

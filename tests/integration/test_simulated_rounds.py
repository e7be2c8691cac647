"""Ten thousand simulated rounds at all nine houses: each proved twice, and the books to the last fraction."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest

from api.cli.simulate.channel import InProcess
from api.cli.simulate.play import furnish, play
from api.cli.simulate.summary import Summary, trial_balance
from domain import commands as c
from domain.rulesets import SHIPPED
from infrastructure.bootstrap import prepare, shipped_documents
from infrastructure.clock import system_clock
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import own_submission
from infrastructure.ledger.writer import Writer
from infrastructure.seals import Seals
from tests.integration.made_log import make_log
from tests.integration.proving import prove

ROUNDS = 10_000
SEED = 2
PLAYERS = 448
SCHEMA = "simulated"
PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
CHUNK = 250


@dataclass(frozen=True)
class Simulated:
    """A ledger that ten thousand rounds were played on."""

    dsn: str
    summary: Summary
    home: Path

    def log(self) -> Path:
        """Put all events into an evidence log and return its folder."""
        with psycopg.connect(self.dsn) as connection:
            rows = connection.execute(f"SELECT data FROM {SCHEMA}.events ORDER BY position").fetchall()
        make_log(self.home, [data for (data,) in rows])
        return self.home

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the events of some types, in the order of their positions."""
        names = tuple(f'"type":"{kind}"'.encode() for kind in kinds)
        with psycopg.connect(self.dsn) as connection:
            rows = connection.execute(f"SELECT data FROM {SCHEMA}.events ORDER BY position")
            return [orjson.loads(data) for (data,) in rows if any(name in data for name in names)]


@pytest.fixture(scope="module")
def simulated(database: str, tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    """Return the ledger after the simulation."""
    dsn = prepare(database, SCHEMA, passwords=PASSWORDS).app
    writer = Writer(PostgresStore(dsn, SCHEMA), Seals(os.urandom(32)), system_clock, "test")
    writer.start()

    async def simulate() -> Summary:
        channel = InProcess(writer, "sim")
        await writer.submit(own_submission(c.StartLedger(demo=True), "start"))
        for document in shipped_documents():
            await channel.ask(c.PublishRuleset(document))
        return await play(channel, "sim", await furnish(channel, "sim", SHIPPED), SEED, ROUNDS, PLAYERS)

    try:
        summary = asyncio.run(simulate())
    finally:
        writer.stop()
    return Simulated(dsn, summary, tmp_path_factory.mktemp("log"))


def test_the_simulation_has_everything_in_it(simulated: Simulated) -> None:
    """All houses, results, ways of opening, purchases, voids and refusals are among the rounds."""
    summary = simulated.summary
    assert len(set(summary.round_ids)) == ROUNDS
    assert set(summary.houses) == set(SHIPPED)
    assert min(summary.houses.values()) > 900
    assert {"win", "lose", "dealer_not_qualified", "folded", "void"} <= set(summary.results)
    assert set(summary.refusals) == {
        "ante_out_of_limits",
        "unknown_side_bet",
        "player_not_found",
        "already_decided",
        "insufficient_funds",
        "reference_already_used",
        "seat_taken",
        "table_not_found",
        "wrong_phase",
    }
    assert summary.chained > 100
    assert summary.timed > 50
    assert summary.joined > 1_000
    assert summary.awards > 5
    kinds = Counter(
        event["type"]
        for event in simulated.events("CardExchanged", "RoundVoided", "ContributionReversed", "Withdrawn")
    )
    assert min(kinds.values()) > 50
    assert len(kinds) == 4
    antes = simulated.events("AntePlaced")
    assert 1_000 < sum("client_seed" in event["data"] for event in antes) < len(antes)


def test_every_round_is_proved_by_replay_and_by_the_offline_verifier(simulated: Simulated) -> None:
    """The service's replay passes each of the rounds, and the verifier verifies each one's evidence file."""
    log = simulated.log()
    ids = simulated.summary.round_ids
    chunks = [ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        found = pool.map(prove, repeat(simulated.dsn), repeat(SCHEMA), repeat(log), chunks)
        problems = [problem for each in found for problem in each]
    assert problems == []


def test_the_books_of_each_currency_sum_to_zero_with_its_deposits(simulated: Simulated) -> None:
    """Wallets, house and jackpots hold exactly what came in by the cashier, and nothing lies on a game."""
    trials = trial_balance(simulated.dsn, SCHEMA)
    assert {trial.currency for trial in trials} == {"AUD", "CZK", "EUR", "GBP", "HKD", "NOK", "USD"}
    for trial in trials:
        assert trial.off == 0
        assert trial.on_game == 0
        assert trial.cashier == -simulated.summary.cashier[trial.currency] * 10_000
    moved: Counter[str] = Counter()
    for event in simulated.events("Deposited", "Withdrawn"):
        moved[event["type"]] += event["data"]["amount"]
    assert moved["Deposited"] - moved["Withdrawn"] == -sum(t.cashier for t in trials) // 10_000
    assert all(trial.account_class == "test" for trial in trials)


def test_what_the_house_won_is_what_players_lost(simulated: Simulated) -> None:
    """The house's account is wagers less returns, less what it put into the jackpots and has in them."""
    summary = simulated.summary
    for trial in trial_balance(simulated.dsn, SCHEMA):
        lost = summary.wagered[trial.currency] - summary.returned[trial.currency]
        assert trial.house + trial.jackpots == lost * 10_000
        assert trial.wallets == (summary.cashier[trial.currency] - lost) * 10_000


def test_each_meter_is_the_sum_of_what_moved_it(simulated: Simulated) -> None:
    """A meter is what was put in less what was taken out, to the sub-cent, and hits are ordered (G10)."""
    meters: dict[str, Decimal] = {}
    hits: dict[str, list[int]] = {}
    moves = ("JackpotOpened", "SideBetPlaced", "ContributionReversed", "JackpotHit")
    for event in simulated.events(*moves):
        data = event["data"]
        jackpot = data.get("jackpot_id")
        if jackpot is None:
            continue
        before = meters.get(jackpot, Decimal(0))
        if event["type"] == "JackpotOpened":
            moved = Decimal(data["reset"])
        elif event["type"] == "SideBetPlaced":
            moved = Decimal(data["contribution"])
        elif event["type"] == "ContributionReversed":
            moved = Decimal(data["from_house"]) - Decimal(data["amount"])
        else:
            moved = Decimal(data["from_house"]) + Decimal(data.get("restart", 0)) - data["award"]
            hits.setdefault(jackpot, []).append(data["order"])
        meters[jackpot] = before + moved
        if "meter_after" in data:
            assert (Decimal(data["meter_before"]), Decimal(data["meter_after"])) == (before, before + moved)
        assert meters[jackpot] >= 0
    with psycopg.connect(simulated.dsn) as connection:
        held = connection.execute(f"SELECT jackpot_id, meter FROM {SCHEMA}.jackpots").fetchall()
    assert {jackpot: Decimal(meter) / 10_000 for jackpot, meter in held} == meters
    assert len(meters) == 6
    assert all(orders == list(range(1, len(orders) + 1)) for orders in hits.values())


def test_money_that_disappears_puts_the_trial_balance_off(simulated: Simulated, database: str) -> None:
    """A unit taken from a wallet behind the ledger's back shows in the balance of its currency alone."""
    with psycopg.connect(database) as connection:
        connection.execute(
            f"""UPDATE {SCHEMA}.wallets SET balance = balance - 1 WHERE player =
            (SELECT player FROM {SCHEMA}.wallets WHERE currency = 'GBP' AND balance > 0 LIMIT 1)"""
        )
        connection.commit()
        off = {trial.currency: trial.off for trial in trial_balance(simulated.dsn, SCHEMA) if trial.off}
        assert off == {"GBP": -10_000}
        connection.execute(
            f"""UPDATE {SCHEMA}.accounts SET balance = balance + 10000
            WHERE currency = 'GBP' AND account = 'house:test'"""
        )
    assert not any(trial.off for trial in trial_balance(simulated.dsn, SCHEMA))

"""Physical tables over HTTP: rounds whose cards the tests name, each proved three ways once it is finished.

The service derives the round again (`/replay`), `scripts/verify.py` verifies its evidence file, and every
account of the ledger sums to zero in the database.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import psycopg
from psycopg import sql

from domain import commands as c
from infrastructure.ledger.submission import ACCEPTED, own_submission

if TYPE_CHECKING:
    import httpx

    from tests.integration.api.conftest import Api

SCRIPT = Path(__file__).parents[3] / "scripts" / "verify.py"
_spec = importlib.util.spec_from_file_location("verify_physical_tables", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
verify: Any = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = verify
_spec.loader.exec_module(verify)

FUNDS = 10**9
EXACT = 10_000
_numbers = itertools.count(1)

HOUSES: dict[str, str] = {
    "nordic": "NOK",
    "evolution-live": "EUR",
    "cyber": "USD",
    "czech": "CZK",
    "us-casino": "USD",
    "uk-casino": "GBP",
    "macau": "HKD",
    "adelaide": "AUD",
    "casino-poker-1982": "USD",
}
"""The nine houses, each with a currency it is played in."""

Paid = dict[str, tuple[int, int, int]]
"""What each bet of a seat did: stake, stake given back, winnings."""


@dataclass(frozen=True)
class Box:
    """One seat: its five cards, what it does, and its stakes.

    `does` is ``raise``, ``fold``, ``wait`` (nothing yet), or ``2c>Kd raise`` to buy a card first. A box
    without a player's name has a player of its own.
    """

    hand: str
    does: str = "raise"
    ante: int = 10_000
    side_bets: Mapping[str, int] = field(default_factory=dict)
    player: str | None = None


class PhysicalTable:
    """A house's table, open over HTTP, with a jackpot of its own where `reset` is given.

    `jackpot_id` joins a jackpot that is there; `parameters` are the table's. Antes are 100 to 10 000; on
    `czech` the bonus is 5 000, and the limit one that no test meets by chance.
    """

    def __init__(
        self,
        api: Api,
        ruleset: str,
        *,
        reset: int | None = None,
        contribution: str = "0.70",
        jackpot_id: str | None = None,
        **parameters: int,
    ) -> None:
        self.api = api
        self.id = f"{ruleset}-{next(_numbers)}"
        self.currency = currency = HOUSES.get(ruleset, "USD")
        self.document = api.done(api.get(f"/v1/rulesets/{ruleset}"))["document"]
        self.jackpot_id = f"pot-{self.id}" if reset is not None else jackpot_id
        if reset is not None:
            api.jackpot(f"pot-{self.id}", reset, currency, contribution=contribution)
        if ruleset == "czech":
            parameters = {"bonus_stake": 5_000, "raise_win_cap": 10**8, **parameters}
        joined = {} if self.jackpot_id is None else {"jackpot_id": self.jackpot_id}
        limits = {"min_ante": 100, "max_ante": 10_000}
        api.table(
            self.id,
            ruleset,
            currency=currency,
            deal_source="table",
            parameters=parameters,
            **limits,
            **joined,
        )
        self._players: dict[str, int] = {}

    # ── A round, step by step ─────────────────────────────────────────────────────────────────────────────
    def player(self, number: int, box: Box) -> str:
        """Return the box's player, who has a funded wallet."""
        player_id = box.player or f"{self.id}-{number}"
        if player_id not in self._players:
            self.api.player(player_id, FUNDS, self.currency)
            self._players[player_id] = FUNDS
        return player_id

    def stake(self, *boxes: Box) -> str:
        """Open a round with these boxes' stakes, in seats 1, 2, …; return its id."""
        seats = [
            self.api.seat(number, self.player(number, box), box.ante, side_bets=dict(box.side_bets))
            for number, box in enumerate(boxes, 1)
        ]
        return str(self.api.open(self.id, *seats)["round_id"])

    def deal(self, round_id: str, dealer: str, *boxes: Box) -> httpx.Response:
        """Report the cards on the table; what the dealer shows of her five is the house's rule."""
        five = dealer.split()
        body: dict[str, Any] = {"dealer_up": [five[place] for place in self.up_places]}
        if self.document["seating"]["shared_player_hand"]:
            body["player"] = boxes[0].hand.split()
        else:
            body["seats"] = {str(number): box.hand.split() for number, box in enumerate(boxes, 1)}
        return self.api.post(f"/v1/rounds/{round_id}/deal", body)  # type: ignore[no-any-return]

    def decide(self, round_id: str, *boxes: Box) -> None:
        """Take each box's decision, in seat order."""
        for number, box in enumerate(boxes, 1):
            for step in box.does.split():
                if ">" in step:
                    discard, drawn = step.split(">")
                    self.api.decide(round_id, number, "exchange", discard=discard, drawn=drawn)
                elif step != "wait":
                    self.api.decide(round_id, number, step)

    def reveal(self, round_id: str, dealer: str) -> httpx.Response:
        """Report the dealer's other cards."""
        others = [card for place, card in enumerate(dealer.split()) if place not in self.up_places]
        return self.api.post(f"/v1/rounds/{round_id}/reveal", {"dealer": others})  # type: ignore[no-any-return]

    @property
    def up_places(self) -> list[int]:
        """The places of the dealer's up-cards."""
        return list(self.document["deal"]["dealer_up_indices"])

    def begin(self, dealer: str, *boxes: Box) -> str:
        """Play a round up to its reveal; return its id."""
        round_id = self.stake(*boxes)
        self.api.done(self.deal(round_id, dealer, *boxes))
        self.decide(round_id, *boxes)
        return round_id

    # ── Whole rounds ──────────────────────────────────────────────────────────────────────────────────────
    def play(self, dealer: str, *boxes: Box) -> Finished:
        """Play a whole round and prove it."""
        return self.finish(self.begin(dealer, *boxes), dealer)

    def finish(self, round_id: str, dealer: str) -> Finished:
        """Reveal the dealer of a round that has been decided, and prove it."""
        answer = self.api.done(self.reveal(round_id, dealer))
        assert answer["phase"] == "closed"
        return self._proved(answer)

    def void(self, round_id: str, cause: str = "malfunction") -> Finished:
        """Declare a round void and prove it."""
        body = {"cause": cause, "note": "Declared by the floor manager."}
        answer = self.api.done(self.api.post(f"/v1/rounds/{round_id}/void", body))
        assert answer["phase"] == "voided"
        return self._proved(answer)

    def _proved(self, answer: dict[str, Any]) -> Finished:
        finished = Finished(answer, proved(self.api, answer["round_id"]))
        for player_id, before in self._players.items():
            net = sum(seat["net"] for seat in answer["seats"] if seat["player_id"] == player_id)
            self._players[player_id] = before + net
            assert self.api.balance(player_id) == (before + net, 0)
        return finished

    def meter(self) -> str:
        """Return the jackpot's exact meter in minor units."""
        return str(self.api.done(self.api.get(f"/v1/jackpots/{self.jackpot_id}"))["meter_exact"])


@dataclass(frozen=True)
class Finished:
    """A finished round as it was answered, and its events."""

    answer: dict[str, Any]
    events: list[dict[str, Any]]

    def seat(self, number: int = 1) -> dict[str, Any]:
        """Return a seat as the round tells it."""
        (found,) = [seat for seat in self.answer["seats"] if seat["seat"] == number]
        return dict(found)

    def result(self, number: int = 1) -> str:
        """Return a seat's result."""
        return str(self.seat(number)["result"])

    def paid(self, number: int = 1) -> Paid:
        """Return what each of a seat's bets did."""
        return {bet["bet"]: (bet["stake"], bet["returned"], bet["won"]) for bet in self.seat(number)["bets"]}

    def hits(self) -> list[tuple[int, int]]:
        """Return the jackpot awards in the order in which they were paid: seat and award."""
        return [(hit["seat"], hit["award"]) for hit in self.answer.get("jackpot_hits", [])]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the data of the events of one type, in order."""
        return [event["data"] for event in self.events if event["type"] == kind]


def proved(api: Api, round_id: str) -> list[dict[str, Any]]:
    """Prove a finished round by replay, offline verifier and the ledger's books; return its events."""
    replayed = api.done(api.get(f"/v1/rounds/{round_id}/replay"))
    assert replayed["verdict"] == "pass", [each for each in replayed["checks"] if each["result"] == "fail"]
    evidence = api.get(f"/v1/rounds/{round_id}/evidence")
    assert evidence.status_code == 200, evidence.text
    case = verify.examine(evidence.content)
    assert case.verdict() == "verified", (case.unusable, {s: f for s, f in case.faults.items() if f})
    assert not any(books(api).values())
    events: list[dict[str, Any]] = evidence.json()["events"]
    return events


def books(api: Api) -> dict[str, int]:
    """Return what all accounts of each currency sum to, in 1/10000 minor units: zero, or money was made."""
    sums: Counter[str] = Counter()
    with psycopg.connect(api.admin_dsn) as connection:
        connection.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(api.schema)))
        for currency, amount in connection.execute("SELECT currency, balance + on_game FROM wallets"):
            sums[currency] += amount * EXACT
        for currency, amount in connection.execute("SELECT currency, balance FROM accounts"):
            sums[currency] += int(amount)
        for data, meter in connection.execute("SELECT state, meter FROM jackpots"):
            state = orjson.loads(data)
            sums[state["currency"]] += int(meter) + int(state["overflow"]) + int(state["diverted"])
    return dict(sums)


def publish(api: Api, document: Mapping[str, Any]) -> None:
    """Publish a rule set of the tests' own."""
    result = api.service.writer.call(
        own_submission(c.PublishRuleset(dict(document)), f"own:{next(_numbers)}")
    )
    assert result.outcome == ACCEPTED, result.body

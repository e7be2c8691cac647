"""Exchanges whose worth is known beforehand: rows are as if it were counted, and are there sooner."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from domain import commands as c
from domain.cards import DECK, Card
from domain.hands import Qualifier
from domain.odds.exchange_values import NO_STATE, ExchangeValues
from domain.odds.hands_table import CARDS, CLASSES, PERMUTATIONS, hands_table, rank_of
from domain.odds.lookup import Judgement, Lookup
from domain.odds.payoffs import Payoffs
from infrastructure.projections.catalogue import with_known
from infrastructure.projections.decisions import Decisions
from infrastructure.projections.judging import Games
from infrastructure.projections.kinds import Happened
from tests.unit.infrastructure.ledgers import furnished
from tests.unit.infrastructure.projecting import happened, projected

FREE = Payoffs(1, 2, (2, 2, 4, 6, 8, 10, 14, 40, 100, 200), 1, 1)
LIMITS: dict[str, Any] = {"currency": "CZK", "min_ante": 100, "max_ante": 200, "deal_source": "table"}


class Deal(NamedTuple):
    """A hand as dealt, the up-card, what is exchanged and drawn if anything, and the last decision."""

    hand: tuple[Card, ...]
    up: Card
    exchange: tuple[Card, Card] | None
    decision: Any


def deal(hand: str, up: str, exchange: str, decision: str) -> Deal:
    """Return a deal that is written as text."""
    return Deal(tuple(hand.split()), up, tuple(exchange.split()) or None, decision)  # type: ignore[arg-type]


BEST, OTHER = ("2h 6h 9h Kh Tc", "4s", "Tc Ah", "raise"), ("2h 6h 9h Kh Tc", "4s", "2h Ad", "fold")
CUT = ("5h 6h 7h 8h Kc", "4s", "Kc 9h", "raise")
"""It can draw what the cap cuts."""
DEALS = (
    deal("As Ad 7c 5d 2h", "Kc", "", "raise"),
    deal("As Ad 7c 5d 2h", "Kc", "", "fold"),
    deal("Qs 9d 7h 6d 3h", "Kc", "", "fold"),
    deal("2h 6h 9h Kh Tc", "4s", "", "fold"),
    deal("9s 9d 9c 5d 2h", "Kc", "5d 9h", "raise"),
    deal(*BEST),
    deal(*OTHER),
    deal(*CUT),
    # Of these either two can go.
    deal("2d 2h 3c 4c 5c", "7c", "2h 6d", "raise"),
    deal("2s 2c 3d 4d 5d", "7d", "2c 6d", "raise"),
    deal("2c 2h 3s 4s 5s", "7s", "", "fold"),
    deal("2s 2h 3c 4c 5c", "7c", "2s 6d", "fold"),
)


def played(*deals: Deal) -> list[Happened]:
    """The events of a ledger where these are played: at a table whose cap cuts nothing and at another."""
    process = furnished()
    for table, cap in ("free", 10**9), ("capped", 2_000):
        process.do(c.OpenTable(table, "czech", **LIMITS, raise_win_cap=cap, bonus_stake=5_000))
        for number, (hand, up, exchange, decision) in enumerate(deals):
            round_id = f"{table}-{number}"
            process.do(c.OpenRound(round_id, table, (c.SeatStake(1, "player-3", 100),)))
            process.do(c.DealCards(round_id, {1: hand}, None, (up,)))
            if exchange is not None:
                process.do(c.Decide(round_id, 1, "exchange", discard=exchange[0], drawn=exchange[1]))
            rest = [card for card in DECK if card not in {*hand, up, *(exchange or ())}]
            process.do(c.Decide(round_id, 1, decision), c.RevealDealer(round_id, tuple(rest[::11][:4])))
    return happened(process.ledger)


class Counted(Lookup):
    """Odds that note how many exchanges they had to count for each judgement."""

    def __init__(self) -> None:
        super().__init__()
        self.counted: list[int] = []

    def judge(self, *state: Any, **known: Any) -> Judgement:
        """Judge, and note it."""
        self.counted.append(0)
        return super().judge(*state, **known)

    def _exchanges(self, *state: Any) -> dict[int, int]:
        found = super()._exchanges(*state)
        self.counted[-1] = len(found)
        return found


@pytest.fixture(scope="module")
def counted() -> Counted:
    """Return what counts."""
    return Counted()


def values(lookup: Lookup, payoffs: Payoffs, deals: Sequence[Deal]) -> ExchangeValues:
    """Return the table of what exchanges are worth, in which only the states of these deals are written."""
    table = hands_table()
    places, decisions = (np.full((CLASSES, CARDS), NO_STATE, np.int8) for _ in range(2))
    worths = np.zeros((CLASSES, CARDS), np.int64)
    for hand, up, *_ in deals:
        numbers = [DECK.index(card) for card in hand]
        rank = rank_of(numbers)
        shown = PERMUTATIONS[table.permutation_of[rank]]
        state = table.class_of[rank], shown[DECK.index(up)]
        options = lookup.judge(payoffs, hand, [up]).numerators
        worth = [options[DECK[shown.tolist().index(card)]] for card in table.class_hands[state[0]]]
        places[state] = sum(1 << place for place, each in enumerate(worth) if each == max(worth))
        worths[state] = max(worth)
    return ExchangeValues(payoffs, "ace_king", places, worths, decisions)


class Known:
    """Knows exchanges for some payoffs; `asked` are those it was asked for."""

    def __init__(self, *values: ExchangeValues) -> None:
        self.asked: set[Payoffs] = set()
        self._values = {each.payoffs.proportions: each for each in values}

    def __call__(self, qualify: Qualifier, payoffs: Payoffs) -> ExchangeValues | None:
        """Return the values for these payoffs."""
        assert qualify == "ace_king"
        self.asked.add(replace(payoffs, unit=1))
        return self._values.get(payoffs.proportions)


@pytest.mark.parametrize("which", [(FREE,), ()])
def test_rows_are_the_same_whatever_is_known(which: tuple[Payoffs, ...], counted: Counted) -> None:
    """Hands that are kept, and exchanges, good and bad ones, are judged the same to the last digit."""
    chance = random.Random(5)
    deals = list(DEALS)
    for _ in range(10):
        *hand, up, drawn = chance.sample(DECK, 7)
        exchange = chance.choice([None, (hand[0], drawn)])
        deals.append(Deal(tuple(hand), up, exchange, chance.choice(["fold", "raise"])))
    events = played(*deals)
    known = Known(*(values(counted, each, deals) for each in which))
    found = projected(events, projections=with_known(known))
    assert found.rows == projected(events).rows
    assert len({row["best"] for row in found.dicts("decisions")}) > 4
    assert known.asked == {FREE}


@pytest.mark.parametrize(
    ("text", "counts"),
    [((*BEST[:2], "", "fold"), [0, 0, 0]), (BEST, [0, 0, 0]), (OTHER, [1, 1, 0]), (CUT, [0, 5, 0])],
)
def test_only_another_exchange_than_the_best_is_counted(
    text: tuple[str, str, str, str], counts: list[int], counted: Counted
) -> None:
    """The best one is read, without a cap, under one, and under one as if there were none.

    Only where the best one can make a hand that the cap cuts, all five are counted.
    """
    played_one = deal(*text)
    known = Known(values(counted, FREE, [played_one]))
    counted.counted.clear()
    projected(played(played_one), projections=[lambda: Decisions(lambda: Games(lambda _: counted, known))])
    assert counted.counted == counts

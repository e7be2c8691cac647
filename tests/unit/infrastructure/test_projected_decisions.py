"""What decisions cost: to the last digit, of the right hands, and of nobody's before its round has closed."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import pytest
from phevaluator.evaluator import evaluate_5cards

from domain import commands as c
from domain.cards import DECK
from domain.odds.lookup import Lookup
from domain.odds.payoffs import Payoffs
from infrastructure.projections.decisions import Decisions
from infrastructure.projections.judging import DENOMINATOR, MANY_UP_CARDS, NO_RULES, SHARED_CAP
from tests.unit.domain.playing import plain_house
from tests.unit.infrastructure.ledgers import Process, furnished, stake
from tests.unit.infrastructure.projecting import Projecting, happened, projected

SCANNED: dict[str, Any] = {"currency": "USD", "min_ante": 1, "max_ante": 10_000, "deal_source": "table"}
ACES = ("As", "Ad", "7c", "5d", "2h")
WEAK = ("Qs", "9d", "7h", "6d", "3h")
UP = "Kc"
REST = ("Kd", "8c", "4s", "Jh")
"""With the king of clubs, a pair: the dealer qualifies and loses to two aces."""


@cache
def worth_of_a_raise(cards: tuple[str, ...], up: str, gone: tuple[str, ...] = ()) -> Fraction:
    """Return what raising an ante of 1 is worth at the usual pay table, looking at every dealer's hand."""
    numbers = [DECK.index(card) for card in cards]
    seen = [*numbers, *(DECK.index(card) for card in (up, *gone))]
    own = evaluate_5cards(*numbers)
    limits = (10, 166, 322, 1599, 1609, 2467, 3325, 6185, 7462)
    pays = 100 if own == 1 else (50, 20, 7, 5, 4, 3, 2, 1, 1)[sum(own > limit for limit in limits)]
    total = count = 0
    for others in combinations([card for card in range(52) if card not in seen], 4):
        value = evaluate_5cards(DECK.index(up), *others)
        count += 1
        if value > 6349:  # below ace, king, 4, 3, 2
            total += 1
        elif own != value:
            total += 1 + 2 * pays if own < value else -3
    return Fraction(total, count)


def scanned(*houses: dict[str, Any], table: str = "scanned", house: str = "slow-house") -> Process:
    """Return a ledger with a physical table."""
    process = furnished()
    process.do(*map(c.PublishRuleset, houses), c.OpenTable(table, house, **SCANNED))
    return process


def play(
    process: Process, round_id: str, hands: dict[int, tuple[tuple[str, ...], str]], **antes: int
) -> None:
    """Play a round at the physical table: by seat, the cards and what is decided."""
    seats = tuple(stake(seat, ante=antes.get(f"seat_{seat}", 100)) for seat in hands)
    process.do(c.OpenRound(round_id, "scanned", seats))
    process.do(c.DealCards(round_id, {seat: cards for seat, (cards, _) in hands.items()}, None, (UP,)))
    for seat, (_, decision) in hands.items():
        process.do(c.Decide(round_id, seat, decision))  # type: ignore[arg-type]
    process.do(c.RevealDealer(round_id, REST))


def judged(process: Process) -> Projecting:
    """Return the projection of a ledger."""
    return projected(happened(process.ledger), projections=[Decisions])


def amount(row: dict[str, Any], name: str) -> Fraction:
    """Return an amount of a row in minor units."""
    return Fraction(row[name], DENOMINATOR)


def test_a_bad_decision_costs_what_it_gives_away() -> None:
    """Two aces folded, and a queen raised, cost exactly what counting every dealer's hand says."""
    process = scanned()
    play(process, "r1", {1: (ACES, "fold"), 2: (WEAK, "raise")}, seat_2=300)
    folded, raised = judged(process).dicts("decisions")
    best, worst = 100 * worth_of_a_raise(ACES, UP), 300 * worth_of_a_raise(WEAK, UP)
    assert (folded["done"], folded["best"], raised["done"], raised["best"]) == (
        "fold",
        "raise",
        "raise",
        "fold",
    )
    assert [amount(folded, name) for name in ("worth", "expected", "cost")] == [best, -100, best + 100]
    assert [amount(raised, name) for name in ("worth", "expected", "cost")] == [-300, worst, -300 - worst]
    (cell,) = judged(process).dicts("decision_figures")
    assert (cell["hands"], cell["mistaken_hands"], cell["antes"], cell["net"]) == (2, 2, 400, -1_000)


def test_a_round_is_one_result_however_many_play_it() -> None:
    """What all its hands came to is divided by all their antes, the cost of decisions added."""
    process = scanned()
    play(process, "r1", {1: (ACES, "raise"), 2: (WEAK, "fold")}, seat_2=300)
    play(process, "r2", {1: (WEAK, "fold")})
    series = {row["series"]: row for row in judged(process).dicts("returns")}
    first, second = Fraction(300 - 300, 400), Fraction(-1)
    scaled = [int(result * 10**9 // 1) for result in (first, second)]
    game, cards = series["game"], series["cards"]
    assert (game["rounds"], game["results"], game["squares"]) == (2, sum(scaled), sum(s * s for s in scaled))
    worth = (100 * worth_of_a_raise(ACES, UP) - 300) / 400
    assert cards["results"] == worth * 10**9 // 1 - 10**9


def test_the_clocks_decisions_are_not_the_players() -> None:
    """A hand that folds because time was up costs something, and is nobody's mistake."""
    process = furnished()
    process.do(c.OpenTable("timed", "slow-house", **SCANNED, decision_seconds=10))
    process.do(c.OpenRound("r1", "timed", (stake(1),)))
    process.do(c.DealCards("r1", {1: ACES}, None, (UP,)))
    process.clock.now_us += 60_000_000
    process.do(c.TimeOutRound("r1"))
    process.do(c.RevealDealer("r1", REST))
    (row,) = judged(process).dicts("decisions")
    assert (row["done_by"], row["cost"]) == ("timeout", 0)
    assert amount(row, "forced_cost") == 100 * worth_of_a_raise(ACES, UP) + 100
    (cell,) = judged(process).dicts("decision_figures")
    assert (cell["forced_hands"], cell["mistaken_hands"]) == (1, 0)


def test_nothing_is_told_of_a_hand_before_its_round_closes_or_when_it_is_void() -> None:
    """Neither row nor sum betrays cards that lie face down (G5)."""
    process = scanned()
    process.do(c.OpenRound("r1", "scanned", (stake(1), stake(2))))
    process.do(c.DealCards("r1", {1: ACES, 2: WEAK}, None, (UP,)))
    process.do(c.Decide("r1", 1, "fold"))
    told = judged(process).rows
    assert not any(told[table] for table in ("decisions", "decision_figures", "returns"))
    process.do(c.VoidRound("r1", "malfunction"))
    assert judged(process).rows == told


def test_test_accounts_are_series_of_their_own() -> None:
    """What guests of a test table get is no evidence on what players get."""
    process = furnished()
    process.do(c.OpenTable("trial", "slow-house", **SCANNED, account_class="test"))
    process.do(c.OpenPlayer("guest", "g", "USD", "test"), c.Deposit("guest", 10_000, "r", "t"))
    process.do(c.OpenRound("r1", "trial", (c.SeatStake(1, "guest", 100),)))
    process.do(c.DealCards("r1", {1: ACES}, None, (UP,)))
    process.do(c.Decide("r1", 1, "raise"), c.RevealDealer("r1", REST))
    assert {row["account_class"] for row in judged(process).dicts("returns")} == {"test"}


def test_a_cap_changes_what_a_hand_is_worth_and_not_the_series() -> None:
    """With full houses capped at half of what they pay, the series has them as if there were no cap."""
    full = ("As", "Ad", "Ah", "5d", "5h")
    house = plain_house(id="capped", raise_cap={"scope": "raise_per_hand", "amount": "7"})
    process = scanned(house, house="capped")
    play(process, "r1", {1: (full, "raise")})
    (row,) = judged(process).dicts("decisions")
    odds = Lookup().counts(full, (UP,))
    won, lost = odds.win * 800 + odds.not_qualified * 100, odds.lose * 300
    assert amount(row, "worth") == Fraction(won - lost, odds.total)
    assert amount(row, "uncapped") == 100 * worth_of_a_raise(full, UP)
    (cards, game) = judged(process).dicts("returns")
    assert cards["results"] == row["uncapped"] * 10**9 // (100 * DENOMINATOR)
    made_up = row["uncapped"] - row["worth"]
    assert game["results"] == (800 * DENOMINATOR + made_up) * 10**9 // (100 * DENOMINATOR)


def test_an_exchange_is_judged_before_and_after() -> None:
    """What the player gave away by the first decision and by the second is the cost of the hand."""
    process = furnished()
    limits = {**SCANNED, "currency": "CZK", "raise_win_cap": 10**9, "bonus_stake": 5_000}
    process.do(c.OpenTable("buying", "czech", **limits))
    player = c.SeatStake(1, "player-3", 100)
    process.do(c.OpenRound("r1", "buying", (player,)))
    process.do(c.DealCards("r1", {1: ACES}, None, (UP,)))
    process.do(c.Decide("r1", 1, "exchange", discard="2h", drawn="3h"))
    process.do(c.Decide("r1", 1, "fold"), c.RevealDealer("r1", REST))
    (row,) = judged(process).dicts("decisions")
    wins = tuple(200 * odds for odds in (1, 1, 2, 3, 4, 5, 7, 20, 50, 100))
    before = Lookup().judge(Payoffs(100, 200, wins, 100, 1), ACES, (UP,))
    after = 100 * worth_of_a_raise((*ACES[:4], "3h"), UP, ("2h",)) - 100
    assert (row["done"], row["then_done"], row["then_best"]) == ("2h", "fold", "raise")
    assert amount(row, "expected") == -200
    assert amount(row, "cost") == before.cost("2h") + after + 200


def test_hands_without_odds_are_counted_by_reason() -> None:
    """An exchange in front of two cards, hands under one cap, and rules that are not known, have no odds."""
    two = plain_house(
        id="two", seating={"seats": 6}, deal={"dealer_up_indices": [0, 1]}, exchange={"fee_antes": 1}
    )
    several = plain_house(
        id="several", seating={"hands_per_player": 2}, raise_cap={"scope": "aggregate", "amount": "5"}
    )
    process = scanned(two, several, house="several")
    process.do(c.OpenTable("two", "two", **SCANNED))
    process.do(c.OpenRound("r1", "scanned", (stake(1, 1), stake(2, 1), stake(3, 2))))
    process.do(c.DealCards("r1", {1: ACES, 2: WEAK, 3: ("Ac", "Qd", "8s", "4d", "2s")}, None, (UP,)))
    process.do(*(c.Decide("r1", seat, "fold") for seat in (1, 2, 3)), c.RevealDealer("r1", REST))
    process.do(c.OpenRound("r2", "two", (stake(1),)))
    process.do(c.DealCards("r2", {1: ACES}, None, (UP, REST[0])))
    process.do(c.Decide("r2", 1, "fold"), c.RevealDealer("r2", REST[1:]))
    rows = {(row["round_id"], row["seat"]): row for row in judged(process).dicts("decisions")}
    reasons = {key: row["unjudged"] for key, row in rows.items()}
    assert reasons == {
        ("r1", 1): SHARED_CAP,
        ("r1", 2): SHARED_CAP,
        ("r1", 3): None,
        ("r2", 1): MANY_UP_CARDS,
    }
    assert rows["r2", 1]["worth"] is None
    cells = {cell["ruleset_id"]: cell for cell in judged(process).dicts("decision_figures")}
    assert (cells["several"]["hands"], cells["several"][f"unjudged_{SHARED_CAP}"]) == (1, 2)
    assert (cells["two"]["hands"], cells["two"][f"unjudged_{MANY_UP_CARDS}"]) == (0, 1)
    unknown = [each for each in happened(process.ledger) if each.type != "RulesetPublished"]
    rows_without = projected(unknown, projections=[Decisions]).dicts("decisions")
    assert {row["unjudged"] for row in rows_without} - {MANY_UP_CARDS} == {NO_RULES}


@pytest.mark.parametrize("sizes", [(1,), (3, 50)])
def test_rule_sets_are_known_again_after_a_restart(sizes: tuple[int, ...]) -> None:
    """A projection that begins anew between two batches knows the rules from its own rows."""
    process = scanned()
    play(process, "r1", {1: (ACES, "raise")})
    events = happened(process.ledger)
    projecting = Projecting([Decisions])
    start = 0
    while start < len(events):
        size = sizes[start % len(sizes)]
        projecting.restore()
        projecting.take(events[start : start + size])
        start += size
    assert projecting.rows == judged(process).rows

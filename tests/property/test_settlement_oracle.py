"""Settlement against a second opinion: the houses' rules once more, by hand, in the plainest way.

Nothing of the domain's rules, ranking or arithmetic is used to say what is due: hands are ranked by counting,
pay tables stand below as the sources give them. Random hands are drawn so that strong ones are common.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from domain import events as ev
from tests.unit.domain.playing import Box, Ledger

RANKS = "23456789TJQKA"
DECK = [rank + suit for rank in RANKS for suit in "cdhs"]
NAMES = (
    "high_card",
    "pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
)
US = (1, 1, 2, 3, 4, 5, 7, 20, 50, 100)
LIVE = (1, 1, 2, 3, 5, 7, 10, 25, 50, 100)
UK = (1, 1, 2, 3, 4, 5, 7, 20, 50, 50)
FIVE_PLUS_ONE = (None, None, None, 7, 10, 15, 20, 100, 200, 1000)
US_JACKPOT = {"flush": 50, "full_house": 100, "four_of_a_kind": 500}


class House(NamedTuple):
    """A house as its source describes it; amounts in minor units, fixed jackpot awards in whole ones."""

    currency: str
    seats: int
    raise_pays: tuple[int, ...]
    up: tuple[int, ...]
    side_bet: str | None
    stake: int
    awards: dict[str, int]
    cap: int | None = None
    hands_of_one: int = 1
    shared: bool = False
    exchange: bool = False


BONUS = {
    "flush": 1_000,
    "full_house": 2_000,
    "four_of_a_kind": 6_000,
    "straight_flush": 10_000,
    "royal_flush": 50_000,
}
MACAU = {"flush": 1_000, "full_house": 1_500, "four_of_a_kind": 5_000}
ADELAIDE = {"flush": 250, "full_house": 375, "four_of_a_kind": 1_250}
HOUSES = {
    "nordic": House("NOK", 7, US, (4,), "jackpot", 100, US_JACKPOT),
    "evolution-live": House("EUR", 5_000, LIVE, (0,), "five_plus_one", 300, {}, shared=True),
    "cyber": House("USD", 3, US, (0,), "jackpot", 100, {**US_JACKPOT, "four_of_a_kind": 100}, hands_of_one=3),
    "czech": House("CZK", 6, US, (4,), "bonus", 5_000, BONUS, cap=90_000, exchange=True),
    "us-casino": House("USD", 7, US, (0,), "jackpot", 100, US_JACKPOT, cap=500_000),
    "uk-casino": House("GBP", 7, UK, (0,), "jackpot", 100, US_JACKPOT),
    "macau": House("HKD", 7, US, (0,), "jackpot", 1_000, MACAU),
    "adelaide": House("AUD", 7, US, (0,), "jackpot", 250, ADELAIDE),
    "casino-poker-1982": House("USD", 7, US, (0, 1), None, 0, {}),
}
RESET = 1_234_567


# ── A ranking by counting ───────────────────────────────────────────────────────────────────────
def rank(hand: Sequence[str]) -> tuple[int, list[int]]:
    """Return the category's number, 0 to 9, and the ranks that decide between hands of it."""
    numbers = sorted((RANKS.index(card[0]) for card in hand), reverse=True)
    counts = Counter(numbers)
    by_count = sorted(counts, key=lambda number: (counts[number], number), reverse=True)
    shape = sorted(counts.values(), reverse=True)
    flush = len({card[1] for card in hand}) == 1
    wheel = numbers == [12, 3, 2, 1, 0]
    if wheel:
        by_count = [3, 2, 1, 0, -1]
    straight = wheel or (len(counts) == 5 and numbers[0] - numbers[4] == 4)
    shapes = {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}
    category = shapes.get(tuple(shape), 0)
    if straight and flush:
        category = 9 if by_count[0] == 12 else 8
    elif flush:
        category = 5
    elif straight:
        category = 4
    return category, by_count


def strong_hand(rng: random.Random, deck: list[str]) -> list[str]:
    """Take five cards from a deck: at random, of few ranks, of one suit, in a row, or much like the wheel."""
    low = rng.randrange(9)
    window = RANKS[low : low + 5] if rng.random() < 0.8 else "A2345"
    suit = rng.choice("cdhs")
    few = rng.sample(RANKS, rng.choice((2, 3, 4)))
    pools = [
        deck,
        [card for card in deck if card[0] in few],
        [card for card in deck if card[1] == suit],
        [card for card in deck if card[1] == suit and card[0] in window],
        [next((c for c in rng.sample(deck, len(deck)) if c[0] == r), "") for r in window],
        [card for card in deck if card[0] in "AKQ"],
    ]
    pool = rng.choice([pool for pool in pools if len(pool) >= 5 and "" not in pool])
    hand = rng.sample(pool, 5)
    for card in hand:
        deck.remove(card)
    return hand


class Case(NamedTuple):
    """One random round: the dealer, and the boxes by seat."""

    dealer: list[str]
    boxes: dict[int, Box]


def draw(house: House, rng: random.Random) -> Case:
    """Return a random round of a house."""
    deck = list(DECK)
    dealer = strong_hand(rng, deck)
    seats = rng.sample(range(1, min(house.seats, 9) + 1), rng.randint(1, min(house.seats, 5)))
    shared = strong_hand(rng, deck)
    boxes = {}
    for seat in seats:
        hand = shared if house.shared else strong_hand(rng, deck)
        does = rng.choice(("raise", "raise", "fold"))
        if house.exchange and rng.random() < 0.4:
            does = f"{rng.choice(hand)}>{deck.pop(rng.randrange(len(deck)))} {does}"
        side_bets = {house.side_bet: house.stake} if house.side_bet and rng.random() < 0.7 else {}
        player = f"p{seat // 3}" if house.hands_of_one > 1 else f"p{seat}"
        boxes[seat] = Box(" ".join(hand), does, rng.choice((100, 333, 5_000, 10_000)), side_bets, player)
    return Case(dealer, boxes)


# ── What is due ─────────────────────────────────────────────────────────────────────────────────
def expected(
    house: House, case: Case, meter: Fraction
) -> tuple[dict[int, dict[str, tuple[int, int]]], Fraction]:
    """Return what each bet of each seat gives back and wins, and the meter afterwards."""
    dealer = rank(case.dealer)
    held = {card[0] for card in case.dealer}
    qualified = dealer[0] > 0 or held >= {"A", "K"}
    due: dict[int, dict[str, tuple[int, int]]] = {}
    final: dict[int, list[str]] = {}
    for seat, box in sorted(case.boxes.items()):
        hand = box.hand.split()
        bought = ">" in box.does
        if bought:
            discard, drawn = box.does.split()[0].split(">")
            hand = [drawn if card == discard else card for card in hand]
        final[seat] = hand
        due[seat] = main_bets(house, box, hand, dealer, qualified=qualified)
        if bought:
            due[seat]["exchange_fee"] = (0, 0)
        if house.side_bet == "five_plus_one" and box.side_bets:
            six = [*hand, case.dealer[0]]
            best = max(rank([card for card in six if card != out]) for out in six)
            odds = FIVE_PLUS_ONE[best[0]]
            due[seat]["five_plus_one"] = (0, 0) if odds is None else (house.stake, house.stake * odds)
        if house.side_bet == "bonus" and box.side_bets:
            won = 0 if bought else 100 * house.awards.get(NAMES[rank(hand)[0]], 0)
            due[seat]["bonus"] = (0, won)
    if house.side_bet == "jackpot":
        meter = jackpots(house, case, final, due, meter)
    return due, meter


def main_bets(
    house: House, box: Box, hand: list[str], dealer: tuple[int, list[int]], *, qualified: bool
) -> dict[str, tuple[int, int]]:
    """Return what ante and raise give back and win."""
    mine = rank(hand)
    ante, raised = box.ante, 2 * box.ante
    if box.does.endswith("fold"):
        return {"ante": (0, 0)}
    if not qualified:
        return {"ante": (ante, ante), "raise": (raised, 0)}
    if mine > dealer:
        won = raised * house.raise_pays[mine[0]]
        return {"ante": (ante, ante), "raise": (raised, won if house.cap is None else min(won, house.cap))}
    if mine == dealer:
        return {"ante": (ante, 0), "raise": (raised, 0)}
    return {"ante": (0, 0), "raise": (0, 0)}


def jackpots(
    house: House,
    case: Case,
    final: dict[int, list[str]],
    due: dict[int, dict[str, tuple[int, int]]],
    meter: Fraction,
) -> Fraction:
    """Add what the jackpot pays, seat by seat, and return the meter afterwards (readings 11 and 12)."""
    bettors = [seat for seat in sorted(case.boxes) if case.boxes[seat].side_bets]
    royals = [seat for seat in bettors if rank(final[seat])[0] == 9]
    for seat in bettors:
        name = NAMES[rank(final[seat])[0]]
        award = 0
        if name == "royal_flush":
            if seat != royals[0]:
                continue
            share = int(meter / len(royals))
            for winner in royals:
                due[winner]["jackpot"] = (0, share)
            meter = meter - share * len(royals) + RESET
            continue
        if name == "straight_flush":
            award = int(meter / 10)
        elif name in house.awards:
            award = 100 * house.awards[name]
        meter = max(meter - award, Fraction(0))
        due[seat]["jackpot"] = (0, award)
    return meter


# ── The comparison ──────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", HOUSES)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), share=st.sampled_from(("1", "0.70", "0.3333")))
def test_every_house_settles_as_its_source_says(name: str, seed: int, share: str) -> None:
    """Three random rounds in a row, to the unit: each bet, the meter, and every player's balance."""
    house = HOUSES[name]
    rng = random.Random(seed)
    ledger = Ledger()
    fields: dict[str, Any] = {"raise_win_cap": house.cap} if name == "czech" else {}
    if house.side_bet == "jackpot":
        ledger.jackpot(RESET, house.currency, contribution=share)
    ledger.table(name, currency=house.currency, **fields)
    meter = Fraction(RESET)
    for _ in range(3):
        case = draw(house, rng)
        for box in case.boxes.values():
            ledger.player(box.player or "", currency=house.currency)
            if house.side_bet == "jackpot" and box.side_bets:
                meter += house.stake * Fraction(share)
        before = {box.player: ledger.wallet(box.player or "")[0] for box in case.boxes.values()}
        round_id = ledger.play(" ".join(case.dealer), case.boxes)

        due, meter = expected(house, case, meter)
        assert {
            settled.seat: ledger.paid(round_id, settled.seat) for settled in ledger.of(round_id, ev.Settled)
        } == due
        if house.side_bet == "jackpot":
            assert Fraction(ledger.work.jackpots["pot"].meter, 10_000) == meter
        for player, held in before.items():
            theirs = {seat: box for seat, box in case.boxes.items() if box.player == player}
            staked = sum(leg.stake for seat in theirs for leg in ledger.settled(round_id, seat).bets)
            back = sum(sum(figures) for seat in theirs for figures in due[seat].values())
            assert ledger.wallet(player or "") == (held - staked + back, 0)


def test_the_second_opinion_knows_its_hands() -> None:
    """The ranking by counting orders one hand of each kind, and the wheels, as every poker player does."""
    ladder = [
        "7s 5d 4c 3h 2c",
        "As Qd Jc Th 9c",
        "As Kd 4c 3h 2c",
        "2s 2d 5c 4h 3c",
        "3s 3d 2c 2h 4c",
        "2s 2d 2c 4h 3c",
        "As 5d 4c 3h 2c",
        "6s 5d 4c 3h 2c",
        "As Kd Qc Jh Tc",
        "7s 5s 4s 3s 2s",
        "2s 2d 2c 3h 3c",
        "2s 2d 2c 2h 3c",
        "As 5s 4s 3s 2s",
        "6s 5s 4s 3s 2s",
        "As Ks Qs Js Ts",
    ]
    ranked = [rank(hand.split()) for hand in ladder]
    assert ranked == sorted(ranked)
    assert [category for category, _ in ranked] == [0, 0, 0, 1, 2, 3, 4, 4, 4, 5, 6, 7, 8, 8, 9]

"""Rounds of every house, deal source and ending, whose evidence follows the rules to the unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.scripts.evidence_builder import Maker, house

if TYPE_CHECKING:
    from collections.abc import Callable


def us_casino() -> Maker:
    """Return a round of one seat that staked after the commitment was known, with its own seed."""
    maker = Maker(house("us-casino"), meter="1000000.5")
    maker.begin("stake")
    maker.ante(1, 500, client_seed="heads or tails", jackpot=100)
    maker.deal()
    maker.begin("decide")
    maker.call(1)
    maker.settle()
    return maker


def us_casino_at_once() -> Maker:
    """Return a round whose stake came in the opening command."""
    maker = Maker(house("us-casino"), meter="1000000", round_id="r-2")
    maker.ante(1, 500, jackpot=100)
    maker.deal()
    maker.begin("decide")
    maker.fold(1)
    maker.settle()
    return maker


def nordic() -> Maker:
    """Return a full table of seven, two of whom fold, one by time-out."""
    maker = Maker(house("nordic"), meter="123456.7", decision_seconds=30)
    maker.begin("stakes")
    for seat in (3, 1, 2, 7, 5, 6, 4):
        maker.ante(seat, 100 * seat, jackpot=100, client_seed="lucky" if seat == 6 else None)
    maker.begin("deal")
    maker.deal()
    maker.begin("decide")
    maker.call(7, 1, 2)
    maker.fold(4)
    maker.begin("more")
    maker.call(3, 5)
    maker.begin("late")
    maker.fold(6, by="timeout")
    maker.settle()
    return maker


def evolution_live() -> Maker:
    """Return three bettors on one shared hand with the 5+1 Bonus."""
    maker = Maker(house("evolution-live"))
    maker.begin("stakes")
    maker.ante(1, 500, five_plus_one=300)
    maker.ante(17, 1_000)
    maker.ante(4_999, 2_000, five_plus_one=100)
    maker.deal()
    maker.begin("decide")
    maker.call(1, 4_999)
    maker.fold(17)
    maker.settle()
    return maker


def evolution_live_table() -> Maker:
    """Return a studio's round where the bonus wins on a hand that folds and on one that calls."""
    maker = Maker(house("evolution-live"), source="table")
    maker.begin("stakes")
    maker.ante(1, 500, five_plus_one=300)
    maker.ante(2, 500, five_plus_one=200)
    maker.deal({0: "Ah Kh Qh Jh 2c"}, "Th 3d 4s 9c 2d")
    maker.begin("decide")
    maker.call(1)
    maker.fold(2)
    maker.settle()
    return maker


def czech() -> Maker:
    """Return a round with two exchanges and a bonus that is forfeited."""
    maker = Maker(house("czech"), raise_win_cap=3_000, bonus_stake=200)
    maker.begin("stakes")
    for seat in (1, 2, 4):
        maker.ante(seat, 1_000, bonus=200)
    maker.deal()
    maker.begin("decide")
    maker.exchange(2, maker.seats[2]["hand"][3])
    maker.call(1)
    maker.exchange(4, maker.seats[4]["hand"][0])
    maker.call(2)
    maker.fold(4)
    maker.settle()
    return maker


def czech_table() -> Maker:
    """Return a winning bonus, one taken by an exchange, and a raise paid up to the table's maximum."""
    maker = Maker(house("czech"), source="table", raise_win_cap=3_000, bonus_stake=200)
    maker.begin("stakes")
    for seat in (1, 2):
        maker.ante(seat, 1_000, bonus=200)
    maker.deal({1: "2h 5h 7h 9h Jh", 2: "2c 5c 7c 9c Jd"}, "Ad Kd 4s 3s 2s")
    maker.begin("decide")
    maker.exchange(2, "Jd", "Jc")
    maker.call(1, 2)
    maker.settle()
    return maker


def casino_poker() -> Maker:
    """Return a round with two open cards."""
    maker = Maker(house("casino-poker-1982"))
    maker.begin("stakes")
    maker.ante(2, 1_000)
    maker.ante(5, 2_000)
    maker.deal()
    maker.begin("decide")
    maker.call(2)
    maker.fold(5)
    maker.settle()
    return maker


def cyber() -> Maker:
    """Return one player on three seats."""
    maker = Maker(house("cyber"), meter="50000")
    maker.begin("stakes")
    for seat in (1, 2, 3):
        maker.ante(seat, 100 * seat, player="p-0", jackpot=100)
    maker.deal()
    maker.begin("decide")
    maker.call(1)
    maker.fold(2)
    maker.call(3)
    maker.settle()
    return maker


def jackpot_order() -> Maker:
    """Return the example of the rules: the meter of 1 000 000 passes through five winners."""
    maker = Maker(house("us-casino"), source="table", meter="999650", reset=10_000)
    maker.begin("stakes")
    for seat in range(1, 6):
        maker.ante(seat, 500, jackpot=100)
    hands = ("9h 8h 7h 6h 5h", "2s 2h 2d 2c 3c", "As Ks Qs Js Ts", "Ad Kd Qd Jd Td", "9c 8c 7c 6c 5c")
    maker.deal(dict(enumerate(hands, start=1)), "Kh Kc 4d 4s 7s")
    maker.begin("decide")
    maker.call(1, 2, 3, 5)
    maker.fold(4)
    maker.settle()
    return maker


def top_up() -> Maker:
    """Return fixed awards that the meter cannot cover, one of them paid by the house alone."""
    rules = house("us-casino")
    rules["side_bets"][0]["awards"]["full_house"]["funding"] = "house"
    maker = Maker(rules, source="table", meter="20000.25")
    maker.begin("stakes")
    for seat in (1, 2, 3):
        maker.ante(seat, 500, jackpot=100)
    hands = {1: "3s 3h 3d Kc Kd", 2: "2s 2h 2d 2c 3c", 3: "Ad Jd 9d 7d 5d"}
    maker.deal(hands, "Ah Kh 4d 4s 7s")
    maker.begin("decide")
    maker.call(1, 2, 3)
    maker.settle()
    return maker


def uk_not_qualified() -> Maker:
    """Return a dealer who does not qualify where only hands in the jackpot are shown."""
    maker = Maker(house("uk-casino"), source="table", meter="70000")
    maker.begin("stakes")
    maker.ante(1, 10_000, jackpot=100)
    maker.ante(2, 10_000)
    maker.ante(3, 10_000, jackpot=100)
    maker.deal({1: "2h 5c 7h 9h Jh", 2: "As Ac Ad Kc 2d", 3: "2c 4c 7c 8d 9s"}, "Ah Qh Jd Ts 9d")
    maker.begin("decide")
    maker.call(1, 2)
    maker.fold(3)
    maker.settle()
    return maker


def all_folded_unrevealed() -> Maker:
    """Return a house that does not turn up its hand when all fold."""
    rules = house("us-casino")
    rules["play"]["reveal_if_all_fold"] = False
    maker = Maker(rules, meter="70000")
    maker.begin("stakes")
    maker.ante(1, 10_000, jackpot=100)
    maker.deal()
    maker.fold(1)
    maker.settle()
    return maker


def aggregate_cap() -> Maker:
    """Return one player's two winning hands under one cap."""
    rules = house("cyber", raise_cap={"scope": "aggregate", "amount": "50"})
    maker = Maker(rules, source="table", meter="70000")
    maker.begin("stakes")
    for seat in (1, 2, 3):
        maker.ante(seat, 500, player="p-0")
    maker.deal({1: "3s 3h 3d Kc Kd", 2: "2s 2h 2d 9c 3c", 3: "5d 5h 9d 9h Jd"}, "Ah Ks 4d 7c 8s")
    maker.begin("decide")
    maker.call(1, 2, 3)
    maker.settle()
    return maker


def push() -> Maker:
    """Return a tie of five equal ranks."""
    maker = Maker(house("casino-poker-1982"), source="table")
    maker.begin("stakes")
    maker.ante(1, 500)
    maker.deal({1: "6h 6d 5h 5d 2c"}, "6s 6c 5s 5c 2d")
    maker.begin("decide")
    maker.call(1)
    maker.settle()
    return maker


def void_after_decisions() -> Maker:
    """Return a malfunction after an exchange and a raise, with everything paid back."""
    maker = Maker(house("czech"), raise_win_cap=3_000, bonus_stake=200)
    maker.begin("stakes")
    maker.ante(1, 1_000, bonus=200)
    maker.ante(2, 1_000)
    maker.deal()
    maker.begin("decide")
    maker.exchange(1, maker.seats[1]["hand"][0])
    maker.call(1)
    maker.begin("void")
    maker.void("misdeal_exposed")
    return maker


def void_with_empty_meter() -> Maker:
    """Return a void round after another round has won the meter."""
    maker = Maker(house("nordic"), meter="5")
    maker.begin("stakes")
    maker.ante(1, 1_000, jackpot=100)
    maker.ante(2, 1_000, jackpot=100)
    maker.deal()
    maker.begin("void")
    maker.meter, maker.moved_at = maker.meter * 0 + 100, maker.position
    maker.void()
    return maker


def expired() -> Maker:
    """Return a round nobody staked on."""
    maker = Maker(house("us-casino"), meter="5")
    maker.begin("late")
    maker.void("expired")
    return maker


ROUNDS: dict[str, Callable[[], Maker]] = {
    made.__name__: made
    for made in (
        us_casino, us_casino_at_once, nordic, evolution_live, evolution_live_table, czech, czech_table,
        casino_poker,
        cyber, jackpot_order, top_up, uk_not_qualified, all_folded_unrevealed, aggregate_cap, push,
        void_after_decisions, void_with_empty_meter, expired,
    )
}  # fmt: skip

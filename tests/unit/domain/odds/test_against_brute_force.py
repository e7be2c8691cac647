"""Exact odds and the brute force agree on states drawn at random, half of them from the rarer hands.

A state whose hand is drawn by its strength is one among the 7 462 different hands: of cards drawn at random,
straights and better ones would hardly be any.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import astuple

import numpy as np
import pytest

from domain.cards import DECK
from domain.odds import Payoffs
from domain.odds.basis import Basis
from domain.odds.hands_table import PERMUTATIONS, hands_table, rank_of
from domain.odds.lookup import Lookup
from tests.unit.domain.odds.brute_force import Counts, Everything, Money, everything

ONE_UP, TWO_UP, MORE_UP, DRAWN, EXCHANGES = 250, 150, 60, 60, 50
STANDARD = (1, 1, 2, 3, 4, 5, 7, 20, 50, 100)
RICH = (1, 2, 3, 5, 9, 14, 20, 60, 200, 1000)

State = tuple[list[int], list[int]]


@pytest.fixture(scope="module")
def every() -> Everything:
    """All hands, by brute force."""
    return everything()


@pytest.fixture(scope="module")
def lookup() -> Lookup:
    """The exact odds of states."""
    return Lookup()


def states(every: Everything, seed: int, how_many: int, others: int) -> Iterator[State]:
    """Yield hands of five in any order, and as many other cards, from that seed."""
    draw = random.Random(seed)
    for number in range(how_many):
        hand = draw.sample(range(52), 5)
        if number % 2:
            suits = draw.sample(range(4), 4)
            example = every.example[draw.randrange(len(every.example))].tolist()
            hand = draw.sample([card // 4 * 4 + suits[card % 4] for card in example], 5)
        yield hand, draw.sample([card for card in range(52) if card not in hand], others)


def names(cards: Sequence[int]) -> tuple[str, ...]:
    """Return cards as the odds are asked with."""
    return tuple(DECK[card] for card in cards)


def counted(counts: Counts) -> tuple[int, ...]:
    """Return what the brute force counted in the order of the odds' own counts."""
    return counts.category, counts.not_qualified, counts.win, counts.tie, counts.lose


def payoffs(wins: tuple[int, ...], fee: int | None = None) -> tuple[Payoffs, Money]:
    """Return the same money for the odds and for the brute force."""
    return Payoffs(ante=1, raised=2, raise_wins=wins, fee=fee, unit=1), Money(1, 2, wins, fee or 0)


@pytest.mark.parametrize(
    ("seed", "how_many", "ups", "gone"),
    [
        (1, ONE_UP, 1, 0),
        (2, TWO_UP, 2, 0),
        (3, MORE_UP // 2, 3, 0),
        (4, MORE_UP // 2, 4, 0),
        (5, DRAWN, 1, 1),
    ],
    ids=["one up", "two up", "three up", "four up", "drawn"],
)
def test_states_are_counted_alike(
    every: Everything, lookup: Lookup, seed: int, how_many: int, ups: int, gone: int
) -> None:
    """A state looked up has the counts that going through every dealer's hand gives."""
    for hand, others in states(every, seed, how_many, ups + gone):
        shown, dead = others[:ups], others[ups:]
        found = lookup.counts(names(hand), names(shown), names(dead))
        assert astuple(found) == counted(every.counts(hand, shown, dead)), (hand, shown, dead)


def test_the_basis_has_the_same_counts(every: Everything, basis: Basis) -> None:
    """What all pay tables are computed from has the brute force's counts of any state with one up-card."""
    tables = hands_table()
    for hand, (up,) in states(every, 6, ONE_UP, 1):
        rank = rank_of(hand)
        state = tables.class_of[rank], PERMUTATIONS[tables.permutation_of[rank], up]
        counts = every.counts(hand, [up])
        found = (basis.categories[state[0]], basis.not_qualified[state], basis.win[state], basis.tie[state])
        assert found == counted(counts)[:-1], (hand, up)
        six = max(every.category[every.of(np.delete([*hand, up], n).tolist())] for n in range(6))
        assert basis.six[state] == six, (hand, up)


@pytest.mark.parametrize("wins", [STANDARD, RICH], ids=["standard", "rich"])
def test_raises_are_worth_the_same(every: Everything, lookup: Lookup, wins: tuple[int, ...]) -> None:
    """A raise is worth the mean over every dealer's hand, and is best where that is more than a fold."""
    money, same = payoffs(wins)
    for hand, ups in states(every, 7, 40, 2):
        for shown in (ups[:1], ups):
            judgement = lookup.judge(money, names(hand), names(shown))
            expected = every.counts(hand, shown).raised(same)
            assert judgement.value("raise") == expected
            assert judgement.best == ("raise" if expected > -1 else "fold")


@pytest.mark.parametrize(("wins", "fee"), [(STANDARD, 1), (RICH, 2)], ids=["standard", "rich"])
def test_exchanges_are_worth_the_same(
    every: Everything, lookup: Lookup, wins: tuple[int, ...], fee: int
) -> None:
    """Each exchange is worth the mean over every draw and dealer's hand, the best made of each draw."""
    money, same = payoffs(wins, fee)
    for hand, ups in states(every, 8 + fee, EXCHANGES // 2, 1):
        judgement = lookup.judge(money, names(hand), names(ups))
        expected = every.exchanged(hand, ups, same)
        assert [judgement.value(card) for card in names(hand)] == expected, (hand, ups)
        best = max(*expected, every.counts(hand, ups).raised(same), -1)
        assert judgement.value(judgement.best) == best, (hand, ups)

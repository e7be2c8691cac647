"""The brute force that odds are compared with is right itself, as far as that is known from elsewhere."""

from __future__ import annotations

import random

import numpy as np
import pytest
from treys import Card, Evaluator

from domain.cards import DECK
from tests.unit.domain.odds.brute_force import Counts, Everything, Money, everything

CATEGORIES = (1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4)
STANDARD = Money(1, 2, (1, 1, 2, 3, 4, 5, 7, 20, 50, 100))


@pytest.fixture(scope="module")
def every() -> Everything:
    """All hands."""
    return everything()


def numbers(text: str) -> list[int]:
    """Return the numbers of the cards of a text like ``"As Kd"``."""
    return [DECK.index(card) for card in text.split()]


def test_categories_have_their_known_numbers_of_hands(every: Everything) -> None:
    """Of the 2 598 960 hands there are as many of each category as every table of poker hands says."""
    ranked = every.strength[every.strength >= 0]
    assert tuple(np.bincount(every.category[ranked]) // 5) == CATEGORIES


def test_strengths_are_in_the_order_of_another_evaluator(every: Everything) -> None:
    """Hands drawn at random, and one of each strength, have the place that treys gives them."""
    draw = random.Random(5)
    hands = [draw.sample(range(52), 5) for _ in range(2000)] + every.example.tolist()
    evaluator = Evaluator()
    treys = [Card.new(card) for card in DECK]
    for hand in hands:
        assert evaluator.evaluate([], [treys[card] for card in hand]) == 7462 - every.of(hand)


@pytest.mark.parametrize(
    ("hand", "up", "counts"),
    [
        ("Ac Kc Qc Jc Tc", "2d", Counts(74334, 88851, 0, 0, 9)),
        ("9c 9d 9h 9s 2c", "Ad", Counts(47983, 115153, 0, 49, 7)),
        ("2c 4c 6c 8c Tc", "Kd", Counts(51004, 111366, 0, 815, 5)),
    ],
)
def test_published_states_are_counted_as_published(
    every: Everything, hand: str, up: str, counts: Counts
) -> None:
    """States whose counts are known have these counts."""
    assert every.counts(numbers(hand), numbers(up)) == counts


def test_two_up_cards_leave_the_hands_that_one_of_them_leaves(every: Everything) -> None:
    """The dealer's hands with one up-card are those with each second one, each counted for four of them."""
    hand, up = numbers("Ah Kd 9c 9s 4h"), numbers("Kc")[0]
    one = every.counts(hand, [up])
    two = [every.counts(hand, [up, other]) for other in range(52) if other not in {*hand, up}]
    assert sum(counts.win for counts in two) == 4 * one.win
    assert sum(counts.not_qualified for counts in two) == 4 * one.not_qualified
    assert {counts.total for counts in two} == {14190}


def test_an_exchange_is_worth_the_mean_of_what_can_be_drawn(every: Everything) -> None:
    """An exchange is counted as 46 games with one dead card each, less the fee."""
    hand, ups = numbers("Qh Jh Th 9h 2c"), numbers("5d")
    money = Money(1, 2, STANDARD.wins, fee=1)
    drawn = [card for card in range(52) if card not in {*hand, *ups}]
    each = [every.counts([*hand[:4], card], ups, dead=[hand[4]]).raised(money) for card in drawn]
    expected = sum(max(result, -money.ante) for result in each) / 46 - 1
    assert every.exchanged(hand, ups, money)[4] == expected

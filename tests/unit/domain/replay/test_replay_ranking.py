"""The replay's evaluator agrees with the writer's, and with the rules at their boundaries."""

from __future__ import annotations

import random

import pytest

from domain import hands
from domain.cards import DECK
from domain.replay.ranking import ACE_KING, CATEGORIES, qualifies, rank

EXAMPLES = {
    "royal_flush": "As Ks Qs Js Ts",
    "straight_flush": "5d 4d 3d 2d Ad",
    "four_of_a_kind": "2c 2d 2h 2s 3c",
    "full_house": "2c 2d 2h 3s 3c",
    "flush": "7c 5c 4c 3c 2c",
    "straight": "5d 4d 3d 2d Ac",
    "three_of_a_kind": "2c 2d 2h 4s 3c",
    "two_pair": "2c 2d 3h 3s 4c",
    "pair": "2c 2d 3h 4s 5c",
    "high_card": "Ac Kd Qh Js 9c",
}


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_categories(category: str) -> None:
    """The lowest hand of most categories, the highest below a pair, and the wheels (reading 7)."""
    assert rank(EXAMPLES[category].split()).category == category


def test_both_evaluators_agree_on_random_hands() -> None:
    """Values and categories of five cards, and of the best five of six, are the same by two authors."""
    draw = random.Random(7)
    for _ in range(2000):
        cards = draw.sample(DECK, 6)
        five, six = hands.rank_five(cards[:5]), hands.best_of_six(cards)

        assert rank(cards[:5]) == (five.value, five.category)
        assert rank(cards) == (six.value, six.category)


@pytest.mark.parametrize(
    ("cards", "least", "answer"),
    [
        ("As Kd 4h 3c 2s", ACE_KING, True),
        ("As Qd Jh Tc 9s", ACE_KING, False),
        ("2c 2d 3h 4s 5c", ACE_KING, True),
        ("2c 2d 3h 4s 5c", "pair", True),
        ("As Kd Qh Jc 9s", "pair", False),
        ("2c 2d 2h 4s 3c", "pair", True),
    ],
)
def test_qualifying_hands(cards: str, least: str, answer: bool) -> None:  # noqa: FBT001 - a table of answers
    """A-K-4-3-2 qualifies and A-Q-J-10-9 does not (001); a house may ask for a category."""
    assert qualifies(rank(cards.split()), least) is answer

"""Every hand there is: all 2 598 960 five-card hands, by two evaluators that share nothing."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from treys import Card as TreysCard
from treys import Evaluator as TreysEvaluator

from domain.cards import DECK
from domain.hands import CATEGORIES, Hand, qualifies, rank_five

if TYPE_CHECKING:
    from collections.abc import Iterator

# Combinatorics, strong to weak: hands of each kind in C(52, 5), and their different values.
HANDS_BY_CATEGORY = {
    "royal_flush": 4,
    "straight_flush": 36,
    "four_of_a_kind": 624,
    "full_house": 3744,
    "flush": 5108,
    "straight": 10200,
    "three_of_a_kind": 54912,
    "two_pair": 123552,
    "pair": 1098240,
    "high_card": 1302540,
}
VALUES_BY_CATEGORY = {
    "royal_flush": 1,
    "straight_flush": 9,
    "four_of_a_kind": 156,
    "full_house": 156,
    "flush": 1277,
    "straight": 10,
    "three_of_a_kind": 858,
    "two_pair": 858,
    "pair": 2860,
    "high_card": 1277,
}


def _pairs_of_ranks() -> Iterator[tuple[Hand, int]]:
    """Yield for every five-card hand our rank and the second evaluator's number (1 best)."""
    treys = TreysEvaluator()
    treys_cards = [TreysCard.new(card) for card in DECK]
    for ours, theirs in zip(combinations(DECK, 5), combinations(treys_cards, 5), strict=True):
        yield rank_five(ours), treys.evaluate(list(theirs), [])


@pytest.fixture(scope="module")
def tally() -> Counter[tuple[Hand, int]]:
    """Return how many of all hands have each pair of (our rank, the second evaluator's)."""
    return Counter(_pairs_of_ranks())


def test_all_hands_are_visited(tally: Counter[tuple[Hand, int]]) -> None:
    """The walk covers all C(52, 5) hands."""
    assert tally.total() == 2_598_960


def test_hands_by_category(tally: Counter[tuple[Hand, int]]) -> None:
    """Each category has exactly as many hands as combinatorics says."""
    counts: Counter[str] = Counter()
    for (hand, _), number in tally.items():
        counts[hand.category] += number
    assert counts == HANDS_BY_CATEGORY


def test_values_by_category(tally: Counter[tuple[Hand, int]]) -> None:
    """There are 7 462 different values, without a gap, in the known numbers for each category."""
    hands = {hand for hand, _ in tally}
    assert Counter(str(hand.category) for hand in hands) == VALUES_BY_CATEGORY
    assert sorted(hand.value for hand in hands) == list(range(1, 7463))


def test_categories_never_overlap(tally: Counter[tuple[Hand, int]]) -> None:
    """From the best value to the worst the categories follow one another from strong to weak."""
    by_value = sorted({hand for hand, _ in tally}, key=lambda hand: hand.value)
    strengths = [CATEGORIES.index(hand.category) for hand in by_value]
    assert strengths == sorted(strengths, reverse=True)


def test_hands_that_qualify_with_ace_king(tally: Counter[tuple[Hand, int]]) -> None:
    """1 463 700 hands, and all but 1 113 of the 7 462 values, qualify with A-K or better."""
    assert sum(n for (hand, _), n in tally.items() if qualifies(hand, "ace_king")) == 1_463_700
    assert sum(not qualifies(hand, "ace_king") for hand in {hand for hand, _ in tally}) == 1_113


def test_the_second_evaluator_agrees_on_every_hand(tally: Counter[tuple[Hand, int]]) -> None:
    """Both evaluators put all hands in the same order with the same ties, and in the same categories."""
    in_our_order = sorted(tally, key=lambda pair: pair[0].value)
    theirs = [number for _, number in in_our_order]
    # 7 462 pairs: no value of one evaluator meets two values of the other, so ties are the same.
    assert len(theirs) == len(set(theirs)) == 7_462
    assert theirs == sorted(theirs)
    treys = TreysEvaluator()
    for hand, number in in_our_order:
        named = treys.class_to_string(treys.get_rank_class(number)).lower().replace(" ", "_")
        assert named == hand.category

"""The ranking of hands: categories, the order inside them, ties, and the qualifying hand."""

from __future__ import annotations

import random
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import pytest

from domain.cards import DECK, CardError, DuplicateCard, UnknownCard, WrongCount
from domain.hands import CATEGORIES, Category, Hand, Qualifier, beats, best_of_six, qualifies, rank_five

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def hand(text: str) -> Hand:
    """Rank five cards written with spaces."""
    return rank_five(text.split())


@pytest.mark.parametrize(
    ("cards", "category"),
    [
        ("As Ks Qs Js Ts", "royal_flush"),
        ("Kd Qd Jd Td 9d", "straight_flush"),
        ("5h 4h 3h 2h Ah", "straight_flush"),
        ("7c 7d 7h 7s 2c", "four_of_a_kind"),
        ("7c 7d 7h 2s 2c", "full_house"),
        ("Ac Jc 8c 4c 2c", "flush"),
        ("As Kd Qh Js Tc", "straight"),
        ("5s 4d 3h 2s Ac", "straight"),
        ("7c 7d 7h 3s 2c", "three_of_a_kind"),
        ("7c 7d 3h 3s 2c", "two_pair"),
        ("7c 7d 4h 3s 2c", "pair"),
        ("As Kd 4h 3s 2c", "high_card"),
        ("7s 5d 4h 3s 2c", "high_card"),
    ],
)
def test_category(cards: str, category: str) -> None:
    """A hand of each kind has its category."""
    assert hand(cards).category == category


def test_categories_go_from_weak_to_strong() -> None:
    """The tuple of categories starts at high card and ends at the royal flush, in poker's order."""
    assert CATEGORIES == (
        "high_card", "pair", "two_pair", "three_of_a_kind", "straight",
        "flush", "full_house", "four_of_a_kind", "straight_flush", "royal_flush",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param("As Ks Qs Js Ts", "5d 4d 3d 2d Ad", id="royal over steel wheel"),
        pytest.param("6d 5d 4d 3d 2d", "5c 4c 3c 2c Ac", id="steel wheel is the least straight flush"),
        pytest.param("5c 4c 3c 2c Ac", "Ac Ad Ah As Kc", id="steel wheel over four aces"),
        pytest.param("2c 2d 2h 2s 3c", "Ac Ad Ah Ks Kc", id="four twos over aces full"),
        pytest.param("2c 2d 2h 3s 3c", "Ac Kc Qc Jc 9c", id="twos full over the best flush"),
        pytest.param("7c 5c 4c 3c 2c", "As Kd Qh Js Tc", id="least flush over the best straight"),
        pytest.param("6c 5d 4h 3s 2c", "5c 4d 3h 2s Ac", id="wheel is the least straight"),
        pytest.param("5c 4d 3h 2s Ac", "Ac Ad Ah Ks Qc", id="wheel over three aces"),
        pytest.param("2c 2d 2h 4s 3c", "Ac Ad Kh Ks Qc", id="three twos over aces and kings"),
        pytest.param("3c 3d 2h 2s 4c", "Ac Ad Kh Qs Jc", id="least two pair over the best pair"),
        pytest.param("2c 2d 5h 4s 3c", "Ac Kd Qh Js 9c", id="two twos over ace high"),
        pytest.param("Kc Kd 2h 2s 3c", "Qc Qd Jh Js Ac", id="two pair: the higher pair first"),
        pytest.param("Kc Kd 3h 3s 2c", "Kh Ks 2h 2s Ac", id="two pair: then the lower pair"),
        pytest.param("6c 6d 5h 5s 9c", "6h 6s 5c 5d 8c", id="two pair: then the fifth card"),
        pytest.param("7c 7d Ah 3s 2c", "7h 7s Kh Qs Jc", id="pair: first kicker"),
        pytest.param("7c 7d Ah 4s 2c", "7h 7s Ac 3s 2d", id="pair: second kicker"),
        pytest.param("7c 7d Ah 4s 3c", "7h 7s Ac 4d 2d", id="pair: third kicker"),
        pytest.param("7c 7d 7h As 2c", "7c 7d 7h Ks Qc", id="three of a kind: first kicker"),
        pytest.param("7c 7d 7h As 3c", "7c 7d 7h As 2c", id="three of a kind: second kicker"),
        pytest.param("7c 7d 7h 7s 3c", "7c 7d 7h 7s 2c", id="four of a kind: kicker"),
        pytest.param("3c 3d 3h 2s 2c", "2c 2d 2h As Ac", id="full house: the three first"),
        pytest.param("3c 3d 3h Ks Kc", "3c 3d 3h Qs Qc", id="full house: then the two"),
        pytest.param("Ac 9c 5c 4c 3c", "Ad 9d 5d 4d 2d", id="flush: down to the fifth card"),
        pytest.param("Ac Kd 9h 5s 3c", "Ad Kh 9s 5c 2d", id="high card: down to the fifth card"),
    ],
)
def test_order(better: str, worse: str) -> None:
    """The better hand beats the worse one and never the other way round."""
    assert beats(hand(better), hand(worse))
    assert not beats(hand(worse), hand(better))


@pytest.mark.parametrize("cards", ["Qs Kd Ah 2s 3c", "Ks Ad 2h 3s 4c", "Js Qd Kh As 2c"])
def test_a_straight_does_not_wrap_around(cards: str) -> None:
    """An ace in the middle of a run makes no straight."""
    assert hand(cards).category == "high_card"


def test_a_suited_run_around_the_ace_is_a_flush() -> None:
    """A wrapped run in one suit is a flush and no straight flush."""
    assert hand("Qs Ks As 2s 3s").category == "flush"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("As Ks Qs Js Ts", "Ac Kc Qc Jc Tc"),
        ("Ac Jc 8c 4c 2c", "Ad Jd 8d 4d 2d"),
        ("6c 6d 5h 5s 9c", "6h 6s 5c 5d 9d"),
        ("Ac Kd 9h 5s 3c", "As Kh 9c 5d 3s"),
    ],
)
def test_suits_do_not_break_ties(one: str, other: str) -> None:
    """Hands of the same ranks in other suits have one value, and neither beats the other."""
    assert hand(one) == hand(other)
    assert not beats(hand(one), hand(other))
    assert not beats(hand(other), hand(one))


def test_the_ends_of_the_scale() -> None:
    """The royal flush has value 1 and seven high with 5-4-3-2 has 7 462."""
    assert hand("As Ks Qs Js Ts") == Hand(1, Category.ROYAL_FLUSH)
    assert hand("7s 5d 4h 3s 2c") == Hand(7462, Category.HIGH_CARD)


@pytest.mark.parametrize("cards", ["As Ks Qs Js Ts", "7c 7d 3h 3s 2c", "Ac Kd 9h 5s 3c"])
def test_order_of_cards_is_irrelevant(cards: str) -> None:
    """All 120 orders of five cards have the same value."""
    assert {rank_five(order) for order in permutations(cards.split())} == {hand(cards)}


@pytest.mark.parametrize(("rank", "size"), [(rank_five, 5), (best_of_six, 6)])
def test_refusals(rank: Callable[[Sequence[str]], Hand], size: int) -> None:
    """Too few, too many, repeated and unknown cards are refused, and each is a card error."""
    with pytest.raises(WrongCount):
        rank(DECK[: size - 1])
    with pytest.raises(WrongCount):
        rank(DECK[: size + 1])
    with pytest.raises(DuplicateCard):
        rank([*DECK[: size - 1], DECK[0]])
    with pytest.raises(UnknownCard):
        rank([*DECK[: size - 1], "AS"])
    assert issubclass(CardError, ValueError)


def test_the_ace_king_boundary_comes_from_the_evaluator() -> None:
    """The qualifying boundary lies exactly between A-K-4-3-2 and A-Q-J-10-9, the next worse value."""
    least, best_failing = hand("As Kd 4h 3s 2c"), hand("As Qd Jh Ts 9c")
    assert (least.value, best_failing.value) == (6349, 6350)
    assert qualifies(least, "ace_king")
    assert not qualifies(best_failing, "ace_king")


@pytest.mark.parametrize(
    ("minimum", "least", "best_failing"),
    [
        ("ace_king", "As Kd 4h 3s 2c", "As Qd Jh Ts 9c"),
        (Category.PAIR, "2c 2d 5h 4s 3c", "Ac Kd Qh Js 9c"),
        (Category.TWO_PAIR, "3c 3d 2h 2s 4c", "Ac Ad Kh Qs Jc"),
        (Category.THREE_OF_A_KIND, "2c 2d 2h 4s 3c", "Ac Ad Kh Ks Qc"),
        (Category.STRAIGHT, "5c 4d 3h 2s Ac", "Ac Ad Ah Ks Qc"),
        (Category.FLUSH, "7c 5c 4c 3c 2c", "As Kd Qh Js Tc"),
        (Category.FULL_HOUSE, "2c 2d 2h 3s 3c", "Ac Kc Qc Jc 9c"),
        (Category.FOUR_OF_A_KIND, "2c 2d 2h 2s 3c", "Ac Ad Ah Ks Kc"),
        (Category.STRAIGHT_FLUSH, "5c 4c 3c 2c Ac", "Ac Ad Ah As Kc"),
        (Category.ROYAL_FLUSH, "As Ks Qs Js Ts", "Ks Qs Js Ts 9s"),
    ],
)
def test_every_qualifier_has_its_boundary(minimum: Qualifier, least: str, best_failing: str) -> None:
    """The least hand of a qualifier qualifies, the next worse one does not, and their values adjoin."""
    assert hand(best_failing).value == hand(least).value + 1
    assert qualifies(hand(least), minimum)
    assert not qualifies(hand(best_failing), minimum)


def test_with_high_card_as_minimum_every_hand_qualifies() -> None:
    """The worst hand of all qualifies where the minimum is high card."""
    assert qualifies(hand("7s 5d 4h 3s 2c"), Category.HIGH_CARD)


@pytest.mark.parametrize(
    ("six", "five"),
    [
        pytest.param("As Ks Qs Js 2d Ts", "As Ks Qs Js Ts", id="the up-card completes a royal flush"),
        pytest.param("As Ks Qs Js Ts 9s", "As Ks Qs Js Ts", id="the royal flush over the king-high one"),
        pytest.param("7c 7d 7h 2s 2c 7s", "7c 7d 7h 7s 2c", id="the up-card makes four"),
        pytest.param("7c 7d 2h 2s Kc Kd", "7c 7d Kc Kd 2h", id="the best two of three pairs"),
        pytest.param("7c 7d 7h 2s 2c 2d", "7c 7d 7h 2s 2c", id="the better of two full houses"),
        pytest.param("2c 3d 4h 5s 6c Ad", "2c 3d 4h 5s 6c", id="the higher of two straights"),
        pytest.param("2c 3d 4h 5s Kc Ad", "2c 3d 4h 5s Ad", id="the up-card completes a wheel"),
        pytest.param("Ac Jc 8c 4c 2c Kc", "Ac Kc Jc 8c 4c", id="the best five of a six-card flush"),
        pytest.param("Ac Kd 9h 5s 3c 2d", "Ac Kd 9h 5s 3c", id="an up-card that does not help"),
    ],
)
def test_best_of_six(six: str, five: str) -> None:
    """Six cards are worth their best five."""
    assert best_of_six(six.split()) == hand(five)


def test_best_of_six_is_the_best_of_its_six_fives() -> None:
    """On 20 000 seeded samples the value is the least value of the six five-card subsets."""
    source = random.Random("best of six")
    for _ in range(20_000):
        six = source.sample(DECK, 6)
        assert best_of_six(six) == min(
            (rank_five(five) for five in combinations(six, 5)), key=lambda h: h.value
        )

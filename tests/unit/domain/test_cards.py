"""Cards: codes, the order of the deck, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from phevaluator.card import Card as EvaluatorCard

from domain.cards import (
    DECK,
    CardError,
    DuplicateCard,
    UnknownCard,
    UnknownCode,
    WrongCount,
    card,
    code,
    require_cards,
)

NOT_CARDS: list[Any] = [
    "", "A", "s", "AS", "as", "1s", "0c", "10s", "Ax", "sA", "As ", " As", "As\x00", "A♠", "\ud800s",
    0, 52, 1.0, True, None, b"As", ["As"], {"As": 1}, ("A", "s"),
]  # fmt: skip


def test_the_deck_has_52_different_cards() -> None:
    """The deck holds each of the 52 cards once."""
    assert len(DECK) == len(set(DECK)) == 52


def test_codes_follow_the_written_formula() -> None:
    """A card's code is four times its rank plus its suit plus one."""
    for rank_index, rank in enumerate("23456789TJQKA"):
        for suit_index, suit in enumerate("cdhs"):
            assert code(rank + suit) == 4 * rank_index + suit_index + 1


@pytest.mark.parametrize(
    ("name", "number"), [("2c", 1), ("2s", 4), ("3c", 5), ("Td", 34), ("Ac", 49), ("As", 52)]
)
def test_known_codes(name: str, number: int) -> None:
    """The codes at the ends of the deck and at changes of rank are as published."""
    assert code(name) == number
    assert card(number) == name


def test_codes_round_trip_in_deck_order() -> None:
    """Codes 1 to 52 name the cards of the deck in order, and back."""
    assert tuple(card(number) for number in range(1, 53)) == DECK
    assert [code(name) for name in DECK] == list(range(1, 53))


def test_a_code_is_the_evaluators_number_plus_one() -> None:
    """Codes are the ranking library's own numbers shifted by one, so the two never need a table."""
    assert [EvaluatorCard.to_id(name) + 1 for name in DECK] == [code(name) for name in DECK]


@pytest.mark.parametrize("number", [-1, 0, 53, 10**9])
def test_a_number_outside_1_to_52_is_no_code(number: int) -> None:
    """A number that is no code is refused, negative ones included."""
    with pytest.raises(UnknownCode) as refusal:
        card(number)
    assert refusal.value.code == number


@pytest.mark.parametrize("offered", NOT_CARDS)
def test_what_is_no_card_has_no_code(offered: Any) -> None:
    """Anything but the 52 spellings is refused when its code is asked for."""
    with pytest.raises(UnknownCard) as refusal:
        code(offered)
    assert refusal.value.card == offered


@pytest.mark.parametrize("offered", NOT_CARDS)
def test_what_is_no_card_is_refused_with_its_position(offered: Any) -> None:
    """An element of any type that is not a card is named by its position."""
    with pytest.raises(UnknownCard) as refusal:
        require_cards(["As", "Kd", offered], 3)
    assert refusal.value.card == offered
    assert refusal.value.position == 2


def test_required_cards_come_back_in_their_order() -> None:
    """Good cards are returned as a tuple in the order given."""
    assert require_cards(["Kd", "As", "2c"], 3) == ("Kd", "As", "2c")
    assert require_cards([], 0) == ()
    assert require_cards(DECK, 52) == DECK


def test_a_card_given_twice_is_refused() -> None:
    """A duplicate names the card and both of its positions."""
    with pytest.raises(DuplicateCard) as refusal:
        require_cards(["2c", "As", "Kd", "As", "2c"], 5)
    assert refusal.value.card == "As"
    assert (refusal.value.first_position, refusal.value.position) == (1, 3)


@pytest.mark.parametrize("given", [0, 4, 6])
def test_another_number_of_cards_is_refused(given: int) -> None:
    """Too few and too many cards are refused with both numbers."""
    with pytest.raises(WrongCount) as refusal:
        require_cards(DECK[:given], 5)
    assert (refusal.value.expected, refusal.value.given) == (5, given)


def test_the_count_is_checked_before_the_cards() -> None:
    """A list of the wrong length is refused for its length, whatever it holds."""
    with pytest.raises(WrongCount):
        require_cards(["As", "As", "no card"], 2)


@pytest.mark.parametrize(
    "cards", [["As", "As", "Kd"], ["As", "Qx", "Kd"], ["As", "Kd"]], ids=["duplicate", "unknown", "count"]
)
def test_no_message_shows_a_card(cards: list[str]) -> None:
    """Messages and representations of card errors hold no card, so a log never shows a hidden one."""
    with pytest.raises(CardError) as refusal:
        require_cards(cards, 3)
    shown = str(refusal.value) + repr(refusal.value)
    assert not any(offered in shown for offered in cards)

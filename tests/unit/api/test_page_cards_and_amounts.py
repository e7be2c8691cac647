"""Cards and amounts as the page writes, draws and reads them."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from api.page import amounts, card_words, faces
from domain.cards import DECK
from tests.unit.api.page_rounds import (
    ACE_KING,
    FLUSH,
    FULL_HOUSE,
    QUADS,
    QUEEN_HIGH,
    ROYAL,
    STRAIGHT_FLUSH,
    TRIPS,
    TWO_PAIR,
)


@pytest.mark.parametrize("module", [amounts, card_words, faces])
def test_the_examples_in_the_modules_hold(module: ModuleType) -> None:
    """What the docstrings show is what the functions return."""
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        (ROYAL, "a royal flush"),
        (STRAIGHT_FLUSH, "a straight flush to the nine"),
        ("5h 4h 3h 2h Ah", "a straight flush to the five"),
        (QUADS, "four nines"),
        (FULL_HOUSE, "a full house, sevens over twos"),
        (FLUSH, "a flush, king high"),
        ("5h 4h 3h 2h Ad", "a straight to the five"),
        ("Ah Kh Qh Jh Td", "a straight to the ace"),
        (TRIPS, "three sevens"),
        (TWO_PAIR, "two pair, nines and fours"),
        ("6h 6d Kh Jh Td", "a pair of sixes"),
        (ACE_KING, "ace-king high"),
        (QUEEN_HIGH, "queen high"),
    ],
)
def test_hands_are_named_by_what_makes_them(cards: str, name: str) -> None:
    """Every category, the wheel by its five."""
    assert card_words.hand_name(cards.split()) == name


def test_a_card_is_drawn_with_as_many_pips_as_it_has() -> None:
    """Two to ten have that many, an ace one; court cards have their letter."""
    drawn = {card: faces.face(card) for card in DECK}
    for card, face in drawn.items():
        pips = {"A": 1, "T": 10, "J": 0, "Q": 0, "K": 0}.get(card[0]) if card[0] in "ATJQK" else int(card[0])
        assert len(face.pips) == len(set(face.pips)) == pips
        assert bool(face.court) == (card[0] in "JQK")
    assert len({face.name for face in drawn.values()}) == 52


def test_sub_cent_contributions_keep_their_decimals() -> None:
    """Nothing of a jackpot's money is rounded away in words, not even below a currency's last digit."""
    assert amounts.exact_whole("175.5", "AUD") == "A$1.755"
    assert amounts.exact_whole("0.7", "JPY") == "JPY\xa00.7"


def test_an_amount_of_a_currency_without_minor_units_has_no_point() -> None:
    """Yen are whole; a point is told to be wrong with an example that has none."""
    assert amounts.parse("5", "JPY") == 5
    with pytest.raises(amounts.AmountError, match="type it like 5, nothing else"):
        amounts.parse("5.0", "JPY")

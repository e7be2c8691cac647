"""States as people write them, and where the tables have them."""

from __future__ import annotations

from domain.cards import DECK
from domain.odds.hands_table import PERMUTATIONS, hands_table, rank_of


def numbers(text: str) -> list[int]:
    """Return the numbers of the cards of a text like ``"As Kd"``."""
    return [DECK.index(card) for card in text.split()]


def place(hand: str, up: str) -> tuple[int, int]:
    """Return the class of a hand and what becomes of the up-card when the hand becomes that class's own."""
    table, rank = hands_table(), rank_of(numbers(hand))
    return int(table.class_of[rank]), int(PERMUTATIONS[table.permutation_of[rank], DECK.index(up)])

"""How a card is drawn: its pips on a field of 100 by 140, the way printed cards have them."""

from __future__ import annotations

from typing import Final, NamedTuple

from api.page.card_words import card_name

LEFT, MIDDLE, RIGHT = 36, 50, 64
_COURTS: Final = frozenset("JQK")

# Rows of a printed card: three places in the outer columns for small numbers, four for large ones.
_TOP, _BOTTOM = 27, 113
_CENTRE = 70
_HIGH, _LOW = 55.7, 84.3

_OUTER_TWO: Final = [(x, y) for x in (LEFT, RIGHT) for y in (_TOP, _BOTTOM)]
_OUTER_THREE: Final = [(x, y) for x in (LEFT, RIGHT) for y in (_TOP, _CENTRE, _BOTTOM)]
_OUTER_FOUR: Final = [(x, y) for x in (LEFT, RIGHT) for y in (_TOP, _HIGH, _LOW, _BOTTOM)]

_PIPS: Final[dict[str, list[tuple[float, float]]]] = {
    "A": [(MIDDLE, _CENTRE)],
    "2": [(MIDDLE, _TOP), (MIDDLE, _BOTTOM)],
    "3": [(MIDDLE, _TOP), (MIDDLE, _CENTRE), (MIDDLE, _BOTTOM)],
    "4": [*_OUTER_TWO],
    "5": [*_OUTER_TWO, (MIDDLE, _CENTRE)],
    "6": [*_OUTER_THREE],
    "7": [*_OUTER_THREE, (MIDDLE, 48.5)],
    "8": [*_OUTER_THREE, (MIDDLE, 48.5), (MIDDLE, 91.5)],
    "9": [*_OUTER_FOUR, (MIDDLE, _CENTRE)],
    "T": [*_OUTER_FOUR, (MIDDLE, 41.3), (MIDDLE, 98.7)],
}


class Pip(NamedTuple):
    """A suit's symbol: the transform that puts it in its place, upside down in the lower half."""

    transform: str


class Face(NamedTuple):
    """One open card. `corner` is what stands in its corner, `court` the letter of a court card or empty."""

    card: str
    name: str
    corner: str
    suit: str
    court: str
    pips: tuple[Pip, ...]


def face(card: str) -> Face:
    """Lay out a card.

    >>> face("Ts").corner, len(face("Ts").pips), face("Ts").name
    ('10', 10, 'ten of spades')
    """
    rank, suit = card[0], card[1]
    size = 2.4 if rank == "A" else 1.0
    pips = tuple(Pip(_place(x, y, size)) for x, y in _PIPS.get(rank, ()))
    return Face(
        card, card_name(card), "10" if rank == "T" else rank, suit, rank if rank in _COURTS else "", pips
    )


def _place(x: float, y: float, size: float) -> str:
    turned = " rotate(180)" if y > _CENTRE else ""
    return f"translate({x} {y}){turned} scale({size})"

"""Playing cards as they are written, stored and counted.

A card is a two-character string: a rank of ``23456789TJQKA`` and a suit of ``cdhs``
(``As``, ``Td``, ``2c``). Cards have *codes* 1 to 52, ``4 * rank + suit + 1`` with ranks
0 (two) to 12 (ace) and suits clubs 0, diamonds 1, hearts 2, spades 3: ``2c`` is 1,
``As`` is 52. The order of the codes is the order of the undealt deck.

Messages of the errors here name positions and never cards: what was refused may be a hidden
card, and messages end in logs. Code that may show the card finds it as an attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Card: TypeAlias = str

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"

DECK: Final[tuple[Card, ...]] = tuple(rank + suit for rank in RANKS for suit in SUITS)
"""The 52 cards in the order of their codes, ``2c`` first and ``As`` last."""

_CODES: Final[dict[Card, int]] = {card: code for code, card in enumerate(DECK, start=1)}
_KNOWN: Final = frozenset(DECK)


class CardError(ValueError):
    """Cards that cannot be taken for what they were offered as."""


class UnknownCard(CardError):
    """Something that is not one of the 52 cards.

    ``card`` is what was offered, of any type; ``position`` is its place counted from 0.
    """

    def __init__(self, card: object, position: int = 0) -> None:
        """Remember what was offered and where."""
        super().__init__(f"not a card at position {position}: expected rank (23456789TJQKA) and suit (cdhs)")
        self.card = card
        self.position = position


class UnknownCode(CardError):
    """A number that is no card's code; ``code`` is that number."""

    def __init__(self, code: int) -> None:
        """Remember the number."""
        super().__init__("not a card's code: expected 1 to 52")
        self.code = code


class DuplicateCard(CardError):
    """A card given twice.

    ``card`` is the card; ``position`` is the place, counted from 0, of its second appearance
    and ``first_position`` that of its first.
    """

    def __init__(self, card: Card, position: int, first_position: int) -> None:
        """Remember the card and both places."""
        super().__init__(f"the card at position {position} is already at position {first_position}")
        self.card = card
        self.position = position
        self.first_position = first_position


class WrongCount(CardError):
    """Too few or too many cards: ``expected`` and ``given`` count them."""

    def __init__(self, expected: int, given: int) -> None:
        """Remember both numbers."""
        super().__init__(f"expected {expected} cards, not {given}")
        self.expected = expected
        self.given = given


def code(card: Card) -> int:
    """Return a card's code, 1 (``2c``) to 52 (``As``).

    Raises ``UnknownCard``.
    """
    try:
        return _CODES[card]
    except (KeyError, TypeError):
        raise UnknownCard(card) from None


def card(code: int) -> Card:
    """Return the card with a code of 1 to 52.

    Raises ``UnknownCode``.
    """
    if not 1 <= code <= len(DECK):
        raise UnknownCode(code)
    return DECK[code - 1]


def require_cards(cards: Sequence[object], count: int) -> tuple[Card, ...]:
    """Return ``cards``, in their order, if they are exactly ``count`` different cards.

    For input nobody has checked: elements may be of any type. Raises ``WrongCount``, then for
    the first element at fault ``UnknownCard`` or ``DuplicateCard``.
    """
    if len(cards) != count:
        raise WrongCount(count, len(cards))
    first_positions: dict[Card, int] = {}
    for position, offered in enumerate(cards):
        # A list or a dict from a JSON body is not hashable: only strings reach the set.
        if not isinstance(offered, str) or offered not in _KNOWN:
            raise UnknownCard(offered, position)
        first_position = first_positions.setdefault(offered, position)
        if first_position != position:
            raise DuplicateCard(offered, position, first_position)
    return tuple(first_positions)

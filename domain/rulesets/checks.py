"""Checks on the parts of a rule set that types alone cannot make.

Every function returns nothing and raises ``ValueError`` with a sentence for the author of the file.
"""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from domain.hands import CATEGORIES
from domain.money import AMOUNT_MAX, exponent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from domain.hands import Category

DECK_SIZE: Final = 52
HAND_SIZE: Final = 5
EXCHANGE_CARDS: Final = 2  # one burned, one drawn (source 003)
EXCHANGE_SEATS_MAX: Final = 6
SHARED_BETTORS_MAX: Final = 5_000


def minor(units: str, digits: int) -> int:
    """Convert an amount in whole currency units to minor units, where the currency has ``digits`` decimals.

    >>> minor("2.50", 2), minor("100", 0)
    (250, 100)

    Raises ``ValueError`` where the currency has no such fraction.
    """
    scaled = Decimal(units).scaleb(digits)
    if scaled != scaled.to_integral_value():
        raise ValueError(f"{units} has more decimals than the currency, which has {digits}")
    return int(scaled)


def check_text(text: str) -> str:
    """Refuse text whose bytes might not come back as they went: what is hashed must be one string only."""
    if not unicodedata.is_normalized("NFC", text):
        raise ValueError("text must be in Unicode normal form C")
    if any(unicodedata.category(character).startswith("C") for character in text):
        raise ValueError("text must not contain control characters or line breaks")
    return text


def check_distinct(values: Sequence[object], what: str) -> None:
    """Refuse a list that names something twice."""
    if len(set(values)) != len(values):
        raise ValueError(f"{what} must not be repeated")


def check_pays(pays: Mapping[Category, int], *, complete: bool) -> None:
    """Refuse a pay table with holes, or one on which a stronger hand is paid less.

    ``complete``: all ten categories must be there; otherwise all from the weakest one named upwards.
    """
    check_no_holes(pays, complete=complete)
    check_ladder([(category, Decimal(pays[category])) for category in CATEGORIES if category in pays])


def check_no_holes(table: Iterable[Category], *, complete: bool = False) -> None:
    """Refuse a table that pays a category and not every stronger one, or that is empty."""
    named = set(table)
    if not named:
        raise ValueError("the pay table is empty")
    weakest = 0 if complete else min(map(CATEGORIES.index, named))
    missing = [category for category in CATEGORIES[weakest:] if category not in named]
    if missing:
        raise ValueError(f"the pay table does not say what these pay: {', '.join(missing)}")


def check_ladder(steps: Sequence[tuple[Category, Decimal]]) -> None:
    """Refuse figures, given from the weakest category to the strongest, that fall on the way up."""
    for (weaker, less), (stronger, more) in pairwise(steps):
        if more < less:
            raise ValueError(f"{stronger} pays {more}, less than the weaker {weaker} at {less}")


def check_deck(*, hands: int, exchange: bool) -> None:
    """Refuse more hands than 52 cards allow: five each and the dealer's, two more each with exchange."""
    if exchange and hands > EXCHANGE_SEATS_MAX:
        raise ValueError(f"with an exchange there are at most {EXCHANGE_SEATS_MAX} seats, not {hands}")
    needed = HAND_SIZE * (hands + 1) + (EXCHANGE_CARDS * hands if exchange else 0)
    if needed > DECK_SIZE:
        raise ValueError(f"{hands} seats need {needed} cards, and the deck has {DECK_SIZE}")


def check_amount(units: str, currencies: Iterable[str], what: str) -> None:
    """Refuse an amount that is zero, too large, or not payable in one of the currencies."""
    for currency in currencies:
        try:
            amount = minor(units, exponent(currency))
        except ValueError as error:
            raise ValueError(f"{what} in {currency}: {error}") from None
        if not 0 < amount <= AMOUNT_MAX:
            limits = f"above zero and at most {AMOUNT_MAX} minor units"
            raise ValueError(f"{what} must be {limits}, not {units} {currency}")

"""What a stored event of a round must look like before anybody reasons about it.

The shapes repeat the field names of `domain.events` (a test holds them together) and bound every value, so
that the checks behind this one can read fields without guarding each of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from domain.cards import DECK

Data: TypeAlias = Mapping[str, Any]
Valid: TypeAlias = Callable[[Any], bool]

AMOUNT_MAX: Final = 10**12
BALANCE_MAX: Final = 9 * 10**15
NUMBER_MAX: Final = 2**53 - 1
SEATS_MAX: Final = 5000
ARRAY_MAX: Final = 16
TEXT_MAX: Final = 512
HAND: Final = 5

_KNOWN: Final = frozenset(DECK)
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Shape(NamedTuple):
    """The fields of an object: what each must satisfy, and which must be there."""

    fields: Mapping[str, Valid]
    required: frozenset[str]


def wrong_field(data: Any, shape: Shape) -> str | None:
    """The name of the first field that is unknown, wrong or missing; None if the object fits."""
    if not is_object(data):
        return "(not an object)"
    fields, required = shape
    for name, value in data.items():
        if name not in fields or not fields[name](value):
            return name[:64] if isinstance(name, str) else "(not a name)"
    if required <= data.keys():
        return None
    missing: str = min(required - data.keys())
    return missing


def is_object(value: Any) -> bool:
    """Whether a value is an object, as JSON has them."""
    # The first half is there for speed: what comes from JSON is a dict.
    return type(value) is dict or isinstance(value, Mapping)


def shape(required: Mapping[str, Valid], optional: Mapping[str, Valid] | None = None) -> Shape:
    """A shape of these fields."""
    return Shape({**required, **(optional or {})}, frozenset(required))


def whole(low: int, high: int) -> Valid:
    """Whole numbers from `low` to `high`; a bool is not a number."""
    return lambda value: type(value) is int and low <= value <= high


def pattern(expression: str) -> Valid:
    """Texts that match as a whole."""
    match = re.compile(expression).fullmatch
    return lambda value: type(value) is str and match(value) is not None


def one_of(*values: str) -> Valid:
    """One of these texts."""
    allowed = frozenset(values)
    return lambda value: type(value) is str and value in allowed


def nested(inner: Shape) -> Valid:
    """An object of that shape."""
    return lambda value: wrong_field(value, inner) is None


def array(item: Valid, low: int = 0, high: int = ARRAY_MAX) -> Valid:
    """An array of `low` to `high` items."""
    return lambda value: (
        isinstance(value, list | tuple) and low <= len(value) <= high and all(map(item, value))
    )


def cards(low: int, high: int) -> Valid:
    """An array of `low` to `high` different cards."""

    def valid(value: object) -> bool:
        return (
            isinstance(value, list | tuple)
            and low <= len(value) <= high
            and all(isinstance(card, str) for card in value)
            and _KNOWN.issuperset(value)
            and len(set(value)) == len(value)
        )

    return valid


def text(value: object) -> bool:
    """Any text of bounded length that has a UTF-8 form."""
    return (
        type(value) is str
        and len(value) <= TEXT_MAX
        and (value.isascii() or _LONE_SURROGATE.search(value) is None)
    )


def flag(value: object) -> bool:
    """True or false."""
    return isinstance(value, bool)


def card(value: object) -> bool:
    """One of the 52 cards."""
    return isinstance(value, str) and value in _KNOWN


amount: Final = whole(0, AMOUNT_MAX)
positive: Final = whole(1, AMOUNT_MAX)
balance: Final = whole(0, BALANCE_MAX)
number: Final = whole(0, NUMBER_MAX)
position: Final = whole(1, NUMBER_MAX)
seat: Final = whole(1, SEATS_MAX)
index: Final = whole(0, len(DECK) - 1)
name: Final = pattern(r"[A-Za-z0-9._-]{1,64}")
digest: Final = pattern(r"[0-9a-f]{64}")
seed: Final = pattern(r"[0-9a-f]{96}")
salt: Final = pattern(r"[A-Za-z0-9_-]{22}")
exact: Final = pattern(r"(0|[1-9][0-9]{0,15})(\.[0-9]{0,3}[1-9])?")
share: Final = pattern(r"[01](\.[0-9]{1,4})?")
currency: Final = pattern(r"[A-Z]{3}")
day: Final = pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
time: Final = pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
category: Final = one_of(
    "high_card",
    "pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
)
decided_by: Final = one_of("player", "timeout", "operator")
side_bet: Final = one_of("jackpot", "five_plus_one", "bonus")
indices: Final = array(index, 1, HAND)

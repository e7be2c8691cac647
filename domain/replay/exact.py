"""Amounts below the minor unit, read and written again from their text: units of 1/10 000 of a minor unit."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

UNIT: Final = 10_000
"""Exact units in one minor unit."""

_REMEMBERED: Final = 4096
"""Contributions and shares are few, and come in every round."""


@lru_cache(_REMEMBERED)
def units(text: str) -> int:
    """The units in a text such as ``70.5``.

    The text is known to be a decimal number of at most four decimals.
    """
    whole, _, decimals = text.partition(".")
    return int(whole) * UNIT + int(decimals.ljust(4, "0"))


def in_text(amount: int) -> str:
    """The text of so many units, without trailing zeros."""
    sign, (whole, rest) = "-" if amount < 0 else "", divmod(abs(amount), UNIT)
    return f"{sign}{whole}.{rest:04}".rstrip("0").rstrip(".")

"""Exact amounts of jackpot money: decimal text with at most four decimals, as whole ten-thousandths."""

from __future__ import annotations

from typing import Final

MINOR: Final = 10_000
"""Ten-thousandths in a minor unit."""
_DECIMALS: Final = 4


def exact(text: object) -> int:
    """Return the ten-thousandths of a decimal text. Raises ValueError for what the ledger does not write."""
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is not a decimal text")  # noqa: TRY004 - what is stored is a value, not code
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    whole, point, fraction = digits.partition(".")
    decimals = len(fraction)
    plain = f"{whole}{fraction}"
    if (
        not (plain.isascii() and plain.isdigit() and whole)
        or (point and not 1 <= decimals <= _DECIMALS)
        or fraction.endswith("0")
        or (whole.startswith("0") and whole != "0")
    ):
        raise ValueError(f"{text!r} is not an exact amount")
    return sign * int(plain + "0" * (_DECIMALS - decimals))


def share(text: object) -> int:
    """Return a share of one in ten-thousandths. It may end in zeros. Raises ValueError."""
    if isinstance(text, str) and "." in text:
        text = text.rstrip("0").removesuffix(".")
    return exact(text)


def text(amount: int) -> str:
    """Return the decimal text of ten-thousandths, for a sentence."""
    whole, rest = divmod(abs(amount), MINOR)
    decimals = f".{rest:04d}".rstrip("0") if rest else ""
    return f"{'-' if amount < 0 else ''}{whole}{decimals}"

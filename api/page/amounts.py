"""Amounts as a person reads and types them: whole units of a currency, exact, never through a float."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from domain.money import AMOUNT_MAX, EXACT, exponent, floor_minor, parse_exact

SYMBOLS: Final = {"USD": "$", "EUR": "€", "GBP": "£", "HKD": "HK$", "AUD": "A$", "MOP": "MOP$"}
"""Signs written before an amount; other currencies are written by their code and a no-break space."""

_TYPED_MAX: Final = 24


class AmountError(ValueError):
    """What was typed is no amount of the currency; the text says in one sentence what to type."""


def plain(amount: int, currency: str) -> str:
    """Write minor units in whole units, as an amount field takes them.

    >>> plain(500, "USD"), plain(5, "JPY"), plain(-1250, "CZK")
    ('5.00', '5', '-12.50')
    """
    digits = exponent(currency)
    whole, fraction = divmod(abs(amount), 10**digits)
    sign = "-" if amount < 0 else ""
    return f"{sign}{whole}.{fraction:0{digits}d}" if digits else f"{sign}{whole}"


def money(amount: int, currency: str) -> str:
    r"""Write minor units for reading: with the currency, and the thousands apart.

    >>> money(123450, "USD"), money(20000, "NOK")
    ('$1,234.50', 'NOK\xa0200.00')
    """
    whole, point, fraction = plain(abs(amount), currency).partition(".")
    sign = "\N{MINUS SIGN}" if amount < 0 else ""
    symbol = SYMBOLS.get(currency, f"{currency}\N{NO-BREAK SPACE}")
    return f"{sign}{symbol}{int(whole):,}{point}{fraction}"


def signed(amount: int, currency: str) -> str:
    """Write a change of a wallet: with its sign, whichever it is; nothing has none.

    >>> signed(500, "EUR"), signed(0, "EUR")
    ('+€5.00', '€0.00')
    """
    return ("+" if amount > 0 else "") + money(amount, currency)


def exact(text: str, currency: str) -> str:
    """Write an exact amount of minor units (a jackpot's meter), rounded down to the minor unit.

    >>> exact("1000070.5", "USD")
    '$10,000.70'
    """
    return money(floor_minor(parse_exact(text)), currency)


def exact_whole(text: str, currency: str) -> str:
    """Write an exact amount of minor units with all its decimals.

    >>> exact_whole("70.5", "USD"), exact_whole("70", "USD")
    ('$0.705', '$0.70')
    """
    e4 = parse_exact(text)
    below = f"{e4 % EXACT:04d}".rstrip("0")
    return money(floor_minor(e4), currency) + (below if exponent(currency) or not below else f".{below}")


def parse(text: str, currency: str) -> int:
    """Read what a person typed into an amount field, exactly, in minor units.

    Accepted are digits and, where the currency has minor units, a point and up to as many digits as it has.

    >>> parse("5", "USD"), parse(" 5.00 ", "USD"), parse("0.05", "USD"), parse("12", "JPY")
    (500, 500, 5, 12)

    Raises ``AmountError``.
    """
    digits = exponent(currency)
    form = rf"[0-9]{{1,13}}(?:\.[0-9]{{1,{digits}}})?" if digits else r"[0-9]{1,13}"
    typed = text.strip()
    if len(typed) > _TYPED_MAX or not re.fullmatch(form, typed):
        example = plain(5 * 10**digits, currency)
        if not typed:
            raise AmountError(f"An amount is missing: type it like {example}.")
        raise AmountError(
            f"“{typed[:_TYPED_MAX]}” is no amount in {currency}: type it like {example}, nothing else."
        )
    amount = int(Decimal(typed).scaleb(digits))
    if amount > AMOUNT_MAX:
        raise AmountError(
            f"{money(amount, currency)} is more than the ledger takes at once: {money(AMOUNT_MAX, currency)}."
        )
    return amount

"""Money: currencies and their exponents, bounds, and exact amounts below the minor unit.

Money is an integer in minor units (cents, øre, haléře). Only a jackpot's meter holds less than a
minor unit: the contribution share has at most four decimals, so the meter and all that goes into
it is an integer of ten-thousandths, an *exact amount*, written here ``e4``. In events and
answers exact amounts are decimal text (``exact_text``), so that no float ever comes near money.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

AMOUNT_MAX: Final = 10**12
"""The largest single amount, in minor units."""

BALANCE_MAX: Final = 9 * 10**15
"""The largest balance or meter, in minor units. It fits 63 bits; ten-thousandths of it do not."""

EXACT: Final = 10_000
"""Exact units (ten-thousandths) in one minor unit."""

_BY_EXPONENT: Final = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: """
        AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD
        CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD
        GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL
        MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN
        PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SOS SRD SSP STN SVC SYP SZL
        THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST XCD YER ZAR ZMW
    """,
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}

EXPONENTS: Final[Mapping[str, int]] = MappingProxyType(
    {code: exponent for exponent, codes in _BY_EXPONENT.items() for code in codes.split()}
)
"""Minor-unit digits by currency code (ISO 4217, list one)."""

_EXACT_TEXT: Final = re.compile(r"(-?)(0|[1-9][0-9]{0,17})(?:\.([0-9]{1,4}))?")
_SHARE_TEXT: Final = re.compile(r"([01])(?:\.([0-9]{1,4}))?")


class UnknownCurrency(ValueError):
    """A currency the ledger has no exponent for; ``currency`` is what was given."""

    def __init__(self, currency: str) -> None:
        super().__init__(f"unknown currency {currency!r}")
        self.currency = currency


def exponent(currency: str) -> int:
    """Return how many decimal digits the minor unit of a currency has (ISO 4217).

    >>> exponent("USD"), exponent("JPY"), exponent("KWD")
    (2, 0, 3)

    Raises ``UnknownCurrency``.
    """
    try:
        return EXPONENTS[currency]
    except KeyError:
        raise UnknownCurrency(currency) from None


def exact_text(e4: int) -> str:
    """Write an exact amount in minor units, without trailing zeros or exponent.

    >>> exact_text(700_000), exact_text(705_000), exact_text(1), exact_text(-5_000), exact_text(0)
    ('70', '70.5', '0.0001', '-0.5', '0')
    """
    whole, fraction = divmod(abs(e4), EXACT)
    sign = "-" if e4 < 0 else ""
    decimals = f".{fraction:04d}".rstrip("0") if fraction else ""
    return f"{sign}{whole}{decimals}"


def parse_exact(text: str) -> int:
    """Read an exact amount in minor units: the inverse of ``exact_text``, but for trailing zeros.

    >>> parse_exact("70.5"), parse_exact("-0.0001"), parse_exact("0")
    (705000, -1, 0)

    Raises ``ValueError`` for more than four decimals, leading zeros, a plus sign, a negative zero,
    spaces, or a whole part of more than 18 digits.
    """
    match = _EXACT_TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"not an exact amount: {text[:40]!r} (digits, at most four decimals)")
    sign, whole, decimals = match.groups(default="")
    e4 = int(whole) * EXACT + int(decimals.ljust(4, "0"))
    if sign and not e4:
        raise ValueError(f"not an exact amount: {text!r} (zero has no sign)")
    return -e4 if sign else e4


def parse_share(text: str) -> int:
    """Read a jackpot's contribution share, above 0 and at most 1, into ten-thousandths.

    >>> parse_share("0.70"), parse_share("1"), parse_share("0.0001")
    (7000, 10000, 1)

    Raises ``ValueError`` for anything else, more than four decimals included.
    """
    match = _SHARE_TEXT.fullmatch(text)
    if match is not None:
        whole, decimals = match.groups(default="")
        share_e4 = int(whole) * EXACT + int(decimals.ljust(4, "0"))
        if 0 < share_e4 <= EXACT:
            return share_e4
    raise ValueError(f"not a share: {text[:40]!r} (above 0, at most 1, at most four decimals)")


def floor_minor(e4: int) -> int:
    """Round an exact amount down to whole minor units.

    >>> floor_minor(705_000), floor_minor(9_999)
    (70, 0)
    """
    return e4 // EXACT


def contribution_exact(stake_minor: int, share_e4: int) -> int:
    """Return what a side bet of ``stake_minor`` adds to its meter, as an exact amount.

    Nothing is rounded: minor units times ten-thousandths are exact units.

    >>> exact_text(contribution_exact(stake_minor=101, share_e4=parse_share("0.70")))
    '70.7'
    """
    return stake_minor * share_e4

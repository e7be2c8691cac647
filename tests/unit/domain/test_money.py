"""Exponents, bounds and exact amounts."""

from __future__ import annotations

import doctest

import pytest

from domain import money
from domain.money import (
    AMOUNT_MAX,
    BALANCE_MAX,
    EXACT,
    EXPONENTS,
    UnknownCurrency,
    contribution_exact,
    exact_text,
    exponent,
    floor_minor,
    parse_exact,
    parse_share,
)


def test_the_documentation_is_true() -> None:
    """The examples in the docstrings give what they say."""
    result = doctest.testmod(money)
    assert result.attempted >= 6
    assert result.failed == 0


def test_bounds_are_those_of_the_design() -> None:
    """An amount reaches 10^12 and a balance 9·10^15 minor units, which a signed 64-bit column holds."""
    assert AMOUNT_MAX == 1_000_000_000_000
    assert BALANCE_MAX == 9_000_000_000_000_000
    assert BALANCE_MAX < 2**63
    assert EXACT == 10_000


@pytest.mark.parametrize(
    ("currency", "digits"),
    [
        ("NOK", 2), ("DKK", 2), ("SEK", 2), ("EUR", 2), ("USD", 2), ("GBP", 2),
        ("CZK", 2), ("HKD", 2), ("MOP", 2), ("AUD", 2),
        ("JPY", 0), ("ISK", 0), ("KRW", 0), ("KWD", 3), ("BHD", 3), ("TND", 3), ("CLF", 4),
    ],
)  # fmt: skip
def test_currencies_have_their_iso_exponent(currency: str, digits: int) -> None:
    """The houses' currencies have two digits; yen none, dinars three, the Chilean unit of account four."""
    assert exponent(currency) == digits


def test_every_currency_is_listed_once_in_its_iso_form() -> None:
    """Each code is three capitals and stands under one exponent only."""
    listed = [code for codes in money._BY_EXPONENT.values() for code in codes.split()]
    assert len(listed) == len(set(listed)) == len(EXPONENTS)
    assert all(len(code) == 3 and code.isascii() and code.isupper() for code in listed)


@pytest.mark.parametrize("currency", ["XXX", "usd", "US", "", "BTC"])
def test_an_unknown_currency_is_refused_by_name(currency: str) -> None:
    """A code without an exponent raises an error that carries it."""
    with pytest.raises(UnknownCurrency, match="unknown currency") as caught:
        exponent(currency)
    assert caught.value.currency == currency


@pytest.mark.parametrize(
    ("e4", "text"),
    [
        (0, "0"), (1, "0.0001"), (10, "0.001"), (5_000, "0.5"), (10_000, "1"), (100_000, "10"),
        (705_000, "70.5"), (1_000_000, "100"), (-1, "-0.0001"), (-705_000, "-70.5"),
        (BALANCE_MAX * EXACT, "9000000000000000"),
    ],
)  # fmt: skip
def test_exact_amounts_are_written_and_read_back(e4: int, text: str) -> None:
    """Text has no trailing zeros and no exponent, and reads back to the same amount."""
    assert exact_text(e4) == text
    assert parse_exact(text) == e4


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "1 ", " 1", "+1", "--1", "-", "01", "00", "1.", ".5", "1.00000", "0.00001", "1e3", "1E3",
        "1,5", "1_0", "-0", "-0.0", "٣", "1\n", "NaN", "Infinity", "1.2.3", "1" * 19,
    ],
)  # fmt: skip
def test_what_is_no_exact_amount_is_refused(text: str) -> None:
    """Signs, leading zeros, exponents, foreign digits and fifth decimals are refused, never guessed at."""
    with pytest.raises(ValueError, match="not an exact amount"):
        parse_exact(text)


def test_trailing_zeros_are_read() -> None:
    """An amount written with needless zeros means the same."""
    assert parse_exact("70.5000") == 705_000


def test_a_refusal_does_not_repeat_a_long_text() -> None:
    """An error quotes at most forty characters of what it refuses."""
    with pytest.raises(ValueError) as caught:
        parse_exact("9" * 5_000)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(
    ("text", "share_e4"),
    [("0.70", 7_000), ("0.7", 7_000), ("1", 10_000), ("1.0000", 10_000), ("0.0001", 1), ("0.3333", 3_333)],
)
def test_shares_are_ten_thousandths(text: str, share_e4: int) -> None:
    """A share above nothing and up to the whole is read exactly."""
    assert parse_share(text) == share_e4


@pytest.mark.parametrize(
    "text",
    ["0", "0.0", "0.0000", "1.0001", "1.5", "2", "-0.5", "+0.5", "0.70000", "00.7", ".7", "0.", "7e-1", ""],
)
def test_what_is_no_share_is_refused(text: str) -> None:
    """Nothing, more than everything, signs and fifth decimals are refused."""
    with pytest.raises(ValueError, match="not a share"):
        parse_share(text)


def test_rounding_is_down_to_the_minor_unit() -> None:
    """What is short of a minor unit is not paid."""
    assert [floor_minor(e4) for e4 in (0, 9_999, 10_000, 19_999, 20_000)] == [0, 0, 1, 1, 2]


def test_a_contribution_is_stake_times_share_without_rounding() -> None:
    """One cent at a ten-thousandth is the smallest exact amount; one dollar at 70 % is seventy cents."""
    assert contribution_exact(1, 1) == 1
    assert exact_text(contribution_exact(100, 7_000)) == "70"
    assert exact_text(contribution_exact(33, 3_333)) == "10.9989"

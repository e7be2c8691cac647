"""How the replay reads a rule set: exactly, within bounds, and from the bytes that are hashed."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from domain.replay.exact import in_text, units
from domain.replay.house import DOCUMENT_BYTES_MAX, canonical, house, sha256
from domain.rulesets import SHIPPED
from domain.rulesets.schema import load
from tests.unit.domain.replay.rules_and_decks import HOUSES, digest, plain


def read(document: Any, currency: str = "USD") -> Any:
    """The house of a document, or None."""
    encoded = canonical(document)
    assert encoded is not None
    return house(encoded, currency)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_rule_set_is_read_as_published(name: str) -> None:
    """A published document can be read in each of its currencies, and hashes as elsewhere."""
    rules = load((HOUSES / f"{name}.toml").read_text())
    document = rules.document()

    assert sha256(canonical(document) or b"") == digest(document)
    for currency in rules.currencies:
        assert read(document, currency).id == name


@pytest.mark.parametrize(
    ("currency", "fixed"), [("USD", 50_000), ("JPY", 500), ("KWD", 500_000), ("CLF", 5_000_000)]
)
def test_amounts_follow_the_currency(currency: str, fixed: int) -> None:
    """500 units are as many minor units as the currency's ISO 4217 exponent says."""
    assert read(plain(), currency).side_bets["jackpot"].awards["four_of_a_kind"].fixed == fixed


BROKEN: dict[str, dict[str, Any]] = {
    "no_seating": {"seating": None},
    "seats_as_text": {"seating": {"seats": "7"}},
    "seats_as_bool": {"seating": {"seats": True}},
    "unknown_pattern": {"deal": {"pattern": "spiral"}},
    "no_up_card": {"deal": {"dealer_up_indices": []}},
    "up_card_beyond_five": {"deal": {"dealer_up_indices": [5]}},
    "up_card_no_number": {"deal": {"dealer_up_indices": ["0"]}},
    "odds_of_nothing": {"raise_pays": {"pair": None}},
    "unknown_qualifier": {"qualify": "king_queen"},
    "unknown_choice": {"play": {"on_timeout": "raise"}},
    "side_bets_no_list": {"side_bets": "jackpot"},
    "side_bet_no_object": {"side_bets": ["jackpot"]},
    "side_bet_unknown": {"side_bets": [{"kind": "insurance", "stake": "1", "basis": "for_1"}]},
    "side_bet_without_stake": {"side_bets": [{"kind": "jackpot", "basis": "for_1"}]},
    "half_a_cent": {"side_bets": [{"kind": "jackpot", "basis": "for_1", "stake": "0.005"}]},
    "not_an_amount": {"max_ante": "1e3"},
    "award_of_nothing": {
        "side_bets": [{"kind": "bonus", "basis": "for_1", "stake": "1", "awards": {"flush": {}}}]
    },
    "award_of_both": {
        "side_bets": [
            {
                "kind": "bonus",
                "basis": "for_1",
                "stake": "1",
                "awards": {"flush": {"percent": 1, "fixed": "1"}},
            }
        ]
    },
    "currencies_no_texts": {"currencies": [1]},
}


@pytest.mark.parametrize("changes", BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_a_house_is_refused(changes: dict[str, Any]) -> None:
    """A document with a wrong or missing part is no house, and nothing is raised."""
    assert read(plain(**changes)) is None


def test_a_pay_table_without_a_category_is_refused() -> None:
    """The raise pays every category: a table that lacks one cannot settle every hand."""
    document = plain()
    del document["raise_pays"]["pair"]

    assert read(document) is None


def test_a_document_that_is_no_object_is_refused() -> None:
    """A rule set is an object."""
    assert read([plain()]) is None


def deep(levels: int) -> list[Any]:
    """An array nested so often."""
    nested: list[Any] = []
    for _ in range(levels):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    "document",
    [
        {"text": "x" * DOCUMENT_BYTES_MAX},
        {"number": 2**53},
        {"surrogate": "\ud800"},
        {"set": {1}},
        {1: "a number for a name"},
        deep(10_000),
    ],
    ids=["large", "number", "surrogate", "type", "name", "deep"],
)
def test_what_has_no_canonical_form_is_refused(document: Any) -> None:
    """What is too large, or is not JSON that every reader reads alike, has no bytes to hash."""
    assert canonical(document) is None


def test_a_rule_set_is_read_once() -> None:
    """The same bytes and exponent give the very same house."""
    assert read(plain()) is read(plain(), "EUR")
    assert sha256(b"") == hashlib.sha256(b"").hexdigest()


@pytest.mark.parametrize(
    ("text", "amount"), [("0", 0), ("70", 700_000), ("70.5", 705_000), ("0.0001", 1), ("10", 100_000)]
)
def test_exact_amounts(text: str, amount: int) -> None:
    """Texts of exact amounts are read and written without loss."""
    assert units(text) == amount
    assert in_text(amount) == text


def test_a_negative_exact_amount_keeps_its_sign() -> None:
    """Differences in problems are written with their sign."""
    assert in_text(-5_000) == "-0.5"

"""What makes a rule set valid: everything the schema allows and refuses."""

from __future__ import annotations

import doctest
from copy import deepcopy
from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from domain.hands import CATEGORIES, Category
from domain.rulesets import checks
from domain.rulesets.schema import RuleSet, RulesetError, load, minor

STANDARD = dict(
    zip((str(category) for category in CATEGORIES), (1, 1, 2, 3, 4, 5, 7, 20, 50, 100), strict=True)
)
JACKPOT = {
    "kind": "jackpot",
    "stake": "1",
    "basis": "for_1",
    "awards": {
        "royal_flush": {"percent": 100},
        "straight_flush": {"percent": 10},
        "four_of_a_kind": {"fixed": "500"},
        "full_house": {"fixed": "100"},
        "flush": {"fixed": "50"},
    },
}
FIVE_PLUS_ONE = {
    "kind": "five_plus_one",
    "stake": "free",
    "basis": "to_1",
    "pays": {"royal_flush": 1000, "straight_flush": 200},
}
BONUS = {
    "kind": "bonus",
    "stake": "table",
    "basis": "for_1",
    "awards": {"royal_flush": {"fixed": "50000", "funding": "house"}},
}
HOUSE: dict[str, Any] = {
    "id": "test-house",
    "title": "A house for tests",
    "source": "003",
    "currencies": ["USD"],
    "seating": {"seats": 6},
    "deal": {"pattern": "block", "player_cards": "down", "dealer_up_indices": [0]},
    "play": {},
    "raise_pays": STANDARD,
    "side_bets": [JACKPOT, FIVE_PLUS_ONE, BONUS],
    "names": {
        "ante": "Ante",
        "raise": "Bet",
        "fold": "Fold",
        "jackpot": "Jackpot",
        "five_plus_one": "5+1",
        "bonus": "Bonus",
    },
}
EXCHANGE = {"exchange": {"forfeits": ["bonus"]}, "names.exchange": "Card"}
SHARED = {
    "seating": {"seats": 5000, "shared_player_hand": True},
    "deal.player_cards": "up",
    "play.show_hands": "all",
}
GONE = object()


def house(**changes: Any) -> dict[str, Any]:
    """Return the test house's document, changed at dotted paths; ``GONE`` takes a key away."""
    document = deepcopy(HOUSE)
    for path, value in changes.items():
        *parents, last = path.split(".")
        place: Any = document
        for step in parents:
            place = place[int(step) if step.isdigit() else step]
        if value is GONE:
            del place[last]
        else:
            place[int(last) if last.isdigit() else last] = deepcopy(value)
    return document


def read(changes: dict[str, Any]) -> RuleSet:
    """Return the test house as changed."""
    return RuleSet.from_document(house(**changes))


def test_the_test_house_is_valid() -> None:
    """The house that the refusals below are made from has nothing wrong with it."""
    assert read({}).id == "test-house"


@pytest.mark.parametrize(
    "changes",
    [
        EXCHANGE,
        SHARED,
        {"seating.seats": 9},
        {"seating.hands_per_player": 3},
        {"qualify": "high_card"},
        {"side_bets.2.stake": "5"},
        {"side_bets.1.stake": "5"},
        {"deal.dealer_up_indices": [4, 0, 2, 1]},
        {"misdeal_causes": ["misdeal_count"]},
        {"play.show_hands": "jackpot_when_not_qualified"},
        {"raise_cap": {}},
        {"currencies": ["USD", "KWD"]},
    ],
    ids=" ".join,
)
def test_what_the_schema_allows(changes: dict[str, Any]) -> None:
    """Six exchangers, nine seats, 5 000 on one hand, three hands a player, four up-cards are in bounds."""
    assert read(changes).document()["id"] == "test-house"


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    # Seats and the deck
    "an exchange with seven seats": ({**EXCHANGE, "seating.seats": 7}, "at most 6 seats, not 7"),
    "ten hands": ({"seating.seats": 10}, "10 seats need 55 cards, and the deck has 52"),
    "5 000 seats with a hand each": ({"seating.seats": 5000}, "the deck has 52"),
    "5 001 on one hand": ({**SHARED, "seating.seats": 5001}, "seating.seats: .*less than or equal to 5000"),
    "no seat": ({"seating.seats": 0}, "seating.seats: "),
    "two hands a player on a shared hand": ({**SHARED, "seating.hands_per_player": 2}, "one place only"),
    "more hands than seats": (
        {"seating": {"seats": 2, "hands_per_player": 3}},
        "more hands than there are seats",
    ),
    "four hands a player": ({"seating.hands_per_player": 4}, "seating.hands_per_player: "),
    "an exchange on a shared hand": (
        {**SHARED, **EXCHANGE, "seating.seats": 6},
        "a shared player hand cannot exchange",
    ),
    # Cards
    "an up-card outside the hand": ({"deal.dealer_up_indices": [5]}, "dealer_up_indices.0: .*equal to 4"),
    "an up-card before the hand": ({"deal.dealer_up_indices": [-1]}, "dealer_up_indices.0: .*equal to 0"),
    "an up-card named twice": ({"deal.dealer_up_indices": [0, 0]}, "up-card must not be repeated"),
    "no up-card": ({"deal.dealer_up_indices": []}, "dealer_up_indices: "),
    "no hidden card": ({"deal.dealer_up_indices": [0, 1, 2, 3, 4]}, "dealer_up_indices: "),
    "a shared hand face down": (
        {**SHARED, "deal.player_cards": "down", "play": {}},
        "dealt face up: everybody",
    ),
    "misdeals with open cards": (
        {"deal.player_cards": "up", "play.show_hands": "all", "misdeal_causes": ["misdeal_exposed"]},
        "a misdeal is declared only where player cards are dealt face down",
    ),
    "a cause of a misdeal twice": (
        {"misdeal_causes": ["misdeal_count"] * 2},
        "a misdeal must not be repeated",
    ),
    "an unknown cause": ({"misdeal_causes": ["weather"]}, "misdeal_causes.0: "),
    "open cards that are not shown": ({"deal.player_cards": "up"}, "show_hands is «all»"),
    "hidden cards that are all shown": ({"play.show_hands": "all"}, "show_hands is «all»"),
    "a jackpot rule of showing without a jackpot": (
        {"play.show_hands": "jackpot_when_not_qualified", "side_bets": [], "names": {}},
        "a jackpot that the house does not offer",
    ),
    # The raise
    "a raise table without a category": ({"raise_pays.pair": GONE}, "does not say what these pay: pair$"),
    "a raise table without the lowest": (
        {"raise_pays.high_card": GONE},
        "does not say what these pay: high_card$",
    ),
    "an unknown category": ({"raise_pays.five_of_a_kind": 500}, "raise_pays.five_of_a_kind"),
    "odds of nothing": ({"raise_pays.pair": 0}, "raise_pays.pair: .*greater than or equal to 1"),
    "negative odds": ({"raise_pays.pair": -1}, "raise_pays.pair: .*greater than or equal to 1"),
    "odds as a float": ({"raise_pays.pair": 1.5}, "raise_pays.pair: "),
    "odds as text": ({"raise_pays.pair": "1"}, "raise_pays.pair: "),
    "odds that fall": ({"raise_pays.flush": 8}, "full_house pays 7, less than the weaker flush at 8"),
    "an unknown qualifying hand": ({"qualify": "ace_queen"}, "qualify"),
    "a raise of nothing": ({"play.raise_multiple": 0}, "play.raise_multiple: "),
    # Side bets
    "a side bet without a stake": ({"side_bets.0.stake": GONE}, "side_bets.0.stake: Field required"),
    "a stake of nothing": ({"side_bets.0.stake": "0.00"}, "the stake of jackpot must be above zero"),
    "a negative stake": ({"side_bets.0.stake": "-1"}, "side_bets.0.stake"),
    "a stake as a number": ({"side_bets.0.stake": 1}, "side_bets.0.stake"),
    "a jackpot's free stake": ({"side_bets.0.stake": "free"}, "jackpot needs a fixed stake"),
    "a bonus's free stake": ({"side_bets.2.stake": "free"}, "bonus needs a fixed stake"),
    "a jackpot's stake from the table": ({"side_bets.0.stake": "table"}, "only a bonus takes its stake from"),
    "a 5+1's stake from the table": ({"side_bets.1.stake": "table"}, "only a bonus takes its stake from"),
    "two of a kind": ({"side_bets.1": JACKPOT}, "a kind of side bet must not be repeated"),
    "four side bets": ({"side_bets": [JACKPOT] * 4}, "side_bets: "),
    "an unknown side bet": ({"side_bets.0.kind": "insurance"}, "side_bets.0.kind"),
    "a jackpot with odds": ({"side_bets.0.pays": {"royal_flush": 5}}, "jackpot pays awards: it has no odds"),
    "a bonus with odds": ({"side_bets.2.pays": {"royal_flush": 5}}, "bonus pays awards: it has no odds"),
    "a 5+1 with awards": (
        {"side_bets.1.awards": {"royal_flush": {"percent": 100}}},
        "five_plus_one pays odds: it has no awards",
    ),
    "a 5+1 for 1": ({"side_bets.1.basis": "for_1"}, "five_plus_one pays to 1"),
    "a jackpot to 1": ({"side_bets.0.basis": "to_1"}, "jackpot pays for 1"),
    "a bonus to 1": ({"side_bets.2.basis": "to_1"}, "bonus pays for 1"),
    "a 5+1 that pays nothing": ({"side_bets.1.pays": {}}, "the pay table is empty"),
    "a jackpot that awards nothing": ({"side_bets.0.awards": {}}, "the pay table is empty"),
    "a hole in a side bet's odds": ({"side_bets.1.pays.flush": 15}, "these pay: full_house, four_of_a_kind"),
    "a hole at the top": ({"side_bets.1.pays.royal_flush": GONE}, "these pay: royal_flush"),
    "a hole in the awards": ({"side_bets.0.awards.full_house": GONE}, "these pay: full_house"),
    "a side bet's odds that fall": ({"side_bets.1.pays.royal_flush": 199}, "royal_flush pays 199, less than"),
    "a side bet's odds of nothing": ({"side_bets.1.pays.royal_flush": 0}, "side_bets.1.pays.royal_flush: "),
    # Awards
    "an award of both": (
        {"side_bets.0.awards.flush": {"percent": 1, "fixed": "50"}},
        "awards.flush: an award is either a percentage",
    ),
    "an award of neither": (
        {"side_bets.0.awards.flush": {}},
        "awards.flush: an award is either a percentage",
    ),
    "an award of nothing": (
        {"side_bets.0.awards.flush": {"fixed": "0"}},
        "award of flush must be above zero",
    ),
    "an award of no percent": ({"side_bets.0.awards.flush": {"percent": 0}}, "awards.flush.percent: "),
    "more than the meter": ({"side_bets.0.awards.royal_flush": {"percent": 101}}, "royal_flush.percent: "),
    "a percentage paid by the house": (
        {"side_bets.0.awards.flush": {"percent": 1, "funding": "house"}},
        "paid from the meter, not by the house",
    ),
    "a percentage without a jackpot": (
        {"side_bets.2.awards.royal_flush": {"percent": 100}},
        "a percentage needs a jackpot",
    ),
    "a bonus paid from a meter": (
        {"side_bets.2.awards.royal_flush": {"fixed": "50000"}},
        "a bonus is funded by the house",
    ),
    "the whole meter twice": (
        {"side_bets.0.awards.straight_flush": {"percent": 100}},
        "only one category can pay the whole meter",
    ),
    "fixed awards that fall": (
        {"side_bets.0.awards.full_house": {"fixed": "49.99"}},
        "full_house pays 49.99, less than the weaker flush at 50",
    ),
    "percentages that fall": (
        {"side_bets.0.awards.royal_flush": {"percent": 9}},
        "royal_flush pays 9, less than the weaker straight_flush at 10",
    ),
    # Money
    "no currency": ({"currencies": []}, "currencies: "),
    "an unknown currency": ({"currencies": ["USD", "XXX"]}, "unknown currency 'XXX'"),
    "a currency in small letters": ({"currencies": ["usd"]}, "currencies.0: "),
    "a currency twice": ({"currencies": ["USD", "USD"]}, "a currency must not be repeated"),
    "cents of a yen": (
        {"currencies": ["USD", "JPY"], "side_bets.0.stake": "2.50"},
        "the stake of jackpot in JPY: 2.50 has more decimals than the currency, which has 0",
    ),
    "a tenth of a cent in an award": (
        {"side_bets.0.awards.flush": {"fixed": "50.005"}},
        "award of flush in USD",
    ),
    "a tenth of a cent in the cap": ({"raise_cap": {"amount": "0.001"}}, "raise_cap in USD: 0.001 has more"),
    "a cap of nothing": ({"raise_cap": {"amount": "0"}}, "raise_cap must be above zero"),
    "an ante of nothing": ({"max_ante": "0"}, "max_ante must be above zero"),
    "an amount too large": ({"max_ante": "10000000000.01"}, "at most 1000000000000 minor units"),
    "an amount with an exponent": ({"max_ante": "1e3"}, "max_ante: "),
    "an amount with leading zeros": ({"max_ante": "0100"}, "max_ante: "),
    # The exchange
    "a forfeit that is not offered": (
        {**EXCHANGE, "side_bets": [JACKPOT, FIVE_PLUS_ONE], "names.bonus": GONE},
        "the exchange forfeits bonus, which the house does not offer",
    ),
    "a forfeit twice": (
        {**EXCHANGE, "exchange": {"forfeits": ["bonus"] * 2}},
        "forfeited side bet must not be",
    ),
    "a free exchange": ({**EXCHANGE, "exchange": {"fee_antes": 0}}, "exchange.fee_antes: "),
    # Words
    "a bet without a name": ({"names.jackpot": GONE}, "names must be given for exactly these: ante, bonus, "),
    "an exchange without a name": ({"exchange": {}}, "exactly these: .*exchange"),
    "a name for what is not offered": ({"names.exchange": "Card"}, "names must be given for exactly these"),
    "an empty name": ({"names.ante": ""}, "names.ante: "),
    "a line break": ({"title": "two\nlines"}, "title: text must not contain control characters"),
    "an invisible sign": ({"title": "a\u200bb"}, "title: text must not contain control characters"),
    "letters in pieces": ({"title": "o\u0308"}, "title: text must be in Unicode normal form C"),
    "half a character": ({"title": "\ud800"}, "lone (leading )?surrogate|unexpected end"),
    # Form
    "an unknown key": ({"colour": "blue"}, "colour: Extra inputs are not permitted"),
    "an unknown key inside": ({"seating.colour": "blue"}, "seating.colour: Extra inputs are not permitted"),
    "a missing part": ({"deal": GONE}, "deal: Field required"),
    "an id with a slash": ({"id": "../x"}, "id: "),
    "a source that does not exist": ({"source": "005"}, "source: "),
    "a word for a truth": ({"seating.shared_player_hand": "yes"}, "seating.shared_player_hand: "),
    "a date": ({"title": date(1982, 1, 1)}, "not a JSON document"),
    "not a number": ({"seating.seats": float("nan")}, "not a JSON document"),
}


@pytest.mark.parametrize(("changes", "message"), REFUSED.values(), ids=REFUSED)
def test_what_the_schema_refuses(changes: dict[str, Any], message: str) -> None:
    """Each of these makes the valid house invalid, and the error says what and where."""
    with pytest.raises(RulesetError, match=message) as caught:
        read(changes)
    assert str(caught.value).startswith("not a valid rule set: ")
    assert "\n" not in str(caught.value)


def test_every_problem_of_form_is_named() -> None:
    """An author sees all the wrong fields at once, each with its place."""
    with pytest.raises(RulesetError) as caught:
        read({"id": "", "seating.seats": 0, "source": "9"})
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["id", "source", "seating.seats"]


def test_a_file_that_is_no_toml_is_refused() -> None:
    """Text that TOML cannot read is a rule-set error too."""
    with pytest.raises(RulesetError, match="not a TOML file: "):
        load("id = ")


def test_a_rule_set_does_not_change() -> None:
    """A rule set is frozen: what was hashed stays what it was."""
    ruleset = read({})
    with pytest.raises(ValidationError, match="frozen"):
        ruleset.title = "Another"


def test_side_bets_are_found_by_kind() -> None:
    """A side bet is looked up by its kind; one that is not offered is None."""
    ruleset = read(
        {
            "side_bets": [BONUS],
            "names": {**HOUSE["names"]},
            "names.jackpot": GONE,
            "names.five_plus_one": GONE,
        }
    )
    assert ruleset.side_bet("bonus") is ruleset.side_bets[0]
    assert ruleset.side_bet("jackpot") is None


def test_units_become_minor_units_by_the_exponent() -> None:
    """2.50 is 250 cents, 100 yen are 100, a fils is a thousandth."""
    assert [minor("2.50", 2), minor("100", 0), minor("0.001", 3)] == [250, 100, 1]
    with pytest.raises(ValueError, match=r"2\.50 has more decimals"):
        minor("2.50", 0)


def test_the_documentation_of_the_checks_is_true() -> None:
    """The examples in the docstrings give what they say."""
    result = doctest.testmod(checks)
    assert result.attempted > 0
    assert result.failed == 0


def test_categories_are_keys_in_the_model_and_strings_in_the_document() -> None:
    """The same table is keyed by category for code and by its name for JSON."""
    ruleset = read({})
    assert ruleset.raise_pays[Category.FLUSH] == 5
    assert ruleset.document()["raise_pays"]["flush"] == 5

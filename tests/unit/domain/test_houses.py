"""The nine houses: what each source says, typed from the source; and what documents and hashes promise."""

from __future__ import annotations

import hashlib
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import domain.rulesets
from domain.rulesets import SHIPPED
from domain.rulesets.schema import RuleSet, load, ruleset_sha256

FOLDER = Path(domain.rulesets.__file__).parent

# Royal flush to high card. 000 lists all ten, 002 and 004 end in «one pair or less», 003 in a pair.
STANDARD = (100, 50, 20, 7, 5, 4, 3, 2, 1, 1)
LADDER = (
    "royal_flush",
    "straight_flush",
    "four_of_a_kind",
    "full_house",
    "flush",
    "straight",
    "three_of_a_kind",
    "two_pair",
    "pair",
    "high_card",
)


def shipped(ruleset_id: str) -> RuleSet:
    """Return a shipped rule set, from its file."""
    return load((FOLDER / f"{ruleset_id}.toml").read_text(encoding="utf-8"))


def raise_table(ruleset: RuleSet) -> tuple[int, ...]:
    """Return a house's odds on the raise, the royal flush first."""
    return tuple(ruleset.document()["raise_pays"][category] for category in LADDER)


def jackpot(quads: str, full_house: str, flush: str) -> dict[str, Any]:
    """Return a progressive's awards: all, a tenth, and three amounts from the meter."""
    return {
        "royal_flush": {"percent": 100, "funding": "meter"},
        "straight_flush": {"percent": 10, "funding": "meter"},
        "four_of_a_kind": {"fixed": quads, "funding": "meter"},
        "full_house": {"fixed": full_house, "funding": "meter"},
        "flush": {"fixed": flush, "funding": "meter"},
    }


def side_bet(ruleset: RuleSet) -> dict[str, Any]:
    """Return the document of a house's only side bet."""
    (bet,) = ruleset.document()["side_bets"]
    assert isinstance(bet, dict)
    return bet


def flagged(ruleset: RuleSet) -> str:
    """Return all readings of a house that are ours."""
    return " ".join(reading.text for reading in ruleset.readings if reading.flagged)


# ── What holds everywhere ───────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("ruleset_id", SHIPPED)
def test_every_house_plays_the_same_game(ruleset_id: str) -> None:
    """The raise is twice the ante, the dealer plays with ace and king, a void round returns everything."""
    ruleset = shipped(ruleset_id)
    assert ruleset.play.raise_multiple == 2
    assert ruleset.qualify == "ace_king"
    assert ruleset.void_policy == "refund_all"
    assert ruleset.play.settlement_order == "seat"
    assert ruleset.play.reveal_if_all_fold
    assert ruleset.play.on_timeout == "fold"
    assert ruleset.names["ante"] == "Ante"
    assert all(bet.survives_fold and not bet.needs_dealer_to_qualify for bet in ruleset.side_bets)


@pytest.mark.parametrize("ruleset_id", SHIPPED)
def test_every_house_says_how_unclear_sentences_are_read(ruleset_id: str) -> None:
    """The readings that concern all houses are in each file: qualifying, ties, the ace, time-outs."""
    ruleset = shipped(ruleset_id)
    text = " ".join(reading.text for reading in ruleset.readings)
    for words in ("A-K-4-3-2", "A-Q-J-10-9", "a hand lower than the dealer's", "never by suit", "5-4-3-2-A"):
        assert words in text
    assert "does not decide" in flagged(ruleset)


@pytest.mark.parametrize(
    ("words", "houses"),
    [
        ("carry each other's labels", {"evolution-live"}),
        ("pay table of the Call is not in the source", {"evolution-live"}),
        ("pay table of the 5+1 Bonus is not in the source", {"evolution-live"}),
        ("paid 1:1 on the ", {"evolution-live", "czech"}),
        ("probably a misprint for 500", {"cyber"}),
        ("go over to the next game", {"cyber"}),
        (
            "silent on a jackpot bet whose player folds",
            {"nordic", "us-casino", "uk-casino", "macau", "adelaide"},
        ),
        ("silent on a special bonus whose player folds", {"czech"}),
        (
            "No source says who pays the fixed jackpot awards",
            {"nordic", "cyber", "us-casino", "uk-casino", "macau", "adelaide"},
        ),
        (
            "paid in the order of settlement",
            {"nordic", "cyber", "us-casino", "uk-casino", "macau", "adelaide"},
        ),
        ("A technical fault voids", {"evolution-live"}),
        ("5 000 dollars limit", {"us-casino"}),
        ("most that a table pays", {"czech"}),
        (
            "sets no limit to what a ",
            set(SHIPPED) - {"us-casino", "czech"},
        ),
        ("the ante still pays 1:1", {"uk-casino"}),
        (
            "no stake for the jackpot bet",
            {"nordic", "us-casino", "uk-casino", "macau", "adelaide"},
        ),
        ("no stake for the special bonus", {"czech"}),
        ("one player hand is dealt and all bet on it", {"evolution-live"}),
        (
            "no order of dealing",
            set(SHIPPED) - {"evolution-live", "czech"},
        ),
        ("what the other hands tell is ignored", {"cyber"}),
    ],
)
def test_a_reading_of_ours_is_flagged_where_it_concerns(words: str, houses: set[str]) -> None:
    """Each decision that no source made is marked as ours, in the houses it touches and in no other."""
    assert {ruleset_id for ruleset_id in SHIPPED if words in flagged(shipped(ruleset_id))} == houses


# ── House by house ──────────────────────────────────────────────────────────────────────────────
def test_nordic_is_source_000() -> None:
    """Seven hands face down, one card at a time, the fifth dealer card up; 500, 100 and 50 from the meter."""
    ruleset = shipped("nordic")
    assert ruleset.source == "000"
    assert ruleset.currencies == ("NOK", "DKK", "SEK", "EUR", "USD")
    assert (ruleset.seating.seats, ruleset.seating.hands_per_player) == (7, 1)
    assert (ruleset.deal.pattern, ruleset.deal.player_cards) == ("round_robin", "down")
    assert ruleset.deal.dealer_up_indices == (4,)
    assert raise_table(ruleset) == STANDARD
    assert side_bet(ruleset)["awards"] == jackpot("500", "100", "50")
    assert side_bet(ruleset)["stake"] == "1"
    assert ruleset.raise_cap is None
    assert ruleset.misdeal_causes == ("misdeal_count", "misdeal_exposed")
    assert ruleset.names["raise"] == "Bet"


def test_evolution_live_is_source_001() -> None:
    """One open hand for all, the first dealer card up, Call by the better table, 5+1 Bonus to 1."""
    ruleset = shipped("evolution-live")
    assert ruleset.source == "001"
    assert ruleset.currencies == ("EUR", "DKK", "NOK", "GBP", "USD")
    assert ruleset.seating.shared_player_hand
    assert (ruleset.seating.seats, ruleset.seating.hands_per_player) == (5000, 1)
    assert (ruleset.deal.pattern, ruleset.deal.player_cards) == ("block", "up")
    assert ruleset.deal.dealer_up_indices == (0,)
    assert ruleset.play.show_hands == "all"
    assert raise_table(ruleset) == (100, 50, 25, 10, 7, 5, 3, 2, 1, 1)
    bet = side_bet(ruleset)
    assert (bet["kind"], bet["stake"], bet["basis"]) == ("five_plus_one", "free", "to_1")
    assert bet["pays"] == dict(zip(LADDER, (1000, 200, 100, 20, 15, 10, 7), strict=False))
    assert (ruleset.names["raise"], ruleset.names["five_plus_one"]) == ("Call", "5+1 Bonus")


def test_cyber_is_source_002() -> None:
    """Three open hands of one player, one after the other; a dollar a hand; quads pay 100 as printed."""
    ruleset = shipped("cyber")
    assert ruleset.source == "002"
    assert ruleset.currencies == ("USD",)
    assert (ruleset.seating.seats, ruleset.seating.hands_per_player) == (3, 3)
    assert (ruleset.deal.pattern, ruleset.deal.player_cards) == ("block", "up")
    assert ruleset.deal.dealer_up_indices == (0,)
    assert ruleset.play.decision_order == "seat"
    assert raise_table(ruleset) == STANDARD
    assert side_bet(ruleset)["awards"] == jackpot("100", "100", "50")
    assert side_bet(ruleset)["stake"] == "1"
    assert ruleset.names["raise"] == "Back Bet"


def test_czech_is_source_003() -> None:
    """Six can buy a card for an ante, which takes the bonus; fixed awards; the table caps the Odds."""
    ruleset = shipped("czech")
    assert ruleset.source == "003"
    assert ruleset.currencies == ("CZK", "EUR")
    assert (ruleset.seating.seats, ruleset.seating.hands_per_player) == (6, 1)
    assert (ruleset.deal.pattern, ruleset.deal.player_cards) == ("round_robin", "down")
    assert ruleset.deal.dealer_up_indices == (4,)
    assert raise_table(ruleset) == STANDARD
    bet = side_bet(ruleset)
    assert (bet["kind"], bet["stake"], bet["basis"]) == ("bonus", "table", "for_1")
    assert {category: award["fixed"] for category, award in bet["awards"].items()} == {
        "flush": "1000",
        "full_house": "2000",
        "four_of_a_kind": "6000",
        "straight_flush": "10000",
        "royal_flush": "50000",
    }
    assert {award["funding"] for award in bet["awards"].values()} == {"house"}
    document = ruleset.document()
    assert document["exchange"] == {"fee_antes": 1, "burn": "per_exchange", "forfeits": ["bonus"]}
    assert document["raise_cap"] == {"scope": "raise_per_hand"}
    assert ruleset.misdeal_causes == ("misdeal_count", "misdeal_exposed")
    assert ruleset.names["raise"] == "Odds"


@pytest.mark.parametrize(
    ("ruleset_id", "currencies", "stake", "awards"),
    [
        ("us-casino", ("USD",), "1", ("500", "100", "50")),
        ("uk-casino", ("GBP",), "1", ("500", "100", "50")),
        ("macau", ("HKD", "MOP"), "10", ("5000", "1500", "1000")),
        ("adelaide", ("AUD",), "2.50", ("1250", "375", "250")),
    ],
)
def test_the_progressives_of_source_004(
    ruleset_id: str, currencies: tuple[str, ...], stake: str, awards: tuple[str, str, str]
) -> None:
    """All of the meter, a tenth of it, and each place's own amounts."""
    ruleset = shipped(ruleset_id)
    assert ruleset.currencies == currencies
    assert side_bet(ruleset)["stake"] == stake
    assert side_bet(ruleset)["basis"] == "for_1"
    assert side_bet(ruleset)["awards"] == jackpot(*awards)


@pytest.mark.parametrize("ruleset_id", ["us-casino", "uk-casino", "macau", "adelaide", "casino-poker-1982"])
def test_the_tables_of_source_004(ruleset_id: str) -> None:
    """Seven hands dealt face down as blocks, one each, and the stake on the raise is called Bet."""
    ruleset = shipped(ruleset_id)
    assert ruleset.source == "004"
    assert (ruleset.seating.seats, ruleset.seating.hands_per_player) == (7, 1)
    assert (ruleset.deal.pattern, ruleset.deal.player_cards) == ("block", "down")
    assert ruleset.misdeal_causes == ("misdeal_count", "misdeal_exposed")
    assert ruleset.names["raise"] == "Bet"


def test_us_casino_caps_the_raise() -> None:
    """A Bet wins 5 000 dollars a hand at most, and a royal flush pays 100 to 1 up to it."""
    ruleset = shipped("us-casino")
    assert ruleset.document()["raise_cap"] == {"scope": "raise_per_hand", "amount": "5000"}
    assert ruleset.deal.dealer_up_indices == (0,)
    assert raise_table(ruleset) == STANDARD
    assert ruleset.play.show_hands == "called"


def test_uk_casino_pays_a_royal_flush_like_a_straight_flush() -> None:
    """An ante of 100 pounds at most, 50 to 1 for a royal flush, jackpot hands shown to no qualifier."""
    ruleset = shipped("uk-casino")
    assert ruleset.max_ante == "100"
    assert raise_table(ruleset) == (50, 50, 20, 7, 5, 4, 3, 2, 1, 1)
    assert ruleset.raise_cap is None
    assert ruleset.play.show_hands == "jackpot_when_not_qualified"
    assert ruleset.deal.dealer_up_indices == (0,)


@pytest.mark.parametrize("ruleset_id", ["macau", "adelaide"])
def test_macau_and_adelaide_have_no_cap(ruleset_id: str) -> None:
    """The limit in dollars is that of the United States."""
    ruleset = shipped(ruleset_id)
    assert ruleset.raise_cap is None
    assert raise_table(ruleset) == STANDARD
    assert ruleset.deal.dealer_up_indices == (0,)


def test_casino_poker_1982_shows_two_cards() -> None:
    """Two dealer cards are up and there is no progressive jackpot."""
    ruleset = shipped("casino-poker-1982")
    assert ruleset.currencies == ("USD",)
    assert ruleset.deal.dealer_up_indices == (0, 1)
    assert ruleset.side_bets == ()
    assert ruleset.raise_cap is None
    assert raise_table(ruleset) == STANDARD


@pytest.mark.parametrize("ruleset_id", sorted(set(SHIPPED) - {"czech"}))
def test_only_one_house_sells_cards(ruleset_id: str) -> None:
    """Outside source 003 players play the hands they are dealt."""
    assert shipped(ruleset_id).exchange is None


@pytest.mark.parametrize("ruleset_id", sorted(set(SHIPPED) - {"cyber"}))
def test_only_one_house_orders_decisions(ruleset_id: str) -> None:
    """Outside source 002 no source says in which order players decide."""
    assert shipped(ruleset_id).play.decision_order == "any"


# ── Documents and hashes ────────────────────────────────────────────────────────────────────────
def test_every_file_is_shipped_and_every_shipped_id_has_its_file() -> None:
    """A house is one file, named by the id in it."""
    assert sorted(SHIPPED) == sorted(path.stem for path in FOLDER.glob("*.toml"))
    assert [shipped(ruleset_id).id for ruleset_id in SHIPPED] == list(SHIPPED)


@pytest.mark.parametrize("ruleset_id", SHIPPED)
def test_a_published_document_gives_the_same_rule_set_back(ruleset_id: str) -> None:
    """Through JSON text and back, rule set, document and hash are what they were."""
    ruleset = shipped(ruleset_id)
    document = json.loads(json.dumps(ruleset.document()))
    again = RuleSet.from_document(document)
    assert again == ruleset
    assert again.document() == document
    assert ruleset_sha256(again.document()) == ruleset_sha256(ruleset.document())


@pytest.mark.parametrize("ruleset_id", SHIPPED)
def test_a_document_is_plain_json_without_absent_values(ruleset_id: str) -> None:
    """Keys are plain strings and nothing is null, so that every writer of JSON writes the same."""

    def plain(value: object) -> bool:
        if isinstance(value, dict):
            return all(type(key) is str and plain(entry) for key, entry in value.items())
        if isinstance(value, list):
            return all(map(plain, value))
        return type(value) in {str, int, bool}

    assert plain(shipped(ruleset_id).document())


def test_the_hash_is_that_of_canonical_json() -> None:
    """The hash is SHA-256 of JSON with sorted keys, without spaces, in UTF-8."""
    assert ruleset_sha256({"b": "é", "a": [1, True]}) == (
        hashlib.sha256('{"a":[1,true],"b":"é"}'.encode()).hexdigest()
    )


def leaves(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the paths of all plain values in a document."""
    if isinstance(value, dict):
        return [leaf for key, entry in value.items() for leaf in leaves(entry, (*path, key))]
    if isinstance(value, list):
        return [leaf for index, entry in enumerate(value) for leaf in leaves(entry, (*path, index))]
    return [path]


@pytest.mark.parametrize("ruleset_id", SHIPPED)
def test_any_changed_field_changes_the_hash(ruleset_id: str) -> None:
    """No value of a rule set, not a word of a reading, is outside the hash."""
    document = shipped(ruleset_id).document()
    paths = leaves(document)
    hashes = {ruleset_sha256(document)}
    for path in paths:
        changed: Any = deepcopy(document)
        place = changed
        for step in path[:-1]:
            place = place[step]
        value = place[path[-1]]
        place[path[-1]] = (
            not value if isinstance(value, bool) else value * 2 + 1 if isinstance(value, int) else value + "x"
        )
        hashes.add(ruleset_sha256(changed))
    assert len(paths) > 50
    assert len(hashes) == len(paths) + 1

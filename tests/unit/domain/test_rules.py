"""Rules compiled for a table: amounts in minor units, and everything that does not fit together refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest

import domain.rulesets
from domain.events import RulesetRef, TableParameters
from domain.hands import CATEGORIES
from domain.rules import CompiledAward, CompiledSideBet, Rules, RulesError, compile_rules
from domain.rulesets import SHIPPED
from domain.rulesets.schema import RuleSet, load, ruleset_sha256

FOLDER = Path(domain.rulesets.__file__).parent
LIMITS = TableParameters(
    min_ante=500, max_ante=10_000, zone="UTC", cutoff_hour=0, min_side_bet=100, max_side_bet=5_000
)
CZECH_LIMITS = replace(LIMITS, raise_win_cap=2_000_000, bonus_stake=5_000)


def shipped(ruleset_id: str) -> RuleSet:
    """Return a shipped rule set, from its file."""
    return load((FOLDER / f"{ruleset_id}.toml").read_text(encoding="utf-8"))


def changed(ruleset: RuleSet, **changes: Any) -> RuleSet:
    """Return a rule set with whole parts of its document replaced."""
    return RuleSet.from_document({**ruleset.document(), **changes})


def compiled(
    ruleset: RuleSet | str,
    parameters: TableParameters = LIMITS,
    *,
    currency: str | None = None,
    has_jackpot: bool | None = None,
) -> Rules:
    """Return the rules of a table of that house, with a jackpot where the house has the side bet."""
    house = shipped(ruleset) if isinstance(ruleset, str) else ruleset
    ref = RulesetRef(house.id, 1, ruleset_sha256(house.document()))
    if has_jackpot is None:
        has_jackpot = house.side_bet("jackpot") is not None
    return compile_rules(house, ref, currency or house.currencies[0], parameters, has_jackpot=has_jackpot)


# ── What comes out ──────────────────────────────────────────────────────────────────────────────
def test_us_casino_in_minor_units() -> None:
    """The cap is 500 000 cents, the jackpot stake 100, its fixed awards 50 000, 10 000 and 5 000."""
    rules = compiled("us-casino")
    assert (rules.ref.id, rules.currency, rules.exponent) == ("us-casino", "USD", 2)
    assert (rules.raise_multiple, rules.qualify) == (2, "ace_king")
    assert (rules.raise_win_cap, rules.cap_scope, rules.max_ante) == (500_000, "raise_per_hand", None)
    assert (rules.seats, rules.hands_per_player, rules.shared) == (7, 1, False)
    assert (rules.pattern, rules.player_cards_down, rules.up_indices) == ("block", True, (0,))
    assert (rules.decision_order, rules.on_timeout, rules.show_hands) == ("any", "fold", "called")
    assert rules.reveal_if_all_fold
    assert (rules.exchange_fee_antes, rules.forfeits, rules.misdeal_causes) == (
        None,
        (),
        ("misdeal_count", "misdeal_exposed"),
    )
    assert rules.side_bet_order == ("jackpot",)
    assert rules.side_bets["jackpot"] == CompiledSideBet(
        kind="jackpot",
        stake=100,
        survives_fold=True,
        needs_dealer_to_qualify=False,
        pays={},
        awards={
            "royal_flush": CompiledAward(percent=100, fixed=None, funding="meter"),
            "straight_flush": CompiledAward(percent=10, fixed=None, funding="meter"),
            "four_of_a_kind": CompiledAward(percent=None, fixed=50_000, funding="meter"),
            "full_house": CompiledAward(percent=None, fixed=10_000, funding="meter"),
            "flush": CompiledAward(percent=None, fixed=5_000, funding="meter"),
        },
    )


def test_czech_takes_its_parameters_from_the_table() -> None:
    """The cap and the bonus stake are the table's; a card costs an ante and takes the bonus with it."""
    rules = compiled("czech", CZECH_LIMITS)
    assert (rules.raise_win_cap, rules.cap_scope) == (2_000_000, "raise_per_hand")
    assert rules.side_bets["bonus"].stake == 5_000
    assert {category: award.fixed for category, award in rules.side_bets["bonus"].awards.items()} == {
        "flush": 100_000,
        "full_house": 200_000,
        "four_of_a_kind": 600_000,
        "straight_flush": 1_000_000,
        "royal_flush": 5_000_000,
    }
    assert {award.funding for award in rules.side_bets["bonus"].awards.values()} == {"house"}
    assert (rules.exchange_fee_antes, rules.forfeits) == (1, ("bonus",))
    assert rules.misdeal_causes == ("misdeal_count", "misdeal_exposed")
    assert (rules.pattern, rules.up_indices, rules.player_cards_down) == ("round_robin", (4,), True)


def test_evolution_live_leaves_the_side_bet_stake_free() -> None:
    """5+1 Bonus has no fixed stake and pays odds; the one hand is shared and open."""
    rules = compiled("evolution-live", currency="DKK")
    bet = rules.side_bets["five_plus_one"]
    assert (bet.stake, bet.pays["three_of_a_kind"], bet.awards) == (None, 7, {})
    assert (rules.currency, rules.seats, rules.shared, rules.player_cards_down) == ("DKK", 5_000, True, False)
    assert (rules.raise_win_cap, rules.cap_scope) == (None, None)


@pytest.mark.parametrize(
    ("ruleset_id", "stake"),
    [("nordic", 100), ("cyber", 100), ("uk-casino", 100), ("macau", 1_000), ("adelaide", 250)],
)
def test_jackpot_stakes_in_minor_units(ruleset_id: str, stake: int) -> None:
    """One unit is 100, ten are 1 000 and two and a half 250 of a currency with two digits."""
    assert compiled(ruleset_id).side_bets["jackpot"].stake == stake


def test_amounts_follow_the_currency() -> None:
    """A unit of the yen is one, and of the Kuwaiti dinar a thousand."""
    house = changed(shipped("us-casino"), currencies=["JPY", "KWD"])
    assert [compiled(house, currency=code).raise_win_cap for code in ("JPY", "KWD")] == [5_000, 5_000_000]
    assert [compiled(house, currency=code).side_bets["jackpot"].stake for code in ("JPY", "KWD")] == [
        1,
        1_000,
    ]


@pytest.mark.parametrize("ruleset_id", SHIPPED)
def test_tables_are_keyed_by_plain_strings(ruleset_id: str) -> None:
    """All ten categories have odds on the raise, under plain strings."""
    rules = compiled(ruleset_id, CZECH_LIMITS if ruleset_id == "czech" else LIMITS)
    assert set(rules.raise_pays) == set(map(str, CATEGORIES))
    tables = [rules.raise_pays, *(bet.pays for bet in rules.side_bets.values())]
    tables += [bet.awards for bet in rules.side_bets.values()]
    assert {type(key) for table in tables for key in table} == {str}


def test_without_a_jackpot_the_table_does_not_offer_its_side_bet() -> None:
    """A house with a jackpot side bet has tables without one."""
    rules = compiled("uk-casino", has_jackpot=False)
    assert (rules.side_bets, rules.side_bet_order) == ({}, ())


def test_side_bets_keep_the_order_of_the_rule_set() -> None:
    """The order in which side bets are settled is the file's; a forfeit of a bet the table lacks is none."""
    czech = shipped("czech").document()
    jackpot = shipped("us-casino").document()["side_bets"][0]
    house = changed(
        shipped("czech"),
        side_bets=[*czech["side_bets"], jackpot],
        exchange={"forfeits": ["jackpot", "bonus"]},
        names={**czech["names"], "jackpot": "Jackpot"},
    )
    rules = compiled(house, CZECH_LIMITS)
    assert (rules.side_bet_order, tuple(rules.side_bets)) == (("bonus", "jackpot"), ("bonus", "jackpot"))
    assert rules.forfeits == ("jackpot", "bonus")
    assert compiled(house, CZECH_LIMITS, has_jackpot=False).forfeits == ("bonus",)


def test_a_house_without_parts_of_the_table_keeps_its_own() -> None:
    """A fixed bonus stake, an aggregate cap and a lower house limit come from the rule set."""
    czech = shipped("czech").document()
    house = changed(
        shipped("czech"),
        side_bets=[{**czech["side_bets"][0], "stake": "20"}],
        raise_cap={"scope": "aggregate", "amount": "7500"},
        max_ante="100",
        qualify="pair",
    )
    rules = compiled(house)
    assert rules.side_bets["bonus"].stake == 2_000
    assert (rules.raise_win_cap, rules.cap_scope, rules.max_ante) == (750_000, "aggregate", 10_000)
    assert rules.qualify == "pair"


def test_rules_do_not_change() -> None:
    """Rules are frozen, like all that a round pins."""
    rules = compiled("us-casino")
    with pytest.raises(FrozenInstanceError):
        rules.seats = 8  # type: ignore[misc]


# ── What is refused ─────────────────────────────────────────────────────────────────────────────
def test_limits_may_meet() -> None:
    """One stake only, and the house's own limit, are valid limits."""
    at_limit = replace(LIMITS, min_ante=10_000, max_ante=10_000, min_side_bet=1, max_side_bet=1)
    assert compiled("uk-casino", at_limit).max_ante == 10_000
    assert (
        compiled("us-casino", replace(LIMITS, min_ante=1, max_ante=5 * 10**11, max_side_bet=10**12)).seats
        == 7
    )


@pytest.mark.parametrize(
    ("ruleset_id", "changes", "message"),
    [
        ("us-casino", {"min_ante": 0}, "an ante of 0 to 10000 is no range"),
        ("us-casino", {"min_ante": -5}, "an ante of -5 to 10000 is no range"),
        ("us-casino", {"min_ante": 10_001}, "an ante of 10001 to 10000 is no range"),
        ("us-casino", {"min_side_bet": 0}, "a side bet of 0 to 5000 is no range"),
        ("us-casino", {"min_side_bet": 5_001}, "a side bet of 5001 to 5000 is no range"),
        ("us-casino", {"max_side_bet": 10**12 + 1}, "is no range"),
        ("us-casino", {"max_ante": 5 * 10**11 + 1}, "largest raise would be 1000000000002, more than"),
        (
            "uk-casino",
            {"max_ante": 10_001},
            "uk-casino takes an ante of at most 10000, the table's limit is 10001",
        ),
        ("us-casino", {"raise_win_cap": 1}, "does not let a table set the most a raise wins"),
        ("nordic", {"raise_win_cap": 1}, "does not let a table set the most a raise wins"),
        ("us-casino", {"bonus_stake": 1}, "does not let a table set a bonus's stake"),
        ("czech", {"bonus_stake": 1}, "raise_win_cap is missing"),
        ("czech", {"raise_win_cap": 1}, "bonus_stake is missing"),
        (
            "czech",
            {"raise_win_cap": 1, "bonus_stake": 0},
            "bonus_stake must be 1 to 1000000000000 minor units, not 0",
        ),
        ("czech", {"raise_win_cap": 0, "bonus_stake": 1}, "raise_win_cap must be 1 to .*, not 0"),
        ("czech", {"raise_win_cap": 10**12 + 1, "bonus_stake": 1}, "raise_win_cap must be 1 to"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(
    ruleset_id: str, changes: dict[str, int], message: str
) -> None:
    """Ranges, the house's limits, and what it leaves to the table or does not, are all checked."""
    with pytest.raises(RulesError, match=message):
        compiled(ruleset_id, replace(LIMITS, **changes))


def test_a_fixed_bonus_stake_is_not_the_tables() -> None:
    """Where the house fixes the bonus stake, a table cannot set another."""
    czech = shipped("czech").document()
    house = changed(shipped("czech"), side_bets=[{**czech["side_bets"][0], "stake": "20"}])
    with pytest.raises(RulesError, match="does not let a table set a bonus's stake"):
        compiled(house, CZECH_LIMITS)


def test_a_currency_the_house_does_not_take_is_refused() -> None:
    """The house's currencies are named."""
    with pytest.raises(RulesError, match="macau is played in HKD, MOP, not in USD"):
        compiled("macau", currency="USD")


def test_a_jackpot_where_the_house_has_none_is_refused() -> None:
    """A table of a house without the side bet cannot have a jackpot."""
    with pytest.raises(RulesError, match="casino-poker-1982 has no jackpot side bet"):
        compiled("casino-poker-1982", has_jackpot=True)


def test_the_reference_names_the_rule_set() -> None:
    """Rules compiled under another house's name would be pinned wrongly."""
    with pytest.raises(RulesError, match="the reference names nordic, and the rule set is cyber"):
        compile_rules(shipped("cyber"), RulesetRef("nordic", 1, "00"), "USD", LIMITS, has_jackpot=False)


def test_a_fraction_the_currency_does_not_have_is_refused() -> None:
    """A rule set that never went through its own checks still gives no wrong amount."""
    unchecked = shipped("adelaide").model_copy(update={"currencies": ("JPY",)})
    with pytest.raises(RulesError, match=r"an amount of the rule set in JPY: 2\.50 has more decimals"):
        compiled(unchecked)

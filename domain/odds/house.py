"""A house's odds at one ante: the game's figures, its side bets', and what its cap does there.

All of it is for one hand that is alone at the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from domain.canonical import document_sha256
from domain.events import RulesetRef, TableParameters
from domain.hands import CATEGORIES
from domain.money import AMOUNT_MAX, exponent
from domain.odds.figures import Figures, figures_of
from domain.odds.jackpot import JackpotOdds, jackpot_odds
from domain.odds.other_hands import OtherHands
from domain.odds.outcomes import Outcomes
from domain.odds.payoffs import Payoffs
from domain.odds.side_bets import (
    BonusOdds,
    SideBetFigures,
    alone,
    bonus,
    five_plus_one,
    standing_counts,
)
from domain.rules import CompiledSideBet, Rules, compile_rules
from domain.rulesets.schema import RuleSet, minor

WHOLE_UNITS_DEFAULT: Final = 10
"""The ante that figures are for where nobody names one, in whole units of the currency."""

SideBetOdds: TypeAlias = SideBetFigures | BonusOdds | JackpotOdds


@dataclass(frozen=True, slots=True)
class TableSettings:
    """What some houses leave to their tables, in minor units; None where no table has set it."""

    raise_win_cap: int | None = None
    bonus_stake: int | None = None


@dataclass(frozen=True, slots=True)
class Cap:
    """The most that a raise wins, and what that changes at an ante. Amounts in minor units.

    ``amount`` is None where there is no cap, and where the house leaves it to its tables (``left_to_table``)
    and none is set: nothing is cut then. ``free_up_to``: the largest ante of which nothing is cut.
    ``cut``: the categories that win less at this ante than their odds say, strongest first.
    """

    amount: int | None
    scope: Literal["raise_per_hand", "aggregate"] | None
    left_to_table: bool
    free_up_to: int | None
    cut: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HouseOdds:
    """Everything that is exact about a house at one ante.

    ``side_bets`` by kind, in the rule set's order; None where the best five of six cards are not counted,
    because a card can be bought. ``other_hands`` is beside what is exact: an estimate of what it leaves out,
    None where it leaves out nothing or nothing is estimated.
    """

    rules: Rules
    ante: int
    payoffs: Payoffs
    outcomes: Outcomes
    figures: Figures
    cap: Cap
    side_bets: Mapping[str, SideBetOdds | None]
    other_hands: OtherHands | None = None


def default_ante(ruleset: RuleSet, currency: str) -> int:
    """The ante, in minor units, where nobody names one: ten whole units, or the house's limit below that."""
    digits = exponent(currency)
    usual = minor(str(WHOLE_UNITS_DEFAULT), digits)
    return usual if ruleset.max_ante is None else min(usual, minor(ruleset.max_ante, digits))


def rules_for(ruleset: RuleSet, currency: str, settings: TableSettings) -> Rules:
    """Compile a rule set without a table, with its jackpot where it offers one.

    Where the house leaves its cap or the stake of its bonus to the table and ``settings`` has none, there
    is no cap and no stake. Raises ``RulesError`` for a currency that the house does not take, and for a
    setting that it does not leave to its tables.
    """
    cap_open, stake_open = _left_open(ruleset, settings)
    parameters = TableParameters(
        min_ante=1,
        max_ante=1,
        zone="UTC",
        cutoff_hour=0,
        min_side_bet=1,
        max_side_bet=AMOUNT_MAX,
        raise_win_cap=AMOUNT_MAX if cap_open else settings.raise_win_cap,
        bonus_stake=AMOUNT_MAX if stake_open else settings.bonus_stake,
    )
    ref = RulesetRef(ruleset.id, 1, document_sha256(ruleset.document()))
    has_jackpot = ruleset.side_bet("jackpot") is not None
    rules = compile_rules(ruleset, ref, currency, parameters, has_jackpot=has_jackpot)
    side_bets = dict(rules.side_bets)
    if stake_open:
        side_bets["bonus"] = replace(side_bets["bonus"], stake=None)
    return replace(rules, raise_win_cap=None if cap_open else rules.raise_win_cap, side_bets=side_bets)


def _left_open(ruleset: RuleSet, settings: TableSettings) -> tuple[bool, bool]:
    """Whether the cap, and the stake of the bonus, are the table's to set and are not set."""
    cap, bet = ruleset.raise_cap, ruleset.side_bet("bonus")
    return (
        cap is not None and cap.amount is None and settings.raise_win_cap is None,
        bet is not None and bet.stake == "table" and settings.bonus_stake is None,
    )


def house_odds(rules: Rules, ante: int, payoffs: Payoffs, outcomes: Outcomes) -> HouseOdds:
    """Put a house's odds together from what was counted under ``payoffs``, its own at ``ante`` minor units.

    Raises ``OddsError`` for a jackpot without a stake.
    """
    return HouseOdds(
        rules=rules,
        ante=ante,
        payoffs=payoffs,
        outcomes=outcomes,
        figures=figures_of(outcomes, payoffs),
        cap=_cap(rules, ante),
        side_bets={kind: _side_bet(rules, rules.side_bets[kind], outcomes) for kind in rules.side_bet_order},
    )


def _cap(rules: Rules, ante: int) -> Cap:
    amount = rules.raise_win_cap
    if amount is None:
        return Cap(None, rules.cap_scope, rules.cap_scope is not None, None, ())
    raised = ante * rules.raise_multiple
    names = [category.value for category in reversed(CATEGORIES)]
    return Cap(
        amount,
        rules.cap_scope,
        left_to_table=False,
        free_up_to=amount // (rules.raise_multiple * max(rules.raise_pays.values())),
        cut=tuple(name for name in names if raised * rules.raise_pays[name] > amount),
    )


def _side_bet(rules: Rules, offered: CompiledSideBet, outcomes: Outcomes) -> SideBetOdds | None:
    bet = alone(offered, rules)
    if bet.kind == "five_plus_one":
        return five_plus_one(outcomes, bet) if outcomes.six else None
    forfeited = bet.kind in rules.forfeits
    if bet.kind == "bonus":
        return bonus(outcomes, bet, forfeited_by_exchange=forfeited)
    standing = standing_counts(outcomes, bet, forfeited_by_exchange=forfeited)
    return jackpot_odds(bet, standing, outcomes.total)

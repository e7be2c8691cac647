"""A rule set compiled for one table: what the hot path reads, in minor units and plain containers.

`compile_rules` turns a house's rule set, a currency and a table's parameters into `Rules` once, and
refuses what does not fit together. Everything it needs is pinned on a round when it opens, so that
the same rules can be compiled again at any time (G7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from domain.events import RulesetRef, TableParameters
from domain.hands import Category, Qualifier
from domain.money import AMOUNT_MAX, exponent
from domain.rulesets.parts import MisdealCause, SideBetKind
from domain.rulesets.schema import Award, RuleSet, SideBet, minor

_T = TypeVar("_T")


class RulesError(ValueError):
    """A rule set, a currency and table parameters that do not fit together, in one sentence."""


@dataclass(frozen=True, slots=True)
class CompiledAward:
    """What a category of a jackpot or bonus pays.

    One of the two: ``percent`` of the meter (1 to 100), or ``fixed`` in minor units. ``funding`` says
    whether a fixed award comes from the meter, topped up by the house, or from the house alone.
    """

    percent: int | None
    fixed: int | None
    funding: Literal["meter", "house"]


@dataclass(frozen=True, slots=True)
class CompiledSideBet:
    """A side bet the table offers.

    ``stake`` in minor units, None where the player chooses within the table's side-bet limits. By category,
    ``pays`` has odds to 1 and ``awards`` amounts for 1; a category in neither wins nothing.
    """

    kind: SideBetKind
    stake: int | None
    survives_fold: bool
    needs_dealer_to_qualify: bool
    pays: Mapping[str, int]
    awards: Mapping[str, CompiledAward]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one table, amounts in minor units of its currency.

    ``raise_pays``: odds to 1 by category, all ten. ``raise_win_cap``: the most a raise wins, None without a
    limit, and ``cap_scope`` what it counts over. ``max_ante``: the house's own limit, which the
    table's cannot exceed. ``side_bets`` has what this table offers, ``side_bet_order`` their kinds in the
    rule set's order. ``exchange_fee_antes``: None where no card can be bought; ``forfeits``: the side
    bets of this table that go with it. ``seats``: how many can bet; ``shared``: on one hand.
    """

    ref: RulesetRef
    currency: str
    exponent: int
    raise_multiple: int
    qualify: Qualifier
    raise_pays: Mapping[str, int]
    raise_win_cap: int | None
    cap_scope: Literal["raise_per_hand", "aggregate"] | None
    max_ante: int | None
    side_bets: Mapping[str, CompiledSideBet]
    side_bet_order: tuple[SideBetKind, ...]
    exchange_fee_antes: int | None
    forfeits: tuple[SideBetKind, ...]
    seats: int
    hands_per_player: int
    shared: bool
    pattern: Literal["round_robin", "block"]
    player_cards_down: bool
    up_indices: tuple[int, ...]
    decision_order: Literal["any", "seat"]
    on_timeout: Literal["fold", "void"]
    reveal_if_all_fold: bool
    show_hands: Literal["all", "called", "jackpot_when_not_qualified"]
    misdeal_causes: tuple[MisdealCause, ...]


def compile_rules(
    ruleset: RuleSet, ref: RulesetRef, currency: str, parameters: TableParameters, *, has_jackpot: bool
) -> Rules:
    """Compile a rule set for a table.

    ``ref`` names the version of ``ruleset`` that is compiled; ``has_jackpot`` says whether the table has a
    jackpot, without which the jackpot side bet is not offered.

    Raises ``RulesError`` where the house does not take the currency, where the table's limits are no
    limits or exceed the house's, and where a parameter the house leaves to the table is missing, or one
    it does not leave to the table is set.
    """
    if ref.id != ruleset.id:
        raise RulesError(f"the reference names {ref.id}, and the rule set is {ruleset.id}")
    if currency not in ruleset.currencies:
        raise RulesError(f"{ruleset.id} is played in {', '.join(ruleset.currencies)}, not in {currency}")
    if has_jackpot and ruleset.side_bet("jackpot") is None:
        raise RulesError(f"{ruleset.id} has no jackpot side bet: the table cannot have a jackpot")
    max_ante = None if ruleset.max_ante is None else _minor(ruleset.max_ante, currency)
    _check_limits(ruleset, parameters, max_ante)
    _check_bonus_stake(ruleset, parameters)
    side_bets: dict[str, CompiledSideBet] = {
        bet.kind: _side_bet(bet, currency, parameters)
        for bet in ruleset.side_bets
        if has_jackpot or bet.kind != "jackpot"
    }
    exchange = ruleset.exchange
    return Rules(
        ref=ref,
        currency=currency,
        exponent=exponent(currency),
        raise_multiple=ruleset.play.raise_multiple,
        qualify=ruleset.qualify,
        raise_pays=_by_name(ruleset.raise_pays),
        raise_win_cap=_raise_win_cap(ruleset, currency, parameters),
        cap_scope=None if ruleset.raise_cap is None else ruleset.raise_cap.scope,
        max_ante=max_ante,
        side_bets=side_bets,
        side_bet_order=tuple(bet.kind for bet in side_bets.values()),
        exchange_fee_antes=None if exchange is None else exchange.fee_antes,
        forfeits=() if exchange is None else tuple(kind for kind in exchange.forfeits if kind in side_bets),
        seats=ruleset.seating.seats,
        hands_per_player=ruleset.seating.hands_per_player,
        shared=ruleset.seating.shared_player_hand,
        pattern=ruleset.deal.pattern,
        player_cards_down=ruleset.deal.player_cards == "down",
        up_indices=ruleset.deal.dealer_up_indices,
        decision_order=ruleset.play.decision_order,
        on_timeout=ruleset.play.on_timeout,
        reveal_if_all_fold=ruleset.play.reveal_if_all_fold,
        show_hands=ruleset.play.show_hands,
        misdeal_causes=ruleset.misdeal_causes,
    )


def _minor(units: str, currency: str) -> int:
    try:
        return minor(units, exponent(currency))
    except ValueError as error:
        raise RulesError(f"an amount of the rule set in {currency}: {error}") from None


def _by_name(table: Mapping[Category, _T]) -> dict[str, _T]:
    """Key a table by plain strings: a look-up then hashes and compares at the speed of the interpreter."""
    return {category.value: entry for category, entry in table.items()}


def _check_limits(ruleset: RuleSet, parameters: TableParameters, max_ante: int | None) -> None:
    if not 1 <= parameters.min_ante <= parameters.max_ante:
        raise RulesError(f"an ante of {parameters.min_ante} to {parameters.max_ante} is no range of stakes")
    if max_ante is not None and parameters.max_ante > max_ante:
        raise RulesError(
            f"{ruleset.id} takes an ante of at most {max_ante}, the table's limit is {parameters.max_ante}"
        )
    if not 1 <= parameters.min_side_bet <= parameters.max_side_bet <= AMOUNT_MAX:
        raise RulesError(
            f"a side bet of {parameters.min_side_bet} to {parameters.max_side_bet} is no range of stakes"
        )
    raise_max = parameters.max_ante * ruleset.play.raise_multiple
    if raise_max > AMOUNT_MAX:
        raise RulesError(f"the table's largest raise would be {raise_max}, more than {AMOUNT_MAX}")


def _check_bonus_stake(ruleset: RuleSet, parameters: TableParameters) -> None:
    bonus = ruleset.side_bet("bonus")
    from_table = bonus is not None and bonus.stake == "table"
    stake = parameters.bonus_stake
    if from_table and stake is None:
        raise RulesError(f"{ruleset.id} leaves the stake of the bonus to the table: bonus_stake is missing")
    if not from_table and stake is not None:
        raise RulesError(f"{ruleset.id} does not let a table set a bonus's stake: bonus_stake is set")
    _check_amount("bonus_stake", stake)


def _raise_win_cap(ruleset: RuleSet, currency: str, parameters: TableParameters) -> int | None:
    """Return the most a raise wins: the house's amount, the table's where the house leaves it so, or None."""
    cap, from_table = ruleset.raise_cap, parameters.raise_win_cap
    if cap is not None and cap.amount is None:
        if from_table is None:
            raise RulesError(
                f"{ruleset.id} leaves the most a raise wins to the table: raise_win_cap is missing"
            )
        _check_amount("raise_win_cap", from_table)
        return from_table
    if from_table is not None:
        raise RulesError(f"{ruleset.id} does not let a table set the most a raise wins: raise_win_cap is set")
    return None if cap is None or cap.amount is None else _minor(cap.amount, currency)


def _check_amount(name: str, amount: int | None) -> None:
    if amount is not None and not 1 <= amount <= AMOUNT_MAX:
        raise RulesError(f"{name} must be 1 to {AMOUNT_MAX} minor units, not {amount}")


def _side_bet(bet: SideBet, currency: str, parameters: TableParameters) -> CompiledSideBet:
    if bet.stake == "table":
        stake = parameters.bonus_stake
    elif bet.stake == "free":
        stake = None
    else:
        stake = _minor(bet.stake, currency)
    return CompiledSideBet(
        kind=bet.kind,
        stake=stake,
        survives_fold=bet.survives_fold,
        needs_dealer_to_qualify=bet.needs_dealer_to_qualify,
        pays=_by_name(bet.pays),
        awards={category: _award(award, currency) for category, award in _by_name(bet.awards).items()},
    )


def _award(award: Award, currency: str) -> CompiledAward:
    fixed = None if award.fixed is None else _minor(award.fixed, currency)
    return CompiledAward(award.percent, fixed, award.funding)

"""Exact odds as `scripts/odds` shows them to a person: percentages, and the fractions that they are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from domain.hands import CATEGORIES
from domain.odds.document import favours_player, root
from domain.odds.figures import CategoryRow, Expectation, Figures
from domain.odds.house import HouseOdds
from domain.odds.jackpot import JackpotOdds
from domain.odds.notes import notes
from domain.odds.side_bets import BonusOdds, SideBetFigures
from domain.rules import CompiledAward, CompiledSideBet
from domain.rulesets.schema import RuleSet

DENOMINATORS: Final = {"ante": "ante", "total_wagered": "total amount wagered", "side_bet": "side bet"}
METER_STEP_UNITS: Final = 10_000
"""A jackpot's slope is told for so many whole units of the currency in the meter."""
_LABEL: Final = 46
_FIGURE: Final = 18
_BOUND_STEPS: Final = 1_000_000  # of one: a ten-thousandth of a percent
_COLUMNS: Final = ("dealt", "fold", "not qualified", "win", "tie", "lose")


class JackpotAsked(NamedTuple):
    """What is asked about a jackpot: a meter, or a contribution with a reset, in minor units."""

    meter: int | None = None
    contribution: Fraction | None = None
    reset: int = 0


def lines(ruleset: RuleSet, odds: HouseOdds, asked: JackpotAsked) -> Iterator[str]:
    """Yield the odds of a house line by line.

    Raises ``OddsError`` for a jackpot that cannot be run as asked.
    """
    rules, names = odds.rules, ruleset.names
    money = Money(rules.currency, rules.exponent)
    raised = odds.ante * rules.raise_multiple
    yield f"{ruleset.title} ({ruleset.id})"
    yield f"{names['ante']} {money.whole(odds.ante)}, {names['raise']} {money.whole(raised)}"
    yield from _cap(odds, money)
    yield ""
    yield from _main(odds.figures)
    yield ""
    yield from _categories(odds, money)
    for kind, bet in odds.side_bets.items():
        yield ""
        offered = rules.side_bets[kind]
        stake = "" if offered.stake is None else f", {money.whole(offered.stake)} each"
        yield f"{names[offered.kind]}{stake}"
        match bet:
            case None:
                yield "  not counted"
            case SideBetFigures():
                yield from _fixed(bet, offered)
            case BonusOdds():
                yield from _bonus(bet, offered, money)
            case JackpotOdds():
                yield from _jackpot(bet, asked, money)
    yield ""
    for favoured in favours_player(odds):
        bet_name = "The main bet" if favoured == "main" else names[rules.side_bets[favoured].kind]
        yield f"! {bet_name} favours the player."
    yield from (f"- {text}" for _, text in notes(odds))


class Money(NamedTuple):
    """How amounts in minor units are written."""

    currency: str
    digits: int

    def whole(self, minor: Fraction | int) -> str:
        """Return an amount, not below zero, in whole units and rounded to the minor unit.

        >>> Money("USD", 2).whole(123450), Money("JPY", 0).whole(Fraction(7, 2))
        ('USD 1,234.50', 'JPY 4')
        """
        units, rest = divmod(round(minor), 10**self.digits)
        return f"{self.currency} {units:,}" + (f".{rest:0{self.digits}}" if self.digits else "")


def percent(number: Fraction, decimals: int = 4) -> str:
    """Return a fraction of one in percent, rounded to nearest.

    >>> percent(Fraction(-1, 3)), percent(Fraction(2, 3), 1)
    ('-33.3333 %', '66.7 %')
    """
    scaled = round(abs(number) * 10 ** (decimals + 2))
    whole, rest = divmod(scaled, 10**decimals)
    return f"{'-' if number < 0 else ''}{whole}.{rest:0{decimals}} %"


def _line(label: str, figure: str, exactly: Fraction | None = None) -> str:
    shown = "" if exactly is None else f"   {exactly}"
    return f"  {label:<{_LABEL}}{figure:>{_FIGURE}}{shown}"


def _returned(rate: Expectation) -> str:
    return _line(f"returned of the {DENOMINATORS[rate.denominator]}", percent(rate.returned), rate.returned)


def _kept(name: str, rate: Expectation) -> str:
    return _line(
        f"{name}, of the {DENOMINATORS[rate.denominator]}", percent(rate.house_edge), rate.house_edge
    )


def _main(figures: Figures) -> Iterator[str]:
    yield "The main bet, by the best decisions"
    yield _returned(figures.per_ante)
    yield _returned(figures.per_total_wagered)
    yield _kept("house edge", figures.per_ante)
    yield _kept("element of risk", figures.per_total_wagered)
    yield _line("average wager, in antes", f"{float(figures.average_wager):.6f}", figures.average_wager)
    yield _line("standard deviation of a round, in antes", f"{float(root(figures.variance)):.6f}")
    if figures.exchange:
        yield _line("exchanged", percent(figures.exchange), figures.exchange)
    total = figures.total
    results = {"folded": total.fold, "dealer not qualified": total.not_qualified}
    results |= {"won": total.win, "tied": total.tie, "lost": total.lose}
    for name, chance in results.items():
        yield _line(name, percent(chance), chance)


def _cap(odds: HouseOdds, money: Money) -> Iterator[str]:
    cap = odds.cap
    if cap.amount is None or cap.free_up_to is None:
        return
    most = money.whole(cap.free_up_to)
    does = f"cuts wins; up to {most} it cuts none" if cap.cut else f"cuts nothing, nor at any up to {most}"
    yield f"A raise wins at most {money.whole(cap.amount)}: at this ante that {does}"


def _categories(odds: HouseOdds, money: Money) -> Iterator[str]:
    """Yield the table of final hands, in percent of all deals."""
    payoffs = odds.payoffs
    yield f"{'Final hand, in percent':<24}{''.join(f'{name:>14}' for name in _COLUMNS)}   raise wins"
    for index, category in reversed(tuple(enumerate(CATEGORIES))):
        wins = money.whole(payoffs.raise_wins[index] * payoffs.unit)
        odds_to_1 = odds.rules.raise_pays[category.value]
        cut = ", cut" if category.value in odds.cap.cut else ""
        yield f"{_row(_spoken(category.value), odds.figures.rows[index])}   {wins} ({odds_to_1} to 1{cut})"
    yield _row("all", odds.figures.total)


def _row(name: str, row: CategoryRow) -> str:
    cells = (row.dealt, row.fold, row.not_qualified, row.win, row.tie, row.lose)
    return f"  {name:<22}" + "".join(f"{percent(cell, 6).removesuffix(' %'):>14}" for cell in cells)


def _spoken(category: str) -> str:
    return category.replace("_", " ")


def _fixed(figures: SideBetFigures, bet: CompiledSideBet) -> Iterator[str]:
    yield from _rates(figures)
    for category, chance in figures.paid.items():
        yield _line(f"{_spoken(category)}, {bet.pays[category]} to 1", percent(chance, 6), chance)


def _rates(figures: SideBetFigures) -> Iterator[str]:
    yield _returned(figures.per_stake)
    yield _kept("house edge", figures.per_stake)
    yield _line("standard deviation, in stakes", f"{float(root(figures.variance)):.6f}")
    yield _line("won", percent(figures.win), figures.win)


def _bonus(odds: BonusOdds, bet: CompiledSideBet, money: Money) -> Iterator[str]:
    if odds.figures is not None:
        yield from _rates(odds.figures)
    yield _line("pays on average, for each bet", money.whole(odds.fair_stake))
    yield from _awards(odds.paid, bet.awards, money)


def _jackpot(odds: JackpotOdds, asked: JackpotAsked, money: Money) -> Iterator[str]:
    step = METER_STEP_UNITS * 10**money.digits
    yield _returned(odds.at(0)) + " by fixed awards"
    slope = odds.slope * step
    yield _line(f"for each {money.whole(step)} of the meter", percent(slope), slope)
    meter = odds.break_even_meter
    if meter is not None:
        yield _line("returns everything at a meter of", money.whole(meter), meter / 10**money.digits)
    yield from _awards(odds.paid, odds.awards, money)
    if asked.meter is not None:
        yield f"  At a meter of {money.whole(asked.meter)}"
        yield _returned(odds.at(asked.meter))
    if asked.contribution is not None:
        yield from _long_run(odds, asked.contribution, asked.reset, money)


def _long_run(odds: JackpotOdds, contribution: Fraction, reset: int, money: Money) -> Iterator[str]:
    run = odds.long_run(contribution, reset)
    yield f"  In the long run, {percent(contribution, 2)} contributed and a reset of {money.whole(reset)}"
    yield _returned(run.per_stake)
    if run.top_ups_at_most:
        yield _line("and by the house, for a short meter, at most", _rounded_up(run.top_ups_at_most))
    if run.mean_meter is not None:
        yield _line("mean meter that awards are paid from", money.whole(run.mean_meter))


def _rounded_up(bound: float) -> str:
    return percent(Fraction(math.ceil(bound * _BOUND_STEPS), _BOUND_STEPS))


def _awards(paid: Mapping[str, Fraction], awards: Mapping[str, CompiledAward], money: Money) -> Iterator[str]:
    for category, chance in paid.items():
        award = awards[category]
        what = f"{award.percent} % of the meter" if award.fixed is None else money.whole(award.fixed)
        yield _line(f"{_spoken(category)}, {what}", percent(chance, 6), chance)

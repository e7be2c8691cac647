"""A house's odds as plain JSON: the one form that the command, the service and the reports have in common.

Every exact number is ``{"num", "den", "dec"}``: numerator and denominator as decimal text, for they do not
fit the integers of every reader, and the quotient to 15 significant digits, rounded to nearest. Every return
is under, and carries, the name of its denominator. Amounts in minor units are integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, Final

from domain.hands import CATEGORIES
from domain.odds.figures import CategoryRow, Expectation, Figures
from domain.odds.house import HouseOdds, SideBetOdds
from domain.odds.jackpot import JackpotOdds
from domain.odds.notes import notes
from domain.odds.other_hands import OtherHands
from domain.odds.side_bets import BonusOdds, SideBetFigures
from domain.rules import CompiledAward, CompiledSideBet

FORMAT: Final = 1
SIGNIFICANT_DIGITS: Final = 15
_CONTEXT: Final = Context(prec=SIGNIFICANT_DIGITS)
_BOUND_STEP: Final = Decimal("0.000001")


def document(odds: HouseOdds) -> dict[str, Any]:
    """Return everything of a house's odds that does not depend on how a jackpot is run."""
    rules, figures = odds.rules, odds.figures
    return {
        "format": FORMAT,
        "ruleset": {"id": rules.ref.id, "sha256": rules.ref.sha256},
        "currency": rules.currency,
        "exponent": rules.exponent,
        "ante": odds.ante,
        "raise": odds.ante * rules.raise_multiple,
        "exchange_fee": None if odds.payoffs.fee is None else odds.payoffs.fee * odds.payoffs.unit,
        "up_cards": odds.outcomes.up_cards,
        "deals": str(odds.outcomes.total),
        **_main(figures),
        "cap": {**asdict(odds.cap), "cut": list(odds.cap.cut)},
        "categories": _categories(odds),
        "side_bets": [
            _side_bet(kind, rules.side_bets[kind], bet, forfeited=kind in rules.forfeits)
            for kind, bet in odds.side_bets.items()
        ],
        "favours_player": favours_player(odds),
        "other_hands": None if odds.other_hands is None else other_hands(odds.other_hands),
        "notes": [{"code": code, "text": text} for code, text in notes(odds)],
    }


def exact(number: Fraction | int) -> dict[str, str]:
    """Return an exact number with its decimals.

    >>> exact(Fraction(-12816, 149695))
    {'num': '-12816', 'den': '149695', 'dec': '-0.0856140819666656'}
    """
    return {"num": str(number.numerator), "den": str(number.denominator), "dec": _plain(_quotient(number))}


def root(number: Fraction) -> str:
    """Return the square root of an exact number to 15 significant digits.

    >>> root(Fraction(2))
    '1.41421356237310'
    """
    return _plain(_quotient(number).sqrt(_CONTEXT))


def expectation(rate: Expectation) -> dict[str, Any]:
    """Return an expectation and the returns that go with it, with the name of their denominator."""
    return {
        "denominator": rate.denominator,
        "expected": exact(rate.expected),
        "house_edge": exact(rate.house_edge),
        "returned": exact(rate.returned),
    }


def jackpot_run(
    odds: JackpotOdds, *, meter: int | None = None, contribution: Fraction | None = None, reset: int = 0
) -> dict[str, Any]:
    """Return a jackpot's odds at a meter, and in the long run for a contribution and a reset, in minor units.

    What is not given is None. ``top_ups_at_most`` is a bound and no exact number, rounded up. Raises
    ``OddsError`` for a contribution that is no share, or a reset below 0.
    """
    at = None if meter is None else {"meter": meter, "returns": {"side_bet": expectation(odds.at(meter))}}
    if contribution is None:
        return {"at_meter": at, "long_run": None}
    run = odds.long_run(contribution, reset)
    means = {"mean_meter": run.mean_meter, "mean_before_contribution": run.mean_before}
    return {
        "at_meter": at,
        "long_run": {
            "contribution": exact(contribution),
            "reset": reset,
            "returns": {"side_bet": expectation(run.per_stake)},
            **{
                name: None if mean is None else {"unit": "minor units", **exact(mean)}
                for name, mean in means.items()
            },
            "top_ups_at_most": {"denominator": "side_bet", "dec": _above(run.top_ups_at_most)},
        },
    }


def other_hands(found: OtherHands) -> dict[str, Any]:
    """Return what knowing other hands wins more: estimates from simulated rounds, with no exact numbers."""
    return {
        "estimated": True,
        "denominator": "ante",
        "hands": found.hands,
        "rounds": found.rounds,
        "gain": {"dec": _estimate(found.per_ante)},
        "standard_error": {"dec": _estimate(found.standard_error)},
        "decided_otherwise": {"dec": _estimate(found.share_changed)},
    }


def favours_player(odds: HouseOdds) -> list[str]:
    """Return which bets a player wins at in the long run: ``main``, or kinds of side bets.

    A jackpot is named where its fixed awards alone return more than is staked; one that does so at a high
    meter tells by its break-even meter.
    """
    found = ["main"] if odds.figures.per_ante.expected > 0 else []
    for kind, bet in odds.side_bets.items():
        if bet is not None and _expected(bet) > 0:
            found.append(kind)
    return found


def _expected(bet: SideBetOdds) -> Fraction:
    if isinstance(bet, JackpotOdds):
        return bet.at(0).expected
    figures = bet.figures if isinstance(bet, BonusOdds) else bet
    return Fraction(0) if figures is None else figures.per_stake.expected


def _main(figures: Figures) -> dict[str, Any]:
    total = figures.total
    return {
        "returns": {
            rate.denominator: expectation(rate) for rate in (figures.per_ante, figures.per_total_wagered)
        },
        "element_of_risk": {"denominator": "total_wagered", **exact(figures.element_of_risk)},
        "average_wager": {"unit": "antes", **exact(figures.average_wager)},
        "variance": {"unit": "antes squared", **exact(figures.variance)},
        "standard_deviation": {"unit": "antes", "dec": root(figures.variance)},
        "excess_variance": {"unit": "antes squared", **exact(figures.excess_variance)},
        "excess_standard_deviation": {"unit": "antes", "dec": root(figures.excess_variance)},
        "probabilities": {
            "exchange": exact(figures.exchange),
            "raise": exact(1 - total.fold),
            **{name: exact(chance) for name, chance in _row(total).items() if name != "dealt"},
        },
    }


def _row(row: CategoryRow) -> dict[str, Fraction]:
    return {
        "dealt": row.dealt,
        "fold": row.fold,
        "dealer_not_qualified": row.not_qualified,
        "win": row.win,
        "tie": row.tie,
        "lose": row.lose,
    }


def _categories(odds: HouseOdds) -> list[dict[str, Any]]:
    """Return what becomes of each category of the player's final hand, strongest first."""
    payoffs = odds.payoffs
    return [
        {
            "category": category.value,
            "raise_pays": odds.rules.raise_pays[category.value],
            "raise_wins": payoffs.raise_wins[index] * payoffs.unit,
            **{name: exact(chance) for name, chance in _row(odds.figures.rows[index]).items()},
        }
        for index, category in reversed(tuple(enumerate(CATEGORIES)))
    ]


def _side_bet(
    kind: str, bet: CompiledSideBet, odds: SideBetOdds | None, *, forfeited: bool
) -> dict[str, Any]:
    shared = {
        "kind": kind,
        "stake": bet.stake,
        "survives_fold": bet.survives_fold,
        "needs_dealer_to_qualify": bet.needs_dealer_to_qualify,
        "forfeited_by_exchange": forfeited,
    }
    match odds:
        case None:
            return {**shared, "returns": None}
        case SideBetFigures():
            return {**shared, **_fixed(odds), "pays": _pays(odds.paid, bet.pays)}
        case BonusOdds():
            figures = {"returns": None} if odds.figures is None else _fixed(odds.figures)
            return {
                **shared,
                **figures,
                "fair_stake": {"unit": "minor units", **exact(odds.fair_stake)},
                "awards": _awards(odds.paid, bet.awards),
            }
        case _:
            return {**shared, **_line(odds), "awards": _awards(odds.paid, bet.awards)}


def _fixed(figures: SideBetFigures) -> dict[str, Any]:
    return {
        "returns": {figures.per_stake.denominator: expectation(figures.per_stake)},
        "win": exact(figures.win),
        "variance": {"unit": "stakes squared", **exact(figures.variance)},
        "standard_deviation": {"unit": "stakes", "dec": root(figures.variance)},
    }


def _line(odds: JackpotOdds) -> dict[str, Any]:
    meter = odds.break_even_meter
    return {
        "denominator": "side_bet",
        "fixed_share": exact(odds.fixed_share),
        "meter_share": exact(odds.meter_share),
        "slope": {"unit": "per minor unit of the meter", **exact(odds.slope)},
        "break_even_meter": None if meter is None else {"unit": "minor units", **exact(meter)},
    }


def _pays(paid: Mapping[str, Fraction], pays: Mapping[str, int]) -> Sequence[dict[str, Any]]:
    return [
        {"category": category, "pays": pays[category], "probability": exact(chance)}
        for category, chance in paid.items()
    ]


def _awards(paid: Mapping[str, Fraction], awards: Mapping[str, CompiledAward]) -> Sequence[dict[str, Any]]:
    return [
        {"category": category, **asdict(awards[category]), "probability": exact(chance)}
        for category, chance in paid.items()
    ]


def _quotient(number: Fraction | int) -> Decimal:
    return _CONTEXT.divide(Decimal(number.numerator), Decimal(number.denominator))


def _estimate(number: float) -> str:
    return f"{number:.6f}"


def _above(bound: float) -> str:
    """Write a bound as a decimal that is not below it."""
    return format(Decimal(bound).quantize(_BOUND_STEP, rounding=ROUND_CEILING), "f")


def _plain(number: Decimal) -> str:
    return format(number, "f")

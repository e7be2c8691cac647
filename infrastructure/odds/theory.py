"""What a version of a rule set should return, read from the figures that are kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Final, NamedTuple

from domain.odds.monitoring import Theory
from domain.odds.payoffs import Payoffs
from infrastructure.projections.decisions import CARDS, GAME

_SIDE_BET: Final = "side_bet"


class Expected(NamedTuple):
    """A version's theory: what an ante and what each unit wagered win, and its series by name.

    All are without a cap on what a raise wins, so that they hold at every ante; what a cap takes at the antes
    that were played, the decisions tell.
    """

    per_ante: Fraction
    per_total_wagered: Fraction
    series: Mapping[str, Theory]


def expected(figures: Iterable[Mapping[str, Any]]) -> Expected | None:
    """Return a version's theory by its kept figures; None where there are none that no cap cuts."""
    for document in figures:
        if "unsupported" not in document and not document["cap"]["cut"]:
            return _expected(document)
    return None


def _expected(document: Mapping[str, Any]) -> Expected:
    per_ante = _number(document["returns"]["ante"]["expected"])
    variance = _number(document["variance"])
    payoffs = _without_cap(document)
    series = {
        # That of hands as dealt is less than that of a round: it serves for predictions, which err late.
        CARDS: Theory.of_cards(payoffs, per_ante, variance),
        GAME: Theory.of_game(payoffs, per_ante, variance),
    }
    for bet in document["side_bets"]:
        if bet.get("returns") and "pays" in bet:
            mean = _number(bet["returns"][_SIDE_BET]["expected"])
            most = max(each["pays"] for each in bet["pays"])
            series[bet["kind"]] = Theory(mean, _number(bet["variance"]), Fraction(-1), Fraction(most))
    wagered = _number(document["returns"]["total_wagered"]["expected"])
    return Expected(per_ante, wagered, series)


def _without_cap(document: Mapping[str, Any]) -> Payoffs:
    raised = document["raise"]
    wins = tuple(raised * category["raise_pays"] for category in reversed(document["categories"]))
    return Payoffs(document["ante"], raised, wins, document["exchange_fee"], 1)


def _number(exact: Mapping[str, str]) -> Fraction:
    return Fraction(int(exact["num"]), int(exact["den"]))

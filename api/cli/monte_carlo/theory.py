"""What every bet of a house should do: its endings with exact probabilities and amounts, and its figures.

Probabilities, and what bets return, are the ones that `scripts/odds` prints. What an ending wins and stakes
is worked out here from the rules, so that a payment that differs from them is seen where it happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from api.cli.monte_carlo.playing import LOST, MAIN, WIN, Ending, paid
from domain.hands import CATEGORIES
from domain.odds.figures import Figures
from domain.odds.house import HouseOdds
from domain.odds.jackpot import JackpotOdds
from domain.odds.outcomes import Branch
from domain.odds.payoffs import OddsError
from domain.odds.side_bets import BonusOdds, SideBetFigures
from domain.rules import CompiledSideBet
from domain.rulesets.schema import RuleSet
from domain.settlement import FOLDED, LOSE, NOT_QUALIFIED, PUSH


class Chance(NamedTuple):
    """How probable an ending is, and what it wins net of the stakes, and stakes, in minor units."""

    probability: Fraction
    net: int
    staked: int


class Event(NamedTuple):
    """Something that a share of all rounds has, known by the endings that it has occurred with."""

    name: str
    endings: tuple[Ending, ...]
    probability: Fraction


class Mean(NamedTuple):
    """A mean over all rounds: of what is won (``net``) or of what is staked, in ``units`` of minor units."""

    name: str
    what: str
    expected: Fraction
    units: int


@dataclass(frozen=True, slots=True)
class Bet:
    """What one bet should do. ``chances`` of all its endings, which exclude each other; they add up to 1."""

    kind: str
    chances: Mapping[Ending, Chance]
    means: tuple[Mean, ...]
    events: tuple[Event, ...]


def comparisons(ruleset: RuleSet) -> int:
    """How many comparisons a house has that chance alone can make fail: means and events of `bets`."""
    main = 2 + 4 + len(CATEGORIES) + (ruleset.exchange is not None)
    return main + sum(1 + len(bet.pays) + len(bet.awards) for bet in ruleset.side_bets)


def bets(odds: HouseOdds, side_bets: Mapping[str, int], meter: int) -> Iterator[Bet]:
    """Yield the main bet, and the side bets with these stakes, jackpots at this meter, in minor units.

    Raises ``OddsError`` for a side bet that is not counted.
    """
    yield _main(odds)
    for kind, stake in side_bets.items():
        yield _side_bet(odds, odds.rules.side_bets[kind], stake, meter)


def _main(odds: HouseOdds) -> Bet:
    outcomes, figures = odds.outcomes, odds.figures
    chances = dict(_branch_chances(odds, outcomes.kept, exchanged=False))
    if outcomes.exchanged is not None:
        chances |= _branch_chances(odds, outcomes.exchanged, exchanged=True)
    means = (
        Mean("result per ante", "net", figures.per_ante.expected, odds.ante),
        Mean("wager in antes", "staked", figures.average_wager, odds.ante),
    )
    return Bet(
        MAIN, chances, means, tuple(_main_events(chances, figures, exchange=odds.payoffs.fee is not None))
    )


def _branch_chances(odds: HouseOdds, branch: Branch, *, exchanged: bool) -> Iterator[tuple[Ending, Chance]]:
    payoffs, total = odds.payoffs, odds.outcomes.total
    fee = (payoffs.fee or 0) if exchanged else 0
    ante, staked = payoffs.ante, payoffs.ante + payoffs.raised + fee
    folded = sum(branch.folded_not_qualified) + sum(branch.folded_qualified)
    ends = [
        (FOLDED, "", folded, -ante - fee, ante + fee),
        (NOT_QUALIFIED, "", sum(branch.not_qualified), ante - fee, staked),
        (PUSH, "", sum(branch.tie), -fee, staked),
        (LOSE, "", sum(branch.lose), -staked, staked),
        *(
            (WIN, category.value, branch.win[index], ante + payoffs.raise_wins[index] - fee, staked)
            for index, category in enumerate(CATEGORIES)
        ),
    ]
    for result, category, deals, net, stakes in ends:
        amounts = net * payoffs.unit, stakes * payoffs.unit
        yield Ending(MAIN, result, category, exchanged), Chance(Fraction(deals, total), *amounts)


def _main_events(chances: Mapping[Ending, Chance], figures: Figures, *, exchange: bool) -> Iterator[Event]:
    total = figures.total
    if exchange:
        yield Event("exchange", tuple(ending for ending in chances if ending.exchanged), figures.exchange)
    for name, result, probability in (
        ("fold", FOLDED, total.fold),
        ("dealer not qualified", NOT_QUALIFIED, total.not_qualified),
        ("tie", PUSH, total.tie),
        ("lose", LOSE, total.lose),
    ):
        yield Event(name, tuple(ending for ending in chances if ending.result == result), probability)
    for index, category in reversed(tuple(enumerate(CATEGORIES))):
        endings = tuple(ending for ending in chances if ending.category == category.value)
        yield Event(f"win with {_words(category.value)}", endings, figures.rows[index].win)


def _side_bet(odds: HouseOdds, bet: CompiledSideBet, stake: int, meter: int) -> Bet:
    figures = odds.side_bets[bet.kind]
    match figures:
        case SideBetFigures():
            expected, pays = (
                figures.per_stake.expected,
                {name: stake * odds for name, odds in bet.pays.items()},
            )
        case BonusOdds():
            expected = figures.fair_stake / stake - 1
            pays = {name: (award.fixed or 0) - stake for name, award in bet.awards.items()}
        case JackpotOdds():
            expected = figures.at(meter).expected
            pays = {name: paid(award, meter) - stake for name, award in bet.awards.items()}
        case None:
            raise OddsError(
                f"the {bet.kind} of a house that sells cards is not counted: it cannot be compared"
            )
    chances = {
        Ending(bet.kind, WIN, name): Chance(probability, pays[name], stake)
        for name, probability in figures.paid.items()
    }
    wins = sum(figures.paid.values(), Fraction(0))
    events = tuple(
        Event(f"paid for {_words(ending.category)}", (ending,), chance.probability)
        for ending, chance in chances.items()
    )
    chances[Ending(bet.kind, LOST)] = Chance(1 - wins, -stake, stake)
    return Bet(bet.kind, chances, (Mean("result per stake", "net", expected, stake),), events)


def _words(category: str) -> str:
    return category.replace("_", " ")

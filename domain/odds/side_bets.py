"""What the side bets return: 5+1, the fixed bonus, and how often a jackpot's categories are paid.

A side bet has no decision of its own. Where one depends on the main bet (it is lost with a fold, goes with
an exchange, or needs the dealer to qualify), the decisions are those that are best for the main bet alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from domain.hands import CATEGORIES
from domain.odds.figures import Expectation, branches
from domain.odds.outcomes import Branch, Outcomes
from domain.odds.payoffs import OddsError
from domain.rules import CompiledSideBet, Rules
from domain.rulesets.parts import SideBetKind


@dataclass(frozen=True, slots=True)
class SideBetFigures:
    """The figures of a side bet with fixed odds; a jackpot's are in `domain.odds.jackpot`.

    ``per_stake`` says what a unit staked is expected to win; ``win`` is the probability of any
    payment, ``paid`` that of each category that pays, strongest first. ``variance`` is of the net result in
    stakes squared.
    """

    kind: SideBetKind
    per_stake: Expectation
    win: Fraction
    paid: Mapping[str, Fraction]
    variance: Fraction


@dataclass(frozen=True, slots=True)
class BonusOdds:
    """A bonus's odds: what it pays on average is known before its stake is.

    ``paid`` as in `SideBetFigures`; ``fair_stake`` in minor units is the mean award, at which the bet returns
    everything; ``figures`` None where the house leaves the stake to its tables and none is set.
    """

    paid: Mapping[str, Fraction]
    fair_stake: Fraction
    figures: SideBetFigures | None


def alone(bet: CompiledSideBet, rules: Rules) -> CompiledSideBet:
    """Return a side bet as it is for a hand that is alone at the table, as all of these figures take it.

    Where the house does not turn up the dealer's hand when everybody folds, she does not qualify either.
    """
    revealed = rules.reveal_if_all_fold or not bet.needs_dealer_to_qualify
    return replace(bet, survives_fold=bet.survives_fold and revealed)


def five_plus_one(outcomes: Outcomes, bet: CompiledSideBet) -> SideBetFigures:
    """Return the figures of the bet on the best five of a player's five cards and the first up-card (001).

    Raises ``OddsError`` where the outcomes do not count those hands.
    """
    if not outcomes.six:
        raise OddsError("the best five of six cards are not counted where a card can be bought")
    standing = [0] * len(CATEGORIES)
    for raised, by_qualified in enumerate(outcomes.six):
        for qualified, counts in enumerate(by_qualified):
            if _stands(bet, raised=bool(raised), qualified=bool(qualified)):
                standing = [before + more for before, more in zip(standing, counts, strict=True)]
    wins = {category: Fraction(odds) for category, odds in bet.pays.items()}
    # To 1: the stake comes back beside what is won.
    return _figures(bet.kind, paid_by_category(standing, outcomes.total, wins), wins, gives_back=True)


def bonus(outcomes: Outcomes, bet: CompiledSideBet, *, forfeited_by_exchange: bool) -> BonusOdds:
    """Return the odds of a bonus of fixed awards (003); it may go with a bought card."""
    standing = standing_counts(outcomes, bet, forfeited_by_exchange=forfeited_by_exchange)
    amounts = {category: Fraction(award.fixed or 0) for category, award in bet.awards.items()}
    paid = paid_by_category(standing, outcomes.total, amounts)
    fair = sum((paid[category] * amount for category, amount in amounts.items()), Fraction(0))
    if bet.stake is None:
        return BonusOdds(paid, fair, None)
    wins = {category: amount / bet.stake for category, amount in amounts.items()}
    return BonusOdds(paid, fair, _figures(bet.kind, paid, wins, gives_back=False))


def standing_counts(
    outcomes: Outcomes, bet: CompiledSideBet, *, forfeited_by_exchange: bool
) -> tuple[int, ...]:
    """Return in how many deals a bet on the final five cards still stands at settlement, by category.

    By index in `domain.hands.CATEGORIES`; the rules are those of `domain.settlement.stands`.
    """
    counted = [outcomes.kept] if forfeited_by_exchange else branches(outcomes)
    by_branch = [_standing(branch, bet) for branch in counted]
    return tuple(sum(column) for column in zip(*by_branch, strict=True))


def _standing(branch: Branch, bet: CompiledSideBet) -> list[int]:
    parts = (
        (branch.folded_not_qualified, False, False),
        (branch.folded_qualified, False, True),
        (branch.not_qualified, True, False),
        (branch.win, True, True),
        (branch.tie, True, True),
        (branch.lose, True, True),
    )
    stands = [
        counts for counts, raised, qualified in parts if _stands(bet, raised=raised, qualified=qualified)
    ]
    return [sum(column) for column in zip(*stands, strict=True)]


def _stands(bet: CompiledSideBet, *, raised: bool, qualified: bool) -> bool:
    return (raised or bet.survives_fold) and (qualified or not bet.needs_dealer_to_qualify)


def paid_by_category(standing: Sequence[int], total: int, paying: Collection[str]) -> dict[str, Fraction]:
    """Return how likely each category that pays is, strongest first, from how many deals it stands in."""
    return {
        str(category): Fraction(standing[index], total)
        for index, category in reversed(tuple(enumerate(CATEGORIES)))
        if category in paying
    }


def _figures(
    kind: SideBetKind, paid: Mapping[str, Fraction], wins: Mapping[str, Fraction], *, gives_back: bool
) -> SideBetFigures:
    """Return the figures of a bet that wins ``wins`` stakes by category and loses its stake otherwise."""
    win = sum(paid.values(), Fraction(0))
    nets = {category: amount if gives_back else amount - 1 for category, amount in wins.items()}
    expected = sum((paid[category] * net for category, net in nets.items()), win - 1)
    squares = sum((paid[category] * net**2 for category, net in nets.items()), 1 - win)
    return SideBetFigures(kind, Expectation(expected, "side_bet"), win, paid, squares - expected**2)

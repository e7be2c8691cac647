"""What a game returns, exactly: fractions of counts, each with the name of what it is divided by.

A return without its denominator is no figure: one source gives 96.30 % and 98.19 % for one game, and
swaps their labels (001; reading 1). So every return here says of what it is one: of the ``ante``, of the
``total_wagered`` (ante, raise and exchange fee together), or of a ``side_bet``'s stake.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from domain.hands import CATEGORIES
from domain.odds.outcomes import Branch, Outcomes
from domain.odds.payoffs import Payoffs

Denominator: TypeAlias = Literal["ante", "total_wagered", "side_bet"]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a bet is expected to win, net of its stakes, for each unit of ``denominator``."""

    expected: Fraction
    denominator: Denominator

    @property
    def house_edge(self) -> Fraction:
        """What the house keeps; below zero where the game favours the player."""
        return -self.expected

    @property
    def returned(self) -> Fraction:
        """What comes back: one and what is expected."""
        return 1 + self.expected


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """How likely a final hand of one category is, and what becomes of it: the last five are parts of it."""

    dealt: Fraction
    fold: Fraction
    not_qualified: Fraction
    win: Fraction
    tie: Fraction
    lose: Fraction


@dataclass(frozen=True, slots=True)
class Figures:
    """A game's figures by its best decisions, for one hand and round.

    ``average_wager`` in antes. ``variance`` is of the net result of a round, in antes squared;
    ``excess_variance`` that of what a round pays out beyond the return per total wagered times its own
    wager, the measure of how far an actual return per total wagered strays. ``rows`` by index in
    `domain.hands.CATEGORIES`; ``exchange`` is the probability of buying a card.
    """

    per_ante: Expectation
    per_total_wagered: Expectation
    average_wager: Fraction
    variance: Fraction
    excess_variance: Fraction
    exchange: Fraction
    rows: tuple[CategoryRow, ...]

    @property
    def element_of_risk(self) -> Fraction:
        """What the house keeps of each unit wagered."""
        return self.per_total_wagered.house_edge

    @property
    def total(self) -> CategoryRow:
        """The rows of all categories together."""
        return CategoryRow(
            dealt=sum((row.dealt for row in self.rows), Fraction(0)),
            fold=sum((row.fold for row in self.rows), Fraction(0)),
            not_qualified=sum((row.not_qualified for row in self.rows), Fraction(0)),
            win=sum((row.win for row in self.rows), Fraction(0)),
            tie=sum((row.tie for row in self.rows), Fraction(0)),
            lose=sum((row.lose for row in self.rows), Fraction(0)),
        )


@dataclass(frozen=True, slots=True)
class _Result:
    """A way for a round to end: in how many deals, and its net result and wager in units of the payoffs."""

    deals: int
    net: int
    wager: int


def figures_of(outcomes: Outcomes, payoffs: Payoffs) -> Figures:
    """Return the figures of a game from what was counted under ``payoffs``."""
    results = tuple(_results(outcomes, payoffs))
    total, ante = outcomes.total, payoffs.ante
    net = Fraction(sum(result.deals * result.net for result in results), total)
    wager = Fraction(sum(result.deals * result.wager for result in results), total)
    squares = Fraction(sum(result.deals * result.net**2 for result in results), total)
    edge = -net / wager
    excess = sum(result.deals * (result.net + edge * result.wager) ** 2 for result in results)
    return Figures(
        per_ante=Expectation(net / ante, "ante"),
        per_total_wagered=Expectation(net / wager, "total_wagered"),
        average_wager=wager / ante,
        variance=(squares - net**2) / ante**2,
        excess_variance=Fraction(excess) / total / ante**2,
        exchange=Fraction(0 if outcomes.exchanged is None else deals(outcomes.exchanged), total),
        rows=tuple(_row(outcomes, index) for index in range(len(CATEGORIES))),
    )


def deals(branch: Branch) -> int:
    """Return how many deals a branch counts."""
    return sum(sum(counts) for counts in _counts(branch))


def branches(outcomes: Outcomes) -> tuple[Branch, ...]:
    """Return the branches that were counted: hands kept, and hands that bought a card where they can."""
    return (outcomes.kept,) if outcomes.exchanged is None else (outcomes.kept, outcomes.exchanged)


def _counts(branch: Branch) -> Sequence[tuple[int, ...]]:
    return (
        branch.folded_not_qualified,
        branch.folded_qualified,
        branch.not_qualified,
        branch.win,
        branch.tie,
        branch.lose,
    )


def _results(outcomes: Outcomes, payoffs: Payoffs) -> Iterator[_Result]:
    yield from _branch_results(outcomes.kept, payoffs, 0)
    if outcomes.exchanged is not None:
        yield from _branch_results(outcomes.exchanged, payoffs, payoffs.fee or 0)


def _branch_results(branch: Branch, payoffs: Payoffs, fee: int) -> Iterator[_Result]:
    folded = sum(branch.folded_not_qualified) + sum(branch.folded_qualified)
    ante, raised = payoffs.ante, payoffs.raised
    staked = ante + raised + fee
    yield _Result(folded, -ante - fee, ante + fee)
    yield _Result(sum(branch.not_qualified), ante - fee, staked)
    yield _Result(sum(branch.tie), -fee, staked)
    yield _Result(sum(branch.lose), -staked, staked)
    for won, pays in zip(branch.win, payoffs.raise_wins, strict=True):
        yield _Result(won, ante + pays - fee, staked)


def _row(outcomes: Outcomes, index: int) -> CategoryRow:
    counts = [
        sum(column)
        for column in zip(
            *([counts[index] for counts in _counts(branch)] for branch in branches(outcomes)), strict=True
        )
    ]
    folded_not_qualified, folded_qualified, *played = (Fraction(count, outcomes.total) for count in counts)
    return CategoryRow(
        Fraction(sum(counts), outcomes.total), folded_not_qualified + folded_qualified, *played
    )

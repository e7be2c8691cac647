"""Whether what was seen is what was expected, as far as chance allows.

All comparisons of the nine houses that come with the project are one family: it is to be wrong about a right
theory as often as one comparison within three standard errors is, 0.27 %. Each comparison gets an equal part
of that (Bonferroni's correction, which holds however they depend on each other), whichever house is played.

- How often something occurs is compared in standard errors where it is expected at least 30 times, and with
  the exact bounds of Poisson's distribution where it is expected less often.
- A mean is compared in standard errors, from the exact variance, without the endings that are expected less
  than 30 times: a few royal flushes would decide it, and they are no normal distribution. They are all among
  the events that are compared by themselves.
- What each ending wins and stakes is no matter of chance: every round has to have exactly that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import exp, sqrt
from statistics import NormalDist
from typing import Final, Literal

from api.cli.monte_carlo.playing import Sums, Tally
from api.cli.monte_carlo.theory import Bet, Chance, Event, Mean

STANDARD_ERRORS: Final = 3
HITS_MIN: Final = 30
"""What is expected less often is compared by Poisson's distribution."""

Method = Literal["z", "poisson", "exact"]
Of = Literal["mean", "rounds", "amounts"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure, seen and expected, between which bounds it agrees, and whether it does.

    It is of a mean, of in how many rounds something occurs, or of how many had amounts that none may have.
    By ``z``, ``statistic`` is the difference in standard errors and the bounds are for it; by ``poisson`` and
    ``exact`` it is None and the bounds are for what was ``seen``. ``without``: the endings that a mean was
    compared without; ``seen`` and ``expected`` have them.
    """

    bet: str
    figure: str
    of: Of
    method: Method
    expected: float
    seen: float
    statistic: float | None
    least: float
    most: float
    agrees: bool
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What a comparison may be off by: ``error_rate`` is how often it may be wrong, both sides together."""

    error_rate: float

    @classmethod
    def of_family(cls, comparisons: int) -> Tolerance:
        """Return what each of so many comparisons may be off by."""
        return cls(2 * NormalDist().cdf(-STANDARD_ERRORS) / comparisons)

    @property
    def standard_errors(self) -> float:
        """How many standard errors are within it."""
        return -NormalDist().inv_cdf(self.error_rate / 2)

    def poisson(self, expected: float) -> tuple[int, int]:
        """Return the least and the greatest number of hits that it allows, both included.

        Less than the least has at most half of the error rate, and so has more than the greatest.
        """
        half = self.error_rate / 2
        chance = below = exp(-expected)  # of `hits`, and of no more than that
        hits, least = 0, None
        while 1 - below > half:
            if least is None and below > half:
                least = hits
            hits += 1
            chance *= expected / hits
            below += chance
        return (hits if least is None else least), hits


def compared(bets: Iterator[Bet], tally: Tally, rounds: int, tolerance: Tolerance) -> Iterator[Comparison]:
    """Yield the comparisons of bets with what was seen in so many rounds, at least one."""
    for bet in bets:
        for mean in bet.means:
            yield _mean(bet, mean, tally, rounds, tolerance)
        for event in bet.events:
            yield _event(bet, event, tally, rounds, tolerance)
        yield _amounts(bet, tally)


def _mean(bet: Bet, mean: Mean, tally: Tally, rounds: int, tolerance: Tolerance) -> Comparison:
    def amount(of: Chance | Sums) -> int:
        return of.net if mean.what == "net" else of.staked

    rare = {e for e, chance in bet.chances.items() if chance.probability * rounds < HITS_MIN}
    if mean.what == "staked":  # that varies little, and with no ending by itself
        rare = set()
    counted = {e: chance for e, chance in bet.chances.items() if e not in rare}
    first = sum((chance.probability * amount(chance) for chance in counted.values()), Fraction(0))
    second = sum((chance.probability * amount(chance) ** 2 for chance in counted.values()), Fraction(0))
    left_out = sum(
        (chance.probability * amount(chance) for e, chance in bet.chances.items() if e in rare), Fraction(0)
    )
    expected = mean.expected * mean.units - left_out
    seen = sum(amount(tally.get(ending, Sums())) for ending in counted)
    statistic = _standard_errors(seen - rounds * expected, rounds * (second - first**2))
    whole = sum(amount(sums) for ending, sums in tally.items() if ending.bet == bet.kind)
    bound = tolerance.standard_errors
    return Comparison(
        bet.kind,
        mean.name,
        "mean",
        "z",
        float(mean.expected),
        whole / rounds / mean.units,
        statistic,
        -bound,
        bound,
        abs(statistic) <= bound,
        tuple(" ".join(filter(None, (e.result, e.category))) for e in bet.chances if e in rare),
    )


def _standard_errors(difference: Fraction, variance: Fraction) -> float:
    if variance:
        return float(difference) / sqrt(variance)
    return float("inf") if difference else 0.0


def _event(bet: Bet, event: Event, tally: Tally, rounds: int, tolerance: Tolerance) -> Comparison:
    seen = sum(tally.get(ending, Sums()).rounds for ending in event.endings)
    expected = event.probability * rounds
    if expected < HITS_MIN:
        least, most = tolerance.poisson(float(expected))
        agrees = least <= seen <= most
        return Comparison(
            bet.kind, event.name, "rounds", "poisson", float(expected), seen, None, least, most, agrees
        )
    statistic = _standard_errors(seen - expected, expected * (1 - event.probability))
    bound = tolerance.standard_errors
    agrees = abs(statistic) <= bound
    return Comparison(
        bet.kind, event.name, "rounds", "z", float(expected), seen, statistic, -bound, bound, agrees
    )


def _amounts(bet: Bet, tally: Tally) -> Comparison:
    """Count the rounds whose bet ended in a way, or with an amount, that the theory does not know."""
    other = 0
    for ending, sums in tally.items():
        if ending.bet == bet.kind and not _as_expected(sums, bet.chances.get(ending)):
            other += sums.rounds
    return Comparison(
        bet.kind, "rounds with other amounts", "amounts", "exact", 0, other, None, 0, 0, not other
    )


def _as_expected(sums: Sums, chance: Chance | None) -> bool:
    return chance is not None and sums == (sums.rounds, sums.rounds * chance.net, sums.rounds * chance.staked)

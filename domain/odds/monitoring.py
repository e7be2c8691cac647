"""Whether a game returns what it should: a comparison that may be made after every round, for ever.

What a round came to is compared with its exact expectation. A test that is made once, after a number of
rounds that was fixed before, may be wrong as often as its error rate says; looked at after every round it
would be wrong sooner or later. So the evidence here is a process that, while the game returns what it should,
exceeds ``1 / rate`` with a probability of at most ``rate`` in all its life, however often one looks (Ville's
inequality).

It is the empirical Bernstein supermartingale. Let D be what a round deviates, D >= -c, with expectation 0.
For 0 <= x < 1 and y >= -1 it holds that ``1 + x y >= exp(x y + (log(1 - x) + x) y**2)`` (X. Fan, I. Grama and
Q. Liu, Exponential inequalities for martingales with applications, Electronic Journal of Probability 20,
2015). So with y = D / c the product of the right sides over all rounds is a supermartingale, and so is a mean
of such products over some x, H. Robbins's mixture. The method is that of S. R. Howard, A. Ramdas, J.
McAuliffe and J. Sekhon, Time-uniform, nonparametric, nonasymptotic confidence sequences, Annals of Statistics
49, 2021. It needs no normal distribution and does not ask how well is played: what a player's bad decision
costs is added to the result of the round, so that the expectation is the theory's, whatever they do.

One thing it does assume: that hands are decided on their own cards and the dealer's up-cards. Where players
see other hands they know a little more than the odds do, and what they gain by it is a deviation above.

The unit is a round and not a hand: those who bet on one dealer win and lose together, wholly so on a shared
hand. A round's results are divided by its stakes, which are known before its cards, so that rounds count
alike.

The evidence is computed with floats: it is no money, and being a part in 10**12 off moves no alarm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, log1p, sqrt
from statistics import NormalDist
from typing import Final, Literal, Self, TypeAlias

from domain.odds.payoffs import OddsError, Payoffs

SCALE: Final = 10**9
"""Results of rounds are summed up in so many parts of a unit staked, rounded down."""
ERROR_RATE: Final = 1e-4
"""How probable a false alarm is, at most, over the whole life of a series: one bet of a version."""
MISSED_RATE: Final = 0.01
"""How probable it is, about, that a deviation takes longer to be seen than was predicted."""
ROUNDS_MAX: Final = 10**15
"""What would take longer is not predicted."""

_LEVELS: Final = tuple(2 ** (-(step + 2) / 2) for step in range(48))
"""The x of the mixture, with equal weights: 1/2 down to 2**-24.5, for few rounds and for some 10**13."""
_FACTORS: Final = tuple((x, -log1p(-x) - x) for x in _LEVELS)
_STEPS: Final = 40  # halvings of an interval

Side: TypeAlias = Literal["above", "below"]


@dataclass(frozen=True, slots=True)
class Sums:
    """What the rounds of a series came to: how many, their results, and the squares of these.

    A result is what a unit staked won or lost in a round, in parts of `SCALE`; squares are in parts of that
    squared.
    """

    rounds: int = 0
    results: int = 0
    squares: int = 0

    def __add__(self, other: Sums) -> Sums:
        """Return the sums of both."""
        return Sums(self.rounds + other.rounds, self.results + other.results, self.squares + other.squares)

    @property
    def mean(self) -> Fraction:
        """The mean result of a round. Raises ZeroDivisionError where there is none."""
        return Fraction(self.results, self.rounds * SCALE)


@dataclass(frozen=True, slots=True)
class Theory:
    """What a round's result is expected to be, and between what it lies, in units staked.

    ``variance`` is that of a round with one hand; it serves predictions only.
    """

    mean: Fraction
    variance: Fraction
    lowest: Fraction
    highest: Fraction

    @classmethod
    def of_game(cls, payoffs: Payoffs, mean: Fraction, variance: Fraction) -> Self:
        """The theory of the main bet, in antes, of its result with the cost of decisions added.

        ``payoffs`` are those without a cap. A raise that was a mistake may win all the same, and what it
        cost, the raise at most, comes on top. Where cards are exchanged, so does what the hand was worth.
        """
        ante = payoffs.ante
        raised, fee = Fraction(payoffs.raised, ante), Fraction(payoffs.fee or 0, ante)
        most = 1 + Fraction(max(payoffs.raise_wins), ante)
        highest = most + raised if payoffs.fee is None else 2 * most + 1 + raised + fee
        return cls(mean, variance, -1 - raised - fee, highest)

    @classmethod
    def of_cards(cls, payoffs: Payoffs, mean: Fraction, variance: Fraction) -> Self:
        """The theory of what hands are worth as they are dealt: never less than a fold."""
        return cls(mean, variance, Fraction(-1), 1 + Fraction(max(payoffs.raise_wins), payoffs.ante))


@dataclass(frozen=True, slots=True)
class Finding:
    """What a series says: its mean and where the true one lies, in units staked.

    ``low`` to ``high`` holds the true mean at every moment of the series' life, but for the error rate.
    ``alarm`` says on which side of the theory's mean the results are where that is not among those; None
    where it is.
    """

    rounds: int
    mean: Fraction
    low: float
    high: float
    alarm: Side | None


def monitor(sums: Sums, theory: Theory, rate: float = ERROR_RATE) -> Finding | None:
    """Compare a series with its theory; None where there is no round yet."""
    if not sums.rounds:
        return None
    threshold, mean = _threshold(rate), float(sums.mean)
    low = _bound(float(theory.lowest), mean, lambda guess: _evidence(sums, theory, guess)[0] >= threshold)
    high = _bound(float(theory.highest), mean, lambda guess: _evidence(sums, theory, guess)[1] >= threshold)
    return Finding(sums.rounds, sums.mean, low, high, alarm(sums, theory, rate))


def alarm(sums: Sums, theory: Theory, rate: float = ERROR_RATE) -> Side | None:
    """Return on which side of the theory a series is beyond what chance explains; None where it is not."""
    above, below = _evidence(sums, theory, float(theory.mean))
    threshold = _threshold(rate)
    return "above" if above >= threshold else "below" if below >= threshold else None


def rounds_to_flag(deviation: Fraction, theory: Theory, rate: float = ERROR_RATE) -> int | None:
    """Return after how many rounds a deviation of the mean is flagged, but for `MISSED_RATE`.

    ``deviation`` in units staked, above 0 where players win more than they should; the sum of the results
    is taken as normal. None for more than `ROUNDS_MAX` rounds. Raises ``OddsError`` for no deviation.
    """
    if not deviation:
        raise OddsError("what does not deviate is never flagged")
    threshold = _threshold(rate)
    lacking = NormalDist().inv_cdf(1 - MISSED_RATE)
    shift, variance = abs(float(deviation)), float(theory.variance)
    most = float(theory.mean - theory.lowest if deviation > 0 else theory.highest - theory.mean)

    def flagged(rounds: int) -> bool:
        total = shift * rounds - lacking * sqrt(variance * rounds)
        return _mixture(total / most, rounds * (variance + shift**2) / most**2) >= threshold

    enough = 1
    while not flagged(enough):
        enough *= 2
        if enough > ROUNDS_MAX:
            return None
    short = enough // 2
    while enough - short > 1:
        middle = (enough + short) // 2
        short, enough = (short, middle) if flagged(middle) else (middle, enough)
    return enough


def _threshold(rate: float) -> float:
    return log(2 / rate)  # each side has half


def _evidence(sums: Sums, theory: Theory, mean: float) -> tuple[float, float]:
    """Return the logarithms of the evidence that the true mean is above, and that it is below, ``mean``."""
    results, squares = sums.results / SCALE, sums.squares / SCALE**2
    total = results - sums.rounds * mean
    spread = squares - 2 * mean * results + sums.rounds * mean**2
    above, below = mean - float(theory.lowest), float(theory.highest) - mean
    # Nothing lies beyond what a result can be.
    return (
        _mixture(total / above, spread / above**2) if above > 0 else 0.0,
        _mixture(-total / below, spread / below**2) if below > 0 else 0.0,
    )


def _mixture(total: float, squares: float) -> float:
    """Return the logarithm of the mean of the products, for sums in units of the largest deviation."""
    exponents = [x * total - loss * squares for x, loss in _FACTORS]
    largest = max(exponents)
    return largest + log(sum(exp(each - largest) for each in exponents) / len(exponents))


def _bound(outer: float, inner: float, refuted: Callable[[float], bool]) -> float:
    """Return the bound between means that are refuted and those that are not, rounded outwards."""
    for _ in range(_STEPS):
        middle = (outer + inner) / 2
        outer, inner = (middle, inner) if refuted(middle) else (outer, middle)
    return outer

"""A progressive jackpot's return: at a given meter, and in the long run.

Of one side bet with stake s, let p be the probability that a category is hit and paid. Fixed awards A
return F = Σ p·A / s whatever the meter is, and percentages q return k·M with the slope k = Σ p·q / s per
minor unit of the meter M that they are paid from (what the bet itself contributes is in it, reading 11).
So the return is F + k·M, a line; it is 1 at the meter (1 - F) / k.

In the long run, with a contribution of the share c and a reset R after the royal (probability p₀), as much
goes into the meter as leaves it. Where it never runs short:

    c·s + p₀·R = k·E(M)·s + Fₘ·s      and the return is    F + k·E(M) = c + p₀·R / s + F - Fₘ

with Fₘ the part of F that the meter pays itself. Awards from the meter only hand contributions on; what the
house pays for itself, and its resets, come on top. A meter that cannot cover a fixed award is topped up by
the house (reading 12), which comes on top as well: `_top_up_bound` says how much it is at most. Without
percentages nothing of the meter is ever paid but fixed awards, and the return is F.

Not counted: percentages are rounded down to the minor unit, and several royals of one round share one meter.
Bets follow each other one by one, and the meter has no ceiling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from domain.jackpots import WHOLE_METER
from domain.odds.figures import Expectation
from domain.odds.payoffs import OddsError
from domain.odds.side_bets import paid_by_category
from domain.rules import CompiledAward, CompiledSideBet

_STEPS: Final = 200
"""Exponents tried for the bound on top-ups."""


@dataclass(frozen=True, slots=True)
class LongRun:
    """A jackpot's mean return over all bets, for one contribution share and reset.

    ``per_stake`` leaves top-ups of a short meter out; they add at most ``top_ups_at_most`` to it.
    ``mean_meter`` is the mean of what awards are paid from, and ``mean_before`` that of the meter before a
    bet contributes, in minor units; both are None where no percentage is paid from the meter, which then
    has no mean, and where what goes in does not cover the fixed awards, so that it runs short all the time.
    """

    per_stake: Expectation
    mean_meter: Fraction | None
    mean_before: Fraction | None
    top_ups_at_most: float


@dataclass(frozen=True, slots=True)
class JackpotOdds:
    """A jackpot side bet: how likely each award is, and its return as a line over the meter.

    ``stake`` in minor units; ``paid`` the probability of each category that pays, strongest first.
    ``fixed_share`` is returned whatever the meter is, ``slope`` more per minor unit of it; ``meter_share`` is
    the part of the fixed share that comes from the meter.
    """

    stake: int
    paid: Mapping[str, Fraction]
    awards: Mapping[str, CompiledAward]
    fixed_share: Fraction
    meter_share: Fraction
    slope: Fraction

    @property
    def break_even_meter(self) -> Fraction | None:
        """The meter, in minor units, above which the bet favours the player.

        0 where it always does, None where it never does.
        """
        missing = 1 - self.fixed_share
        if missing <= 0:
            return Fraction(0)
        return missing / self.slope if self.slope else None

    @property
    def royal(self) -> Fraction:
        """The probability of the award that empties the meter; 0 where none does."""
        whole = (name for name, award in self.awards.items() if award.percent == WHOLE_METER)
        return sum((self.paid[name] for name in whole), Fraction(0))

    def at(self, meter: Fraction | int) -> Expectation:
        """What a unit staked is expected to win while awards are paid from ``meter`` minor units."""
        return Expectation(self.fixed_share + self.slope * meter - 1, "side_bet")

    def long_run(self, contribution: Fraction, reset: int) -> LongRun:
        """The mean return where a share of each stake is contributed, and the restarted meter is ``reset``.

        Raises ``OddsError`` for a share that is not above 0 and at most 1, or a reset below 0.
        """
        if not 0 < contribution <= 1:
            raise OddsError("a contribution is a share of the side bet above 0 and at most 1")
        if reset < 0:
            raise OddsError("a reset is 0 minor units or more")
        if not self.slope:
            return LongRun(Expectation(self.fixed_share - 1, "side_bet"), None, None, 0.0)
        left = contribution + self.royal * reset / self.stake - self.meter_share
        mean = left / self.slope if left > 0 else None
        return LongRun(
            per_stake=Expectation(self.fixed_share + left - 1, "side_bet"),
            mean_meter=mean,
            mean_before=None if mean is None else mean - contribution * self.stake,
            top_ups_at_most=_top_up_bound(self, float(contribution * self.stake), reset),
        )


def jackpot_odds(bet: CompiledSideBet, standing: Sequence[int], total: int) -> JackpotOdds:
    """Return a jackpot's odds from how many of ``total`` deals it stands in, by category of the final hand.

    ``standing`` by index in `domain.hands.CATEGORIES`, as `domain.odds.side_bets.standing_counts` has it.
    Raises ``OddsError`` where the bet has no stake of its own.
    """
    stake = bet.stake
    if stake is None:
        raise OddsError("a jackpot's return needs the stake of its bet")
    paid = paid_by_category(standing, total, bet.awards)
    fixed, from_meter, slope = Fraction(0), Fraction(0), Fraction(0)
    for name, chance in paid.items():
        award = bet.awards[name]
        share = chance * (award.fixed or 0) / stake
        fixed += share
        from_meter += share if award.funding == "meter" else 0
        slope += chance * Fraction(award.percent or 0, 100) / stake
    return JackpotOdds(stake, paid, bet.awards, fixed, from_meter, slope)


def _top_up_bound(odds: JackpotOdds, contributed: float, reset: int) -> float:
    """The most that the house adds to a short meter in the long run, per unit staked.

    Let x be the long-run mean of exp(-θ·M), for any θ > 0 and the meter M that awards are paid from. The
    meter has the same distribution before the next bet as before this one, so

        x·exp(θ·c·s) ≤ x·(P + Σ p·exp(θ·A)) + Σ p·x^(1-q) + p₀·exp(-θ·R)

    where P is the probability that nothing leaves the meter, and the sums run over its fixed awards A (a
    meter that is cut off at zero is above the difference) and percentages q below the whole (Jensen's
    inequality). A top-up is at most exp(θ·(A - M) - 1) / θ. Each θ gives a bound, and so do all fixed awards
    together.
    """
    taken = [
        (float(odds.paid[name]), float(award.fixed))
        for name, award in odds.awards.items()
        if award.fixed is not None and award.funding == "meter"
    ]
    largest = max((amount for _, amount in taken), default=0.0)
    if contributed >= largest:
        return 0.0
    shares = [
        (float(odds.paid[name]), award.percent / WHOLE_METER)
        for name, award in odds.awards.items()
        if award.percent is not None and award.percent < WHOLE_METER
    ]
    best = float(odds.meter_share)
    for step in range(1, _STEPS + 1):
        theta = 0.05 * step / largest
        raised = [(chance, chance * math.exp(theta * amount)) for chance, amount in taken]
        stays = 1 - float(odds.royal) - sum(chance for chance, _ in (*taken, *shares))
        drift = math.exp(theta * contributed) - stays - sum(weight for _, weight in raised)
        if drift > 0:
            mean = _largest_root(drift, shares, float(odds.royal) * math.exp(-theta * reset))
            bound = sum(weight for _, weight in raised) * mean / (math.e * theta * odds.stake)
            best = min(best, bound)
    return best


def _largest_root(drift: float, shares: Sequence[tuple[float, float]], restart: float) -> float:
    """Return the largest x in (0, 1] with x·drift ≤ Σ p·x^(1-q) + restart, a little too large if anything.

    The right side is concave and the left a line, so that going down from 1 never passes the largest root.
    """
    mean = 1.0
    for _ in range(_STEPS):
        lower = (sum(chance * mean ** (1 - share) for chance, share in shares) + restart) / drift
        if lower >= mean:
            return mean
        mean = lower
    return mean

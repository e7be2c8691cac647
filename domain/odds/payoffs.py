"""What one hand wins and loses, as small integers: all that an optimal decision depends on."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Self

from domain.hands import CATEGORIES
from domain.money import AMOUNT_MAX
from domain.rules import Rules


class OddsError(ValueError):
    """Odds that cannot be computed, and why, in one sentence."""


@dataclass(frozen=True, slots=True)
class Payoffs:
    """One hand's money. Times ``unit``, each figure is an amount in minor units.

    The figures have no common divisor, so that stakes of one proportion have one key: a house without
    a cap has the same figures at every ante. ``ante`` is lost on a fold; ``raised`` is the stake of a raise,
    and ``raise_wins`` what it wins against a weaker hand that qualifies, under the house's cap, by index in
    `domain.hands.CATEGORIES`. ``fee`` is the price of an exchange, None where no card can be bought.
    """

    ante: int
    raised: int
    raise_wins: tuple[int, ...]
    fee: int | None
    unit: int

    @property
    def proportions(self) -> tuple[int, int, tuple[int, ...], int | None]:
        """All but the unit: what is the same for all stakes that the same decisions are best for."""
        return self.ante, self.raised, self.raise_wins, self.fee

    @classmethod
    def from_rules(cls, rules: Rules, ante: int) -> Self:
        """Return what a hand wins and loses at ``ante`` minor units.

        A cap on all of a player's raises of a round together (``aggregate``) is taken as one on this hand,
        as if it were the player's only one.

        Raises ``OddsError`` for an ante below 1, above the house's own limit, or too large for any table.
        """
        if ante < 1:
            raise OddsError(f"an ante is at least 1 minor unit, not {ante}")
        if rules.max_ante is not None and ante > rules.max_ante:
            raise OddsError(f"{rules.ref.id} takes an ante of at most {rules.max_ante}, not {ante}")
        raised = ante * rules.raise_multiple
        if raised > AMOUNT_MAX:
            raise OddsError(f"the raise on an ante of {ante} would be more than {AMOUNT_MAX} minor units")
        cap = rules.raise_win_cap
        uncapped = [raised * rules.raise_pays[category.value] for category in CATEGORIES]
        wins = uncapped if cap is None else [min(win, cap) for win in uncapped]
        fee = None if rules.exchange_fee_antes is None else ante * rules.exchange_fee_antes
        unit = gcd(ante, raised, *wins, fee or 0)
        return cls(
            ante=ante // unit,
            raised=raised // unit,
            raise_wins=tuple(win // unit for win in wins),
            fee=None if fee is None else fee // unit,
            unit=unit,
        )

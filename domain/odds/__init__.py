"""Exact odds: what a game returns by the best decisions, counted over every deal.

Everything is integers and fractions. A hand is decided on its own five cards and the dealer's up-cards;
what other hands show is ignored.
"""

from __future__ import annotations

from domain.odds.outcomes import Branch, Outcomes
from domain.odds.payoffs import OddsError, Payoffs

__all__ = ["Branch", "OddsError", "Outcomes", "Payoffs"]

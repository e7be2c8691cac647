"""How often everything happens that money depends on: exact counts over equally likely deals."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Branch:
    """Counts of equally likely deals by category of the player's final hand.

    Each is ten counts, by index in `domain.hands.CATEGORIES`. A folded hand's deals are told apart by whether
    the dealer qualified, for side bets that depend on it. Of raised hands, ``not_qualified`` counts what the
    dealer did not play, and the other three what she did.
    """

    folded_not_qualified: tuple[int, ...]
    folded_qualified: tuple[int, ...]
    not_qualified: tuple[int, ...]
    win: tuple[int, ...]
    tie: tuple[int, ...]
    lose: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """A game played by the best decisions, counted over ``total`` equally likely deals.

    ``kept`` are hands played as dealt, ``exchanged`` those that bought a card, None where none can be
    bought; together they make up ``total``. ``six`` counts the same deals for the bets on the best five
    of the player's final five and the dealer's first up-card: ``six[raised][qualified][category]``, raised
    and qualified being 0 or 1; it is empty where it was not counted. ``up_cards``: how many she shows.
    """

    total: int
    kept: Branch
    exchanged: Branch | None
    six: tuple[tuple[tuple[int, ...], ...], ...]
    up_cards: int

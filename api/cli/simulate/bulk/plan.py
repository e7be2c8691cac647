"""What a party of guests intends for an evening at one table, from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal

from api.cli.simulate.plan import House

Opening = Literal["at_once", "seeded", "in_steps"]

_CHIPS: Final = (100, 200, 500, 500, 1_000, 1_000, 2_000, 2_500, 5_000, 10_000)
_PARTIES: Final = (1,) * 17 + (2, 2, 4)
"""Most play alone; a round has about ten events then."""
CROWD: Final = 120
"""Guests of a big shared table's round."""


@dataclass(frozen=True, slots=True)
class Visit:
    """`guests` play `rounds` rounds, unless the cards or the chunk end them earlier.

    `timed`: at the table where decisions have their time. `cashes`: takes money home in the end. `dice`
    decides everything else.
    """

    house: House
    guests: int
    rounds: int
    joins: bool
    timed: bool
    cashes: bool
    dice: Random = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Bets:
    """A seat's stakes, minor units."""

    seat: int
    guest: int
    ante: int
    side_bets: dict[str, int]
    client_seed: str | None


def visit(houses: Sequence[House], seed: str, number: int, *, alone: bool = False) -> Visit:
    """Return the plan of the visit with that number; it depends on nothing but the seed and the number."""
    dice = Random(f"{seed}:{number}")  # noqa: S311 - it makes play, not secrets
    house = houses[int(dice.random() * len(houses))]
    seating = house.ruleset.seating
    guests = _PARTIES[int(dice.random() * len(_PARTIES))]
    crowded = dice.random() < 0.002  # noqa: PLR2004
    if alone or seating.hands_per_player > 1:
        guests = 1
    elif seating.shared_player_hand and crowded:
        guests = CROWD
    return Visit(
        house,
        guests,
        rounds=1 if guests == CROWD else 1 + int(dice.random() * 10),
        joins=dice.random() < 0.3,  # noqa: PLR2004
        timed=dice.random() < 0.1,  # noqa: PLR2004
        cashes=dice.random() < 0.1,  # noqa: PLR2004
        dice=dice,
    )


def opening(dice: Random) -> Opening:
    """How a round begins: in one command, with the deck's commitment known first, or guest by guest."""
    chance = dice.random()
    return "at_once" if chance < 0.8 else "seeded" if chance < 0.95 else "in_steps"  # noqa: PLR2004


def bets(plan: Visit, side_bets: dict[str, int | None], *, seeded: bool) -> list[Bets]:
    """Return what the party puts on the table for one round; several hands where one guest may play them."""
    dice = plan.dice
    hands = plan.guests
    most = plan.house.ruleset.seating.hands_per_player
    if most > 1:
        hands = 1 + int(dice.random() * dice.random() * most)
    return [
        Bets(
            hand + 1,
            0 if most > 1 else hand,
            _chip(dice),
            {
                kind: _chip(dice) if stake is None else stake
                for kind, stake in side_bets.items()
                if dice.random() < 0.5  # noqa: PLR2004
            },
            f"seed {int(dice.random() * 1e6)}" if seeded and dice.random() < 0.5 else None,  # noqa: PLR2004
        )
        for hand in range(hands)
    ]


def _chip(dice: Random) -> int:
    return _CHIPS[int(dice.random() * len(_CHIPS))]

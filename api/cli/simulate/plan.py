"""What the guests intend: everything about a round that does not depend on its cards, from a seed.

The same seed gives the same houses, guests, stakes, ways of opening, voids and bad requests. The cards come
from the ledger's own decks, which nobody can seed, so what is decided on them differs from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal, get_args

from domain.commands import Action
from domain.hands import rank_five
from domain.money import exponent
from domain.rulesets.schema import RuleSet, minor

Opening = Literal["at_once", "seeded", "in_steps"]
BadRequest = Literal[
    "ante", "side_bet", "player", "seat", "table", "withdrawal", "deposit", "decision", "finished"
]

PARTY: Final = 7
"""Guests that come together: a whole table."""
CROWD: Final = 20
"""Guests of one round at a table that more can share."""
MIN_ANTE: Final = 100
MAX_ANTE: Final = 10_000
BONUS_STAKE: Final = 1_000
RAISE_WIN_CAP: Final = 500_000
WHIM: Final = 0.05
"""How often a guest does the opposite of what is sensible."""


@dataclass(frozen=True, slots=True)
class House:
    """A house and the simulation's tables there; at `timed_table_id` a decision has its time."""

    ruleset: RuleSet
    table_id: str
    currency: str

    @property
    def timed_table_id(self) -> str:
        """The table where who does not decide in time has decided."""
        return f"{self.table_id}-timed"

    @property
    def side_bets(self) -> dict[str, int | None]:
        """What each kind of side bet costs in minor units; None where the guest decides."""
        stakes: dict[str, int | None] = {}
        for bet in self.ruleset.side_bets:
            if bet.stake == "table":
                stakes[bet.kind] = BONUS_STAKE
            elif bet.stake == "free":
                stakes[bet.kind] = None
            else:
                stakes[bet.kind] = minor(bet.stake, exponent(self.currency))
        return stakes


@dataclass(frozen=True, slots=True)
class Stakes:
    """One seat's stakes, minor units. `guest` counts within the party, from 0."""

    seat: int
    guest: int
    ante: int
    side_bets: dict[str, int]
    client_seed: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A round to be. `void_after`: declared void after so many decisions; None: played to its end.

    `timed`: nobody decides, so that the clock does. `joins`: the guests take a place at the table before, and
    leave it after. `dice` decides what depends on the cards.
    """

    house: House
    stakes: tuple[Stakes, ...]
    opening: Opening
    void_after: int | None
    open_next: bool
    bad: BadRequest | None
    withdraws: bool
    timed: bool
    joins: bool
    dice: Random = field(repr=False)


def plan(houses: Sequence[House], seed: int, number: int, *, at: House | None = None) -> Plan:
    """Return the plan of a simulation's round with that number, perhaps at a given house.

    A round that was opened already is one to place stakes in: it is never opened at once.
    """
    # A generator of each round's own, so that rounds that overtake one another change nothing. It makes
    # play, not secrets.
    dice = Random(f"{seed}:{number}")  # noqa: S311
    chosen = dice.choice(houses)
    opening: Opening = dice.choices(("at_once", "seeded", "in_steps"), (6, 3, 1))[0]
    house = at or chosen
    if at is not None and opening == "at_once":
        opening = "seeded"
    timed = at is None and dice.random() < 0.01  # noqa: PLR2004
    stakes = tuple(_stakes(house, dice, seeded=opening != "at_once"))
    return Plan(
        house,
        stakes,
        opening,
        void_after=dice.randrange(len(stakes)) if dice.random() < 0.03 and not timed else None,  # noqa: PLR2004
        open_next=dice.random() < 0.15,  # noqa: PLR2004
        bad=dice.choice(get_args(BadRequest))
        if dice.random() < 0.05  # noqa: PLR2004
        else None,
        withdraws=dice.random() < 0.02,  # noqa: PLR2004
        timed=timed,
        joins=dice.random() < 0.1,  # noqa: PLR2004
        dice=dice,
    )


def _stakes(house: House, dice: Random, *, seeded: bool) -> list[Stakes]:
    seating = house.ruleset.seating
    places = min(seating.seats, PARTY)
    count = dice.choices(range(1, places + 1), range(places, 0, -1))[0]
    if seating.seats > PARTY and dice.random() < 0.05:  # noqa: PLR2004
        places = count = min(seating.seats, CROWD)
    alone = seating.hands_per_player > 1
    return [
        Stakes(
            seat,
            0 if alone else guest,
            dice.randint(MIN_ANTE, MAX_ANTE),
            {
                kind: dice.randint(MIN_ANTE, MAX_ANTE) if stake is None else stake
                for kind, stake in house.side_bets.items()
                if dice.random() < 0.6  # noqa: PLR2004
            },
            f"seed {dice.randrange(10**6)}" if seeded and dice.random() < 0.5 else None,  # noqa: PLR2004
        )
        for guest, seat in enumerate(sorted(dice.sample(range(1, places + 1), count)))
    ]


def decides(cards: Sequence[str], options: Sequence[str], dice: Random) -> tuple[Action, str | None]:
    """Return what a guest does with five cards, and the card to give away where that is to buy one.

    Sensible is to raise with a pair or better, or with ace and king; now and then a guest is not.
    """
    if "exchange" in options and dice.random() < 0.3:  # noqa: PLR2004
        return "exchange", dice.choice(cards)
    ranks = {card[0] for card in cards}
    good = rank_five(tuple(cards)).category != "high_card" or {"A", "K"} <= ranks
    if dice.random() < WHIM:
        good = not good
    return ("raise" if good else "fold"), None

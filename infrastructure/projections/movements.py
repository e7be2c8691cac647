"""What an event's money does, from its stored data: the legs of `domain.postings`, told fast.

Nine events in ten are one of a few types whose legs are plain; those are computed from the raw data here (a
test holds them against `domain.postings.legs`). All others go through `domain.postings` itself.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from domain.money import EXACT, parse_exact
from domain.postings import (
    CASHIER,
    DIVERSION,
    HOUSE,
    JACKPOT,
    MOVERS,
    ON_GAME,
    OVERFLOW,
    WALLET,
    Leg,
    Unbalanced,
    legs,
)
from infrastructure.ledger.json_values import from_json
from infrastructure.projections.kinds import Happened, Poison

MONEY: Final = frozenset(cls.__name__ for cls in MOVERS)
"""The names of the types of event that can move money."""


class Movement(NamedTuple):
    """The legs of one event: what it adds to accounts.

    `wallet` and `on_game` are the player's, in minor units (`player` is empty where neither moves); `others`
    are the legs on all other accounts, in 1/10000 of them. Together they are zero.
    """

    player: str
    wallet: int
    on_game: int
    others: tuple[Leg, ...]


_CLASSES: Final = {cls.__name__: cls for cls in MOVERS}


def movement(happened: Happened) -> Movement | None:
    """What an event's money does; None where it moves none. Raises Poison where its legs are not zero."""
    if happened.type not in MONEY:
        return None
    fast = _FAST.get(happened.type)
    return _by_the_domain(happened) if fast is None else fast(happened.data)


def _by_the_domain(happened: Happened) -> Movement | None:
    try:
        posted = legs(from_json(_CLASSES[happened.type], copy.deepcopy(happened.data)))
    except (Unbalanced, TypeError, ValueError) as error:
        raise Poison(
            happened.position, f"the money of this {happened.type} makes no sense: {error}"
        ) from error
    if not posted:
        return None
    player, sums = "", {WALLET: 0, ON_GAME: 0}
    for leg in posted:
        if leg.account in sums:
            player = leg.owner
            sums[leg.account] += leg.amount // EXACT
    others = tuple(leg for leg in posted if leg.account not in sums)
    return Movement(player, sums[WALLET], sums[ON_GAME], others)


def _deposited(data: dict[str, Any]) -> Movement:
    amount = data["amount"]
    return Movement(data["player"], amount, 0, (Leg(CASHIER, "", -amount * EXACT),))


def _withdrawn(data: dict[str, Any]) -> Movement:
    amount = data["amount"]
    return Movement(data["player"], -amount, 0, (Leg(CASHIER, "", amount * EXACT),))


def _staked(data: dict[str, Any]) -> Movement:
    amount = data["amount"]
    return Movement(data["player"], -amount, amount, ())


def _card_exchanged(data: dict[str, Any]) -> Movement:
    fee = data["fee"]
    return Movement(data["player"], -fee, fee, ())


def _side_bet_placed(data: dict[str, Any]) -> Movement:
    contribution = data.get("contribution")
    if contribution is None:
        return _staked(data)
    advanced, amount, jackpot_id = parse_exact(contribution), data["amount"], data["jackpot_id"]
    overflow, diversion = (parse_exact(data.get(pool, "0")) for pool in ("overflow", "diversion"))
    others = [Leg(HOUSE, "", -advanced - diversion), Leg(JACKPOT, jackpot_id, advanced - overflow)]
    if overflow:
        others.append(Leg(OVERFLOW, jackpot_id, overflow))
    if diversion:
        others.append(Leg(DIVERSION, jackpot_id, diversion))
    return Movement(data["player"], -amount, amount, tuple(others))


def _settled(data: dict[str, Any]) -> Movement:
    staked = back = 0
    for bet in data["bets"]:
        staked += bet["stake"]
        # A jackpot's win was paid by JackpotHit.
        back += bet["returned"] if bet["bet"] == JACKPOT else bet["returned"] + bet["won"]
    return Movement(data["player"], back, -staked, (Leg(HOUSE, "", (staked - back) * EXACT),))


def _stake_refunded(data: dict[str, Any]) -> Movement:
    amount = data["amount"]
    return Movement(data["player"], amount, -amount, ())


_FAST: Final[dict[str, Callable[[dict[str, Any]], Movement]]] = {
    "Deposited": _deposited,
    "Withdrawn": _withdrawn,
    "AntePlaced": _staked,
    "Raised": _staked,
    "SideBetPlaced": _side_bet_placed,
    "CardExchanged": _card_exchanged,
    "Settled": _settled,
    "StakeRefunded": _stake_refunded,
}
"""The types whose legs are computed here."""

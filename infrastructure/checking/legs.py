"""The legs of one stored event, for whoever has no books: which accounts it changes, and by how much.

Accounts are `(kind, owner)`: ``wallet``, ``on_game`` and ``cashier`` and ``house`` of nobody, and a jackpot's
``meter``, ``overflow`` and ``diverted`` by its id. Amounts are ten-thousandths of a minor unit. Players are
told apart from that: `Legs.player`, with what the wallet and the on-game account got.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from infrastructure.checking.exact import MINOR, exact

Data = dict[str, Any]
Account = tuple[str, str]

WALLET: Final = "wallet"
ON_GAME: Final = "on_game"
HOUSE: Final = "house"
CASHIER: Final = "cashier"
METER: Final = "meter"
OVERFLOW: Final = "overflow"
DIVERTED: Final = "diverted"
_POOLS: Final = {"meter": METER, "overflow": OVERFLOW, "diversion": DIVERTED}


class Legs(NamedTuple):
    """What an event does: to a player's wallet and on-game account (minor units), and to the others."""

    player: str
    wallet: int
    on_game: int
    others: tuple[tuple[str, str, int], ...] = ()

    @property
    def left(self) -> int:
        """What all of them add up to, in ten-thousandths: zero, or the event is wrong."""
        return (self.wallet + self.on_game) * MINOR + sum(amount for _, _, amount in self.others)


def legs(type_: str, data: Data) -> Legs | None:
    """Return an event's legs, None where it moves no money. Raises KeyError, TypeError, ValueError."""
    of = _LEGS.get(type_)
    return None if of is None else of(data)


def _sum(data: Data, name: str) -> int:
    return exact(data[name]) if name in data else 0


def _deposited(data: Data) -> Legs:
    return Legs(data["player"], data["amount"], 0, ((CASHIER, "", -data["amount"] * MINOR),))


def _withdrawn(data: Data) -> Legs:
    return Legs(data["player"], -data["amount"], 0, ((CASHIER, "", data["amount"] * MINOR),))


def _staked(data: Data) -> Legs:
    return Legs(data["player"], -data["amount"], data["amount"])


def _exchanged(data: Data) -> Legs:
    return Legs(data["player"], -data["fee"], data["fee"])


def _side_bet(data: Data) -> Legs:
    if "contribution" not in data:
        return _staked(data)
    contribution, overflow, diversion = (
        _sum(data, name) for name in ("contribution", "overflow", "diversion")
    )
    pot = data["jackpot_id"]
    others = (
        (HOUSE, "", -contribution - diversion),
        (METER, pot, contribution - overflow),
        (OVERFLOW, pot, overflow),
        (DIVERTED, pot, diversion),
    )
    return Legs(data["player"], -data["amount"], data["amount"], others)


def _settled(data: Data) -> Legs:
    staked = sum(bet["stake"] for bet in data["bets"])
    back = sum(bet["returned"] for bet in data["bets"])
    back += sum(bet["won"] for bet in data["bets"] if bet["bet"] != "jackpot")
    return Legs(data["player"], back, -staked, ((HOUSE, "", (staked - back) * MINOR),))


def _hit(data: Data) -> Legs:
    pot, restart = data["jackpot_id"], _sum(data, "restart")
    diverted, released = _sum(data, "restart_from_diversion"), _sum(data, "from_overflow")
    others = (
        (METER, pot, restart + released - exact(data["from_meter"])),
        (OVERFLOW, pot, -released),
        (DIVERTED, pot, -diverted),
        (HOUSE, "", diverted - restart - exact(data["from_house"])),
    )
    return Legs(data["player"], data["award"], 0, others)


def _refunded(data: Data) -> Legs:
    return Legs(data["player"], data["amount"], -data["amount"])


def _reversed(data: Data) -> Legs:
    pot, meter = data["jackpot_id"], exact(data["from_meter"])
    overflow, diverted = _sum(data, "from_overflow"), _sum(data, "from_diversion")
    others = (
        (METER, pot, -meter),
        (OVERFLOW, pot, -overflow),
        (DIVERTED, pot, -diverted),
        (HOUSE, "", meter + overflow + diverted),
    )
    return Legs("", 0, 0, others)


def _opened(data: Data) -> Legs:
    amount = data["reset"] * MINOR
    return Legs("", 0, 0, ((METER, data["jackpot_id"], amount), (HOUSE, "", -amount)))


def _activated(data: Data) -> Legs:
    amount = _sum(data, "top_up")
    return Legs("", 0, 0, ((METER, data["jackpot_id"], amount), (HOUSE, "", -amount)))


def _adjusted(data: Data) -> Legs:
    amount = exact(data["amount"])
    return Legs("", 0, 0, ((_POOLS[data["pool"]], data["jackpot_id"], amount), (HOUSE, "", -amount)))


def _transferred(data: Data) -> Legs:
    pot, to, above = data["jackpot_id"], data["to"], _sum(data, "above_ceiling")
    amount, overflow, diverted = (exact(data[name]) for name in ("amount", "overflow", "diversion"))
    others = (
        (METER, pot, -amount),
        (OVERFLOW, pot, -overflow),
        (DIVERTED, pot, -diverted),
        (METER, to, amount - above),
        (OVERFLOW, to, overflow + above),
        (DIVERTED, to, diverted),
    )
    return Legs("", 0, 0, others)


_LEGS: Final[dict[str, Callable[[Data], Legs]]] = {
    "Deposited": _deposited,
    "Withdrawn": _withdrawn,
    "AntePlaced": _staked,
    "Raised": _staked,
    "SideBetPlaced": _side_bet,
    "CardExchanged": _exchanged,
    "Settled": _settled,
    "JackpotHit": _hit,
    "StakeRefunded": _refunded,
    "ContributionReversed": _reversed,
    "JackpotOpened": _opened,
    "JackpotParametersActivated": _activated,
    "JackpotAdjusted": _adjusted,
    "JackpotTransferred": _transferred,
}

MOVING: Final = frozenset(type_.encode() for type_ in _LEGS)
"""The types that can move money, as they stand in stored bytes."""

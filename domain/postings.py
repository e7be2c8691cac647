"""Double entry: the legs of every event, in 1/10000 minor units, summing to zero (G1).

Accounts: ``wallet`` and ``on_game`` of a player, ``house``, ``cashier``, and of each jackpot its meter
(``jackpot``), ``jackpot_overflow`` and ``jackpot_diversion``. `domain.accounts` has their full names. A stake
waits on game until its round is settled or void. The house advances what a side bet puts into a jackpot when
it is accepted (the stake itself is still on game), so that the meter grows in ledger order while a void round
returns the whole stake.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from domain import events as ev
from domain.money import EXACT, parse_exact

WALLET: Final = "wallet"
ON_GAME: Final = "on_game"
HOUSE: Final = "house"
CASHIER: Final = "cashier"
JACKPOT: Final = "jackpot"
OVERFLOW: Final = "jackpot_overflow"
DIVERSION: Final = "jackpot_diversion"

_POOLS: Final = {"meter": JACKPOT, "overflow": OVERFLOW, "diversion": DIVERSION}


class Leg(NamedTuple):
    """One side of a posting.

    The kind of account, whose (player or jackpot id, else empty), and the exact amount added.
    """

    account: str
    owner: str
    amount: int


def legs(event: ev.Event) -> tuple[Leg, ...]:
    """The legs of an event.

    Empty where no money moves. They sum to zero; raises Unbalanced where they would not.
    """
    post = _LEGS.get(type(event))
    if post is None:
        return ()
    posted = post(event)
    left = 0
    for leg in posted:
        left += leg[2]
    if left:
        raise Unbalanced(f"the legs of {type(event).__name__} do not sum to zero")
    return posted


class Unbalanced(Exception):
    """Legs that do not sum to zero: a defect in the ledger, never a client's fault."""


def _deposited(event: ev.Deposited) -> tuple[Leg, ...]:
    amount = event.amount * EXACT
    return Leg(WALLET, event.player, amount), Leg(CASHIER, "", -amount)


def _withdrawn(event: ev.Withdrawn) -> tuple[Leg, ...]:
    amount = event.amount * EXACT
    return Leg(WALLET, event.player, -amount), Leg(CASHIER, "", amount)


def _jackpot_opened(event: ev.JackpotOpened) -> tuple[Leg, ...]:
    amount = event.reset * EXACT
    return Leg(HOUSE, "", -amount), Leg(JACKPOT, event.jackpot_id, amount)


def _staked(event: ev.AntePlaced | ev.Raised) -> tuple[Leg, ...]:
    amount = event.amount * EXACT
    return Leg(WALLET, event.player, -amount), Leg(ON_GAME, event.player, amount)


def _side_bet_placed(event: ev.SideBetPlaced) -> tuple[Leg, ...]:
    amount = event.amount * EXACT
    stake = (Leg(WALLET, event.player, -amount), Leg(ON_GAME, event.player, amount))
    if event.contribution is None or event.jackpot_id is None:
        return stake
    contribution = parse_exact(event.contribution)
    if event.overflow is None and event.diversion is None:
        return (*stake, Leg(HOUSE, "", -contribution), Leg(JACKPOT, event.jackpot_id, contribution))
    overflow, diversion = _exact(event.overflow), _exact(event.diversion)
    return (
        *stake,
        Leg(HOUSE, "", -contribution - diversion),
        Leg(JACKPOT, event.jackpot_id, contribution - overflow),
        *_pools(event.jackpot_id, overflow, diversion),
    )


def _card_exchanged(event: ev.CardExchanged) -> tuple[Leg, ...]:
    amount = event.fee * EXACT
    return Leg(WALLET, event.player, -amount), Leg(ON_GAME, event.player, amount)


def _settled(event: ev.Settled) -> tuple[Leg, ...]:
    staked = back = 0
    for bet in event.bets:
        staked += bet.stake
        # A jackpot's win was paid by JackpotHit.
        back += bet.returned if bet.bet == JACKPOT else bet.returned + bet.won
    return (
        Leg(ON_GAME, event.player, -staked * EXACT),
        Leg(WALLET, event.player, back * EXACT),
        Leg(HOUSE, "", (staked - back) * EXACT),
    )


def _jackpot_hit(event: ev.JackpotHit) -> tuple[Leg, ...]:
    taken, house = parse_exact(event.from_meter), parse_exact(event.from_house)
    restart, released, diverted = map(
        _exact, (event.restart, event.from_overflow, event.restart_from_diversion)
    )
    return (
        Leg(WALLET, event.player, event.award * EXACT),
        Leg(JACKPOT, event.jackpot_id, restart + released - taken),
        Leg(HOUSE, "", diverted - restart - house),
        *_pools(event.jackpot_id, -released, -diverted),
    )


def _stake_refunded(event: ev.StakeRefunded) -> tuple[Leg, ...]:
    amount = event.amount * EXACT
    return Leg(ON_GAME, event.player, -amount), Leg(WALLET, event.player, amount)


def _contribution_reversed(event: ev.ContributionReversed) -> tuple[Leg, ...]:
    # The house advanced the whole contribution and gets back what the pools hold of it: the shortfall
    # is its own.
    taken, overflow, diversion = map(_exact, (event.from_meter, event.from_overflow, event.from_diversion))
    return (
        Leg(JACKPOT, event.jackpot_id, -taken),
        Leg(HOUSE, "", taken + overflow + diversion),
        *_pools(event.jackpot_id, -overflow, -diversion),
    )


def _parameters_activated(event: ev.JackpotParametersActivated) -> tuple[Leg, ...]:
    if event.top_up is None:
        return ()
    amount = parse_exact(event.top_up)
    return Leg(HOUSE, "", -amount), Leg(JACKPOT, event.jackpot_id, amount)


def _jackpot_transferred(event: ev.JackpotTransferred) -> tuple[Leg, ...]:
    amount, overflow, diversion = map(_exact, (event.amount, event.overflow, event.diversion))
    above = _exact(event.above_ceiling)
    return (
        Leg(JACKPOT, event.jackpot_id, -amount),
        Leg(JACKPOT, event.to, amount - above),
        *_pools(event.jackpot_id, -overflow, -diversion),
        *_pools(event.to, overflow + above, diversion),
    )


def _jackpot_adjusted(event: ev.JackpotAdjusted) -> tuple[Leg, ...]:
    amount = parse_exact(event.amount)
    return Leg(_POOLS[event.pool], event.jackpot_id, amount), Leg(HOUSE, "", -amount)


def _exact(text: str | None) -> int:
    """An exact amount; absent is nothing."""
    return 0 if text is None else parse_exact(text)


def _pools(jackpot_id: str, overflow: int, diversion: int) -> list[Leg]:
    """The legs on a jackpot's two other pools, where they move."""
    legs_ = (Leg(OVERFLOW, jackpot_id, overflow), Leg(DIVERSION, jackpot_id, diversion))
    return [leg for leg in legs_ if leg.amount]


_LEGS: Final[dict[type, Callable[..., tuple[Leg, ...]]]] = {
    ev.Deposited: _deposited,
    ev.Withdrawn: _withdrawn,
    ev.JackpotOpened: _jackpot_opened,
    ev.AntePlaced: _staked,
    ev.Raised: _staked,
    ev.SideBetPlaced: _side_bet_placed,
    ev.CardExchanged: _card_exchanged,
    ev.Settled: _settled,
    ev.JackpotHit: _jackpot_hit,
    ev.StakeRefunded: _stake_refunded,
    ev.ContributionReversed: _contribution_reversed,
    ev.JackpotParametersActivated: _parameters_activated,
    ev.JackpotTransferred: _jackpot_transferred,
    ev.JackpotAdjusted: _jackpot_adjusted,
}

MOVERS: Final = frozenset(_LEGS)
"""The types of event that can move money: all others have no legs."""

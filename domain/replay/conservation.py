"""No money appears or vanishes (G1).

That is asked of the legs of every event, and of the wallets' balances as far as they can be followed.

Six accounts take part: the wallets, what is on game, the house, and the jackpot's three pools. Where an event
says the same thing twice (a meter before and after, and what left it; a seat's stakes when placed, and when
settled), the legs are read from different places, so that they only sum to zero if both agree. A stake says
everything once: its legs sum to zero whatever it says. Exact amounts, in 1/10 000 of a minor unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from domain.replay import kinds
from domain.replay.exact import UNIT, in_text, units
from domain.replay.fields import BALANCE_MAX
from domain.replay.report import Findings
from domain.replay.stream import Record

_OnGame = dict[int, int]
"""What each seat has on game, in minor units."""

Balances = dict[str, tuple[int, int, int]]
"""Each player's last event that moved money: its version, its position, and the balance it left."""

_Legs = tuple[int, int]
"""What the wallet got, in minor units, and what all legs sum to, exact."""


def check(records: Sequence[Record], findings: Findings) -> None:
    """Check that each event's legs sum to zero, that nothing stays on game, and that balances follow."""
    on_game: _OnGame = {}
    problems: list[dict[str, Any]] = []
    balances: Balances = {}
    broken_balances: list[dict[str, Any]] = []
    for record in records:
        legs = _LEGS.get(record.type)
        if legs is None:
            continue
        moved, left = legs(record.data, on_game)
        if left:
            problems.append({**record.problem("legs do not sum to zero"), "sum": in_text(left)})
        if record.type != "ContributionReversed":
            data = record.data
            expected = follows(
                record.version, record.position, data.player, moved, data.balance_after, balances
            )
            if expected is not None:
                broken_balances.append({**record.problem("balance_after"), "expected": expected})
    findings.none_of("conservation", problems)
    staying = {f"seat_{seat}": left for seat, left in on_game.items() if left}
    findings.same("nothing_on_game", {}, staying)
    findings.none_of("balance_after", broken_balances)


def _staked(data: kinds.AntePlaced | kinds.SideBetPlaced | kinds.Raised, on_game: _OnGame) -> _Legs:
    on_game[data.seat] = on_game.get(data.seat, 0) + data.amount
    return -data.amount, 0


def _exchanged(data: kinds.CardExchanged, on_game: _OnGame) -> _Legs:
    on_game[data.seat] = on_game.get(data.seat, 0) + data.fee
    return -data.fee, 0


def _settled(data: kinds.Settled, on_game: _OnGame) -> _Legs:
    """A seat's stakes leave the game; wallet and house share them by the bets.

    A jackpot win was paid by its own event.
    """
    settled = paid = 0
    for bet in data.bets:
        settled += bet.stake
        paid += bet.returned if bet.bet == "jackpot" else bet.returned + bet.won
    return paid, (settled - on_game.pop(data.seat, 0)) * UNIT


def _refunded(data: kinds.StakeRefunded, on_game: _OnGame) -> _Legs:
    """The amount is said twice: together, and bet by bet. Both must be what was staked."""
    staked = on_game.pop(data.seat, 0)
    back = sum(bet.stake for bet in data.bets)
    wallet = data.amount if data.amount != staked else back
    return wallet, (wallet - staked) * UNIT


def _hit(data: kinds.JackpotHit, _: _OnGame) -> _Legs:
    diversion = units(data.restart_from_diversion or "0")
    house = units(data.from_house) + units(data.restart or "0") - diversion
    pools = _left_meter(data) - units(data.from_overflow or "0") - diversion
    return data.award, data.award * UNIT - house + pools


def _reversed(data: kinds.ContributionReversed, _: _OnGame) -> _Legs:
    borne = units(data.amount) - units(data.from_house)
    pools = _left_meter(data) - units(data.from_overflow or "0") - units(data.from_diversion or "0")
    return 0, borne + pools


def _left_meter(data: kinds.JackpotHit | kinds.ContributionReversed) -> int:
    """What the meter got by an event that says what it held before and after."""
    return units(data.meter_after) - units(data.meter_before)


_LEGS: Final[dict[str, Callable[[Any, _OnGame], _Legs]]] = {
    "AntePlaced": _staked,
    "SideBetPlaced": _staked,
    "Raised": _staked,
    "CardExchanged": _exchanged,
    "Settled": _settled,
    "StakeRefunded": _refunded,
    "JackpotHit": _hit,
    "ContributionReversed": _reversed,
}


def follows(
    version: int, position: int, player: str, moved: int, stated: int, balances: Balances
) -> int | None:
    """The balance an event should have left, if it can be derived and is not what it says.

    It can where nothing outside the round's stream came between two of a player's events: then as many
    positions lie between them as versions. A wallet that pays is never overdrawn (G2): a balance below zero
    is not well-formed to begin with.
    """
    before = balances.get(player)
    balances[player] = (version, position, stated)
    if before is None:
        low = max(moved, 0)
        return low if not low <= stated <= BALANCE_MAX else None
    version_before, position_before, balance = before
    if position - position_before != version - version_before or stated == balance + moved:
        return None
    return balance + moved

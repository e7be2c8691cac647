"""No money appears or vanishes (G1).

That is asked of the legs of every event, and of the wallets' balances as far as they can be followed.

Six accounts take part: the wallets, what is on game, the house, and the jackpot's three pools. Where an event
says the same thing twice (a meter before and after, and what left it; a seat's stakes when placed, and when
settled), the legs are read from different places, so that they only sum to zero if both agree. Exact amounts,
in 1/10 000 of a minor unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from domain.replay.exact import UNIT, in_text, units
from domain.replay.fields import BALANCE_MAX, Data
from domain.replay.report import Findings
from domain.replay.stream import Record

_STAKE_FIELD: Final = {
    "AntePlaced": "amount",
    "SideBetPlaced": "amount",
    "Raised": "amount",
    "CardExchanged": "fee",
}


class Legs(NamedTuple):
    """What one event did to the six accounts, in exact units."""

    wallet: int = 0
    on_game: int = 0
    house: int = 0
    jackpot: int = 0
    overflow: int = 0
    diversion: int = 0


def check(records: Sequence[Record], findings: Findings) -> None:
    """Check that each event's legs sum to zero, that nothing stays on game, and that balances follow."""
    on_game: dict[int, int] = {}
    problems: list[dict[str, Any]] = []
    balances: dict[str, tuple[int, int, int]] = {}
    broken_balances: list[dict[str, Any]] = []
    for record in records:
        legs = _legs(record, on_game)
        if sum(legs) != 0:
            problems.append({**record.problem("legs do not sum to zero"), "sum": in_text(sum(legs))})
        if "balance_after" in record.data:
            expected = _follows(record, legs.wallet // UNIT, balances)
            if expected is not None:
                broken_balances.append({**record.problem("balance_after"), "expected": expected})
    findings.none_of("conservation", problems)
    findings.same("nothing_on_game", {}, {f"seat_{seat}": left for seat, left in on_game.items() if left})
    findings.none_of("balance_after", broken_balances)


def _legs(record: Record, on_game: dict[int, int]) -> Legs:
    """The legs of an event; `on_game` is what each seat has on game, in minor units, and is kept up here."""
    data, kind = record.data, record.type
    field = _STAKE_FIELD.get(kind)
    if field is not None:
        seat, stake = data["seat"], data[field]
        on_game[seat] = on_game.get(seat, 0) + stake
        contribution, overflow, diversion = (
            units(data.get(part, "0")) for part in ("contribution", "overflow", "diversion")
        )
        meter = contribution - overflow
        return Legs(-stake * UNIT, stake * UNIT, -contribution - diversion, meter, overflow, diversion)
    if kind == "Settled":
        return _settled(data, on_game)
    if kind == "StakeRefunded":
        staked = on_game.pop(data["seat"], 0)
        back = sum(bet["stake"] for bet in data["bets"])
        # The amount is said twice: together, and bet by bet. Both must be what was staked.
        wallet = data["amount"] if data["amount"] != staked else back
        return Legs(wallet * UNIT, -staked * UNIT)
    if kind == "JackpotHit":
        diversion = units(data.get("restart_from_diversion", "0"))
        house = units(data["from_house"]) + units(data.get("restart", "0")) - diversion
        return Legs(data["award"] * UNIT, 0, -house, *_pools(data, diversion))
    if kind == "ContributionReversed":
        borne = units(data["amount"]) - units(data["from_house"])
        return Legs(0, 0, borne, *_pools(data, units(data.get("from_diversion", "0"))))
    return Legs()


def _pools(data: Data, diversion: int) -> tuple[int, int, int]:
    """What an event that says the meter before and after it did to the pools; `diversion` left its own."""
    meter = units(data["meter_after"]) - units(data["meter_before"])
    return meter, -units(data.get("from_overflow", "0")), -diversion


def _settled(data: Data, on_game: dict[int, int]) -> Legs:
    """The legs of a settled seat: its stakes leave the game.

    Wallet and house share them by the bets. A jackpot win was paid by its own event.
    """
    staked = on_game.pop(data["seat"], 0)
    paid = house = 0
    for bet in data["bets"]:
        won = 0 if bet["bet"] == "jackpot" else bet["won"]
        paid += bet["returned"] + won
        house += bet["stake"] - bet["returned"] - won
    return Legs(paid * UNIT, -staked * UNIT, house * UNIT)


def _follows(record: Record, moved: int, balances: dict[str, tuple[int, int, int]]) -> int | None:
    """The balance an event should have left, if it can be derived and is not what it says.

    It can where nothing outside the round's stream came between two of a player's events: then as many
    positions lie between them as versions. A wallet that pays is never overdrawn (G2): a balance below zero
    is not well-formed to begin with.
    """
    player, stated = record.data["player"], record.data["balance_after"]
    before = balances.get(player)
    balances[player] = (record.version, record.position, stated)
    if before is None:
        low = max(moved, 0)
        return low if not low <= stated <= BALANCE_MAX else None
    version, position, balance = before
    if record.position - position != record.version - version or stated == balance + moved:
        return None
    return balance + moved

"""A jackpot's pools within one partition, whose events do not say what the pools held before.

So they are followed as differences. The first event that says what a pool holds tells what it held before the
partition; what else had to be true then is a claim, which the merging compares with what it knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from domain.replay import Record
from domain.replay.exact import units
from domain.replay.kinds import ContributionReversed, JackpotHit, RoundOpened, SideBetPlaced
from infrastructure.audit.results import BetElsewhere, Claim, PartResult, PotPart
from infrastructure.checking.exact import MINOR, exact, text

METER: Final = 0
OVERFLOW: Final = 1
DIVERSION: Final = 2
POOLS: Final = ("meter", "overflow", "diversion")
AT_MOST: Final = "meter_at_most"
AT_LEAST: Final = "meter_at_least"

Data = dict[str, Any]


def pot(result: PartResult, jackpot: str, position: int) -> PotPart:
    """The part of a jackpot, which is touched at this position."""
    part = result.pots.get(jackpot)
    if part is None:
        part = result.pots[jackpot] = PotPart(position, position)
    part.last = position
    return part


def move(part: PotPart, pool: int, amount: int) -> None:
    """Add an exact amount to a pool."""
    moved = part.moved[pool] = part.moved[pool] + amount
    part.lowest[pool] = min(part.lowest[pool], moved)


def claim(part: PotPart, claimed: Claim) -> None:
    """Keep what had to be true before the partition: of several bounds the narrowest, else the first."""
    kept = part.claims.get(claimed.what)
    if (
        kept is None
        or (claimed.what == AT_MOST and claimed.value < kept.value)
        or (claimed.what == AT_LEAST and claimed.value > kept.value)
    ):
        part.claims[claimed.what] = claimed


def says(result: PartResult, jackpot: str, pool: int, value: int, position: int) -> None:
    """Compare a pool with what the event at a position says that it holds, and go on with that."""
    part = result.pots[jackpot]
    before = part.known[pool]
    if before is None:
        part.known[pool] = value - part.moved[pool]
        claim(part, Claim(position, POOLS[pool], value - part.moved[pool]))
    elif before + part.moved[pool] != value:
        result.differs(position, f"jackpot.{POOLS[pool]}", text(before + part.moved[pool]), text(value))
        part.moved[pool] = value - before


def link(result: PartResult, part: PotPart, previous: int, position: int) -> None:
    """Compare what an event says of the last movement of the meter before it."""
    if not part.moved_at:
        claim(part, Claim(position, "moved_at", previous))
    elif previous != part.moved_at:
        result.differs(position, "jackpot.previous_position", part.moved_at, previous)


def count_hit(result: PartResult, part: PotPart, order: int, position: int) -> None:
    """Count a hit, and compare the number it says it has."""
    if not part.hits:
        claim(part, Claim(position, "hits", order - 1))
    elif order != part.hits + 1:
        result.differs(position, "jackpot.order", part.hits + 1, order)
    part.hits = order


def room(
    moved: int, ceiling: int | None, contribution: int, overflow: int, position: int
) -> tuple[Claim, ...]:
    """What a contribution and its overflow say of the meter before the partition; `moved` was added since."""
    if ceiling is None:
        return () if not overflow else (Claim(position, "no_overflow", overflow),)
    if overflow == contribution:
        return (Claim(position, AT_LEAST, ceiling - moved),)
    most = Claim(position, AT_MOST, ceiling - moved - (contribution - overflow))
    return (most, Claim(position, AT_LEAST, most.value)) if overflow else (most,)


def take(result: PartResult, record: Record[Any], opened: RoundOpened | None) -> None:
    """What an event of a round does to a jackpot; `opened` is what its round's first says, or None."""
    _OF_ROUNDS[type(record.data)](result, record, opened)


def _side_bet(result: PartResult, record: Record[SideBetPlaced], opened_by: RoundOpened | None) -> None:
    data, position = record.data, record.position
    jackpot = data.jackpot_id or ""
    contribution, overflow = units(data.contribution or "0"), units(data.overflow or "0")
    part = pot(result, jackpot, position)
    if opened_by is None:
        elsewhere = BetElsewhere(position, record.stream, jackpot, part.moved[METER], contribution, overflow)
        result.bets_elsewhere.append(elsewhere)
    else:
        pinned = opened_by.jackpot
        ceiling = None if pinned is None or pinned.ceiling is None else pinned.ceiling * MINOR
        if ceiling is not None or overflow:
            for implied in room(part.moved[METER], ceiling, contribution, overflow, position):
                claim(part, implied)
    part.moved_at = position
    part.moved[METER] += contribution - overflow  # no less than before, so that `lowest` stays
    if overflow:
        move(part, OVERFLOW, overflow)
    if data.diversion is not None:
        move(part, DIVERSION, units(data.diversion))


def _hit(result: PartResult, record: Record[JackpotHit], _: RoundOpened | None) -> None:
    data, position = record.data, record.position
    part = pot(result, data.jackpot_id, position)
    released = units(data.from_overflow or "0")
    link(result, part, data.previous_position, position)
    count_hit(result, part, data.order, position)
    says(result, data.jackpot_id, METER, units(data.meter_before), position)
    move(part, METER, -units(data.from_meter))
    move(part, METER, units(data.restart or "0") + released)
    says(result, data.jackpot_id, METER, units(data.meter_after), position)
    move(part, OVERFLOW, -released)
    move(part, DIVERSION, -units(data.restart_from_diversion or "0"))
    part.moved_at = position


def _reversed(result: PartResult, record: Record[ContributionReversed], _: RoundOpened | None) -> None:
    data, position = record.data, record.position
    part = pot(result, data.jackpot_id, position)
    link(result, part, data.previous_position, position)
    says(result, data.jackpot_id, METER, units(data.meter_before), position)
    move(part, METER, -units(data.from_meter))
    says(result, data.jackpot_id, METER, units(data.meter_after), position)
    move(part, OVERFLOW, -units(data.from_overflow or "0"))
    move(part, DIVERSION, -units(data.from_diversion or "0"))
    part.moved_at = position


_OF_ROUNDS: Final[dict[type, Callable[[PartResult, Record[Any], RoundOpened | None], None]]] = {
    SideBetPlaced: _side_bet,
    JackpotHit: _hit,
    ContributionReversed: _reversed,
}


def opened(result: PartResult, position: int, data: Data) -> None:
    """A jackpot begins with its reset, which the house pays in."""
    part = pot(result, data["jackpot_id"], position)
    if part.opened is not None or part.first != position:
        result.differs(position, "jackpot.opened", "once", "again")
    part.opened = data["account_class"], data["currency"]
    part.known = [0, 0, 0]
    _house_moves(part, METER, data["reset"] * MINOR, position)


def _house_moves(part: PotPart, pool: int, amount: int, position: int) -> None:
    move(part, pool, amount)
    part.house -= amount
    if pool == METER:
        part.moved_at = position


def activated(result: PartResult, position: int, data: Data) -> None:
    """New parameters come into force; the house pays a higher reset."""
    jackpot = data["jackpot_id"]
    part = pot(result, jackpot, position)
    says(result, jackpot, METER, exact(data["meter_before"]), position)
    if "top_up" in data:
        _house_moves(part, METER, exact(data["top_up"]), position)
    says(result, jackpot, METER, exact(data["meter_after"]), position)


def adjusted(result: PartResult, position: int, data: Data) -> None:
    """A pool is put right at the house's cost."""
    jackpot, pool = data["jackpot_id"], POOLS.index(data["pool"])
    part = pot(result, jackpot, position)
    says(result, jackpot, pool, exact(data["before"]), position)
    _house_moves(part, pool, exact(data["amount"]), position)
    says(result, jackpot, pool, exact(data["after"]), position)


def transferred(result: PartResult, position: int, data: Data) -> None:
    """All that one jackpot holds goes to another."""
    jackpot, to = data["jackpot_id"], data["to"]
    part, target = pot(result, jackpot, position), pot(result, to, position)
    above = exact(data["above_ceiling"]) if "above_ceiling" in data else 0
    says(result, to, METER, exact(data["to_meter_before"]), position)
    for pool, (name, extra) in enumerate((("amount", -above), ("overflow", above), ("diversion", 0))):
        amount = exact(data[name])
        says(result, jackpot, pool, amount, position)
        move(part, pool, -amount)
        move(target, pool, amount + extra)
    part.moved_at = target.moved_at = position
    says(result, to, METER, exact(data["to_meter_after"]), position)

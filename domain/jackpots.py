"""The progressive jackpot: what a hit takes from the meter, and in which order.

Meters are exact, in 1/10000 minor units; awards are whole minor units, rounded down, and what is cut off
stays in the meter (reading 11). A category that pays the whole meter restarts it at the reset, which the
house puts in. Several such hands in one round are paid together at the first of them: the meter divided
equally, each share rounded down, the remainder carried into the restarted meter.

A meter may have a ceiling. What is contributed above it is never lost: it waits in the overflow pool and
comes into the meter when that restarts, as far as the ceiling allows then. A part of each side bet may be
diverted to a pool of its own that pays for the restart, as far as it goes, in the house's stead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from domain.canonical import document_sha256
from domain.money import BALANCE_MAX, EXACT, floor_minor
from domain.rules import CompiledAward

WHOLE_METER: Final = 100
"""The percentage that wins the meter and restarts it."""
METER_MAX: Final = BALANCE_MAX * EXACT
"""The most that a meter, or another pool, can hold, in 1/10000 minor units."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """Parameters that wait until the meter is won; see `domain.events.JackpotParametersScheduled`."""

    version: int
    sha256: str
    contribution: str
    reset: int
    ceiling: int | None = None
    diversion: str | None = None


@dataclass(slots=True)
class Jackpot:
    """A jackpot as the ledger holds it.

    `meter`, `overflow` and `diverted` (the pools) in 1/10000 minor units, `share` (of each side bet) in
    1/10000; `reset` and `ceiling` in minor units. `contribution` and `diversion` are the shares in text.

    `moved_at` is the position of the last event that moved the meter, `hits` how many awards it has paid,
    `unsettled` how many side bets on it are neither settled nor given back.
    """

    jackpot_id: str
    currency: str
    account_class: str
    contribution: str
    share: int
    reset: int
    parameters_version: int
    sha256: str
    meter: int
    enabled: bool = True
    version: int = 1
    hits: int = 0
    moved_at: int = 0
    ceiling: int | None = None
    diversion: str | None = None
    overflow: int = 0
    diverted: int = 0
    unsettled: int = 0
    retired: bool = False
    scheduled: Scheduled | None = None


@dataclass(frozen=True, slots=True)
class Payment:
    """One award.

    `award` and `restart` in minor units, all else in 1/10000 of them. `from_diversion` is the part of the
    restart that the diversion pool pays, `from_overflow` what comes out of the overflow pool with it.
    """

    award: int
    from_meter: int
    from_house: int
    meter_after: int
    restart: int | None = None
    from_diversion: int = 0
    from_overflow: int = 0


def parameters_document(
    jackpot_id: str,
    currency: str,
    contribution: str,
    reset: int,
    version: int,
    ceiling: int | None = None,
    diversion: str | None = None,
) -> dict[str, Any]:
    """What a jackpot's parameters are, as the JSON that is hashed and handed out.

    A ceiling and a diversion are in it where there are any.
    """
    document: dict[str, Any] = {
        "contribution": contribution,
        "currency": currency,
        "jackpot_id": jackpot_id,
        "reset": reset,
        "version": version,
    }
    if ceiling is not None:
        document["ceiling"] = ceiling
    if diversion is not None:
        document["diversion"] = diversion
    return document


def parameters_sha256(document: dict[str, Any]) -> str:
    """SHA-256 (hex) of a parameters document."""
    return document_sha256(document)


def pay(meter: int, award: CompiledAward) -> Payment:
    """What an award that does not win the whole meter takes from it.

    A percentage is of the meter as it stands, rounded down. A fixed award is paid in full: from the
    meter, topped up by the house to exactly the award where the meter does not hold it (reading 12), or
    by the house alone.
    """
    if award.percent is not None:
        amount = floor_minor(meter * award.percent // 100)
        return Payment(amount, amount * EXACT, 0, meter - amount * EXACT)
    amount = award.fixed or 0
    if award.funding == "house":
        return Payment(amount, 0, amount * EXACT, meter)
    taken = min(meter, amount * EXACT)
    return Payment(amount, taken, amount * EXACT - taken, meter - taken)


def share_out(
    meter: int, winners: int, reset: int, *, overflow: int = 0, diverted: int = 0, most: int = METER_MAX
) -> list[Payment]:
    """Pay the whole meter to `winners` seats together.

    Equal shares rounded down, the remainder carried into the restarted meter. `overflow` and `diverted` are
    what the two other pools hold; `most` is what the restarted meter may be filled up to from the overflow.
    """
    share = floor_minor(meter // winners)
    payments = []
    for _ in range(winners - 1):
        meter -= share * EXACT
        payments.append(Payment(share, share * EXACT, 0, meter))
    after = meter - share * EXACT + reset * EXACT
    released = min(overflow, room(after, most))
    payments.append(
        Payment(share, share * EXACT, 0, after + released, reset, min(diverted, reset * EXACT), released)
    )
    return payments


def room(meter: int, most: int | None) -> int:
    """What a meter can still take, 1/10000 minor units; one that stands above its ceiling takes nothing.

    `most` is the most that it may hold, where there is a ceiling.
    """
    return max(0, (METER_MAX if most is None else most) - meter)


def ceiling_exact(ceiling: int | None) -> int | None:
    """A ceiling in 1/10000 minor units."""
    return None if ceiling is None else ceiling * EXACT


def reverse(pool: int, contributed: int) -> int:
    """What a reversed contribution takes from the pool that it went to; the house bears the rest.

    No pool ever falls below zero (reading 15).
    """
    return min(pool, contributed)

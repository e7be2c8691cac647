"""The life of a progressive jackpot, from its opening to its retirement.

A jackpot has three pools: the **meter** that is shown and won, the **overflow** that took what a full meter
could not, and the **diversion** that pays for the next restart. What a round does to them is in the round's
own events; everything else is in the stream ``jackpot-<id>``.

Exact amounts are decimal strings of minor units with at most four decimals; shares are decimal strings.
Parameters are numbered from 1 (`parameters_version`), those that were replaced before they came into force
included; `sha256` is the hash of their `domain.jackpots.parameters_document`.

What needs two people names them: who proposed it, who approved it, by which approval, and the salted hash of
the reason (GLI-19 2.9.5 asks for the user, the reason and the authoriser of an adjustment).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from domain.events.words import AccountClass

Pool = Literal["meter", "overflow", "diversion"]


@dataclass(frozen=True, slots=True)
class JackpotOpened:
    """A progressive jackpot starts at its reset amount, which the house pays in.

    `contribution` is the share of each side bet that goes to the meter, `diversion` the share that goes to
    the diversion pool (absent: none). A meter grows up to `ceiling`, in minor units (absent: without end).
    """

    jackpot_id: str
    currency: str
    account_class: AccountClass
    contribution: str
    reset: int
    parameters_version: int
    sha256: str
    ceiling: int | None = None
    diversion: str | None = None


@dataclass(frozen=True, slots=True)
class JackpotRef:
    """Which jackpot parameters: what `domain.jackpots.parameters_document` hashes, and its hash."""

    id: str
    version: int
    sha256: str
    contribution: str
    reset: int
    ceiling: int | None = None
    diversion: str | None = None


@dataclass(frozen=True, slots=True)
class JackpotParametersScheduled:
    """New parameters wait until the meter is won (GLI-19 2.4.2). They replace those that waited before."""

    jackpot_id: str
    parameters_version: int
    sha256: str
    contribution: str
    reset: int
    proposed_by: str
    approved_by: str
    approval_id: str
    ceiling: int | None = None
    diversion: str | None = None
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class JackpotParametersActivated:
    """The meter was won, right before this, and the waiting parameters are in force.

    Where the new reset is higher than the one the meter restarted at, the house puts in the difference
    (`top_up`); a lower one takes nothing out of the meter. Rounds that opened before keep their own (G7).
    """

    jackpot_id: str
    parameters_version: int
    sha256: str
    meter_before: str
    meter_after: str
    top_up: str | None = None


@dataclass(frozen=True, slots=True)
class JackpotDisabled:
    """No side bet is taken and nothing grows; what is already staked is still played out (A.5.1)."""

    jackpot_id: str
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class JackpotEnabled:
    """Side bets are taken again; the jackpot goes on as it was (GLI-19 4.15.2)."""

    jackpot_id: str
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class JackpotTransferred:
    """All that a jackpot held went to another one: its meter (`amount`), its overflow, its diversion.

    Each pool goes to the same pool there, but for `above_ceiling`: that part of `amount` the other meter
    could not take, and it is in the other's overflow. `to_meter_after` = `to_meter_before` + `amount` -
    `above_ceiling`.
    """

    jackpot_id: str
    to: str
    amount: str
    overflow: str
    diversion: str
    to_meter_before: str
    to_meter_after: str
    proposed_by: str
    approved_by: str
    approval_id: str
    above_ceiling: str | None = None
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class JackpotRetired:
    """The jackpot is empty and takes no bet ever again."""

    jackpot_id: str


@dataclass(frozen=True, slots=True)
class JackpotAdjusted:
    """A pool was put right by hand, at the house's cost.

    `amount` is signed, `before` and `after` are what the pool held.
    """

    jackpot_id: str
    pool: Pool
    amount: str
    before: str
    after: str
    proposed_by: str
    approved_by: str
    approval_id: str
    note_sha256: str | None = None

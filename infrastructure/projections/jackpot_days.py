"""The roll-forward of jackpots: what went into and out of each pool, by UTC date.

The closing amount of a day is its opening amount and all that moved in it, and the opening of the next: the
amounts themselves follow from the rows, which hold movements only (ES asks for exactly this).
"""

from __future__ import annotations

from typing import Final

from infrastructure.projections.kinds import Column, Table

METER: Final = (
    "seeds",
    "restarts",
    "restarts_from_diversion",
    "top_ups",
    "contributions",
    "reversed",
    "awards",
    "from_overflow",
    "transferred_in",
    "transferred_out",
    "adjusted",
)
OVERFLOW: Final = (
    "overflow_contributions",
    "overflow_reversed",
    "overflow_released",
    "overflow_transferred_in",
    "overflow_transferred_out",
    "overflow_adjusted",
)
DIVERSION: Final = (
    "diversion_contributions",
    "diversion_reversed",
    "diversion_restarts",
    "diversion_transferred_in",
    "diversion_transferred_out",
    "diversion_adjusted",
)
OUTGOING: Final = frozenset(
    "reversed awards transferred_out overflow_reversed overflow_released overflow_transferred_out"
    " diversion_reversed diversion_restarts diversion_transferred_out".split()
)
"""Figures that are taken out of their pool; the others are put in (`…adjusted` are signed)."""

JACKPOT_DAYS: Final = Table(
    "jackpot_days",
    (
        Column("jackpot_id", "text"),
        Column("day", "text"),
        Column("hits", "bigint"),
        Column("paid", "numeric(24,0)"),
        Column("paid_by_house", "numeric(24,0)"),
        *(Column(name, "numeric(24,0)") for name in (*METER, *OVERFLOW, *DIVERSION)),
        Column("meter_net", "numeric(24,0)"),
        Column("overflow_net", "numeric(24,0)"),
        Column("diversion_net", "numeric(24,0)"),
    ),
    key=("jackpot_id", "day"),
    mode="add",
)
"""All amounts in 1/10000 minor units, positive but for the adjustments and the nets. Meter: `seeds` (the
opening reset), `restarts` (after the meter was won; `restarts_from_diversion` is the part of them that the
diversion pool paid, the house the rest), `top_ups` (a new reset above the old one), `contributions` less
`reversed` ones, `awards` (what hits took from it), `from_overflow`, transfers. `paid` is what winners got,
`paid_by_house` the part of it that no meter held. `…_net` are the sums of the legs on the three accounts."""

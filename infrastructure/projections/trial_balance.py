"""The trial balance: what every account of `domain.accounts` holds, now and at every 1 024th position.

The sum over all accounts of a currency is zero at every position (G1). A snapshot holds only the accounts
that changed since the one before: the balance of an account as of a snapshot is its latest row up to it.
"""

from __future__ import annotations

from typing import Final

from infrastructure.projections.kinds import Column, Table

SNAPSHOT_POSITIONS: Final = 1_024
"""How many positions are between two snapshots."""

NOW: Final = Table(
    "trial_balance_now",
    (
        Column("account", "text"),
        Column("currency", "text"),
        Column("balance", "numeric(24,0)"),
        Column("position", "bigint"),
    ),
    key=("account", "currency"),
    mode="replace",
)
"""`balance` in 1/10000 minor units, as of the projection's checkpoint; `position` is of the latest event that
changed it."""

BALANCES: Final = Table(
    "trial_balances",
    (
        Column("account", "text"),
        Column("currency", "text"),
        Column("position", "bigint"),
        Column("balance", "numeric(24,0)"),
    ),
    key=("account", "currency", "position"),
    mode="insert",
)
SNAPSHOTS: Final = Table(
    "snapshots",
    (Column("position", "bigint"), Column("at_us", "bigint")),
    key=("position",),
    mode="insert",
    indexes=(("at_us",),),
)
"""The positions of the snapshots and when the events there were recorded."""

PLAYERS: Final = Table(
    "players",
    (
        Column("player", "text"),
        Column("currency", "text"),
        Column("account_class", "text"),
        Column("position", "bigint"),
        Column("at_us", "bigint"),
    ),
    key=("player",),
    mode="insert",
)
"""Every wallet that was opened, and when."""

"""Significant events (GLI-19 2.9; NJ 13:69O-1.9): what an operator or a regulator wants to be told of."""

from __future__ import annotations

from typing import Final

from infrastructure.projections.kinds import Column, Table

SIGNIFICANT_EVENTS: Final = Table(
    "significant_events",
    (
        Column("position", "bigint"),
        Column("at_us", "bigint"),
        Column("kind", "text"),
        Column("subject", "text"),
        Column("actor", "text"),
        Column("detail", "jsonb"),
    ),
    key=("position", "kind"),
    mode="insert",
    indexes=(("at_us",),),
)
"""`subject` names what it is about: a round, a table, a jackpot, a rule set, a person, an approval."""

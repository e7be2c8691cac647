"""How games do: by gaming day, hour, table, rule-set version and jackpot parameters.

A round belongs to the cell of its opening, whenever its events come, so that one over the cut-off counts
once. A change of the rules or of a jackpot's parameters is another game (A.6.1). Stakes count as wagered when
they are settled, what came back from void rounds is refunded, and what is neither yet is unfinished (2.9.2).
"""

from __future__ import annotations

from typing import Final

from infrastructure.projections.kinds import Column, Table

FIGURES: Final = (
    "rounds_opened",
    "rounds_finished",
    "rounds_voided",
    "rounds_expired",
    "hands",
    "hands_refunded",
    "antes",
    "raises",
    "side_bets",
    "fees",
    "returned",
    "game_wins",
    "jackpot_wins",
    "refunded",
    "unfinished",
)

PERFORMANCE: Final = Table(
    "performance",
    (
        Column("gaming_day", "text"),
        Column("hour_us", "bigint"),
        Column("table_id", "text"),
        Column("ruleset_id", "text"),
        Column("ruleset_version", "integer"),
        Column("jackpot_id", "text"),
        Column("jackpot_version", "integer"),
        Column("currency", "text"),
        Column("account_class", "text"),
        *(Column(name, "bigint") for name in FIGURES),
        Column("contributions", "numeric(24,0)"),
        Column("diversions", "numeric(24,0)"),
    ),
    key=(
        "gaming_day",
        "hour_us",
        "table_id",
        "ruleset_id",
        "ruleset_version",
        "jackpot_id",
        "jackpot_version",
        "currency",
        "account_class",
    ),
    mode="add",
)
"""`hands` and the stakes (`antes`, `raises`, `side_bets`, `fees`: together the handle) are those settled, in
minor units; `jackpot_wins` are apart from `game_wins`. `unfinished` is what is staked in rounds of the cell
that have not ended. `contributions` and `diversions`, in 1/10000 minor units, are what side bets put into the
jackpot's meter or overflow, and into its diversion, less what was reversed. Rounds that nobody staked on are
`rounds_expired`."""

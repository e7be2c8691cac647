"""The record of every hand (GLI-19 2.8.2, 4.3.3): one row for each seat of a round, written when it ends."""

from __future__ import annotations

from typing import Final

from infrastructure.projections.kinds import Column, Table

ROUND_RECORDS: Final = Table(
    "round_records",
    (
        Column("opened_position", "bigint"),
        Column("ended_position", "bigint"),
        Column("opened_us", "bigint"),
        Column("ended_us", "bigint"),
        Column("hour_us", "bigint"),
        Column("placed_us", "bigint"),
        Column("betting_closed_us", "bigint"),
        Column("exchanged_us", "bigint"),
        Column("decided_us", "bigint"),
        Column("revealed_us", "bigint"),
        Column("settled_us", "bigint"),
        Column("balance_before", "bigint"),
        Column("balance_after", "bigint"),
        Column("ante", "bigint"),
        Column("raise", "bigint"),
        Column("fee", "bigint"),
        Column("side_bets", "bigint"),
        Column("wagered", "bigint"),
        Column("returned", "bigint"),
        Column("game_win", "bigint"),
        Column("jackpot_win", "bigint"),
        Column("ruleset_version", "integer"),
        Column("jackpot_version", "integer"),
        Column("seat", "smallint"),
        Column("qualified", "boolean"),
        Column("shown", "boolean"),
        Column("round_id", "text"),
        Column("player", "text"),
        Column("table_id", "text"),
        Column("ruleset_id", "text"),
        Column("ruleset_sha256", "text"),
        Column("jackpot_id", "text"),
        Column("account_class", "text"),
        Column("currency", "text"),
        Column("gaming_day", "text"),
        Column("deal_source", "text"),
        Column("rng", "text"),
        Column("build", "text"),
        Column("session_id", "text"),
        Column("channel", "text"),
        Column("status", "text"),
        Column("void_cause", "text"),
        Column("decision", "text"),
        Column("decided_by", "text"),
        Column("discard", "text"),
        Column("drawn", "text"),
        Column("exchanged_by", "text"),
        Column("cards", "text"),
        Column("category", "text"),
        Column("result", "text"),
        Column("dealer_up_cards", "text"),
        Column("dealer_cards", "text"),
        Column("dealer_category", "text"),
        Column("jackpot_category", "text"),
        Column("bets", "text"),
        Column("contribution", "numeric(24,0)"),
        Column("diversion", "numeric(24,0)"),
        Column("reversed", "numeric(24,0)"),
    ),
    key=("round_id", "seat"),
    mode="insert",
)
"""Times in microseconds since the epoch, null where the phase was not reached; amounts in minor units, but
`contribution` (to the jackpot's meter or overflow), `diversion` and `reversed` in 1/10000 of them. The five
components stay apart: `wagered` (ante, raise, fee and side bets), `contribution`, `returned` (stakes given
back, refunds included), `game_win`, `jackpot_win`. `balance_…` is the player's wallet before the ante and
after the hand's end. Cards are ten characters, or null. `bets` is a JSON list of [bet, stake, returned, won]
or [bet, stake, returned, won, odds]. `rng` and `build` name the software where it dealt; where a physical
table did (`deal_source` ``table``) `rng` is null and the table's id stands for its equipment. `status` is
``complete`` or ``cancelled``; a round that has not ended has no row."""

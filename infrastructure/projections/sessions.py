"""Players' sessions at tables: from sitting down, or a first ante, to leaving or half an hour of nothing.

Rounds, stakes and wins count when the hand is settled; a void hand counts as void. A session with a hand
under way does not time out. That a session timed out follows from the events only when the player comes
back, and is written then; until then a reader takes it from `last_us` (`ended`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from infrastructure.projections.kinds import Column, Happened, Out, Shelf, Table
from infrastructure.projections.round_facts import RoundFacts

IDLE_US_MAX: Final = 30 * 60 * 1_000_000
"""A session without an event for as long as this has ended."""

SESSIONS: Final = Table(
    "sessions",
    (
        Column("began_position", "bigint"),
        Column("began_us", "bigint"),
        Column("last_us", "bigint"),
        Column("ended_us", "bigint"),
        Column("rounds", "bigint"),
        Column("rounds_won", "bigint"),
        Column("rounds_void", "bigint"),
        Column("stakes", "bigint"),
        Column("returned", "bigint"),
        Column("game_wins", "bigint"),
        Column("jackpot_wins", "bigint"),
        Column("hands_open", "integer"),
        Column("player", "text"),
        Column("table_id", "text"),
        Column("ended", "text"),
        Column("session_id", "text"),
    ),
    key=("player", "table_id", "began_position"),
    mode="replace",
)
"""`ended` is ``left``, ``timeout`` or null, with `ended_us`; `last_us` is the latest event of the session. A
round is won where all the player's hands in it together brought more than they cost. `session_id` is the game
server's, the first it named. Amounts in minor units."""

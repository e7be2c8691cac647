"""Which rounds a player has staked on: one row for a player and a round, open rounds included.

A row says what a list of rounds shows: a page of it is one range of an index, however large the ledger is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from infrastructure.projections.kinds import Column, Happened, Out, Shelf, Table
from infrastructure.projections.round_facts import RoundFacts

PLAYER_ROUNDS: Final = Table(
    "player_rounds",
    (
        Column("opened_us", "bigint"),
        Column("player", "text"),
        Column("round_id", "text"),
        Column("table_id", "text"),
        Column("ruleset_id", "text"),
        Column("gaming_day", "text"),
    ),
    key=("player", "round_id"),
    mode="insert",
)


class PlayerRounds:
    """The projection."""

    name = "player_rounds"
    version = 1
    tables = (PLAYER_ROUNDS,)
    types: frozenset[str] | None = frozenset(("AntePlaced",))
    rounds = True

    def restore(self, shelf: Shelf, position: int) -> None:
        """Nothing is remembered."""

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:
        """Nothing is to be read."""

    def event(self, happened: Happened, facts: RoundFacts, out: Out) -> None:
        """Put the round at the first of the player's antes in it."""
        player = happened.data["player"]
        if len(facts.seats_of[player]) == 1:
            day, _, table_id, ruleset_id = facts.cell[:4]
            out.put("player_rounds", (facts.opened_us, player, facts.round_id, table_id, ruleset_id, day))

    def finish(self, last: Happened, out: Out) -> None:
        """Nothing is left over."""

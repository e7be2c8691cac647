"""Which rounds a player has staked on: one row for a player and a round, from the events `AntePlaced`.

One statement projects a batch inside the database: nothing but a count crosses the connection. The checkpoint
row is locked first, so that two processes that project at once take turns and neither goes over the other's
events again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import psycopg
from psycopg import sql

from infrastructure.projections.kinds import Column, Happened, Out, Shelf, Table
from infrastructure.projections.round_facts import RoundFacts

BATCH_POSITIONS: Final = 5_000
"""How many positions one transaction goes over."""

_CHECKPOINT: Final = "SELECT position FROM {}.projections WHERE name = 'player_rounds' FOR UPDATE"
# The name of the type, as it stands in an event's bytes, cannot stand inside one of its texts: a quotation
# mark there is escaped. A document inside an event could have such a member, so what is found is looked at
# again as JSON.
_PROJECT: Final = """
    INSERT INTO {0}.player_rounds (player, round_id)
    SELECT DISTINCT event -> 'data' ->> 'player', substr(stream, 7)
    FROM (
        SELECT stream, convert_from(data, 'UTF8')::json AS event FROM {0}.events
        WHERE position > %s AND position <= %s AND position('"type":"AntePlaced"'::bytea IN data) > 0
    ) AS antes
    WHERE event ->> 'type' = 'AntePlaced'
    ON CONFLICT DO NOTHING
"""
_ADVANCE: Final = "UPDATE {}.projections SET position = %s WHERE name = 'player_rounds'"
_HEAD: Final = "SELECT position FROM {}.head"


def project(connection: psycopg.Connection, schema: str, positions_max: int = BATCH_POSITIONS) -> bool:
    """Go over the next events in a transaction of its own. Returns whether there may be more.

    The connection is in autocommit mode. Raises psycopg.Error.
    """
    name = sql.Identifier(schema)
    with connection.transaction():
        (done,) = connection.execute(sql.SQL(_CHECKPOINT).format(name)).fetchone() or (0,)
        (head,) = connection.execute(sql.SQL(_HEAD).format(name)).fetchone() or (0,)
        until = min(head, done + positions_max)
        if until > done:
            connection.execute(sql.SQL(_PROJECT).format(name), [done, until])
            connection.execute(sql.SQL(_ADVANCE).format(name), [until])
    return bool(until < head)


PLAYER_ROUNDS: Final = Table(
    "player_rounds", (Column("player", "text"), Column("round_id", "text")), ("player", "round_id"), "insert"
)


class PlayerRounds:
    """The projection: which rounds a player has staked on, open ones included."""

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
            out.put("player_rounds", (player, facts.round_id))

    def finish(self, last: Happened, out: Out) -> None:
        """Nothing is left over."""

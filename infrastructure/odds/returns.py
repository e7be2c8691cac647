"""Alarms where a version of a rule set does not return what it should, as far as chance can be told apart.

They say nothing of the books, which may be right to the cent: they are about cards, pay tables and figures.
So they stand beside the ledger's own alarms under names of their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import orjson
import psycopg
import structlog
from psycopg import sql

from domain.odds.monitoring import Sums, alarm
from infrastructure.odds.theory import Expected, expected
from infrastructure.projections.tables import read_schema

PREFIX: Final = "return_"
"""What the names of these alarms begin with: the service is ready all the same."""
LOOK_SECONDS: Final = 60.0

_QUERIES: Final = {
    "returns": """SELECT ruleset_id, ruleset_version, series, rounds, results, squares,
        (SELECT position FROM {read}.projections WHERE name = 'decisions' AND live)
        FROM {read}.returns WHERE account_class = 'real' ORDER BY ruleset_id, ruleset_version, series""",
    "figures": "SELECT figures FROM {schema}.odds_figures WHERE ruleset_id = %s AND version = %s",
    "raise": """INSERT INTO {read}.alarms AS a (name, position, detail, since_us) VALUES (%s, %s, %s, %s)
        ON CONFLICT (name) DO UPDATE SET detail = excluded.detail""",
    "end": "DELETE FROM {read}.alarms WHERE starts_with(name, %s) AND name <> ALL (%s)",
}

log = structlog.get_logger(__name__)


class Alarm(NamedTuple):
    """A series that is beyond what chance explains, as of a position."""

    name: str
    position: int
    detail: str


class ReturnsWatch:
    """Looks now and then at what all versions have returned. Not thread safe."""

    def __init__(self, schema: str, *, look_seconds: float = LOOK_SECONDS) -> None:
        names = {"schema": sql.Identifier(schema), "read": sql.Identifier(read_schema(schema))}
        self._queries = {name: sql.SQL(text).format(**names) for name, text in _QUERIES.items()}
        self._look_seconds = look_seconds
        self._next_look = 0.0
        self._theory: dict[tuple[str, int], Expected] = {}
        self._known: set[str] = set()

    def turn(self, connection: psycopg.Connection) -> None:
        """Look if it is time, and let the alarms be what was found. Raises psycopg.Error.

        The connection is in autocommit mode.
        """
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + self._look_seconds
        found = list(self._found(connection))
        with connection.transaction():
            for name, position, detail in found:
                values = [name, position, detail, time.time_ns() // 1_000]
                connection.execute(self._queries["raise"], values)
            connection.execute(self._queries["end"], [PREFIX, [each.name for each in found]])
        for each in found:
            if each.name not in self._known:
                log.error("return_alarm", name=each.name, position=each.position)
        self._known = {each.name for each in found}

    def _found(self, connection: psycopg.Connection) -> Iterable[Alarm]:
        for ruleset_id, version, series, rounds, *sums, position in self._rows(connection, "returns"):
            theory = self._of(connection, ruleset_id, version)
            if theory is None or series not in theory.series:
                continue
            side = alarm(Sums(rounds, *map(int, sums)), theory.series[series])
            if side is not None:
                detail = f"{series}: {rounds} rounds return {'more' if side == 'above' else 'less'} than"
                yield Alarm(
                    f"{PREFIX}{ruleset_id}_{version}_{series}",
                    position or 0,
                    f"{detail} version {version} of {ruleset_id} should: see the report of variance",
                )

    def _of(self, connection: psycopg.Connection, ruleset_id: str, version: int) -> Expected | None:
        """A version's theory, which never changes once it is there."""
        known = self._theory.get((ruleset_id, version))
        if known is None:
            rows = self._rows(connection, "figures", ruleset_id, version)
            known = expected(orjson.loads(figures) for (figures,) in rows)
            if known is not None:
                self._theory[ruleset_id, version] = known
        return known

    def _rows(self, connection: psycopg.Connection, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return connection.execute(self._queries[query], parameters).fetchall()

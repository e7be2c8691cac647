"""The odds of published rule sets as they are kept in the ledger's database, and read from there.

They are derived: what counts is the rule set, from which anybody computes them again (`scripts/odds`).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import orjson
import psycopg
from psycopg import sql

from domain.odds.house import TableSettings
from infrastructure.read_models import Ask

METHOD: Final = 2
"""Counted up when figures or charts are computed in another way or form: older ones are computed again."""

_KEY: Final = "ruleset_id, version, currency, ante, raise_win_cap, bonus_stake"
_QUERIES: Final = {
    "put": """INSERT INTO {schema}.odds_figures AS kept ({key}, method, favours_player, figures, chart)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
        ON CONFLICT ({key}) DO UPDATE
        SET method = excluded.method, favours_player = excluded.favours_player,
            figures = excluded.figures, chart = excluded.chart
        WHERE kept.method <= excluded.method""",
    "known": "SELECT {key} FROM {schema}.odds_figures WHERE method >= %s",
    "of_version": """SELECT {key}, figures FROM {schema}.odds_figures
        WHERE ruleset_id = %s AND version = %s ORDER BY {key}""",
    "of_all": "SELECT {key}, figures FROM {schema}.odds_figures ORDER BY {key}",
    "favouring": "SELECT {key}, figures FROM {schema}.odds_figures WHERE favours_player ORDER BY {key}",
    "chart": "SELECT chart FROM {schema}.odds_figures WHERE ({key}) = (%s, %s, %s, %s, %s, %s)",
}


class Terms(NamedTuple):
    """What figures are of: a version of a rule set in a currency, at an ante in its minor units.

    `raise_win_cap` and `bonus_stake` are a table's own, in minor units; 0 where the house does not leave them
    to its tables, or no table has set them.
    """

    ruleset_id: str
    version: int
    currency: str
    ante: int
    raise_win_cap: int = 0
    bonus_stake: int = 0

    @property
    def settings(self) -> TableSettings:
        """What the table sets, as the odds take it."""
        return TableSettings(self.raise_win_cap or None, self.bonus_stake or None)


class Odds(NamedTuple):
    """Figures, and what they are of. `figures` is the JSON document of the command and of the service."""

    terms: Terms
    figures: dict[str, Any]


class OddsStore:
    """Keeps odds, over a connection in autocommit mode. Raises psycopg.Error."""

    def __init__(self, connection: psycopg.Connection, schema: str) -> None:
        self._connection = connection
        self._queries = _composed(schema)

    def put(self, terms: Terms, figures: dict[str, Any], chart: dict[str, Any]) -> None:
        """Keep figures and chart in place of those that are there, unless a newer method made these.

        Of a game that cannot be computed `figures` say why, under ``unsupported``, and the chart is empty.
        """
        documents = [orjson.dumps(each, option=orjson.OPT_SORT_KEYS) for each in (figures, chart)]
        favours = bool(figures.get("favours_player"))
        self._connection.execute(self._queries["put"], [*terms, METHOD, favours, *documents])

    def known(self) -> set[Terms]:
        """What of there are odds that need not be computed again."""
        return {Terms(*row) for row in self._connection.execute(self._queries["known"], [METHOD])}


class OddsReading:
    """Reads odds; each method raises ReadingUnavailable."""

    def __init__(self, ask: Ask, schema: str) -> None:
        self._ask = ask
        self._queries = _composed(schema)

    async def of_version(self, ruleset_id: str, version: int) -> list[Odds]:
        """All figures of a version, by currency and ante; empty where none are computed yet."""
        return [_odds(row) for row in await self._ask(self._queries["of_version"], (ruleset_id, version))]

    async def of_all(self) -> list[Odds]:
        """All figures that there are; a ledger has a few for each table."""
        return [_odds(row) for row in await self._ask(self._queries["of_all"], ())]

    async def favouring(self) -> list[Odds]:
        """The figures of those among all that favour the player at something."""
        return [_odds(row) for row in await self._ask(self._queries["favouring"], ())]

    async def chart(self, terms: Terms) -> dict[str, Any] | None:
        """The chart of the best decisions under exactly these terms, where it is computed."""
        rows = await self._ask(self._queries["chart"], terms)
        return dict(orjson.loads(rows[0]["chart"])) if rows else None


def _odds(row: dict[str, Any]) -> Odds:
    return Odds(Terms(*(row[name] for name in Terms._fields)), orjson.loads(row["figures"]))


def _composed(schema: str) -> dict[str, sql.Composed]:
    names = {"schema": sql.Identifier(schema), "key": sql.SQL(_KEY)}
    return {name: sql.SQL(text).format(**names) for name, text in _QUERIES.items()}

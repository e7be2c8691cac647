"""Reading what the projections have made of the events: statements, records, sessions, figures.

Every query goes by a key and has a bound. The rows are as of each projection's checkpoint, a moment behind
the ledger; who has just written waits with `infrastructure.reading.Reading.wait_for_projections`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Literal, NamedTuple

from psycopg import sql
from psycopg.rows import DictRow

from infrastructure.projections import decisions
from infrastructure.projections.jackpot_days import JACKPOT_DAYS
from infrastructure.projections.performance import EXACT_FIGURES, FIGURES
from infrastructure.projections.tables import read_schema

Ask = Callable[[sql.Composed, Sequence[Any]], Awaitable[list[DictRow]]]
"""Runs a query and gives its rows by column. Raises ReadingUnavailable."""

Breakdown = Literal["day", "hour", "table"]
"""What figures of games are broken down by, beside the game."""

GAME: Final = (
    "ruleset_id",
    "ruleset_version",
    "jackpot_id",
    "jackpot_version",
    "currency",
    "account_class",
)
"""What makes a game in every report (A.6.1): another version of the rules or the jackpot is another game."""
_BREAKDOWNS: Final[dict[Breakdown | None, tuple[str, ...]]] = {
    None: (),
    "day": ("gaming_day",),
    "hour": ("gaming_day", "hour_us"),
    "table": ("table_id",),
}
_QUERIES: Final = {
    "statement": """SELECT * FROM {read}.postings WHERE player = %s AND position > %s AND position <= %s
            AND at_us >= %s AND at_us < %s
        ORDER BY position LIMIT %s""",
    "player_rounds": """SELECT * FROM {read}.player_rounds WHERE player = %s AND round_id < %s
        ORDER BY round_id DESC LIMIT %s""",
    "sessions": """SELECT * FROM {read}.sessions WHERE player = %s AND began_position < %s
        ORDER BY began_position DESC LIMIT %s""",
    "records": """SELECT * FROM {read}.round_records WHERE round_id = %s AND seat > %s
        ORDER BY seat LIMIT %s""",
    "significant": """SELECT * FROM {read}.significant_events
        WHERE position > %s AND position <= %s AND at_us >= %s AND at_us < %s
        ORDER BY position, kind LIMIT %s""",
    "decisions": "SELECT * FROM {read}.decisions WHERE round_id = %s AND seat > %s ORDER BY seat LIMIT %s",
    "returns": """SELECT * FROM {read}.returns
        ORDER BY ruleset_id, ruleset_version, account_class, series LIMIT %s""",
}


class Period(NamedTuple):
    """What was recorded from `since_us` on and before `until_us`, microseconds since the epoch.

    All of it lies above the position `after`, up to `until`: the bounds that a query goes by, so that it need
    not look at everything. They may be wider.
    """

    after: int
    until: int
    since_us: int
    until_us: int


class ReadModels:
    """The projections' rows as dictionaries by column; each method raises ReadingUnavailable."""

    def __init__(self, ask: Ask, schema: str) -> None:
        read = sql.Identifier(read_schema(schema))
        self._ask = ask
        self._queries = {key: sql.SQL(text).format(read=read) for key, text in _QUERIES.items()}
        self._jackpot_days = _jackpot_days(read)
        self._performance = {
            by: _sums(read, "performance", columns, FIGURES, EXACT_FIGURES)
            for by, columns in _BREAKDOWNS.items()
        }
        self._decisions = {
            by: _sums(read, "decision_figures", columns, decisions.FIGURES, decisions.EXACT_FIGURES)
            for by, columns in _BREAKDOWNS.items()
        }

    async def statement(self, player: str, period: Period, limit: int) -> list[DictRow]:
        """A player's postings in a period, the oldest first."""
        return await self._rows("statement", player, *period, limit)

    async def player_rounds(self, player: str, before: str, limit: int) -> list[DictRow]:
        """The rounds a player staked on, the newest first, those before `before` (a round's id)."""
        return await self._rows("player_rounds", player, before, limit)

    async def sessions(self, player: str, before: int, limit: int) -> list[DictRow]:
        """A player's sessions that began before a position, the newest first."""
        return await self._rows("sessions", player, before, limit)

    async def records(self, round_id: str, after_seat: int, limit: int) -> list[DictRow]:
        """The records of a finished round's seats, those above a seat; empty where it has not ended."""
        return await self._rows("records", round_id, after_seat, limit)

    async def performance(
        self, first_day: str, last_day: str, by: Breakdown | None, limit: int
    ) -> list[DictRow]:
        """The figures of the games over gaming days (ISO dates, both included)."""
        return await self._ask(self._performance[by], (first_day, last_day, limit))

    async def decision_figures(
        self, first_day: str, last_day: str, by: Breakdown | None, limit: int
    ) -> list[DictRow]:
        """What decisions were worth over the same, for the same games."""
        return await self._ask(self._decisions[by], (first_day, last_day, limit))

    async def decisions(self, round_id: str, after_seat: int, limit: int) -> list[DictRow]:
        """The decisions of a round that has closed, of the seats above one; empty where it has not."""
        return await self._rows("decisions", round_id, after_seat, limit)

    async def returns(self, limit: int) -> list[DictRow]:
        """What every version has returned in all its life, by class of account and series."""
        return await self._rows("returns", limit)

    async def jackpot_days(
        self, jackpot_id: str, first_day: str, last_day: str, characters: int
    ) -> list[DictRow]:
        """The sums of a jackpot's movements over UTC dates, both included, by their first characters: `part`.

        All that moved before the first day is the part that is empty, and comes first.
        """
        return await self._ask(self._jackpot_days, (first_day, characters, jackpot_id, last_day))

    async def significant_events(self, period: Period, limit: int) -> list[DictRow]:
        """Significant events in a period, the oldest first."""
        return await self._rows("significant", *period, limit)

    async def _rows(self, query: str, *parameters: Any) -> list[DictRow]:
        return await self._ask(self._queries[query], parameters)


def _jackpot_days(read: sql.Identifier) -> sql.Composed:
    """The query that sums a jackpot's days, so that ten years of them need not be fetched for one."""
    sums = sql.SQL(", ").join(
        sql.SQL("sum({0}) AS {0}").format(sql.Identifier(column.name))
        for column in JACKPOT_DAYS.columns
        if column.name not in JACKPOT_DAYS.key
    )
    return sql.SQL(
        "SELECT CASE WHEN day < %s THEN '' ELSE left(day, %s) END AS part, {sums}"
        " FROM {read}.jackpot_days WHERE jackpot_id = %s AND day <= %s GROUP BY part ORDER BY part"
    ).format(sums=sums, read=read)


def _sums(
    read: sql.Identifier,
    table: str,
    breakdown: Sequence[str],
    figures: Sequence[str],
    exact_figures: Sequence[str],
) -> sql.Composed:
    """The query that sums the figures of cells, by game and what it is broken down by."""
    keys = sql.SQL(", ").join(map(sql.Identifier, (*breakdown, *GAME)))
    sums = sql.SQL(", ").join(
        sql.SQL("sum({0})::bigint AS {0}").format(sql.Identifier(name)) for name in figures
    )
    exact = sql.SQL(", ").join(
        sql.SQL("sum({0}) AS {0}").format(sql.Identifier(name)) for name in exact_figures
    )
    return sql.SQL(
        "SELECT {keys}, {sums}, {exact} FROM {read}.{table} WHERE gaming_day >= %s AND gaming_day <= %s"
        " GROUP BY {keys} ORDER BY {keys} LIMIT %s"
    ).format(keys=keys, sums=sums, exact=exact, read=read, table=sql.Identifier(table))

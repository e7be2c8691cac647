"""Reading the ledger for those who ask: what is the case now, and what happened.

Wallets, tables, jackpots and rule sets are read as the writer left them in its last transaction. A round is
folded from its events by the library's repository. Both go through bounded pools, each query by
a key.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

import orjson
import psycopg
from eventsourcing.application import AggregateNotFoundError
from psycopg import sql
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from domain.events import LedgerStarted
from domain.jackpots import Jackpot
from domain.registers import SoftwareState
from domain.round import Round, evolve
from domain.rules import Rules, compile_rules
from domain.rulesets.schema import RuleSet
from domain.work import PublishedRuleset, Table, Wallet
from infrastructure import standing
from infrastructure.audit.store import AuditReading
from infrastructure.ledger import bookkeeping, horizon
from infrastructure.ledger.horizon import Horizon
from infrastructure.ledger.reading import PostgresReader
from infrastructure.ledger.recorder import LedgerApplication
from infrastructure.ledger.store import JackpotRow, RulesetRow, TableRow, WalletRow
from infrastructure.ledger.stored_form import decode
from infrastructure.odds.store import OddsReading
from infrastructure.point_in_time import PointInTime
from infrastructure.projections.tables import read_schema
from infrastructure.read_models import ReadModels
from infrastructure.register_reading import RegisterReading
from infrastructure.standing import Standing

CONNECTIONS_MAX: Final = 8
POOL_WAIT_SECONDS_MAX: Final = 2.0
QUERY_SECONDS_MAX: Final = 20.0
"""However much a report adds up: the connections are few, and others wait for them."""
POSITION_WAIT_SECONDS_MAX: Final = 2.0
POSITION_POLL_SECONDS: Final = 0.02
COMPILED_MAX: Final = 500
FOLDING_CONNECTIONS_MAX: Final = 4

_QUERIES: Final = {
    "position": "SELECT position FROM {schema}.head",
    "first": """SELECT data FROM {schema}.events WHERE stream = 'ledger-0' AND version = 1
        UNION ALL SELECT first_event FROM {schema}.horizon WHERE first_position = 1""",
    "horizon": horizon.QUERY,
    "alarms": "SELECT name, position, detail FROM {read}.alarms ORDER BY position, name",
    # How far behind, and the first event that is not projected.
    "lags": """SELECT p.name, h.position - p.position, e.data
        FROM {schema}.head AS h CROSS JOIN {read}.projections AS p
        LEFT JOIN {schema}.events AS e ON e.position = p.position + 1
        WHERE p.live ORDER BY p.name""",
    "wallet": """SELECT player, player_id, currency, account_class, version, balance, on_game, unfinished
        FROM {schema}.wallets WHERE player_id = %s""",
    "names": "SELECT player, player_id FROM {schema}.wallets WHERE player = ANY(%s)",
    "table": "SELECT table_id, position, state FROM {schema}.tables WHERE table_id = %s",
    "tables": """SELECT table_id, position, state
        FROM {schema}.tables WHERE table_id > %s ORDER BY table_id LIMIT %s""",
    "jackpot": """SELECT jackpot_id, position, meter, enabled, state
        FROM {schema}.jackpots WHERE jackpot_id = %s""",
    "jackpots": """SELECT jackpot_id, position, meter, enabled, state
        FROM {schema}.jackpots WHERE jackpot_id > %s ORDER BY jackpot_id LIMIT %s""",
    "rulesets": """SELECT DISTINCT ON (ruleset_id) ruleset_id, version, position, sha256, content
        FROM {schema}.rulesets ORDER BY ruleset_id, version DESC""",
    "versions": """SELECT ruleset_id, version, position, sha256, content
        FROM {schema}.rulesets WHERE ruleset_id = %s ORDER BY version""",
    "ruleset": """SELECT ruleset_id, version, position, sha256, content
        FROM {schema}.rulesets WHERE ruleset_id = %s AND version = %s""",
    "events": "SELECT data FROM {schema}.events WHERE stream = %s AND version > %s ORDER BY version LIMIT %s",
    # Looked up for each event by the key: however many rounds are open, it is a few hundred look-ups.
    "disclosed": """SELECT data, left(stream, 6) = 'round-' AND EXISTS (
            SELECT FROM {schema}.open_rounds WHERE round_id = substr(stream, 7)
        ) FROM {schema}.events WHERE position BETWEEN %s AND %s ORDER BY position""",
    "at": "SELECT data FROM {schema}.events WHERE position = %s",
    "projected": "SELECT name, position FROM {read}.projections WHERE live",
    "software": "SELECT state FROM {schema}.registers WHERE name = 'software'",
    "note": "SELECT note FROM {schema}.notes WHERE sha256 = %s",
    **standing.QUERIES,
    "keep_note": "INSERT INTO {schema}.notes (sha256, salt, note) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
}
_EVENTS_MAX: Final = 1_000_000
AFTER_ALL_ROUNDS: Final = "~"
"""Sorts after every round id."""


class ReadingUnavailable(Exception):
    """The database cannot be asked now: try again later."""


class FoundRound(NamedTuple):
    """A round as its events tell it, and the rules it is played by (G7)."""

    round: Round
    rules: Rules
    ruleset: PublishedRuleset


class Alarm(NamedTuple):
    """A discrepancy: of which kind, at which position first, and one sentence."""

    name: str
    position: int
    detail: str


class Reading:
    """The read side of one process. `dsn` is the application role's, `schema` the ledger's.

    `models` reads what the projections made, `then` the books as they were, `registers` people, approvals
    and audits, `audits` how far these have come, `odds` what rule sets return.
    """

    def __init__(self, dsn: str, schema: str, *, connections_max: int = CONNECTIONS_MAX) -> None:
        names = {"schema": sql.Identifier(schema), "read": sql.Identifier(read_schema(schema))}
        self._queries = {key: sql.SQL(text).format(**names) for key, text in _QUERIES.items()}
        self._pool = AsyncConnectionPool(
            dsn,
            kwargs={
                "autocommit": True,
                "application_name": "stud-ledger reader",
                "options": f"-c statement_timeout={round(QUERY_SECONDS_MAX * 1_000)}",
            },
            min_size=1,
            max_size=connections_max,
            timeout=POOL_WAIT_SECONDS_MAX,
            max_waiting=1_000,
            check=AsyncConnectionPool.check_connection,
            open=False,
        )
        self._reader = PostgresReader(
            dsn, schema, connections_max=FOLDING_CONNECTIONS_MAX, wait_seconds_max=POOL_WAIT_SECONDS_MAX
        )
        self._application = LedgerApplication(self._reader)
        self.models = ReadModels(self._ask, schema)
        self.then = PointInTime(dsn, schema)
        self.registers = RegisterReading(self._ask, schema)
        self.audits = AuditReading(self._ask, schema)
        self.odds = OddsReading(self._ask, schema)
        self._rules: dict[tuple[Any, ...], tuple[Rules, PublishedRuleset]] = {}
        self._seen = 0
        self._asked: dict[str, asyncio.Task[list[tuple[Any, ...]]]] = {}

    async def open(self) -> None:
        """Connect."""
        await self._pool.open(wait=True)
        await asyncio.to_thread(self._reader.open)
        self.then.open()

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.close()
        await asyncio.to_thread(self._reader.close)
        await asyncio.to_thread(self.then.close)

    # ── Positions ───────────────────────────────────────────────────────────────────────────────────────────
    def saw(self, position: int) -> None:
        """Take note that the ledger has come as far as `position`."""
        self._seen = max(self._seen, position)

    async def position(self) -> int:
        """The ledger's last position; 0 in an empty one. Raises ReadingUnavailable."""
        ((position,),) = await self._together("position")
        self.saw(position)
        return int(position)

    async def wait_for(self, position: int) -> bool:
        """Wait, a bounded time, until the ledger has come to `position`; say whether it has."""
        return self._seen >= position or await self._wait(self.position, position)

    async def wait_for_projections(self, position: int, names: Collection[str]) -> bool:
        """The same for projections, which follow the ledger: whether all of them have come there."""

        async def least() -> int:
            projected: dict[str, int] = dict(await self._together("projected"))
            return min(projected.get(name, 0) for name in names)

        return await self._wait(least, position)

    async def alarms(self) -> list[Alarm]:
        """What is wrong with the ledger, or with what is derived from it, the first position first."""
        return [Alarm(*row) for row in await self._together("alarms")]

    async def lags(self) -> list[tuple[str, int, datetime | None]]:
        """Every projection with how many events it is behind, and when the first of these was recorded."""
        return [
            (name, max(behind, 0), None if data is None or behind <= 0 else decode(data).recorded_at)
            for name, behind, data in await self._together("lags")
        ]

    async def recorded_at(self, position: int) -> datetime | None:
        """When the event at a position was recorded; None where there is none."""
        rows = await self._rows("at", position)
        return decode(rows[0][0]).recorded_at if rows else None

    async def is_demo(self) -> bool:
        """Whether the ledger was marked as a demonstration when it began."""
        rows = await self._rows("first")
        if not rows:
            return False
        event = decode(rows[0][0]).event
        return isinstance(event, LedgerStarted) and event.demo

    async def _together(self, query: str) -> list[tuple[Any, ...]]:
        """What a query without parameters answers.

        Those who ask at once get one answer: however many wait for a position, the database is asked by one
        of them at a time.
        """
        asked = self._asked.get(query)
        if asked is None or asked.done():
            asked = self._asked[query] = asyncio.create_task(self._rows(query))
        return await asyncio.shield(asked)

    async def _wait(self, ask: Any, position: int) -> bool:
        end = time.monotonic() + POSITION_WAIT_SECONDS_MAX
        while await ask() < position:
            if time.monotonic() > end:
                return False
            await asyncio.sleep(POSITION_POLL_SECONDS)
        return True

    # ── What is the case ────────────────────────────────────────────────────────────────────────────────────
    async def wallet(self, player_id: str) -> Wallet | None:
        """A player's wallet by the operator's id."""
        rows = await self._rows("wallet", player_id)
        return bookkeeping.wallet_from(WalletRow(*rows[0])) if rows else None

    async def names(self, players: Sequence[str]) -> dict[str, str | None]:
        """The operator's ids of pseudonyms; None for one that was taken away."""
        return dict(await self._rows("names", list(players))) if players else {}

    async def table(self, table_id: str) -> Table | None:
        """A table."""
        rows = await self._rows("table", table_id)
        return _table(rows[0]) if rows else None

    async def tables(self, after: str, limit: int) -> list[Table]:
        """Tables in the order of their ids."""
        return [_table(row) for row in await self._rows("tables", after, limit)]

    async def jackpot(self, jackpot_id: str) -> Jackpot | None:
        """A jackpot with its meter."""
        rows = await self._rows("jackpot", jackpot_id)
        return _jackpot(rows[0]) if rows else None

    async def jackpots(self, after: str, limit: int) -> list[Jackpot]:
        """Jackpots in the order of their ids."""
        return [_jackpot(row) for row in await self._rows("jackpots", after, limit)]

    async def rulesets(self) -> list[PublishedRuleset]:
        """The newest version of every published rule set."""
        return [bookkeeping.ruleset_from(RulesetRow(*row)) for row in await self._rows("rulesets")]

    async def versions(self, ruleset_id: str) -> list[PublishedRuleset]:
        """All published versions of a rule set, the oldest first; empty where there is none."""
        return [
            bookkeeping.ruleset_from(RulesetRow(*row)) for row in await self._rows("versions", ruleset_id)
        ]

    # ── What happened ───────────────────────────────────────────────────────────────────────────────────────
    async def events(self, round_id: str, after: int = 0, limit: int = _EVENTS_MAX) -> list[bytes]:
        """A round's events as they are stored, in order, those after version `after`."""
        return [data for (data,) in await self._rows("events", f"round-{round_id}", after, limit)]

    async def disclosed(self, first: int, last: int) -> list[bytes] | None:
        """The events at these positions as they are stored; None where a round of theirs has not ended.

        None too where not all of them are there: those that are archived cannot be read.
        """
        rows = await self._rows("disclosed", first, last)
        if len(rows) != last - first + 1 or any(is_open for _, is_open in rows):
            return None
        return [data for data, _ in rows]

    async def round(self, round_id: str) -> FoundRound | None:
        """A round folded from its events, with its rules."""
        try:
            round_ = await asyncio.to_thread(self._fold, round_id)
        except AggregateNotFoundError:
            return None
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise ReadingUnavailable(type(error).__name__) from error
        rules, ruleset = await self._rules_of(round_)
        return FoundRound(round_, rules, ruleset)

    async def horizon(self) -> Horizon:
        """Up to where the events are archived. Raises ReadingUnavailable."""
        ((position, recorded_at_us),) = await self._rows("horizon")
        return Horizon(position, recorded_at_us)

    def _fold(self, round_id: str) -> Round:
        """Fold a round in the library's repository: in a thread, for it waits and computes."""
        found: Any = self._application.repository.get(f"round-{round_id}", projector_func=_folded)
        return cast("Round", found)

    async def _rules_of(self, round_: Round) -> tuple[Rules, PublishedRuleset]:
        opened = round_.opened
        has_jackpot = opened.jackpot is not None
        key = (opened.ruleset, opened.currency, opened.parameters, has_jackpot)
        found = self._rules.get(key)
        if found is None:
            (row,) = await self._rows("ruleset", opened.ruleset.id, opened.ruleset.version)
            published = bookkeeping.ruleset_from(RulesetRow(*row))
            ruleset: RuleSet = published.ruleset
            rules = compile_rules(
                ruleset, opened.ruleset, opened.currency, opened.parameters, has_jackpot=has_jackpot
            )
            if len(self._rules) >= COMPILED_MAX:
                self._rules.clear()
            found = self._rules[key] = rules, published
        return found

    # ── What the writer always has ──────────────────────────────────────────────────────────────────────────
    async def standing(self) -> Standing:
        """What a writer would begin with now, in one snapshot. Raises ReadingUnavailable."""
        try:
            async with self._pool.connection() as connection, connection.transaction():
                await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                cursors = [
                    await connection.execute(self._queries[query], binary=True) for query in standing.QUERIES
                ]
                return Standing(*[await cursor.fetchall() for cursor in cursors])
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise ReadingUnavailable(type(error).__name__) from error

    async def software(self) -> SoftwareState:
        """What is known of the software."""
        rows = await self._rows("software")
        return SoftwareState(**orjson.loads(rows[0][0])) if rows else SoftwareState()

    # ── Beside the ledger ───────────────────────────────────────────────────────────────────────────────────
    async def note(self, sha256: str) -> str | None:
        """The text of which the ledger holds the salted hash; None where it was erased."""
        rows = await self._rows("note", sha256)
        return str(rows[0][0]) if rows else None

    async def keep_note(self, sha256: str, salt: bytes, note: str) -> None:
        """Keep the text of which the ledger holds the salted hash; one that is kept already stays."""
        await self._execute("keep_note", (sha256, salt, note))

    async def _ask(self, query: sql.Composed, parameters: Sequence[Any]) -> list[DictRow]:
        """The rows of a query that is not one of ours, by column."""
        try:
            async with (
                self._pool.connection() as connection,
                connection.cursor(row_factory=dict_row, binary=True) as cursor,
            ):
                await cursor.execute(query, parameters)
                return await cursor.fetchall()
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise ReadingUnavailable(type(error).__name__) from error

    async def _rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return await self._execute(query, parameters)

    async def _execute(self, query: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            async with self._pool.connection() as connection:
                cursor = await connection.execute(self._queries[query], parameters, binary=True)
                return await cursor.fetchall() if cursor.description else []
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise ReadingUnavailable(type(error).__name__) from error


def _table(row: Sequence[Any]) -> Table:
    return bookkeeping.table_from(TableRow(*row))


def _jackpot(row: Sequence[Any]) -> Jackpot:
    id_, position, meter, enabled, state = row
    return bookkeeping.jackpot_from(JackpotRow(id_, position, int(meter), enabled, state))


def _folded(state: Round | None, events: Iterable[Any]) -> Round | None:
    """Fold a round's recorded events: the library's projector function."""
    for recorded in events:
        if state is None and recorded.version > 1:
            return None  # the round's beginning is archived
        state = evolve(state, recorded.stream, recorded.event, recorded.meta["command"])
    return state

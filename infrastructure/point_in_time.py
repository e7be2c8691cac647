"""The books as they were: balances, meters and the trial balance as of any position or instant.

A wallet is the player's last posting up to the position. The accounts are those of the last snapshot of the
trial balance up to it, carried on by folding the events between, through the projection's own code: at most
`FOLD_POSITIONS_MAX` of them, a snapshot's distance but where the projection is still behind.

Where events are archived, wallets stay known as of every position, and accounts as of every snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool

from infrastructure.ledger import horizon
from infrastructure.projections.happened import batch_from, happened
from infrastructure.projections.kinds import Happened, Key, Poison, Row
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.rounds import STREAM_OF_ROUND, Rounds
from infrastructure.projections.source import PostgresSource
from infrastructure.projections.tables import read_schema
from infrastructure.projections.trial_balance import NOW, PLAYERS, TrialBalance

FOLD_POSITIONS_MAX: Final = 10_240
CONNECTIONS_MAX: Final = 2
WAIT_SECONDS_MAX: Final = 2.0

_OPTIONS: Final = "-c statement_timeout=10000 -c default_transaction_read_only=on"
_QUERIES: Final = {
    "horizon": horizon.QUERY,
    "head": "SELECT position FROM {ledger}.head",
    "snapshot": "SELECT max(position) FROM {read}.snapshots WHERE position <= %s",
    "around": """SELECT (SELECT position FROM {read}.snapshots WHERE at_us <= %s ORDER BY at_us DESC LIMIT 1),
        (SELECT position FROM {read}.snapshots WHERE at_us > %s ORDER BY at_us LIMIT 1)""",
    "event": "SELECT data FROM {ledger}.events WHERE position = %s",
    # An index probe for each account, however many snapshots there are.
    "accounts": """SELECT known.account, known.currency, past.balance, past.position
        FROM {read}.trial_balance_now AS known
        CROSS JOIN LATERAL (
            SELECT one.balance, one.position FROM {read}.trial_balances AS one
            WHERE one.account = known.account AND one.currency = known.currency AND one.position <= %s
            ORDER BY one.position DESC LIMIT 1
        ) AS past""",
    "now": "SELECT account, currency, balance FROM {read}.trial_balance_now ORDER BY account, currency",
    "now_at": "SELECT position FROM {read}.projections WHERE name = 'trial_balance' AND live",
    "players": """SELECT player, currency, account_class, position, at_us
        FROM {read}.players WHERE player = ANY(%s)""",
    "postings_at": "SELECT position FROM {read}.projections WHERE name = 'postings' AND live",
    "wallet": """SELECT balance, on_game_after FROM {read}.postings
        WHERE player = %s AND position <= %s ORDER BY position DESC LIMIT 1""",
}


class NotThereYetError(Exception):
    """The read side has not come to the position asked for: ask again in a moment."""


class BeyondTheLedgerError(Exception):
    """The position asked for is beyond the ledger's last event."""


class ArchivedThenError(Exception):
    """What was asked for follows from events that are archived."""


class WalletThen(NamedTuple):
    """A wallet as of a position, minor units."""

    balance: int
    on_game: int


class AccountThen(NamedTuple):
    """An account of `domain.accounts` as of a position, in 1/10000 minor units."""

    account: str
    currency: str
    balance: int


class PointInTime:
    """Answers for any position or instant. Safe for several threads; open before use, close after.

    Raises psycopg's errors, and PoolTimeout where no connection comes free in time.
    """

    def __init__(self, dsn: str, schema: str) -> None:
        self._schema = schema
        ledger, read = sql.Identifier(schema), sql.Identifier(read_schema(schema))
        names = {"ledger": ledger, "schema": ledger, "read": read}
        self._queries = {key: sql.SQL(text).format(**names) for key, text in _QUERIES.items()}
        self._pool = ConnectionPool(
            dsn,
            min_size=0,
            max_size=CONNECTIONS_MAX,
            timeout=WAIT_SECONDS_MAX,
            max_waiting=100,
            check=ConnectionPool.check_connection,
            kwargs={"autocommit": True, "application_name": "stud-ledger reader", "options": _OPTIONS},
            open=False,
        )

    def open(self) -> None:
        """Connect when somebody asks."""
        self._pool.open()

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def position_at(self, at_us: int) -> int:
        """The last position recorded at `at_us` (microseconds since the epoch) or before; 0: none was.

        Raises ArchivedThenError.
        """
        with self._asking() as connection:
            low, high = self._around(connection, at_us)
            archived, archived_us = self._row(connection, "horizon")
            if archived and at_us >= archived_us:
                low = max(low, archived)
            elif archived and low < high:
                raise ArchivedThenError
            while low < high:
                middle = (low + high + 1) // 2
                (stored,) = self._row(connection, "event", middle)
                if happened(stored).at_us <= at_us:
                    low = middle
                else:
                    high = middle - 1
            return int(low)

    def around(self, at_us: int) -> tuple[int, int]:
        """Between which positions `position_at` lies, both included, at most a snapshot's distance apart.

        No event is read for it: it is known of archived ones, too.
        """
        with self._asking() as connection:
            return self._around(connection, at_us)

    def wallet(self, player: str, position: int) -> WalletThen | None:
        """A player's wallet as of a position; None where it was not open yet.

        Raises NotThereYetError, BeyondTheLedgerError.
        """
        with self._asking() as connection:
            self._require_position(connection, position)
            (projected,) = self._row(connection, "postings_at")
            if projected < position:
                raise NotThereYetError
            found = connection.execute(self._queries["wallet"], [player, position]).fetchone()
            if found is not None:
                return WalletThen(*found)
            opened = connection.execute(self._queries["players"], [[player]]).fetchone()
            return WalletThen(0, 0) if opened is not None and opened[3] <= position else None

    def trial_balance(self, position: int) -> list[AccountThen]:
        """Every account that had been used by then, in the order of their names.

        Raises NotThereYetError, BeyondTheLedgerError, ArchivedThenError.
        """
        with self._asking() as connection:
            self._require_position(connection, position)
            if self._row(connection, "now_at")[0] == position:
                rows = connection.execute(self._queries["now"]).fetchall()
                return [AccountThen(account, currency, int(balance)) for account, currency, balance in rows]
            (snapshot,) = self._row(connection, "snapshot", position)
            start = int(snapshot or 0)
            if position - start > FOLD_POSITIONS_MAX:
                raise NotThereYetError
            rows = connection.execute(self._queries["accounts"], [start]).fetchall()
            shelf = _ShelfThen(connection, self._queries["players"], [_whole(row) for row in rows])
            try:
                moved = self._carried_on(connection, shelf, start, position)
            except Poison:
                # One of the events between, or an earlier one of their rounds, may not be here.
                if self._row(connection, "horizon")[0]:
                    raise ArchivedThenError from None
                raise
        balances: dict[tuple[str, str], int] = {(row[0], row[1]): row[2] for row in shelf.accounts}
        balances.update(moved)
        return [
            AccountThen(account, currency, balance)
            for (account, currency), balance in sorted(balances.items())
        ]

    def _carried_on(
        self, connection: psycopg.Connection, shelf: _ShelfThen, start: int, position: int
    ) -> Mapping[tuple[str, str], int]:
        """The accounts that moved after the snapshot at `start`, as of `position`."""
        projection = TrialBalance()
        projection.restore(shelf, start)
        source = PostgresSource(connection, self._schema)
        rounds = Rounds(source, RoundFacts)
        out = _Moved()
        done = start
        while done < position:
            batch = batch_from(done, source.after(done, position - done)[0])
            if batch.poison is not None or not batch.events:
                raise batch.poison or Poison(done + 1, "the event is missing")
            rounds.prepare(batch.events)
            projection.begin(batch.events, shelf)
            for event in batch.events:
                _project(projection, rounds, event, out)
            projection.finish(batch.events[-1], out)
            done = batch.end
        return out.balances

    def _around(self, connection: psycopg.Connection, at_us: int) -> tuple[int, int]:
        (head,) = self._row(connection, "head")
        below, above = self._row(connection, "around", at_us, at_us)
        return below or 0, min((above or head + 1) - 1, head)

    def _require_position(self, connection: psycopg.Connection, position: int) -> None:
        (head,) = self._row(connection, "head")
        if position > head:
            raise BeyondTheLedgerError

    def _row(self, connection: psycopg.Connection, query: str, *parameters: Any) -> tuple[Any, ...]:
        found = connection.execute(self._queries[query], parameters).fetchone()
        if found is None:
            raise Poison(0, f"the database has no answer to {query}")
        return tuple(found)

    @contextmanager
    def _asking(self) -> Iterator[psycopg.Connection]:
        """A connection on which everything is read as of one moment."""
        with self._pool.connection() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield connection


class _ShelfThen:
    """The projection's own rows as of a snapshot."""

    def __init__(self, connection: psycopg.Connection, players: sql.Composed, accounts: list[Row]) -> None:
        self._connection = connection
        self._players = players
        self.accounts = accounts

    def rows(self, table: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        if table != PLAYERS.name:
            raise LookupError(table)
        found = self._connection.execute(self._players, [[player for (player,) in keys]]).fetchall()
        return {(row[0],): row for row in found}

    def latest(self, table: str, prefixes: Sequence[Key]) -> Mapping[Key, Row]:
        raise LookupError(table, prefixes)

    def whole(self, table: str) -> Sequence[Row]:
        if table != NOW.name:
            raise LookupError(table)
        return self.accounts


class _Moved:
    """Takes the rows of the accounts that moved."""

    def __init__(self) -> None:
        self.balances: dict[tuple[str, str], int] = {}

    def put(self, table: str, row: Row) -> None:
        if table == NOW.name:
            account, currency, balance, _ = row
            self.balances[account, currency] = balance


def _project(projection: TrialBalance, rounds: Rounds, event: Happened, out: _Moved) -> None:
    facts: Any = rounds.fold(event) if event.stream.startswith(STREAM_OF_ROUND) else None
    if projection.types is None or event.type in projection.types:
        projection.event(event, facts, out)


def _whole(row: Sequence[Any]) -> Row:
    """A row whose numbers are whole, as a projection has them."""
    account, currency, balance, position = row
    return account, currency, int(balance), int(position)

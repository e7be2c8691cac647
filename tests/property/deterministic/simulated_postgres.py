"""The simulated ledger in PostgreSQL: a database of its own, over connections that break anywhere."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import orjson
import psycopg
from psycopg import sql

from infrastructure.checking.full import check
from infrastructure.ledger.line import Call, Line, LineLostError, LineRefusedError
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.projections.catalogue import PROJECTIONS
from infrastructure.projections.kinds import Table
from infrastructure.projections.postgres import PostgresSink
from infrastructure.projections.source import PostgresSource
from tests.property.deterministic.naive_model import Model
from tests.property.deterministic.simulated_ledgers import Cut, SimulatedLedger
from tests.property.deterministic.simulated_oracle import require
from tests.property.deterministic.simulated_readers import Projecting, check_tables, rebuilt

if TYPE_CHECKING:
    from psycopg.pq.abc import PGresult

    from infrastructure.ledger.store import Store


class BreakingLine(Line):
    """A line to PostgreSQL that ends after any statement.

    `committed`: the last trip's commit still got through.
    """

    cut: ClassVar[Cut] = staticmethod(lambda _: None)
    committed: ClassVar[bool] = False
    left: int | None = None

    def send(self, calls: Sequence[Call]) -> None:
        """Send as many of the calls as still get through."""
        BreakingLine.committed = False
        self.left = BreakingLine.cut(len(calls))
        if self.left is None:
            super().send(calls)
        elif self.left:
            super().send(calls[: self.left])
            BreakingLine.committed = self.left == len(calls) and calls[-1][0] == "commit"

    def receive(self) -> list[PGresult]:
        """Receive; where the connection has ended, no answer comes, though the server was heard out."""
        if self.left is None:
            return super().receive()
        try:
            if self.left:
                super().receive()
        except LineRefusedError:
            BreakingLine.committed = False
        self.close()
        raise LineLostError("cut")


class BreakingStore(PostgresStore):
    """A store on such lines."""

    @property
    def committed(self) -> bool:
        """Whether the commit of a lost batch happened."""
        return BreakingLine.committed


class InPostgres(SimulatedLedger):
    """A ledger in a database of its own, copied from a furnished one. `admin` may look at everything."""

    def __init__(self, dsn: str, admin: psycopg.Connection) -> None:
        self._dsn, self._admin = dsn, admin
        self._open: list[psycopg.Connection] = []
        versions = dict(
            admin.execute("SELECT stream, max(version) FROM ledger.events GROUP BY stream").fetchall()
        )
        (position,) = admin.execute("SELECT position FROM ledger.head").fetchone() or (0,)
        super().__init__(position, "", versions)

    def new_store(self, cut: Cut) -> Store:
        """Return a store whose connections end where `cut` says so."""
        BreakingLine.cut = staticmethod(cut)
        return BreakingStore(self._dsn, "ledger", throwaway=True)

    def rows(self) -> tuple[dict[str, Any], dict[str, int], int]:
        """Ask for what is there."""
        ask = self._admin.execute
        wallets = ask("SELECT player_id, balance, on_game, unfinished FROM ledger.wallets").fetchall()
        exact = {
            f"meter:{name}": int(m)
            for name, m in ask("SELECT jackpot_id, meter FROM ledger.jackpots").fetchall()
        }
        accounts = "SELECT split_part(account, ':', 1), sum(balance) FROM ledger.accounts GROUP BY 1"
        exact |= {name: int(amount) for name, amount in ask(accounts).fetchall()}
        (position,) = ask("SELECT position FROM ledger.head").fetchone() or (0,)
        return {who: (b, g, _json(at)) for who, b, g, at in wallets}, exact, position

    def to_do(self, now_us: int) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """Ask as the jobs do."""
        due = self._admin.execute(
            "SELECT round_id, deadline_us FROM ledger.open_rounds WHERE deadline_us <= %s ORDER BY 1",
            [now_us],
        ).fetchall()
        unsettled = self._admin.execute(
            "SELECT round_id FROM ledger.open_rounds WHERE unsettled ORDER BY 1"
        ).fetchall()
        return due, [(round_id, self.versions[f"round-{round_id}"]) for (round_id,) in unsettled]

    def readers(self, fault: Callable[[str], str], chance: random.Random) -> list[Any]:
        """Return projections in the database; they read and write over a connection of their own."""
        self._open += (self._connect(), self._connect())
        reads, writes = self._open
        self.sink = PostgresSink(writes, "ledger", [make() for make in PROJECTIONS], self._connect)
        return [Projecting(PostgresSource(reads, "ledger"), self.sink, fault, chance)]

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self._dsn, autocommit=True)

    def close(self) -> None:
        """Give the readers' connections back."""
        while self._open:
            self._open.pop().close()

    def check_read_side(self, model: Model) -> None:
        """Compare the views with tables made anew in memory and with the model; check the whole ledger."""
        report = check(self._connect, "ledger", lambda *_: None)
        require(not report.findings, f"the check has found {report.findings}")
        alarms = self._admin.execute("SELECT * FROM ledger_read.alarms").fetchall()
        require(not alarms, f"alarms: {alarms}")
        tables = {
            table.name: [tuple(row) for row in self._admin.execute(_whole(table)).fetchall()]
            for make in PROJECTIONS
            for table in make().tables
        }
        with self._connect() as connection:
            anew = rebuilt(PostgresSource(connection, "ledger"))
        for name, rows in anew.items():
            require(tables[name] == rows, f"the live rows of {name} are not the rebuilt ones")
        check_tables(tables, model)


def _whole(table: Table) -> sql.Composed:
    """Return the query for all rows of a view in the order of their keys."""
    return sql.SQL("SELECT * FROM {} ORDER BY {}").format(
        sql.Identifier("ledger_read", table.name), sql.SQL(", ").join(map(sql.Identifier, table.key))
    )


def _json(value: Any) -> Any:
    return orjson.loads(value) if isinstance(value, str) else value

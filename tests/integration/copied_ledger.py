"""A ledger in PostgreSQL with the events of one in memory, for what reads events and writes none."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import psycopg

from infrastructure.bootstrap import AppDsn, prepare
from infrastructure.ledger.memory import MemoryLedger
from infrastructure.projections import tables
from infrastructure.projections.kinds import Projection

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}


@dataclass
class Copied:
    """The ledger `source` in a schema of PostgreSQL, up to where it was appended."""

    admin: str
    dsn: AppDsn
    source: MemoryLedger

    @property
    def read(self) -> str:
        """The read side's schema."""
        return f"{self.dsn.schema}_read"

    def append(self, until: int | None = None) -> None:
        """Go on up to a position, as a writer does: the events and the head in one transaction."""
        with psycopg.connect(self.admin, options=f"-c search_path={self.dsn.schema}") as connection:
            (head,) = connection.execute("SELECT position FROM head FOR UPDATE").fetchone() or (0,)
            end = self.source.position if until is None else min(until, self.source.position)
            with (
                connection.cursor() as cursor,
                cursor.copy("COPY events (position, stream, version, data) FROM STDIN") as copy,
            ):
                for row in self.source.events[head:end]:
                    copy.write_row((row.position, row.stream, row.version, row.data))
            connection.execute("UPDATE head SET position = greatest(position, %s)", [end])

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask, as a superuser who sees the read side's tables."""
        with psycopg.connect(self.admin, options=f"-c search_path={self.read}") as connection:
            return connection.execute(query).fetchall()

    def tables(self, projections: Sequence[Callable[[], Projection]]) -> dict[str, list[tuple[Any, ...]]]:
        """Return what readers see of these projections, in the order of the keys."""
        found = {}
        for table in (table for make in projections for table in make().tables):
            key = ", ".join(f"{name}" for name in table.key)
            columns = ", ".join(column.name for column in table.columns)
            found[table.name] = self.rows(f"SELECT {columns} FROM {table.name} ORDER BY {key}")
        return found

    def positions(self) -> dict[str, int]:
        """Return how far the live projections have come."""
        return dict(self.rows("SELECT name, position FROM projections WHERE live"))

    def end_connections(self, name: str = "stud-ledger projections") -> int:
        """Have the server end every connection of that name, whatever it is doing; return how many."""
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
        with psycopg.connect(self.admin, autocommit=True) as connection:
            return len(connection.execute(query, [name]).fetchall())


def copied(
    admin: str, schema: str, source: MemoryLedger, projections: Sequence[Callable[[], Projection]]
) -> Copied:
    """Return an empty ledger in PostgreSQL whose read side has nothing but these projections."""
    dsn = prepare(admin, schema, passwords=PASSWORDS)
    ledger = Copied(admin, dsn, source)
    with psycopg.connect(dsn.app, autocommit=True) as connection:
        for (table,) in ledger.rows(
            f"SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r'"
            f" AND relnamespace = '{ledger.read}'::regnamespace"
        ):
            connection.execute(f"DROP TABLE {ledger.read}.{table} CASCADE")
        tables.ensure(connection, schema, projections)
    return ledger


def eventually(check: Callable[[], Any], seconds: float = 30) -> Any:
    """Return the first true answer; fail where there is none in time."""
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


class Reader:
    """Reads one query over and over in a thread; `errors` is what came of it. A context manager."""

    def __init__(self, dsn: str, query: str) -> None:
        self.errors: list[str] = []
        self.answers: list[int] = []
        self._dsn, self._query = dsn, query
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _read(self) -> None:
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            while not self._stop.is_set():
                try:
                    (number,) = connection.execute(self._query).fetchone() or (0,)
                except psycopg.Error as error:
                    self.errors.append(f"{type(error).__name__}: {error}")
                else:
                    self.answers.append(number)

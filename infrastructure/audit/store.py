"""How far the service's audits have come, and their reports: a table of the read side.

What counts of an audit are its events; a report is kept with the SHA-256 that they have of it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import psycopg
from psycopg import sql

from infrastructure.projections.tables import read_schema
from infrastructure.read_models import Ask

_QUERIES: Final = {
    "begin": """INSERT INTO {read}.audit_runs AS run (run_id) VALUES (%s)
        ON CONFLICT (run_id) DO UPDATE SET attempts = run.attempts + 1, done = 0 RETURNING attempts""",
    "come_to": "UPDATE {read}.audit_runs SET done = %s, whole = %s WHERE run_id = %s",
    "keep": "UPDATE {read}.audit_runs SET done = whole, report = %s WHERE run_id = %s",
    "progress": "SELECT run_id, done, whole FROM {read}.audit_runs WHERE run_id = ANY (%s)",
    "report": "SELECT report FROM {read}.audit_runs WHERE run_id = %s",
}


class Progress(NamedTuple):
    """How far an audit has come: `done` of `whole` events, each counted once for everything that is done."""

    done: int
    whole: int


class AuditStore:
    """Writes it, over a connection in autocommit mode. Raises psycopg.Error."""

    def __init__(self, connection: psycopg.Connection, schema: str) -> None:
        self._connection = connection
        self._queries = _composed(schema)

    def begin(self, run_id: str) -> int:
        """Note that an audit is begun; return how often it was, this time included."""
        row = self._connection.execute(self._queries["begin"], [run_id]).fetchone()
        return 1 if row is None else int(row[0])

    def come_to(self, run_id: str, done: int, whole: int) -> None:
        """Note how far it has come."""
        self._connection.execute(self._queries["come_to"], [done, whole, run_id])

    def keep(self, run_id: str, report: bytes) -> None:
        """Keep its report."""
        self._connection.execute(self._queries["keep"], [report, run_id])


class AuditReading:
    """Reads it; each method raises ReadingUnavailable."""

    def __init__(self, ask: Ask, schema: str) -> None:
        self._ask = ask
        self._queries = _composed(schema)

    async def progress(self, run_ids: list[str]) -> dict[str, Progress]:
        """How far these have come, those that have begun."""
        rows = await self._ask(self._queries["progress"], (run_ids,))
        return {row["run_id"]: Progress(row["done"], row["whole"]) for row in rows}

    async def report(self, run_id: str) -> bytes | None:
        """The report of one, where it is kept."""
        rows = await self._ask(self._queries["report"], (run_id,))
        return bytes(rows[0]["report"]) if rows and rows[0]["report"] is not None else None


def _composed(schema: str) -> dict[str, sql.Composed]:
    name = sql.Identifier(read_schema(schema))
    return {key: sql.SQL(text).format(read=name) for key, text in _QUERIES.items()}

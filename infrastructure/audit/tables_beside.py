"""The database's tables and what was projected from the events, compared by the checker, beside an audit."""

from __future__ import annotations

from collections.abc import Callable

import psycopg

from infrastructure.audit.database import connect
from infrastructure.audit.results import Finding
from infrastructure.checking import full


def check_tables(task: tuple[str, str], tell: Callable[[int], None]) -> tuple[list[Finding], int]:
    """Compare every table of a ledger with its events, which are folded once more by code of its own.

    `task` is how to log in and the schema. Returns what differs and how many events were folded. Raises
    psycopg.Error.
    """
    dsn, schema = task

    def again() -> psycopg.Connection:
        connection = connect(dsn)
        connection.execute("SET statement_timeout = 0")
        return connection

    report = full.check(again, schema, lambda done, _: tell(done))
    findings = [
        Finding(found.position, f"table.{found.name}", "what the events say", found.detail)
        for found in report.findings
    ]
    return findings, report.position

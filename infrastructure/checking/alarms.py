"""Alarms: what is wrong with a ledger now, one row each, for `/readyz`, the metrics and whoever looks.

The projections raise theirs in the same table; those of the checker are called ``check_…``.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

import psycopg
from psycopg import sql

from infrastructure.checking.findings import Finding

PREFIX: Final = "check_"
DETAIL_CHARACTERS_MAX: Final = 500

_RAISE: Final = """
    INSERT INTO {}.alarms AS a (name, position, detail, since_us) VALUES (%s, %s, %s, %s)
    ON CONFLICT (name) DO UPDATE
    SET position = least(a.position, excluded.position), detail = excluded.detail"""
_END: Final = "DELETE FROM {}.alarms WHERE starts_with(name, %s) AND name <> ALL (%s)"


def positions(connection: psycopg.Connection, schema: str) -> list[int]:
    """Return the positions of the checker's alarms that are raised. Raises psycopg.Error."""
    query = sql.SQL("SELECT position FROM {}.alarms WHERE starts_with(name, %s)")
    rows = connection.execute(query.format(sql.Identifier(f"{schema}_read")), [PREFIX]).fetchall()
    return [position for (position,) in rows]


def tell(connection: psycopg.Connection, schema: str, findings: Iterable[Finding]) -> list[str]:
    """Let the checker's alarms be these, one for each kind, at its first position; return their names.

    One that goes on keeps its time and the lowest position it ever had. Raises psycopg.Error.
    """
    first: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda each: each.position):
        first.setdefault(PREFIX + finding.name, finding)
    read = sql.Identifier(f"{schema}_read")
    with connection.transaction():
        for name, finding in first.items():
            detail = finding.detail[:DETAIL_CHARACTERS_MAX]
            values = [name, finding.position, detail, time.time_ns() // 1_000]
            connection.execute(sql.SQL(_RAISE).format(read), values)
        connection.execute(sql.SQL(_END).format(read), [PREFIX, list(first)])
    return list(first)

"""What a round takes on disk, all in: events, remembered answers, what is derived, and every index."""

from __future__ import annotations

from typing import Final

import psycopg

_SIZES: Final = """
    SELECT CASE
        WHEN n.nspname = 'ledger_read' THEN regexp_replace(c.relname, '__[0-9]+$', '')
        WHEN c.relname ~ '^events' THEN 'events'
        WHEN c.relname = 'commands' THEN 'answers'
        ELSE 'state' END AS name,
        sum(pg_table_size(c.oid))::bigint, sum(pg_indexes_size(c.oid))::bigint
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('ledger', 'ledger_read') AND c.relkind = 'r' GROUP BY 1 ORDER BY 2 DESC"""
ANSWERS: Final = "answers"
SMALL_BYTES: Final = 5
"""Parts of a round below that are told together."""


def taken(connection: psycopg.Connection) -> dict[str, int]:
    """Bytes by what they hold; indexes apart, as `… (index)`."""
    found: dict[str, int] = {}
    for name, table, indexes in connection.execute(_SIZES):
        found[name] = table
        if indexes:
            found[f"{name} (index)"] = indexes
    return found


def a_round(before: dict[str, int], rounds: int) -> dict[str, int]:
    """Bytes of each round, where that many take what was `taken`."""
    shares = {name: round(size / rounds) for name, size in before.items()}
    told = {name: size for name, size in shares.items() if size >= SMALL_BYTES}
    told["other"] = sum(size for name, size in shares.items() if name not in told)
    return told

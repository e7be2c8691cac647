"""Of which rule sets, at which antes, a ledger wants odds: every published version, as its tables play it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import psycopg
from psycopg import sql

from domain.odds.house import default_ante
from domain.work import PublishedRuleset, Table
from infrastructure.ledger import bookkeeping
from infrastructure.ledger.store import RulesetRow, TableRow
from infrastructure.odds.store import Terms

TABLES_MAX: Final = 64
"""Tables of one version and currency whose limits are looked at: they hardly differ."""

_RULESETS: Final = """SELECT ruleset_id, version, position, sha256, content
    FROM {}.rulesets ORDER BY ruleset_id, version DESC"""
_TABLES: Final = "SELECT table_id, position, state FROM {}.tables ORDER BY table_id"


def published(connection: psycopg.Connection, schema: str) -> list[PublishedRuleset]:
    """Every published version, of each rule set the newest first. Raises psycopg.Error."""
    rows = connection.execute(sql.SQL(_RULESETS).format(sql.Identifier(schema)))
    return [bookkeeping.ruleset_from(RulesetRow(*row)) for row in rows]


def tables(connection: psycopg.Connection, schema: str) -> list[Table]:
    """Every table. Raises psycopg.Error."""
    rows = connection.execute(sql.SQL(_TABLES).format(sql.Identifier(schema)))
    return [bookkeeping.table_from(TableRow(*row)) for row in rows]


def wanted(version: PublishedRuleset, tables: Iterable[Table]) -> list[Terms]:
    """What odds of a version are wanted for, by currency.

    That is the least and the greatest ante of the tables that play it, with what the house leaves to them;
    where none does in a currency, the usual ante.
    """
    playing = [table for table in tables if table.ruleset == version.ref]
    found: dict[Terms, None] = {}
    for currency in version.ruleset.currencies:
        its = [table for table in playing if table.currency == currency][:TABLES_MAX]
        terms = [each for table in its for each in _of_table(table)]
        ref, ante = version.ref, default_ante(version.ruleset, currency)
        found |= dict.fromkeys(terms or [Terms(ref.id, ref.version, currency, ante)])
    return list(found)


def _of_table(table: Table) -> Iterator[Terms]:
    limits = table.parameters
    for ante in (limits.min_ante, limits.max_ante):
        yield Terms(
            table.ruleset.id,
            table.ruleset.version,
            table.currency,
            ante,
            limits.raise_win_cap or 0,
            limits.bonus_stake or 0,
        )

"""Of which rule sets, at which antes, a ledger wants odds: every published version, as its tables play it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import psycopg
from psycopg import sql

from domain.odds.house import default_ante, rules_for
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
    where none does in a currency, the usual ante. Where a cap cuts all of these, it is one ante more of
    which nothing is cut: with what is expected there, all results of the version are compared.
    """
    playing = [table for table in tables if table.ruleset == version.ref]
    found: dict[Terms, None] = {}
    for currency in version.ruleset.currencies:
        its = [table for table in playing if table.currency == currency][:TABLES_MAX]
        terms = [each for table in its for each in _of_table(table)]
        ref, ante = version.ref, default_ante(version.ruleset, currency)
        found |= dict.fromkeys(terms or [Terms(ref.id, ref.version, currency, ante)])
    if all(_is_cut(version, terms) for terms in found):
        found |= dict.fromkeys(_uncut(version, next(iter(found))))
    return list(found)


def _is_cut(version: PublishedRuleset, terms: Terms) -> bool:
    rules = rules_for(version.ruleset, terms.currency, terms.settings)
    most = terms.ante * rules.raise_multiple * max(rules.raise_pays.values())
    return rules.raise_win_cap is not None and rules.raise_win_cap < most


def _uncut(version: PublishedRuleset, terms: Terms) -> Iterator[Terms]:
    """The same without the table's cap; or at the greatest ante that the house's own leaves alone, if any."""
    rules = rules_for(version.ruleset, terms.currency, terms.settings)
    without = terms._replace(raise_win_cap=0)
    if terms.raise_win_cap:
        yield without
    elif rules.raise_win_cap is not None:
        ante = rules.raise_win_cap // (rules.raise_multiple * max(rules.raise_pays.values()))
        if ante:
            yield without._replace(ante=ante)


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

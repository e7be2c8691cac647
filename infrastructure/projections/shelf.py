"""A projection's own rows, read back from PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import psycopg
from psycopg import sql

from infrastructure.projections import tables
from infrastructure.projections.kinds import Key, Row, Table
from infrastructure.projections.merging import key_function


class PostgresShelf:
    """The rows of one build. Raises psycopg.Error."""

    def __init__(
        self,
        connection: psycopg.Connection,
        schema: str,
        definitions: Iterable[Table],
        build: int,
    ) -> None:
        self._connection = connection
        self._tables = {
            table.name: (table, tables.physical(schema, table.name, build)) for table in definitions
        }

    def rows(self, table: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """The rows under these full keys, by key; those that are not there are left out."""
        definition, _ = self._tables[table]
        key_of = key_function(definition)
        return {key_of(row): row for row in self._found(table, keys, "LIMIT 1")}

    def latest(self, table: str, prefixes: Sequence[Key]) -> Mapping[Key, Row]:
        """For each prefix (the first columns of the key, as many in each) its row with the greatest key."""
        if not prefixes:
            return {}
        definition, _ = self._tables[table]
        key_of = key_function(definition)
        length = len(prefixes[0])
        order = sql.SQL(", ").join(sql.SQL("{} DESC").format(sql.Identifier(name)) for name in definition.key)
        found = self._found(table, prefixes, sql.SQL("ORDER BY {} LIMIT 1").format(order))
        return {key_of(row)[:length]: row for row in found}

    def whole(self, table: str) -> Sequence[Row]:
        """Every row in the order of the key: for tables of which it is known that they stay small."""
        definition, name = self._tables[table]
        query = sql.SQL("SELECT {} FROM {} ORDER BY {}").format(
            _names(column.name for column in definition.columns), name, _names(definition.key)
        )
        return self._connection.execute(query).fetchall()

    def _found(self, table: str, keys: Sequence[Key], end: str | sql.Composable) -> Sequence[Row]:
        if not keys:
            return []
        definition, name = self._tables[table]
        types = {column.name: column.type for column in definition.columns}
        wanted = definition.key[: len(keys[0])]
        condition = sql.SQL("true") + sql.SQL("").join(
            sql.SQL(" AND kept.{0} = wanted.{0}").format(sql.Identifier(column)) for column in wanted
        )
        asked = sql.SQL("unnest({}) AS wanted ({})").format(
            sql.SQL(", ").join(sql.SQL(f"%s::{types[column]}[]") for column in wanted), _names(wanted)
        )
        query = sql.SQL(
            "SELECT found.* FROM {} CROSS JOIN LATERAL (SELECT {} FROM {} AS kept WHERE {} {}) AS found"
        ).format(
            asked if wanted else sql.SQL("(SELECT) AS wanted"),
            _names(column.name for column in definition.columns),
            name,
            condition,
            sql.SQL(end) if isinstance(end, str) else end,
        )
        columns = [list(values) for values in zip(*dict.fromkeys(keys), strict=True)]
        return self._connection.execute(query, columns).fetchall()


def _names(names: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))

"""Writing a batch's rows into a table of PostgreSQL: one statement, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson
import psycopg
from psycopg import sql
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format

from infrastructure.ledger.arrays import int8s, texts
from infrastructure.projections.kinds import Key, Row, Table
from infrastructure.projections.merging import added, key_function

_BIGINT: Final = "bigint"


class _Array:
    """An array in PostgreSQL's binary format."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class _Bigints(_Array):
    pass


class _Texts(_Array):
    pass


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: _Array) -> Buffer | None:
        """Return what is ready."""
        return obj.data


class _BigintsDumper(_ArrayDumper):
    oid = 1016


class _TextsDumper(_ArrayDumper):
    oid = 1009


class _IntLoader(Loader):
    """Reads a numeric without a fraction as the int it is."""

    def load(self, data: Buffer) -> int:
        """Return the number."""
        return int(bytes(data))


def adapt(connection: psycopg.Connection) -> None:
    """Teach a connection the arrays that are written here, and numbers beyond 64 bits."""
    connection.adapters.register_dumper(_Bigints, _BigintsDumper)
    connection.adapters.register_dumper(_Texts, _TextsDumper)
    connection.adapters.register_loader("numeric", _IntLoader)


class TableWriter:
    """Writes rows into one table. Raises psycopg.Error; OverflowError and the like for what has no place."""

    def __init__(self, table: Table, name: sql.Identifier) -> None:
        self._table = table
        self._key_of = key_function(table)
        self._json = [place for place, column in enumerate(table.columns) if column.type == "jsonb"]
        columns = sql.SQL(", ").join(sql.Identifier(column.name) for column in table.columns)
        self._statement = (
            sql.SQL("COPY {} ({}) FROM STDIN").format(name, columns)
            if table.mode == "insert"
            else self._upsert(name, columns)
        )

    def write(self, cursor: psycopg.Cursor[Any], rows: Sequence[Row]) -> None:
        """Write them, in the open transaction."""
        if self._table.mode == "insert":
            with cursor.copy(self._statement) as copy:
                for row in self._plain(rows):
                    copy.write_row(row)
        else:
            columns = zip(*self._plain(self._merged(rows).values()), strict=True)
            cursor.execute(
                self._statement,
                [
                    _Bigints(int8s(values)) if kind == _BIGINT else _Texts(texts(map(_text, values)))
                    for values, (_, kind) in zip(columns, self._table.columns, strict=True)
                ],
            )

    def _merged(self, rows: Sequence[Row]) -> dict[Key, Row]:
        """One row for each key: the sum, or the last."""
        key_of = self._key_of
        if self._table.mode == "replace":
            return {key_of(row): row for row in rows}
        merged: dict[Key, Row] = {}
        for row in rows:
            key = key_of(row)
            known = merged.get(key)
            merged[key] = row if known is None else added(self._table, known, row)
        return merged

    def _plain(self, rows: Iterable[Row]) -> Iterable[Row]:
        """The rows with their documents as JSON text."""
        if not self._json:
            return rows
        return map(self._with_json, rows)

    def _with_json(self, row: Row) -> Row:
        values = list(row)
        for place in self._json:
            if values[place] is not None:
                values[place] = orjson.dumps(values[place]).decode()
        return tuple(values)

    def _upsert(self, name: sql.Identifier, columns: sql.Composed) -> sql.Composed:
        table = self._table
        arrays = sql.SQL(", ").join(
            sql.SQL("%s::bigint[]" if column.type == _BIGINT else "%s::text[]") for column in table.columns
        )
        values = sql.SQL(", ").join(
            sql.SQL("{}::{}").format(sql.Identifier(column.name), sql.SQL(column.type))
            for column in table.columns
        )
        changes = [
            sql.SQL("{0} = kept.{0} + excluded.{0}" if table.mode == "add" else "{0} = excluded.{0}").format(
                sql.Identifier(column.name)
            )
            for column in table.columns
            if column.name not in table.key
        ]
        return sql.SQL(
            "INSERT INTO {} AS kept ({}) SELECT {} FROM unnest({}) AS put ({}) ON CONFLICT ({}) DO {}"
        ).format(
            name,
            columns,
            values,
            arrays,
            columns,
            sql.SQL(", ").join(map(sql.Identifier, table.key)),
            sql.SQL("UPDATE SET ") + sql.SQL(", ").join(changes) if changes else sql.SQL("NOTHING"),
        )


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)

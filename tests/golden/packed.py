r"""The form in which a golden ledger is kept, and how it gets back into a database.

A stage's folder has

- the migrations its schema was made of, as they were then (``NNNN_name.sql``)
- ``rows.zst``: every table's rows as ``COPY`` text, between a line ``-- table (columns)`` and a line ``\.``
- ``evidence.zst``: evidence files of some of its rounds as that stage made them, one a line
- ``about.json``: what it is, the key its open rounds' seeds are sealed with, and figures to compare with
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import orjson
import psycopg
import zstandard
from psycopg import sql

from infrastructure import bootstrap, migrations

GOLDEN = Path(__file__).parent
STAGES = sorted(folder.name for folder in GOLDEN.glob("stage-*"))
LEVEL = 19
_TABLE = re.compile(r"-- ([a-z_0-9]+) \((.*)\)")
_KEPT_BY_PREPARE = "ledger_migrations"


def write_rows(connection: psycopg.Connection, schema: str) -> bytes:
    """Return all rows of a ledger's tables, packed; partitions are read through their parent.

    Rows come in the order of their first columns' text, so that the same ledger makes the same bytes.
    """
    connection.execute("SET bytea_output = 'escape'")  # events are readable in what is packed
    tables = connection.execute(
        "SELECT c.relname, array_agg(a.attname ORDER BY a.attnum) FROM pg_class c JOIN pg_attribute a"
        " ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.relnamespace = %s::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        " AND c.relname <> %s GROUP BY c.relname ORDER BY c.relname",
        [schema, _KEPT_BY_PREPARE],
    ).fetchall()
    text = bytearray()
    for table, columns in tables:
        text += f"-- {table} ({', '.join(columns)})\n".encode()
        query = sql.SQL("COPY (SELECT {} FROM {} ORDER BY 1, 2) TO STDOUT").format(
            sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(schema, table)
        )
        with connection.cursor().copy(query) as copy:
            for data in copy:
                text += data
        text += b"\\.\n"
    return zstandard.ZstdCompressor(level=LEVEL).compress(bytes(text))


def load_rows(connection: psycopg.Connection, schema: str, packed: bytes) -> None:
    """Put packed rows into a schema that its own migrations have just made."""
    lines = zstandard.ZstdDecompressor().decompress(packed).splitlines(keepends=True)
    while lines:
        found = _TABLE.fullmatch(lines[0].decode().rstrip("\n"))
        assert found is not None, lines[0][:80]
        end = lines.index(b"\\.\n")
        table = sql.Identifier(schema, found[1])
        if connection.execute(sql.SQL("SELECT count(*) FROM {}").format(table)).fetchone() != (0,):
            connection.execute(sql.SQL("DELETE FROM {}").format(table))  # what a migration begins with
        columns = sql.SQL(", ").join(map(sql.Identifier, found[2].split(", ")))
        with connection.cursor().copy(sql.SQL("COPY {} ({}) FROM STDIN").format(table, columns)) as copy:
            for line in lines[1:end]:
                copy.write(line)
        del lines[: end + 1]


def migrations_of(stage: str) -> list[Any]:
    """Return the migrations a stage's schema was made of, as `infrastructure.bootstrap` wants them."""
    return [
        bootstrap._Migration(int(path.name[:4]), path.name, path.read_text(encoding="utf-8"))
        for path in sorted((GOLDEN / stage).glob("*.sql"))
    ]


def keep_migrations(folder: Path) -> None:
    """Copy the migrations of the software that runs into a stage's folder."""
    for path in Path(migrations.__path__[0]).glob("*.sql"):
        shutil.copy(path, folder / path.name)


def about(stage: str) -> dict[str, Any]:
    """Return what is told about a stage's ledger."""
    told: dict[str, Any] = orjson.loads((GOLDEN / stage / "about.json").read_bytes())
    return told


def evidence(stage: str) -> list[bytes]:
    """Return the evidence files the stage made, each as it was handed out."""
    packed = (GOLDEN / stage / "evidence.zst").read_bytes()
    return zstandard.ZstdDecompressor().decompress(packed).splitlines()

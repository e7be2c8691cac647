"""Floors beside the read side's figures: the same bytes, moved with nothing done to them."""

from __future__ import annotations

import time
from typing import Final

import orjson
import psycopg

from api.cli.bench.figures import per_second

BATCH: Final = 5_000
EVENTS_MAX: Final = 200_000
COPIED_MAX: Final = 100_000
_AFTER: Final = "SELECT data FROM ledger.events WHERE position > %s ORDER BY position LIMIT %s"
_FIRST: Final = "SELECT position, version, data, stream FROM ledger.events WHERE position <= %s"
_COPY: Final = "COPY ledger.floor_events (position, version, data, stream) FROM STDIN (FORMAT BINARY)"


def reading(dsn: str) -> tuple[int, int]:
    """Events a second that are read in batches by position; and that are read and parsed as JSON."""
    rates = []
    for parse in (False, True):
        with psycopg.connect(dsn, autocommit=True) as connection:
            position, began = 0, time.perf_counter()
            while position < EVENTS_MAX:
                rows = connection.execute(_AFTER, [position, BATCH], binary=True).fetchall()
                if not rows:
                    break
                if parse:
                    for (data,) in rows:
                        orjson.loads(data)
                position += len(rows)
            rates.append(per_second(position, time.perf_counter() - began))
    return rates[0], rates[1]


def copying(admin_dsn: str) -> int:
    """Events a second that COPY takes into a table like the ledger's: its first ones, durable at the end."""
    with psycopg.connect(admin_dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE ledger.floor_events (LIKE ledger.events_1 INCLUDING INDEXES)")
        out = psycopg.sql.SQL("COPY ({}) TO STDOUT (FORMAT BINARY)").format(
            psycopg.sql.SQL(_FIRST.replace("%s", str(COPIED_MAX)))
        )
        with connection.cursor().copy(out) as copy:
            blocks = [bytes(block) for block in copy]
        began = time.perf_counter()
        with connection.cursor().copy(_COPY) as copy:
            for block in blocks:
                copy.write(block)
        seconds = time.perf_counter() - began
        (count,) = connection.execute("SELECT count(*) FROM ledger.floor_events").fetchone() or (0,)
        connection.execute("DROP TABLE ledger.floor_events")
    return per_second(count, seconds)

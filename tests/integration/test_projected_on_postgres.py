"""The projections in PostgreSQL: what they hold there is what they hold in memory, to the last value."""

from __future__ import annotations

import itertools

import psycopg
import pytest

from infrastructure.bootstrap import AppDsn, prepare
from infrastructure.ledger.memory import MemoryLedger
from infrastructure.projections.kinds import Row
from infrastructure.projections.runner import Projector
from tests.unit.infrastructure.eventful_play import eventful
from tests.unit.infrastructure.projecting import Projecting, happened, projected

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
BYTES_A_ROUND_MAX = 4_096
_schemas = itertools.count(1)


@pytest.fixture
def ready(database: str) -> AppDsn:
    """Return an empty ledger."""
    return prepare(database, f"projected_{next(_schemas)}", passwords=PASSWORDS)


def fill(ready: AppDsn, ledger: MemoryLedger, start: int, end: int) -> None:
    """Write the events after `start`, up to `end`, as a writer leaves them."""
    rows = ledger.events[start:end]
    with psycopg.connect(ready.app) as connection, connection.cursor() as cursor:
        with cursor.copy(f"COPY {ready.schema}.events (position, stream, version, data) FROM STDIN") as copy:
            for row in rows:
                copy.write_row((row.position, row.stream, row.version, row.data))
        cursor.execute(f"UPDATE {ready.schema}.head SET position = %s, recorded_at_us = 1", [end])


def project(ready: AppDsn, batch_events_max: int) -> None:
    """Have a projector that has just begun take all projections to the end."""
    with Projector(ready.app, ready.schema, batch_events_max=batch_events_max) as projector:
        assert projector.try_to_act()
        while projector.turn():
            pass


def kept(ready: AppDsn, projecting: Projecting) -> dict[str, list[Row]]:
    """Return all tables' rows as readers see them."""
    with psycopg.connect(ready.auditor) as connection:
        return {
            table.name: [
                tuple(
                    int(v) if column.type.startswith("numeric") else v
                    for v, column in zip(row, table.columns, strict=True)
                )
                for row in connection.execute(
                    f"SELECT {', '.join(column.name for column in table.columns)}"
                    f" FROM {ready.schema}_read.{table.name} ORDER BY {', '.join(table.key)}"
                )
            ]
            for each in projecting.kept
            for table in each.tables.values()
        }


@pytest.mark.parametrize("batch_events_max", [37, 5_000])
def test_tables_hold_what_they_hold_in_memory(ready: AppDsn, batch_events_max: int) -> None:
    """Over restarts in the middle of rounds, every row of every table is the one of an unbroken run."""
    ledger = eventful(31, 400)
    wanted = projected(happened(ledger))
    ends = [0, 700, 1_500, len(ledger.events)]
    for start, end in itertools.pairwise(ends):
        fill(ready, ledger, start, end)
        project(ready, batch_events_max)
    found = kept(ready, wanted)
    for name, rows in wanted.rows.items():
        assert found[name] == rows, name


def test_what_is_kept_of_a_round_is_bounded(ready: AppDsn) -> None:
    """All tables and indexes together take a few kilobytes for each round, empty pages included."""
    ledger = eventful(32, 1_500)
    fill(ready, ledger, 0, len(ledger.events))
    project(ready, 5_000)
    rounds = sum(event.type == "RoundOpened" for event in happened(ledger))
    with psycopg.connect(ready.app) as connection:
        size = connection.execute(
            """SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c
            JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r'
            AND c.relname ~ '^(round_records|postings|player_rounds)__'""",
            [f"{ready.schema}_read"],
        ).fetchone()
    assert size is not None
    assert size[0] / rounds < BYTES_A_ROUND_MAX

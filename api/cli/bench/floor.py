"""The floor: the same rows, inserted in bulk with no logic at all, on the same server in the same run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

import psycopg

from infrastructure.ledger.arrays import byteas, int4s, int8s, texts
from infrastructure.ledger.line import Call, Line

EVENTS_A_BATCH: Final = 320
"""As many as 32 commands of the benchmark write: what a batch of 64 clients holds."""
EVENTS_A_ROUND: Final = 10
COMMANDS_A_ROUND: Final = 2
SKIPPED: Final = 1000
"""The first positions hold what the benchmark furnished its ledger with."""

_STATEMENTS: Final = {
    "begin": "BEGIN",
    "events": "INSERT INTO ledger.floor_events (position, version, stream, data)"
    " SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::bytea[])",
    "commands": "INSERT INTO ledger.floor_commands (position, outcome, id, fingerprint, body)"
    " SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bytea[], $4::bytea[], $5::bytea[])",
    "commit": "COMMIT",
}


def floor(admin_dsn: str, rounds: int) -> float:
    """Insert the events and command results of `rounds` rounds again, into tables like the ledger's.

    Returns rounds a second: durable commits, each as large as one of the writer's, rows by unnest of arrays
    that were made before the clock started.
    """
    with psycopg.connect(admin_dsn, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE ledger.floor_events (LIKE ledger.events_1 INCLUDING INDEXES);"
            "CREATE TABLE ledger.floor_commands (LIKE ledger.commands INCLUDING INDEXES)"
        )
        trips = _trips(connection, rounds)
        line = Line(
            admin_dsn, _STATEMENTS, application_name="floor", connect_seconds_max=5, answer_seconds_max=60
        )
        began = time.perf_counter()
        for trip in trips:
            line.trip(trip)
        seconds = time.perf_counter() - began
        line.close()
        connection.execute("DROP TABLE ledger.floor_events, ledger.floor_commands")
    return len(trips) * EVENTS_A_BATCH / EVENTS_A_ROUND / seconds


def _trips(connection: psycopg.Connection[Any], rounds: int) -> list[list[Call]]:
    """One round trip for each batch, its arrays ready to be sent."""
    events = connection.execute(
        "SELECT position, version, stream, data FROM ledger.events WHERE position > %s"
        " ORDER BY position LIMIT %s",
        [SKIPPED, rounds * EVENTS_A_ROUND],
    ).fetchall()
    commands = connection.execute(
        "SELECT position, outcome, id, fingerprint, body FROM ledger.commands"
        " ORDER BY position DESC LIMIT %s",
        [len(events) // EVENTS_A_ROUND * COMMANDS_A_ROUND],
    ).fetchall()
    batches = max(len(events) // EVENTS_A_BATCH, 1)
    share = len(commands) // batches
    return [
        [
            ("begin", ()),
            ("events", _events(events[n * EVENTS_A_BATCH : (n + 1) * EVENTS_A_BATCH])),
            ("commands", _commands(commands[n * share : (n + 1) * share])),
            ("commit", ()),
        ]
        for n in range(batches)
    ]


def _events(rows: Sequence[tuple[Any, ...]]) -> list[bytes]:
    positions, versions, streams, data = zip(*rows, strict=True)
    return [int8s(positions), int4s(versions), texts(streams), byteas(data)]


def _commands(rows: Sequence[tuple[Any, ...]]) -> list[bytes]:
    positions, outcomes, ids, fingerprints, bodies = zip(*rows, strict=True)
    return [int8s(positions), int4s(outcomes), byteas(ids), byteas(fingerprints), byteas(bodies)]

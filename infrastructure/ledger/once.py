"""A writer for one command, for a process that has none: the sealer, an audit, an export.

It takes its turn at the head's lock like any other writer, and everything holds of it that holds of those.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from infrastructure.clock import Clock, system_clock
from infrastructure.keys import Keys
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import Result, Submission
from infrastructure.ledger.writer import Writer
from infrastructure.seals import Seals

WAIT_SECONDS: Final = 60.0


def submit_once(
    dsn: str,
    schema: str,
    keys_folder: Path,
    submission: Submission,
    *,
    clock: Clock = system_clock,
    throwaway: bool = False,
    wait_seconds: float = WAIT_SECONDS,
) -> Result:
    """Have one command decided and written; return what became of it once it is durable.

    The ledger's keys are read, never made. Raises Reused, Overloaded, ReadOnly, CommandFailed, TimeoutError
    and KeysError.
    """
    keys = Keys.load_or_create(keys_folder, ledger_is_empty=False)
    store = PostgresStore(dsn, schema, throwaway=throwaway)
    writer = Writer(store, Seals(keys.deck), clock, build="")
    writer.start()
    try:
        return writer.call(submission, wait_seconds)
    finally:
        writer.stop()

"""An audit on record: that it began, and what it found, are events of the ledger that is audited."""

from __future__ import annotations

from pathlib import Path

import orjson
import psycopg

from domain.commands import Command, FinishAudit, StartAudit
from infrastructure.audit.report import Report, encoded, sha256
from infrastructure.audit.run import Wanted
from infrastructure.keys import KeysError
from infrastructure.ledger import once
from infrastructure.ledger.submission import (
    ACCEPTED,
    CommandFailed,
    Overloaded,
    Reused,
    own_submission,
)

_WAIT_SECONDS = 20.0


class NotRecordedError(RuntimeError):
    """The ledger did not take it: one line that says why."""


class Recording:
    """The ledger that records, and how its writers log in."""

    def __init__(self, dsn: str, schema: str, keys_folder: Path) -> None:
        self._dsn = dsn
        self._schema = schema
        self._keys_folder = keys_folder

    def begin(self, wanted: Wanted) -> None:
        """Record that an audit of the database begins. Raises NotRecordedError."""
        self._submit(
            StartAudit(wanted.run_id, "database", wanted.after + 1, wanted.up_to), f"{wanted.run_id}:begin"
        )

    def end(self, report: Report) -> None:
        """Record what it found. Raises NotRecordedError."""
        digest = sha256(encoded(report.as_json()))
        totals = report.totals
        command = FinishAudit(
            report.run_id, report.verdict, totals.rounds, totals.events, report.found, digest
        )
        self._submit(command, f"{report.run_id}:end")

    def give_up(self, run_id: str) -> None:
        """Record that it came to no end. Raises NotRecordedError."""
        self._submit(FinishAudit(run_id, "error", 0, 0, 0), f"{run_id}:end")

    def _submit(self, command: Command, key: str) -> None:
        try:
            result = once.submit_once(
                self._dsn,
                self._schema,
                self._keys_folder,
                own_submission(command, f"audit:{key}"),
                throwaway=True,
                wait_seconds=_WAIT_SECONDS,
            )
        except (Overloaded, Reused, CommandFailed, KeysError, TimeoutError, psycopg.Error) as error:
            raise NotRecordedError(f"the ledger does not record it ({type(error).__name__})") from error
        if result.outcome != ACCEPTED:
            raise NotRecordedError(f"the ledger does not record it: {orjson.loads(result.body)['detail']}")

"""What is done with one partition, wherever: its events are read, audited, and compared with the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from infrastructure.audit.log_files import Compared, LogFiles, compare
from infrastructure.audit.partition import audit_partition, uncollected
from infrastructure.audit.results import Context, PartResult, StoredRow
from infrastructure.audit.source import Part


class Done(NamedTuple):
    """What a partition came to. `compared`: with the log's files, None where there are none."""

    up_to: int
    result: PartResult
    compared: Compared | None


@dataclass(frozen=True, slots=True)
class Work:
    """What is done with every partition; it is called with one and can be sent to other processes."""

    context: Context
    files: LogFiles | None

    def __call__(self, part: Part) -> Done:
        """Do it. Raises what reading the events meets; anything the events hold is a finding."""
        with uncollected():
            if self.files is None:
                return Done(part.up_to, audit_partition(part.rows(), self.context), None)
            rows: list[StoredRow] = []
            hashes: list[bytes] = []
            result = audit_partition(_noted(part.rows(), rows), self.context, hashes)
            return Done(part.up_to, result, compare(self.files, rows, hashes, result))


def _noted(rows: Iterable[StoredRow], noted: list[StoredRow]) -> Iterator[StoredRow]:
    """Yield rows and keep them, too."""
    for row in rows:
        noted.append(row)
        yield row

"""What is done with one partition, wherever: its events are read, audited, and compared with the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from infrastructure.audit.log_files import Compared, LogFiles, compare
from infrastructure.audit.partition import audit_partition, uncollected
from infrastructure.audit.results import Context, PartResult
from infrastructure.audit.source import Part
from infrastructure.evidence.merkle import leaf_hashes


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
            rows = list(part.rows())
            hashes = leaf_hashes([row[3] for row in rows])
            result = audit_partition(rows, self.context, hashes)
            compared = None if self.files is None else compare(self.files, rows, hashes, result)
            return Done(part.up_to, result, compared)

"""What a check finds."""

from __future__ import annotations

from typing import Final, NamedTuple

KEPT_MAX: Final = 100
"""One edited event puts everything after it out: the first findings tell what happened, others repeat it."""


class Finding(NamedTuple):
    """A discrepancy.

    `name` says of which kind, `position` is that of the first event from which the ledger is not what it
    should be, `detail` is one sentence.
    """

    name: str
    position: int
    detail: str


class Findings:
    """The discrepancies of one check: the first `KEPT_MAX` as found, and how many there were."""

    def __init__(self) -> None:
        self.kept: list[Finding] = []
        self.count = 0

    def add(self, name: str, position: int, detail: str) -> None:
        """Note a discrepancy."""
        self.count += 1
        if len(self.kept) < KEPT_MAX:
            self.kept.append(Finding(name, position, detail))

    @property
    def first(self) -> Finding | None:
        """The one at the lowest position, None where nothing was found."""
        return min(self.kept, key=lambda finding: finding.position, default=None)

"""What happens to the ledger as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LedgerStarted:
    """The first event. `demo` marks a ledger that serves for trying out."""

    demo: bool
    format: int = 1


@dataclass(frozen=True, slots=True)
class ClockWentBackwards:
    """The clock read less than the last event's time.

    Events go on from the last one, a microsecond at a time.
    """

    behind_microseconds: int
    clock: str = field(default="")

"""What the writer tells whoever measures it: a call for each batch, none for a command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from infrastructure.ledger.submission import Outcome


class Meter(Protocol):
    """Takes note. Called on the writer's way, so that it may cost microseconds; what it raises is logged."""

    def wrote(self, outcomes: Sequence[Outcome], seconds: float, waiting: int) -> None:
        """A batch was committed: what its commands came to, how long it took, how many are waiting now."""

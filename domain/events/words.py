"""The words that more than one event uses."""

from __future__ import annotations

from typing import Literal

DecidedBy = Literal["player", "timeout", "operator"]
"""Who made a decision."""
DealSource = Literal["rng", "table"]
"""Where the cards come from: the ledger's own committed deck, or a physical table's scanner."""
AccountClass = Literal["real", "test"]
"""Test accounts are kept apart from money."""

"""The watch over the ledger: an independent reading of its events, and its tables compared with that.

Nothing here is imported from what writes or projects. Legs, folds and exact amounts are computed again, by
other code and from the stored bytes alone, so that a mistake in the ledger cannot hide in its own check. A
linter contract in ``pyproject.toml`` keeps it so.
"""

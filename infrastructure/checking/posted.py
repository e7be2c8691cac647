"""Postings of players' money held against what the events say of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from infrastructure.checking.findings import Finding
from infrastructure.checking.reading import Ledger

_POSTED: Final = """
    SELECT p.player, p.position, p.wallet, p.on_game, p.balance, p.on_game_after
    FROM unnest(%s::text[], %s::bigint[]) AS w (player, position)
    JOIN {read}.postings AS p ON p.player = w.player AND p.position = w.position"""

Posted = tuple[Any, ...]
"""Player, position, what was added to the wallet and to what is on game, what the wallet held then.

Where that is known, also what was on game then.
"""


def posted_otherwise(ledger: Ledger, posted: Sequence[Posted]) -> list[Finding]:
    """Hold what events say of players' money against the postings, which have come that far."""
    if not posted:
        return []
    players, positions = [each[0] for each in posted], [each[1] for each in posted]
    # By their key: how the planner joins, and with that the order of the rows, is its own affair.
    rows = {row[:2]: row[2:] for row in ledger.rows(_POSTED, players, positions)}
    findings = []
    for player, position, *due in posted:
        row = rows.get((player, position))
        if row is None or row[: len(due)] != tuple(due):
            detail = f"{player} is posted as {row}, the event says {tuple(due)}"
            findings.append(Finding("postings", position, detail))
    return findings

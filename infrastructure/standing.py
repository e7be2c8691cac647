"""The books as they stand, for whoever wants to know what a command would do without sending it.

It is what a writer begins with: jackpots, tables, rule sets, people, open approvals, the software; no wallet
and no round. Nothing that is decided on it is ever written.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, Final, NamedTuple

from domain.work import PublishedRuleset, Work
from infrastructure.ledger import bookkeeping, registers
from infrastructure.ledger.store import JackpotRow, RegisterRow, RulesetRow, TableRow

QUERIES: Final = {
    "standing_head": "SELECT position, recorded_at_us FROM {schema}.head",
    "standing_tables": "SELECT table_id, position, state FROM {schema}.tables",
    "standing_jackpots": "SELECT jackpot_id, position, meter, enabled, state FROM {schema}.jackpots",
    "standing_rulesets": "SELECT ruleset_id, version, position, sha256, content FROM {schema}.rulesets",
    "standing_registers": "SELECT name, position, active, state FROM {schema}.registers WHERE active",
}
"""Read in this order, in one snapshot."""

_Rows = list[tuple[Any, ...]]


class Standing(NamedTuple):
    """What `QUERIES` found."""

    head: _Rows
    tables: _Rows
    jackpots: _Rows
    rulesets: _Rows
    registers: _Rows

    def books(self, now_us: int) -> Work:
        """The books at a moment. It takes as long as there are tables and jackpots: not on an event loop."""
        ((position, recorded_at_us),) = self.head
        work = Work(os.urandom, "", position=position, recorded_at_us=recorded_at_us, now_us=now_us)
        for row in self.tables:
            table = bookkeeping.table_from(TableRow(*row))
            work.tables[table.table_id] = table
        for jackpot_id, at, meter, enabled, state in self.jackpots:
            found = JackpotRow(jackpot_id, at, int(meter), enabled, state)
            work.jackpots[jackpot_id] = bookkeeping.jackpot_from(found)
        for row in self.rulesets:
            published = _ruleset(RulesetRow(*row))
            work.rulesets.setdefault(published.ref.id, {})[published.ref.version] = published
        for row in self.registers:
            registers.learn(work, RegisterRow(*row))
        return work


@lru_cache(maxsize=256)
def _ruleset(row: RulesetRow) -> PublishedRuleset:
    """A rule set, which takes a while to check and never changes."""
    return bookkeeping.ruleset_from(row)

"""Reading people, proposals, the log and audits: the rows the writer keeps of them, each query by a key."""

from __future__ import annotations

from typing import Final

import psycopg
from psycopg import sql

from domain.registers import Approval, AuditState, LogState, Person
from infrastructure.ledger import registers
from infrastructure.read_models import Ask

_LOG_AND_HEAD: Final = """SELECT position, (SELECT state FROM {schema}.registers WHERE name = 'log')
    FROM {schema}.head"""
_QUERIES: Final = {
    "log": "SELECT state FROM {schema}.registers WHERE name = 'log'",
    "audit": "SELECT state FROM {schema}.registers WHERE name = 'audit-' || %s",
    "audits": """SELECT state FROM {schema}.registers
        WHERE name > 'audit-' AND name < 'audit-' || %s ORDER BY name DESC LIMIT %s""",
    "changed_people": """SELECT position, state FROM {schema}.registers
        WHERE name > 'person-' AND name < 'person.' AND position > %s""",
    "people": """SELECT state FROM {schema}.registers
        WHERE name > 'person-' || %s AND name < 'person.' ORDER BY name LIMIT %s""",
    "approval": "SELECT state FROM {schema}.registers WHERE name = 'approval-' || %s",
    "approvals": """SELECT state FROM {schema}.registers
        WHERE name > 'approval-' AND name < 'approval-' || %s ORDER BY name DESC LIMIT %s""",
    "open_approvals": """SELECT state FROM {schema}.registers
        WHERE active AND name > 'approval-' AND name < 'approval-' || %s ORDER BY name DESC LIMIT %s""",
}


def read_log(connection: psycopg.Connection, schema: str) -> tuple[int, LogState]:
    """The ledger's last position, and what is known of its evidence log then. Raises psycopg.Error."""
    query = sql.SQL(_LOG_AND_HEAD).format(schema=sql.Identifier(schema))
    position, state = connection.execute(query).fetchone() or (0, None)
    return position, LogState() if state is None else registers.log_from(state)


class RegisterReading:
    """What the registers hold as the last command left them; each method raises ReadingUnavailable."""

    def __init__(self, ask: Ask, schema: str) -> None:
        name = sql.Identifier(schema)
        self._ask = ask
        self._queries = {key: sql.SQL(text).format(schema=name) for key, text in _QUERIES.items()}

    async def changed_people(self, after: int) -> list[tuple[int, Person]]:
        """The people who were registered or revoked after a position, with the position of that."""
        rows = await self._ask(self._queries["changed_people"], (after,))
        return [(row["position"], registers.person_from(row["state"])) for row in rows]

    async def people(self, after: str, limit: int) -> list[Person]:
        """Everybody who was ever registered, in the order of their ids, those after `after`."""
        rows = await self._ask(self._queries["people"], (after, limit))
        return [registers.person_from(row["state"]) for row in rows]

    async def approval(self, approval_id: str) -> Approval | None:
        """Something that was proposed, and what became of it."""
        rows = await self._ask(self._queries["approval"], (approval_id,))
        return registers.approval_from(rows[0]["state"]) if rows else None

    async def approvals(self, before: str, limit: int, *, only_open: bool) -> list[Approval]:
        """Proposals, the newest first, those before `before`; all, or those that nobody has decided."""
        query = self._queries["open_approvals" if only_open else "approvals"]
        return [registers.approval_from(row["state"]) for row in await self._ask(query, (before, limit))]

    async def log(self) -> LogState:
        """What is known of the evidence log, and of the archive."""
        rows = await self._ask(self._queries["log"], ())
        return registers.log_from(rows[0]["state"]) if rows else LogState()

    async def audit(self, run_id: str) -> AuditState | None:
        """An audit that was recorded."""
        rows = await self._ask(self._queries["audit"], (run_id,))
        return registers.audit_from(rows[0]["state"]) if rows else None

    async def audits(self, before: str, limit: int) -> list[AuditState]:
        """Audits in the order of their ids, from the last on, those before `before`."""
        rows = await self._ask(self._queries["audits"], (before, limit))
        return [registers.audit_from(row["state"]) for row in rows]

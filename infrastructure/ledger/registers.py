"""Between the rows of the registers and the books: people, approvals, the software, the log, audits."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import orjson

from domain.registers import AUDIT, LOG, Approval, AuditState, LogState, Person, SoftwareState
from domain.work import Work
from infrastructure.ledger.store import RegisterRow

PERSON: Final = "person-"
APPROVAL: Final = "approval-"
SOFTWARE: Final = "software"


def person_from(state: bytes) -> Person:
    """A person as the store holds them."""
    return Person(**orjson.loads(state))


def approval_from(state: bytes) -> Approval:
    """An approval as the store holds it."""
    return Approval(**orjson.loads(state))


def log_from(state: bytes) -> LogState:
    """What is known of the evidence log, as the store holds it."""
    return LogState(**orjson.loads(state))


def audit_from(state: bytes) -> AuditState:
    """An audit as the store holds it."""
    return AuditState(**orjson.loads(state))


def learn(work: Work, row: RegisterRow) -> None:
    """Put a register as the store holds it where it belongs in the books."""
    if row.name.startswith(PERSON):
        work.people[row.name.removeprefix(PERSON)] = person_from(row.state)
    elif row.name.startswith(APPROVAL):
        work.approvals[row.name.removeprefix(APPROVAL)] = approval_from(row.state)
    elif row.name.startswith(AUDIT):
        work.audits[row.name.removeprefix(AUDIT)] = audit_from(row.state)
    elif row.name == LOG:
        work.log = log_from(row.state)
    else:
        work.software = SoftwareState(**orjson.loads(row.state))


def row_of(work: Work, name: str, position: int) -> RegisterRow:
    """A register of the books, by its name in the store, as the store is to hold it.

    Only approvals and audits ever stop being active: they are open no longer, and are looked up where they
    are named.
    """
    value: Any = work.software
    active = True
    if name.startswith(PERSON):
        value = work.people[name.removeprefix(PERSON)]
    elif name.startswith(APPROVAL):
        value = work.approvals[name.removeprefix(APPROVAL)]
        active = value.status == "proposed"
    elif name.startswith(AUDIT):
        value = work.audits[name.removeprefix(AUDIT)]
        active = value.verdict is None
    elif name == LOG:
        value = work.log
    return RegisterRow(name, position, active, orjson.dumps(asdict(value)))

"""Between the rows of the registers and the books: people, approvals, the software."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import orjson

from domain.registers import Approval, Person, SoftwareState
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


def learn(work: Work, row: RegisterRow) -> None:
    """Put a register as the store holds it where it belongs in the books."""
    if row.name.startswith(PERSON):
        work.people[row.name.removeprefix(PERSON)] = person_from(row.state)
    elif row.name.startswith(APPROVAL):
        work.approvals[row.name.removeprefix(APPROVAL)] = approval_from(row.state)
    else:
        work.software = SoftwareState(**orjson.loads(row.state))


def row_of(work: Work, name: str, position: int) -> RegisterRow:
    """A register of the books, by its name in the store, as the store is to hold it.

    Only an approval ever stops being active: it is open no longer, and is looked up where it is named.
    """
    value: Any = work.software
    active = True
    if name.startswith(PERSON):
        value = work.people[name.removeprefix(PERSON)]
    elif name.startswith(APPROVAL):
        value = work.approvals[name.removeprefix(APPROVAL)]
        active = value.status == "proposed"
    return RegisterRow(name, position, active, orjson.dumps(asdict(value)))

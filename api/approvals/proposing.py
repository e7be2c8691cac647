"""How a route proposes instead of doing: it returns what `propose` makes."""

from __future__ import annotations

from typing import Any

from api.writing import WithNote
from domain.commands import Propose
from infrastructure import ids
from infrastructure.clock import system_clock


def propose(kind: str, payload: dict[str, Any], note: str | None = None) -> Propose | WithNote:
    """The command that proposes an action. What is None in the payload is left out of it.

    `note` is the reason, in words: kept outside the log.
    """
    told = {name: value for name, value in payload.items() if value is not None}
    command = Propose(new_approval_id(), kind, told)
    return command if note is None else WithNote(command, note)


def new_approval_id() -> str:
    """A new approval's id; ids sort by the time they were made."""
    return ids.approval_id(system_clock())

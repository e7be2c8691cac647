"""What every report says of itself, and how sub-cent amounts are told."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Final

from fastapi import Depends

from api.auth import reader, scopes
from api.shapes import Answer
from api.times import now
from api.tokens import Token
from domain.money import exact_text

REPORTS: Final = frozenset(("reports", "audit"))
"""Who may read reports."""
REPORT_SCOPES: Final = scopes(REPORTS)
Caller = Annotated[Token, Depends(reader(REPORTS))]


class ReportAnswer(Answer):
    """A report: its title and interval, when it was made, and whether there was anything (GLI-19 2.9.1)."""

    title: str
    generated_at: str
    no_activity: bool


def report(title: str, items: list[Any], **about: Any) -> dict[str, Any]:
    """A report with its items. Dates among `about` are told as ISO dates."""
    told = {name: value.isoformat() if isinstance(value, date) else value for name, value in about.items()}
    return {"title": title, **told, "generated_at": now(), "no_activity": not items, "items": items}


def exact(e4: Any) -> str:
    """An amount in 1/10000 minor units as decimal text of minor units; it may be negative."""
    whole = int(e4)
    return f"-{exact_text(-whole)}" if whole < 0 else exact_text(whole)

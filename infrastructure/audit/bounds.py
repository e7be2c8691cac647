"""Which positions are to be audited, as somebody says it: as positions or as moments."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from infrastructure.audit.source import Source

_POSITION: Final = re.compile(r"[1-9][0-9]{0,17}")
_MICROSECOND: Final = timedelta(microseconds=1)


class BoundsError(ValueError):
    """What is to be audited was not said in a way that can be understood: one line that says so."""


def bounds(source: Source, first: str | None, last: str | None) -> tuple[int, int]:
    """The position before the first one to be audited, and the last one.

    Both are given as a position or as a moment (RFC 3339 with an offset), None for all there is. Raises
    BoundsError.
    """
    after, up_to = source.first - 1, source.last
    if first is not None:
        after = int(first) - 1 if _POSITION.fullmatch(first) else _by(source, first, -_MICROSECOND)
    if last is not None:
        up_to = int(last) if _POSITION.fullmatch(last) else _by(source, last, timedelta())
    if not source.first - 1 <= after < up_to <= source.last:
        there = f"positions {source.first} to {source.last}" if source.last >= source.first else "none"
        raise BoundsError(f"there are no events from {after + 1} to {up_to} here: there are {there}")
    return after, up_to


def _by(source: Source, text: str, shift: timedelta) -> int:
    problem = BoundsError(f"{text!r} is neither a position nor a moment such as 2026-11-29T23:00:00Z")
    try:
        moment = datetime.fromisoformat(text)
        asked_for = (moment + shift).astimezone(UTC)
    except (ValueError, OverflowError):
        raise problem from None
    if moment.tzinfo is None:
        raise problem
    return source.last_by(asked_for.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))

"""Moments and days as they are asked for and told: RFC 3339 in UTC, ISO dates; and the books of a moment."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Final, TypeVar

import psycopg
from fastapi import Query
from psycopg_pool import PoolTimeout
from pydantic import AwareDatetime, BeforeValidator

from api.paging import POSITION_MAX
from api.problems import overloaded, validation_failed
from domain.calendar import instant
from infrastructure.point_in_time import ArchivedThenError, BeyondTheLedgerError, NotThereYetError
from infrastructure.read_models import Period
from infrastructure.reading import POSITION_WAIT_SECONDS_MAX, Reading, ReadingUnavailable

DAYS_MAX: Final = 3_700
"""Ten years and some days: what has to be kept is what can be asked for."""

_AT_US_MAX: Final = 2**62
"""Later than any moment."""
_LOOK_SECONDS: Final = 0.05
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_MOMENT: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE
)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_T = TypeVar("_T")


def _moment(text: object) -> object:
    """Let a moment through as it is; raise ValueError for what is none in RFC 3339, such as a number."""
    if isinstance(text, str) and not _MOMENT.fullmatch(text):
        raise ValueError("must be a moment with its offset, as 2026-11-29T23:00:00Z")
    return text


def _day(text: object) -> object:
    """The same for a day."""
    if isinstance(text, str) and not _DAY.fullmatch(text):
        raise ValueError("must be a day, as 2026-11-29")
    return text


_Aware = Annotated[AwareDatetime, BeforeValidator(_moment)]
_Date = Annotated[date, BeforeValidator(_day)]

Moment = Annotated[
    _Aware | None,
    Query(
        description="A moment, RFC 3339 with its offset; what had been recorded by then counts.",
        examples=["2026-11-29T23:00:00Z"],
    ),
]
Position = Annotated[
    int | None,
    Query(ge=0, le=POSITION_MAX, description="The same by the ledger's position.", examples=[4711]),
]
From = Annotated[_Aware | None, Query(alias="from", description="The first moment that counts, RFC 3339.")]
To = Annotated[_Aware | None, Query(alias="to", description="The moment before which it ends, RFC 3339.")]
FirstDay = Annotated[_Date, Query(alias="from", description="The first day, an ISO date.")]
LastDay = Annotated[_Date, Query(alias="to", description="The last day, an ISO date; it counts as well.")]


def microseconds(moment: datetime) -> int:
    """Microseconds since the epoch."""
    return (moment - _EPOCH) // _MICROSECOND


def told(at_us: int | None) -> str | None:
    """A moment in RFC 3339, UTC, with six digits; None stays None."""
    return None if at_us is None else instant(at_us)


def now() -> str:
    """The present moment, as it is told."""
    return instant(microseconds(datetime.now(UTC)))


def require_days(first: date, last: date) -> None:
    """Raise Problem validation_failed unless the days are in order and not too many."""
    if last < first:
        raise validation_failed([{"pointer": "/to", "detail": "is before from"}])
    if (last - first).days >= DAYS_MAX:
        raise validation_failed([{"pointer": "/to", "detail": f"is more than {DAYS_MAX} days after from"}])


async def then(reading: Reading, moment: datetime | None, position: int | None) -> int | None:
    """The position asked for, by itself or as a moment; None where neither was.

    Raises Problem validation_failed where both were, and what `asked` raises.
    """
    if moment is not None and position is not None:
        raise validation_failed([{"pointer": "/at", "detail": "is given beside position: give one"}])
    if moment is None:
        return position
    return await asked(reading.then.position_at, microseconds(moment))


async def period(reading: Reading, cursor: int, since: datetime | None, until: datetime | None) -> Period:
    """What was recorded from a moment on and before another, and after the position of a cursor.

    No moment: from the beginning, to the end. Raises as `asked`.
    """
    after, last, since_us, until_us = cursor, POSITION_MAX, -_AT_US_MAX, _AT_US_MAX
    if since is not None:
        since_us = microseconds(since)
        after = max(after, (await asked(reading.then.around, since_us - 1))[0])
    if until is not None:
        until_us = microseconds(until)
        last = (await asked(reading.then.around, until_us - 1))[1]
    return Period(after, last, since_us, until_us)


async def asked(ask: Callable[..., _T], *parameters: Any) -> _T:
    """What the point in time answers, asked in a thread; where the read side is behind, a bounded time long.

    Raises Problem validation_failed for a position that is not there yet, or that follows from archived
    events; overloaded where the read side has not come to it; and ReadingUnavailable.
    """
    try:
        return await _patiently(ask, *parameters)
    except BeyondTheLedgerError:
        error = {"pointer": "/position", "detail": "is beyond the ledger's last event"}
        raise validation_failed([error]) from None
    except ArchivedThenError:
        error = {"pointer": "/position", "detail": "follows from events that are archived"}
        raise validation_failed([error]) from None
    except NotThereYetError:
        raise overloaded("The read side has not come to this position yet.") from None
    except (psycopg.OperationalError, PoolTimeout) as lost:
        raise ReadingUnavailable(type(lost).__name__) from lost


async def _patiently(ask: Callable[..., _T], *parameters: Any) -> _T:
    end = time.monotonic() + POSITION_WAIT_SECONDS_MAX
    while True:
        try:
            return await asyncio.to_thread(ask, *parameters)
        except NotThereYetError:
            if time.monotonic() > end:
                raise
        await asyncio.sleep(_LOOK_SECONDS)

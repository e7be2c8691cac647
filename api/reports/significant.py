"""Significant events (GLI-19 2.9): what an operator or a regulator wants to be told of."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from fastapi import APIRouter, Request
from psycopg.rows import DictRow
from starlette.responses import Response

from api import openapi
from api.paging import PAGE_MAX, Cursor, Fresh, MinPosition, number_of, page, projected
from api.reports.shapes import REPORT_SCOPES, Caller, ReportAnswer, report
from api.shapes import Answer
from api.times import FirstDay, LastDay, period, require_days, told

router = APIRouter(tags=["reports"])


class SignificantItem(Answer):
    """One event: what kind, which stream it is in, who sent the command, and what else the ledger says of it.

    `account_class` stands where it is about a round.
    """

    position: int
    at: str
    kind: str
    subject: str
    actor: str
    detail: dict[str, Any]
    account_class: str | None = None


class SignificantAnswer(ReportAnswer):
    """A page of the report, the oldest event first."""

    items: list[SignificantItem]
    next_cursor: str | None = None


_REPORT: Final[dict[str, Any]] = {
    "title": "Significant events",
    "from": "2026-11-29",
    "to": "2026-11-29",
    "generated_at": "2026-11-30T06:00:00.000000Z",
    "no_activity": False,
    "items": [
        {
            "position": 4711,
            "at": "2026-11-29T21:24:01.123456Z",
            "kind": "jackpot_disabled",
            "subject": "jackpot-jackpot-1",
            "actor": "anna",
            "detail": {},
        }
    ],
}


@router.get(
    "/v1/reports/significant-events",
    summary="Significant events",
    response_model=SignificantAnswer,
    dependencies=[REPORT_SCOPES],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read(_REPORT),
)
async def read_significant_events(
    request: Request,
    _: Caller,
    reading: Fresh,
    first: FirstDay,
    last: LastDay,
    min_position: MinPosition = None,
    cursor: Cursor = None,
) -> Response:
    """Of UTC dates, the oldest first."""
    require_days(first, last)
    await projected(reading, min_position, "significant_events")
    end = _begin(last + timedelta(days=1)) if last < date.max else None
    asked_for = await period(reading, number_of(cursor), _begin(first), end)
    # An event may count as two kinds: a page ends behind a whole event.
    rows = await reading.models.significant_events(asked_for, 2 * PAGE_MAX)
    shown, more = _whole_events(rows)
    value = report("Significant events", [_item(row) for row in shown], **{"from": first, "to": last})
    return page(request, value, shown[-1]["position"] if more else None)


def _whole_events(rows: list[DictRow]) -> tuple[list[DictRow], bool]:
    if len(rows) < 2 * PAGE_MAX:
        return rows, False
    last = rows[-1]["position"]
    return [row for row in rows if row["position"] < last], True


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _item(row: DictRow) -> dict[str, Any]:
    item = {name: row[name] for name in ("position", "kind", "subject", "actor", "detail")}
    if row["account_class"] is not None:
        item["account_class"] = row["account_class"]
    return {**item, "at": told(row["at_us"])}

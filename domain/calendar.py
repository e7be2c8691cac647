"""The gaming day and its hours: which day and hour of a table's calendar a moment belongs to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

QUARTER_US = 15 * 60 * 1_000_000


def gaming_day(at_us: int, zone: str, cutoff_hour: int) -> str:
    """The ISO date of the gaming day of a moment, at a table in `zone` whose day starts at `cutoff_hour`.

    The moment is in microseconds since the epoch.
    The wall clock decides: a day is 23 or 25 hours long when the zone changes its offset. Every offset in
    use is a multiple of a quarter of an hour, so that one answer serves each quarter.
    """
    return _day_of_quarter(at_us // QUARTER_US, zone, cutoff_hour)


def hour_start_us(at_us: int, zone: str) -> int:
    """The start of the wall clock's hour in `zone` that a moment belongs to.

    Both are in microseconds since the epoch, so that the hour which the clock shows twice is two hours. An
    hour within which the zone changes its offset (Lord Howe Island's clocks move by half of one) is cut
    there: what comes after begins at the change.
    """
    return _hour_of_quarter(at_us // QUARTER_US, zone) * QUARTER_US


@lru_cache(maxsize=4096)
def _hour_of_quarter(quarter: int, zone: str) -> int:
    local = _local(quarter, zone)
    start = quarter - local.minute // 15
    while _local(start, zone).utcoffset() != local.utcoffset():
        start += 1
    return start


def _local(quarter: int, zone: str) -> datetime:
    return datetime.fromtimestamp(quarter * 900, UTC).astimezone(ZoneInfo(zone))


@lru_cache(maxsize=4096)
def _day_of_quarter(quarter: int, zone: str, cutoff_hour: int) -> str:
    local = _local(quarter, zone).replace(tzinfo=None)
    return (local - timedelta(hours=cutoff_hour)).date().isoformat()


def instant(at_us: int) -> str:
    """A moment (microseconds since the epoch) as RFC 3339 text in UTC, with six digits of the second."""
    seconds, microseconds = divmod(at_us, 1_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{microseconds:06d}Z"

"""The gaming day: which day of a table's calendar a moment belongs to."""

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


@lru_cache(maxsize=4096)
def _day_of_quarter(quarter: int, zone: str, cutoff_hour: int) -> str:
    local = datetime.fromtimestamp(quarter * 900, UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return (local - timedelta(hours=cutoff_hour)).date().isoformat()

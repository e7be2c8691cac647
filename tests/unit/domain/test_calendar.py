"""The gaming day: a table's zone and cut-off hour decide, by the wall clock."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from domain.calendar import gaming_day


@pytest.mark.parametrize(
    ("moment", "zone", "cutoff", "day"),
    [
        ("2026-10-02T00:00:00", "UTC", 0, "2026-10-02"),
        ("2026-10-01T23:59:59.999999", "UTC", 0, "2026-10-01"),
        ("2026-10-02T05:59:59.999999", "UTC", 6, "2026-10-01"),
        ("2026-10-02T06:00:00", "UTC", 6, "2026-10-02"),
        ("2026-10-01T22:00:00", "Europe/Copenhagen", 0, "2026-10-02"),
        ("2026-10-01T21:59:59", "Europe/Copenhagen", 0, "2026-10-01"),
        ("2026-10-02T03:59:59", "America/New_York", 0, "2026-10-01"),
        ("2026-10-02T04:00:00", "America/New_York", 0, "2026-10-02"),
        ("2026-10-01T18:15:00", "Asia/Kathmandu", 0, "2026-10-02"),
        ("2026-10-01T18:14:59", "Asia/Kathmandu", 0, "2026-10-01"),
        # The night of 25 October 2026 has 25 hours: 03:00 local comes at 02:00 UTC, 06:00 at 05:00 UTC.
        ("2026-10-25T04:59:59", "Europe/Copenhagen", 6, "2026-10-24"),
        ("2026-10-25T05:00:00", "Europe/Copenhagen", 6, "2026-10-25"),
        # The night of 29 March 2026 has 23: 06:00 local is 04:00 UTC.
        ("2026-03-29T03:59:59", "Europe/Copenhagen", 6, "2026-03-28"),
        ("2026-03-29T04:00:00", "Europe/Copenhagen", 6, "2026-03-29"),
        ("2026-01-01T00:00:00", "UTC", 23, "2025-12-31"),
    ],
)
def test_the_day_of_a_moment(moment: str, zone: str, cutoff: int, day: str) -> None:
    """Each moment belongs to one day; the cut-off itself begins the new one."""
    since = datetime.fromisoformat(moment).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    microseconds = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    assert gaming_day(microseconds, zone, cutoff) == day

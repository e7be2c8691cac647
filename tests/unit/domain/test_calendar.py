"""The gaming day and its hours: a table's zone and cut-off hour decide, by the wall clock."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from domain.calendar import gaming_day, hour_start_us, instant


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
    assert gaming_day(_us(moment), zone, cutoff) == day


@pytest.mark.parametrize(
    ("moment", "zone", "start"),
    [
        ("2026-10-02T12:00:00", "UTC", "2026-10-02T12:00:00"),
        ("2026-10-02T12:59:59.999999", "UTC", "2026-10-02T12:00:00"),
        ("2026-10-02T12:10:00", "Asia/Kathmandu", "2026-10-02T11:15:00"),
        # 02:00 to 03:00 comes twice on 25 October 2026: the first at 00:00 UTC, the second an hour later.
        ("2026-10-25T00:59:59", "Europe/Copenhagen", "2026-10-25T00:00:00"),
        ("2026-10-25T01:00:00", "Europe/Copenhagen", "2026-10-25T01:00:00"),
        # 01:59 is followed by 03:00 on 28 March 2027.
        ("2027-03-28T00:59:59", "Europe/Copenhagen", "2027-03-28T00:00:00"),
        ("2027-03-28T01:00:00", "Europe/Copenhagen", "2027-03-28T01:00:00"),
        # 01:59 is followed by 02:30 on 4 October 2026: half an hour is left of the hour.
        ("2026-10-03T15:29:59", "Australia/Lord_Howe", "2026-10-03T14:30:00"),
        ("2026-10-03T15:45:00", "Australia/Lord_Howe", "2026-10-03T15:30:00"),
        ("2026-10-03T16:00:00", "Australia/Lord_Howe", "2026-10-03T16:00:00"),
        # 01:59 is followed by 01:30 on 4 April 2027: an hour, then the half of it that comes again.
        ("2027-04-03T14:59:59", "Australia/Lord_Howe", "2027-04-03T14:00:00"),
        ("2027-04-03T15:15:00", "Australia/Lord_Howe", "2027-04-03T15:00:00"),
        ("2027-04-03T15:30:00", "Australia/Lord_Howe", "2027-04-03T15:30:00"),
        # 23:59 is followed by 01:00 on 30 April 2027.
        ("2027-04-29T22:00:00", "Africa/Cairo", "2027-04-29T22:00:00"),
    ],
)
def test_the_hour_of_a_moment(moment: str, zone: str, start: str) -> None:
    """An hour begins where the wall clock's does, or with the change of the clock that cuts it."""
    assert hour_start_us(_us(moment), zone) == _us(start)


@pytest.mark.parametrize(
    "text", ["1970-01-01T00:00:00.000000Z", "2026-11-30T09:15:07.000042Z", "2099-12-31T23:59:59.999999Z"]
)
def test_a_moment_in_text(text: str) -> None:
    """RFC 3339 in UTC, always with six digits of the second, so that texts sort as their moments."""
    assert instant(_us(text.removesuffix("Z"))) == text


def _us(moment: str) -> int:
    since = datetime.fromisoformat(moment).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds

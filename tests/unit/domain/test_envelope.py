"""The envelope's names for the library that stores events."""

from __future__ import annotations

from datetime import UTC, datetime

from domain.envelope import Recorded
from domain.events import BettingClosed


def test_an_envelope_is_what_the_library_calls_a_domain_event() -> None:
    """Stream, version and time under the library's names."""
    moment = datetime(2026, 10, 2, 12, tzinfo=UTC)
    recorded = Recorded(7, moment, "round-r", 3, BettingClosed(2), {"actor": "tests"}, "A" * 22)
    names = (recorded.originator_id, recorded.originator_version, recorded.timestamp)
    assert names == ("round-r", 3, moment)

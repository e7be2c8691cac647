"""Every event's own bytes: canonical, where they say they are, and after the ones before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import orjson

from infrastructure.checking.findings import Finding

_T = TypeVar("_T")

Row = tuple[int, int, str, bytes]
"""An event as it is kept: position, version, stream, bytes."""

_CANONICAL: Final = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_MEMBERS: Final = ["data", "meta", "position", "recorded_at", "salt", "stream", "type", "version"]
_META: Final = frozenset(("actor", "command", "schema"))
_TIME_CHARACTERS: Final = len("2026-11-29T21:24:01.000000Z")
_SALT_CHARACTERS: Final = 22
_SCHEMA: Final = 1


def type_of(data: bytes) -> bytes:
    """Return the type of an event without reading the rest; anything where it is no event.

    Only ``version``, a number, comes after ``type`` in the canonical form: the last mark is the one.
    """
    return data.rpartition(b'"type":"')[2].partition(b'"')[0]


class Envelopes:
    """Reads events in the order of their positions; `position` and `recorded_at` are the last one's."""

    def __init__(self) -> None:
        self.position = 0
        self.recorded_at = ""
        self._findings: list[Finding] = []

    def begin(self, position: int) -> None:
        """Go on after a position, whenever it was recorded."""
        self.position, self.recorded_at = position, ""

    def take_findings(self) -> list[Finding]:
        """Return what was found since the last time."""
        found, self._findings = self._findings, []
        return found

    def read(self, row: Row) -> dict[str, Any] | None:
        """Return an event, None where it cannot be read; what is wrong with it is among the findings."""
        position, version, stream, data = row
        if position != self.position + 1:
            missing = self.position + 1
            self._found("position_gap", missing, f"position {missing} is missing: {position} comes next")
        self.position = position
        try:
            return self._event(position, version, stream, data)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            # What an edited event holds can be anything; the checker survives it and says where.
            self._found("unreadable", position, f"the event is not one of its kind ({type(error).__name__})")
            return None

    def check(self, read: Callable[[dict[str, Any]], _T], event: dict[str, Any]) -> _T | None:
        """Return what `read` makes of the last event; None, and a finding, where it is none of its kind."""
        try:
            return read(event)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._found("unreadable", self.position, f"the event makes no sense ({type(error).__name__})")
            return None

    def _event(self, position: int, version: int, stream: str, data: bytes) -> dict[str, Any]:
        event: dict[str, Any] = orjson.loads(data)
        if orjson.dumps(event, option=_CANONICAL) != data or list(event) != _MEMBERS:
            self._found("canonical", position, "the bytes are not the canonical form of what they say")
        if (event["position"], event["version"], event["stream"]) != (position, version, stream):
            said = f"{event['stream']} {event['version']} at {event['position']}"
            self._found("place", position, f"kept as {stream} {version}, the bytes say {said}")
        recorded_at = event["recorded_at"]
        if len(recorded_at) != _TIME_CHARACTERS or recorded_at[-1] != "Z":
            raise ValueError(recorded_at)
        if recorded_at <= self.recorded_at:
            self._found("time", position, f"recorded at {recorded_at}, not after {self.recorded_at}")
        self.recorded_at = recorded_at
        meta = event["meta"]
        if not meta.keys() >= _META or len(event["salt"]) != _SALT_CHARACTERS:
            self._found("envelope", position, "the envelope lacks what every event has")
        if meta["schema"] != _SCHEMA:
            raise ValueError(meta["schema"])
        return event

    def _found(self, name: str, position: int, detail: str) -> None:
        self._findings.append(Finding(name, position, detail))

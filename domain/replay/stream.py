"""The shape of a round's stream: well-formed events, gap-free versions, one order, a beginning and an end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from domain.replay.fields import Data, wrong_field
from domain.replay.report import PROBLEMS_MAX, Findings
from domain.replay.shapes import ENVELOPE, EVENTS

EVENTS_MAX: Final = 65_536
"""The longest stream that is looked at: 5 000 seats with five events each fit twice."""

_STREAM_PREFIX: Final = "round-"


class Record(NamedTuple):
    """One well-formed event: its place, the command it came from, and its data."""

    version: int
    position: int
    recorded_at: str
    stream: str
    command: str
    type: str
    data: Data

    def problem(self, why: str) -> dict[str, Any]:
        """The event named as one at fault."""
        return {"version": self.version, "type": self.type, "problem": why}


def read(events: Sequence[Mapping[str, Any]], findings: Findings) -> tuple[Record, ...]:
    """The well-formed events, in the order given.

    Any other is a problem of ``events_well_formed`` and is left out.
    """
    records: list[Record] = []
    problems: list[dict[str, Any]] = []
    if len(events) > EVENTS_MAX:
        problems.append({"problem": f"more than {EVENTS_MAX} events"})
        events = ()
    for index, event in enumerate(events):
        wrong = _wrong(event)
        if wrong is None:
            place = (event["version"], event["position"], event["recorded_at"], event["stream"])
            records.append(Record(*place, event["meta"]["command"], event["type"], event["data"]))
        elif len(problems) < PROBLEMS_MAX:
            problems.append({"event": index, "field": wrong})
    findings.none_of("events_well_formed", problems)
    return tuple(records)


def _wrong(event: Mapping[str, Any]) -> str | None:
    """The path of the first wrong field of an event, or None."""
    wrong = wrong_field(event, ENVELOPE)
    if wrong is not None:
        return wrong
    wrong = wrong_field(event["data"], EVENTS[event["type"]])
    return None if wrong is None else f"data.{wrong}"


def round_id(records: Sequence[Record]) -> str:
    """The round the stream is about; empty for no stream."""
    return records[0].stream.removeprefix(_STREAM_PREFIX) if records else ""


def check(records: Sequence[Record], findings: Findings) -> None:
    """Check what holds for the stream of any finished round, whatever was played in it."""
    findings.same("versions_gap_free", [], _out_of_place([record.version for record in records]))
    pairs = list(pairwise(records))
    findings.none_of(
        "positions_increasing", [b.problem("position") for a, b in pairs if b.position <= a.position]
    )
    findings.none_of(
        "recorded_at_increasing",
        [b.problem("recorded_at") for a, b in pairs if b.recorded_at <= a.recorded_at],
    )
    findings.none_of("one_stream", [b.problem("stream") for a, b in pairs if b.stream != a.stream])
    openings = [record.version for record in records if record.type == "RoundOpened"]
    findings.same("opened_first", [1], openings[:PROBLEMS_MAX])


def _out_of_place(versions: Sequence[int]) -> list[dict[str, int]]:
    """The versions that are not one more than the one before, counted from 1."""
    wrong = [
        {"expected": expected, "actual": actual}
        for expected, actual in enumerate(versions, 1)
        if expected != actual
    ]
    return wrong[:PROBLEMS_MAX]

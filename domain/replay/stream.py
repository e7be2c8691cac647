"""The shape of a round's stream: well-formed events, gap-free versions, one order, a beginning and an end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import lt
from typing import Any, Final, TypeAlias

from domain.replay.records import Record as Typed
from domain.replay.records import Stored, read_all_fast, read_closely
from domain.replay.report import PROBLEMS_MAX, Findings

Record: TypeAlias = Typed[Any]

EVENTS_MAX: Final = 65_536
"""The longest stream that is looked at: 5 000 seats with five events each fit twice."""

_STREAM_PREFIX: Final = "round-"


def read(events: Sequence[Stored], findings: Findings) -> Sequence[Record]:
    """The well-formed events, in the order given.

    Any other is a problem of ``events_well_formed`` and is left out.
    """
    problems: list[dict[str, Any]] = []
    if len(events) > EVENTS_MAX:
        problems.append({"problem": f"more than {EVENTS_MAX} events"})
        events = ()
    records: Sequence[Record] | None = read_all_fast(events)
    if records is None:
        records = _read_closely(events, problems)
    findings.none_of("events_well_formed", problems)
    return records


def _read_closely(events: Sequence[Stored], problems: list[dict[str, Any]]) -> list[Record]:
    records = []
    for index, event in enumerate(events):
        read = read_closely(event)
        if isinstance(read, Typed):
            records.append(read)
        elif len(problems) < PROBLEMS_MAX:
            problems.append({"event": index, "field": read})
    return records


def round_id(records: Sequence[Record]) -> str:
    """The round the stream is about; empty for no stream."""
    return records[0].stream.removeprefix(_STREAM_PREFIX) if records else ""


def check(records: Sequence[Record], findings: Findings) -> None:
    """Check what holds for the stream of any finished round, whatever was played in it."""
    findings.same("versions_gap_free", [], _out_of_place([record.version for record in records]))
    positions = [record.position for record in records]
    findings.none_of("positions_increasing", _not_after(records, positions, "position"))
    times = [record.recorded_at for record in records]
    findings.none_of("recorded_at_increasing", _not_after(records, times, "recorded_at"))
    findings.none_of(
        "one_stream", [b.problem("stream") for a, b in pairwise(records) if b.stream != a.stream]
    )
    openings = [record.version for record in records if record.type == "RoundOpened"]
    findings.same("opened_first", [1], openings[:PROBLEMS_MAX])


def _not_after(records: Sequence[Record], values: Sequence[Any], name: str) -> list[dict[str, Any]]:
    """The events whose value is not greater than that of the one before."""
    if all(map(lt, values, values[1:])):
        return []
    return [
        record.problem(name) for record, (a, b) in zip(records[1:], pairwise(values), strict=True) if b <= a
    ]


def _out_of_place(versions: Sequence[int]) -> list[dict[str, int]]:
    """The versions that are not one more than the one before, counted from 1."""
    expected = range(1, len(versions) + 1)
    if versions == [*expected]:
        return []
    wrong = [{"expected": e, "actual": a} for e, a in zip(expected, versions, strict=True) if e != a]
    return wrong[:PROBLEMS_MAX]

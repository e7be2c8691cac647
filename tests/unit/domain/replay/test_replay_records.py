"""Both ways of reading an event give the same: the fast one into typed objects, the close one by shapes."""

from __future__ import annotations

import copy
import types
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.replay import read_closely, read_fast, replay
from domain.replay.kinds import KINDS
from domain.replay.records import are_enveloped, read_all_fast
from domain.replay.shapes import EVENTS
from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.honest_rounds import HONEST
from tests.unit.domain.replay.stream_builder import find
from tests.unit.domain.replay.test_replay_malformed import CHOICES, STREAMS, WRONG, mutate, reorder


def stored(event: Any) -> bytes:
    """The bytes an event is stored as."""
    return orjson.dumps(event, option=orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER)


def test_the_kinds_have_the_fields_of_the_shapes_in_alphabetical_order() -> None:
    """Read and written again, an event's bytes can only be the same if its fields are, in the same order."""
    assert {kind.__name__ for kind in KINDS} == EVENTS.keys()
    for kind in KINDS:
        fields = msgspec.structs.fields(kind)

        assert [field.name for field in fields] == sorted(EVENTS[kind.__name__].fields)
        assert {field.name for field in fields if field.required} == EVENTS[kind.__name__].required


@pytest.mark.parametrize("play", HONEST, ids=lambda play: play.__name__)
def test_honest_events_are_read_fast_and_the_same_closely(play: Any) -> None:
    """Objects, bytes and records give equal records, and one report."""
    stream = play()
    said = [stored(event) for event in stream.events]
    records = [record for record in map(read_fast, said) if record is not None]

    assert records == read_all_fast(stream.events) == read_all_fast(said)
    assert records == [*map(read_closely, said)] == [*map(read_closely, records)]
    reports = {
        str(replay(events, stream.document, stream.jackpot)) for events in (stream.events, said, records)
    }
    assert len(reports) == 1


ODD: dict[str, tuple[bytes, bytes]] = {
    "a_space": (b'{"data":', b'{"data": '),
    "a_number_with_a_point": (b'"position":101', b'"position":101.0'),
    "a_field_twice": (b'"version":1}', b'"version":1,"version":1}'),
    "an_escape": (b'"meta":', b'"\\u006deta":'),
    "another_order": (b'"seat":3,', b""),
    "more_in_meta": (b'"schema":1', b'"schema":1,"shard":2'),
    "no_json": (b"{", b"["),
    "no_utf_8": (b"operator", b"\xff"),
    "another_type": (b"RoundOpened", b"WalletOpened"),
    "an_empty_field": (b'"rng":"os"', b'"rng":null'),
}


@pytest.mark.parametrize(("old", "new"), ODD.values(), ids=ODD)
def test_what_is_not_as_it_is_stored_is_not_read_fast(old: bytes, new: bytes) -> None:
    """The fast way takes the exact bytes only; anything else is looked at by the shapes."""
    data = stored(honest.rng_block_in_one_command().events[0])
    changed = data.replace(old, new, 1) if old in data else data[:-1] + b',"a":1}'

    assert changed != data
    assert read_fast(data) is not None
    assert read_fast(changed) is None


def test_bytes_that_are_no_json_are_named() -> None:
    """An event that cannot be read at all is a problem of its own."""
    assert read_closely(b"{") == "(not JSON)"
    assert read_fast(b"") is None
    assert replay([b"{"], {}).checks[0].actual == [{"event": 0, "field": "(not JSON)"}]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("recorded_at", "2026-11-29 21:24:01.000007Z"),
        ("recorded_at", "2026-11-29T21:24:01.00000éZ"),
        ("salt", "!" * 22),
        ("stream", "wallet-1"),
        ("stream", "round-r-2"),
    ],
)
def test_what_the_parser_does_not_see_of_an_envelope_is_looked_at(field: str, value: str) -> None:
    """Times, salts and streams are texts of a length to the parser: they are looked at all together."""
    events = honest.us_quads().copy()
    events[2][field] = value
    records = [record for record in map(read_fast, map(stored, events)) if record is not None]

    assert len(records) == len(events)
    assert not are_enveloped(records)
    assert read_all_fast(events) is None


MALFORMED = {
    **WRONG,
    "table_no_name": ("RoundOpened", "table_id", "a b"),
    "day_no_day": ("RoundOpened", "gaming_day", "29.11.2026"),
    "commitment_no_hash": ("RoundOpened", "deck_commitment", "x" * 64),
    "share_no_share": ("RoundOpened", "jackpot", {"contribution": "2.5", "id": "j", "reset": 1}),
    "jackpot_no_name": ("SideBetPlaced", "jackpot_id", "j 1"),
    "contribution_no_amount": ("SideBetPlaced", "contribution", "07"),
    "result_no_name": ("Settled", "result", "won!"),
    "hit_by_nobody": ("JackpotHit", "player", ""),
    "seed_no_seed": ("RoundClosed", "deck_seed", "x" * 96),
}


@pytest.mark.parametrize(("kind", "field", "value"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_event_is_not_read_fast(kind: str, field: str, value: Any) -> None:
    """What the shapes refuse, the parser refuses too."""
    stream = honest.macau_top_up() if kind != "CardExchanged" else honest.czech_exchange()
    event = find(stream.copy(), kind)
    event["data"][field] = value

    assert isinstance(read_closely(event), str)
    assert read_all_fast([event]) is None


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("ruleset", "id", "a b"),
        ("ruleset", "sha256", "x" * 64),
        ("jackpot", "contribution", "2.5"),
        ("jackpot", "diversion", "2.5"),
        ("jackpot", "id", "j 1"),
    ],
)
def test_malformed_references_are_not_read_fast(part: str, field: str, value: str) -> None:
    """The parts of the first event are looked at like the event itself."""
    event = honest.macau_top_up().copy()[0]
    event["data"][part][field] = value

    assert isinstance(read_closely(event), str)
    assert read_all_fast([event]) is None


@pytest.mark.parametrize(
    ("play", "kind", "field", "value"),
    [
        (honest.void_after_reveal, "ContributionReversed", "amount", "07"),
        (honest.void_misdeal, "RoundVoided", "cause", "a b"),
        (honest.void_misdeal, "RoundVoided", "note_sha256", "x" * 64),
        (honest.void_misdeal, "RoundVoided", "deck_seed", "x" * 96),
    ],
)
def test_malformed_ends_of_a_void_round_are_not_read_fast(
    play: Any, kind: str, field: str, value: str
) -> None:
    """The events of a void round are looked at like all others."""
    event = find(play().copy(), kind)
    event["data"][field] = value

    assert isinstance(read_closely(event), str)
    assert read_all_fast([event]) is None


def test_what_the_parser_would_refuse_and_the_shapes_would_not_is_read_closely() -> None:
    """A bet of a name that no house knows is well-formed, and a finding of the checks."""
    stream = honest.us_quads()
    events = stream.copy()
    find(events, "Settled")["data"]["bets"][0]["bet"] = "insurance"

    assert read_all_fast(events) is None
    report = replay(events, stream.document, stream.jackpot)
    assert report.checks[0].result == "pass"
    assert "settled.seat_3.bets" in report.failed()


def other_mapping(event: Any) -> Any:
    """An object as a mapping that is no dict; anything else as it is."""
    return types.MappingProxyType(event) if isinstance(event, dict) else event


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_report_does_not_depend_on_the_way_events_were_read(data: st.DataObject) -> None:
    """Whatever is done to events: read fast where that goes, or all closely, the report is the same."""
    stream = STREAMS[data.draw(CHOICES) % len(STREAMS)]
    events = copy.deepcopy(stream.events)
    for _ in range(data.draw(st.integers(0, 2))):
        if data.draw(st.integers(0, 4)) == 0:
            reorder(data, events)
        else:
            mutate(data, [events])
    # The fast way takes dicts and bytes only; this is a mapping of another kind, and takes the other.
    closely: list[Any] = [*map(other_mapping, events)]

    assert read_all_fast(closely) is None or not closely
    assert replay(events, stream.document) == replay(closely, stream.document)

"""Whatever is handed to the replay, it answers with a report and never raises."""

from __future__ import annotations

import copy
import dataclasses
import types
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import events as domain_events
from domain.replay import replay
from domain.replay.report import PROBLEMS_MAX
from domain.replay.shapes import EVENTS
from domain.replay.stream import EVENTS_MAX
from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.honest_rounds import HONEST
from tests.unit.domain.replay.stream_builder import find

STREAMS = [play() for play in HONEST]

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(0, 12),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["As", "2c", "seat", "dealer", "0", "0.5", "1000000", "royal_flush", "jackpot", "bonus", "table"]
    ),
    st.sampled_from(["\ud800", "x" * 100_000, 10**30, -1, 2**63]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) below a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, inner in list(items):
        found.append((value, key))
        found += places(inner)
    return found


CHOICES = st.integers(0, 10**6)


def chosen(data: st.DataObject, things: list[Any]) -> list[Any]:
    """One of these things, or none where there are none."""
    return things and [things[data.draw(CHOICES) % len(things)]]


def mutate(data: st.DataObject, parts: list[Any]) -> None:
    """Replace or take away one value somewhere below these parts."""
    found = [(container, key) for container, key in places(parts) if container is not parts]
    for container, key in chosen(data, found):
        if data.draw(st.booleans()):
            container[key] = data.draw(VALUES)
        else:
            del container[key]


def reorder(data: st.DataObject, events: list[Any]) -> None:
    """Move one event, or leave it out, or write it twice."""
    for place in chosen(data, list(range(len(events)))):
        event = events.pop(place)
        for _ in range(data.draw(st.integers(0, 2))):
            events.insert(data.draw(CHOICES) % (len(events) + 1), event)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_no_mutation_makes_the_replay_raise(data: st.DataObject) -> None:
    """Events and documents with values replaced, taken away, repeated or moved still get a whole report."""
    stream = STREAMS[data.draw(CHOICES) % len(STREAMS)]
    events, documents = stream.copy(), copy.deepcopy([stream.document, stream.jackpot or {"reset": 1}])
    for _ in range(data.draw(st.integers(1, 4))):
        kind = data.draw(st.integers(0, 9))
        if kind == 0:
            mutate(data, documents)
        elif kind == 1:
            reorder(data, events)
        else:
            mutate(data, [events])

    report = replay(events, *documents)

    assert report.as_json()["verdict"] == ("fail" if report.failed() else "pass")


WRONG: dict[str, tuple[str, str, Any]] = {
    "amount_as_text": ("AntePlaced", "amount", "100"),
    "amount_as_bool": ("AntePlaced", "amount", True),
    "amount_as_float": ("AntePlaced", "amount", 100.0),
    "amount_negative": ("AntePlaced", "amount", -1),
    "amount_huge": ("AntePlaced", "amount", 10**12 + 1),
    "player_no_name": ("AntePlaced", "player", "a b"),
    "client_seed_surrogate": ("AntePlaced", "client_seed", "\udfff"),
    "client_seed_long": ("AntePlaced", "client_seed", "x" * 513),
    "unknown_card": ("Dealt", "cards", ["1c"]),
    "card_no_text": ("Dealt", "cards", [1, 2, 3, 4, 5]),
    "cards_twice": ("Dealt", "cards", ["As", "As", "2c", "3c", "4c"]),
    "cards_too_many": ("Dealt", "cards", ["As", "Ad", "2c", "3c", "4c", "5c"]),
    "cards_no_array": ("Dealt", "cards", "As"),
    "to_nobody": ("Dealt", "to", "nobody"),
    "qualified_no_bool": ("DealerQualified", "qualified", 1),
    "discard_no_card": ("CardExchanged", "discard", ["Tc"]),
    "bets_no_array": ("Settled", "bets", {"bet": "ante"}),
    "bets_too_many": ("Settled", "bets", [{"bet": "ante", "stake": 1, "returned": 1, "won": 0}] * 17),
    "bet_no_object": ("Settled", "bets", ["ante"]),
    "meter_trailing_zero": ("JackpotHit", "meter_before", "70.50"),
    "meter_five_decimals": ("JackpotHit", "meter_before", "70.00001"),
    "unknown_field": ("RoundClosed", "note", "x"),
    "field_no_name": ("RoundClosed", 7, "x"),  # type: ignore[dict-item]
}


@pytest.mark.parametrize(("kind", "field", "value"), WRONG.values(), ids=WRONG)
def test_a_wrong_field_is_named(kind: str, field: str, value: Any) -> None:
    """A malformed event is named by its place and field, and the other checks still run."""
    stream = honest.macau_top_up() if kind != "CardExchanged" else honest.czech_exchange()
    events = stream.copy()
    event = find(events, kind)
    event["data"][field] = value

    report = replay(events, stream.document, stream.jackpot)

    check = report.checks[0]
    name = field if isinstance(field, str) else "(not a name)"
    assert (check.check, check.result) == ("events_well_formed", "fail")
    assert check.actual == [{"event": events.index(event), "field": f"data.{name}"}]
    assert len(report.checks) > 2 * PROBLEMS_MAX


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("recorded_at", "2026-11-29 21:24:01"),
        ("salt", "00"),
        ("stream", "wallet-1"),
        ("type", "Deposited"),
        ("version", 0),
        ("meta", {"actor": "a", "command": "c", "schema": 2}),
        ("meta", []),
        ("data", []),
    ],
)
def test_a_wrong_envelope_is_named(field: str, value: Any) -> None:
    """What is no stored event of a round is named by the field of its envelope that says so."""
    stream = honest.us_quads()
    events = stream.copy()
    events[2][field] = value

    assert replay(events, stream.document).checks[0].actual == [{"event": 2, "field": field}]


def test_a_missing_field_is_named() -> None:
    """A required field that is not there is named."""
    stream = honest.us_quads()
    events = stream.copy()
    del events[2]["data"]["player"]

    assert replay(events, stream.document).checks[0].actual == [{"event": 2, "field": "data.player"}]


def test_events_that_are_no_objects_are_counted_up_to_a_bound() -> None:
    """Of a thousand things that are no events, the first are named and the report stays small."""
    report = replay([None] * 1000, {})  # type: ignore[list-item]

    assert len(report.checks[0].actual) == PROBLEMS_MAX
    assert report.checks[0].actual[0] == {"event": 0, "field": "(not an object)"}


def test_a_stream_longer_than_any_round_is_not_looked_at() -> None:
    """More events than a round can have are refused as a whole."""
    stream = honest.us_quads()

    report = replay([stream.events[0]] * (EVENTS_MAX + 1), stream.document)

    assert report.checks[0].actual == [{"problem": f"more than {EVENTS_MAX} events"}]


def test_no_events_are_no_round() -> None:
    """An empty stream fails, with every other check made or named as not applicable."""
    report = replay([], {})

    assert report.failed() == ("opened_first", "finished")


@pytest.mark.parametrize(
    "document", [{}, {"id": "\ud800"}, {"id": "x" * 300_000}, None, types.MappingProxyType({})]
)
def test_unusable_rules_fail_and_leave_the_rest_of_the_report(document: Any) -> None:
    """Without a usable rule set the checks that need none are still made."""
    stream = honest.rng_block_in_one_command()

    report = replay(stream.events, document)

    assert report.failed() == ("ruleset_well_formed", "ruleset_hash")
    results = {check.check: check.result for check in report.checks}
    assert results["deck_commitment"] == "pass"
    assert results["settled"] == "not_applicable"


def test_unusable_jackpot_parameters_fail() -> None:
    """A jackpot document without canonical form fails its two checks and nothing else."""
    stream = honest.macau_top_up()

    report = replay(stream.events, stream.document, {"reset": 2**60})

    assert report.failed() == ("jackpot_parameters_hash", "jackpot_parameters")


def test_the_shapes_name_the_fields_of_the_events() -> None:
    """The replay expects of each event the fields of the domain's event class, no more and no less."""
    for name, shape in EVENTS.items():
        fields = dataclasses.fields(getattr(domain_events, name))

        assert shape.fields.keys() == {field.name for field in fields}
        assert shape.required == {field.name for field in fields if field.default is dataclasses.MISSING}


def test_a_report_is_shown_without_absent_values() -> None:
    """The HTTP contract's form leaves out what is not there to be said."""
    shown = replay([], {}).as_json()

    assert shown["verdict"] == "fail"
    assert {"check": "events_well_formed", "result": "pass"} in shown["checks"]
    assert {"check": "opened_first", "result": "fail", "expected": [1], "actual": []} in shown["checks"]

"""The stored form of events: the bytes RFC 8785 prescribes, and nothing that does not round-trip."""

from __future__ import annotations

import dataclasses
import types
import typing
import unicodedata
from datetime import UTC, datetime
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from domain import events as ev
from infrastructure.ledger.json_values import NotJsonError, from_json, to_json
from infrastructure.ledger.stored_form import (
    EVENT_BYTES_MAX,
    NotReadableError,
    NotStorableError,
    StoredForm,
    decode,
    encode,
    schema_of,
    type_of,
)

INTEGER_MAX = 2**53 - 1
SALT = "Vv7VSNBPyJhcsTRsTnjx2A"
META: dict[str, str | int] = {"actor": "operator", "command": "A" * 22, "schema": 1}


# ── Events of every class, made from the annotations ───────────────────────────────────────────────────
def _is_storable(text: str) -> bool:
    bad = any(
        unicodedata.category(c) in ("Cc", "Cs") or ord(c) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(c) <= 0xFDEF
        for c in text
    )
    return not bad and unicodedata.is_normalized("NFC", text)


texts = st.text(max_size=20).map(lambda text: unicodedata.normalize("NFC", text)).filter(_is_storable)
integers = st.integers(-INTEGER_MAX, INTEGER_MAX)
keys = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=8)
trees = st.dictionaries(
    keys,
    st.recursive(
        texts | integers | st.booleans(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Return values of an annotation."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return st.one_of([st.none() if arm is types.NoneType else values(arm) for arm in arguments])
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=4).map(tuple)
    if origin is dict:
        return trees
    if dataclasses.is_dataclass(hint):
        return objects(typing.cast("type", hint))
    return {str: texts, int: integers, bool: st.booleans()}[hint]


def objects(cls: type) -> st.SearchStrategy[Any]:
    """Return objects of a dataclass."""
    hints = typing.get_type_hints(cls)
    return st.builds(cls, **{field.name: values(hints[field.name]) for field in dataclasses.fields(cls)})


any_event = st.sampled_from(ev.EVENT_CLASSES).flatmap(objects)


def plain(value: Any) -> Any:
    """Return an event's data in the slow, obvious way: fields without None, tuples as lists."""
    if dataclasses.is_dataclass(value):
        pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: plain(item) for name, item in pairs if item is not None}
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def stored(event: Any, **changed: Any) -> bytes:
    """Encode an event in an ordinary envelope."""
    envelope = {
        "position": 7,
        "recorded_at_us": 0,
        "stream": "round-R1",
        "version": 3,
        "meta": META,
        "salt": SALT,
    }
    return encode(event=event, **{**envelope, **changed})


# ── The bytes ──────────────────────────────────────────────────────────────────────────────────────────
@given(any_event, st.integers(1, INTEGER_MAX), st.integers(1, INTEGER_MAX), texts, st.integers(0, 4 * 10**15))
@example(ev.BettingClosed(1), 1, 1, "round-1", 1_796_000_000_000_001)
def test_the_bytes_are_those_of_the_reference_implementation(
    event: Any, position: int, version: int, text: str, at_us: int
) -> None:
    """An event of any class is written to exactly the bytes that another author's RFC 8785 writes."""
    meta = {**META, "trace": text}
    second = datetime.fromtimestamp(at_us // 10**6, UTC)
    expected = {
        "data": plain(event),
        "meta": meta,
        "position": position,
        "recorded_at": f"{second:%Y-%m-%dT%H:%M:%S}.{at_us % 10**6:06d}Z",
        "salt": SALT,
        "stream": "round-R1",
        "type": type(event).__name__,
        "version": version,
    }
    assert encode(position, at_us, "round-R1", version, event, meta, SALT) == rfc8785.dumps(expected)


@pytest.mark.parametrize("cls", ev.EVENT_CLASSES)
def test_an_event_comes_back_as_it_was_written(cls: type) -> None:
    """What is read is the frozen object that was written, nested ones included, and makes the same bytes."""

    @given(objects(cls))
    def check(event: Any) -> None:
        data = stored(event, recorded_at_us=1_796_000_000_123_456)
        recorded = decode(data)
        assert recorded.event == event
        assert type(recorded.event) is cls
        assert (recorded.position, recorded.stream, recorded.version) == (7, "round-R1", 3)
        assert recorded.recorded_at == datetime(2026, 11, 30, 0, 53, 20, 123456, UTC)
        assert (recorded.meta, recorded.salt) == (META, SALT)
        assert stored(recorded.event, recorded_at_us=1_796_000_000_123_456) == data
        assert type_of(data) == cls.__name__

    check()


def test_an_absent_field_is_not_written() -> None:
    """None is absence: a field without a value is not in the bytes."""
    assert b'"data":{"amount":5,"balance_after":1,"player":"p","seat":1}' in stored(
        ev.AntePlaced(1, "p", 5, 1)
    )


def test_a_time_keeps_its_microseconds() -> None:
    """Times have six digits whatever their value, and whole seconds are not shortened."""
    for microseconds, digits in ((0, b"000000"), (7, b"000007"), (999_999, b"999999")):
        data = stored(ev.BettingClosed(1), recorded_at_us=1_796_000_000_000_000 + microseconds)
        assert b'"recorded_at":"2026-11-30T00:53:20.%sZ"' % digits in data


# ── What is refused ────────────────────────────────────────────────────────────────────────────────────
REFUSED = {
    "a float": ev.BettingClosed(1.5),
    "a truth value for a number": ev.BettingClosed(seats=True),
    "a number for a text": ev.TableClosed(5),
    "a null": ev.TableClosed(None),
    "an integer too large": ev.BettingClosed(2**53),
    "an integer too small": ev.BettingClosed(-(2**53)),
    "an integer beyond 64 bits": ev.BettingClosed(2**64),
    "a control character": ev.TableClosed("a\nb"),
    "NUL": ev.TableClosed("a\x00b"),
    "DEL": ev.TableClosed("a\x7fb"),
    "a C1 control": ev.TableClosed("a\x85b"),
    "a lone surrogate": ev.TableClosed("a\ud800b"),
    "a noncharacter": ev.TableClosed("a\uffffb"),
    "a noncharacter of the block of 32": ev.TableClosed("a\ufdd0b"),
    "text that is not NFC": ev.TableClosed("e\u0301"),
    "text in a tuple that is not NFC": ev.Dealt("seat", ("e\u0301",)),
    "a null in a tuple": ev.Dealt("seat", ("As", None)),
    "a list for a tuple": ev.Dealt("seat", ["As"]),
    "a null in an object": ev.RulesetPublished("r", 1, "s", {"a": None}),
    "a float in an object": ev.RulesetPublished("r", 1, "s", {"a": [1.0]}),
    "a key that is not text": ev.RulesetPublished("r", 1, "s", {1: "a"}),
    "a key that is not ASCII": ev.RulesetPublished("r", 1, "s", {"é": "a"}),
    "a control character in a key": ev.RulesetPublished("r", 1, "s", {"a\tb": "a"}),
    "a text in an object that is not NFC": ev.RulesetPublished("r", 1, "s", {"a": ["e\u0301"]}),
    "a set": ev.RulesetPublished("r", 1, "s", {"a": {1}}),
    "a null in a nested object": ev.RulesetActivated("t", ev.RulesetRef("r", 1, None)),
    "another object for a nested one": ev.RulesetActivated("t", ev.BettingClosed(1)),
    "something that is no event": object(),
}


@pytest.mark.parametrize("event", REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_round_trip_is_refused(event: Any) -> None:
    """A value without one exact form in JSON is refused by name before anything is written."""
    with pytest.raises(NotStorableError):
        stored(event)


@pytest.mark.parametrize(
    "changed",
    [
        {"position": 0},
        {"version": 0},
        {"salt": "ab"},
        {"meta": {"actor": None}},
        {"meta": {"actor": 1.5}},
        {"stream": "round-\x00"},
        {"position": 2**53},
    ],
    ids=str,
)
def test_a_malformed_envelope_is_refused(changed: dict[str, Any]) -> None:
    """Positions and versions count from 1, salts have 16 bytes, and meta holds text and integers."""
    with pytest.raises(NotStorableError):
        stored(ev.BettingClosed(1), **changed)


def test_an_event_has_a_largest_size() -> None:
    """An event of 65 534 bytes is written; one more byte is refused."""
    overhead = len(stored(ev.TableClosed("")))
    assert len(stored(ev.TableClosed("x" * (EVENT_BYTES_MAX - overhead)))) == EVENT_BYTES_MAX
    with pytest.raises(NotStorableError, match="65535 bytes"):
        stored(ev.TableClosed("x" * (EVENT_BYTES_MAX - overhead + 1)))


def test_text_that_only_looks_suspicious_is_written() -> None:
    """Quotes, backslashes, joiners and characters beyond the first plane are ordinary text."""
    for text in ('say "no"', "back\\slash", "Ahoj, světe", "\U0001f0a1", "a\u200db", "\u2028"):
        assert decode(stored(ev.TableClosed(text))).event == ev.TableClosed(text)


# ── Reading ────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b'{"type":"BettingClosed"}',
        stored(ev.BettingClosed(1)).replace(b"BettingClosed", b"BettingReopened"),
        stored(ev.BettingClosed(1)).replace(b'"seats"', b'"chairs"'),
        stored(ev.BettingClosed(1)).replace(b'"schema":1', b'"schema":2'),
        stored(ev.BettingClosed(1)).replace(b'"schema":1', b'"schema":0'),
        stored(ev.BettingClosed(1))[:-1],
    ],
    ids=range(9),
)
def test_what_is_not_an_event_we_know_is_not_read(data: bytes) -> None:
    """Bytes of another shape, type, or schema version, or cut off, are refused with one error."""
    with pytest.raises(NotReadableError):
        decode(data)


def test_the_type_is_found_even_where_texts_look_like_one() -> None:
    """The type is read from its own place, not from a text that imitates it."""
    event = ev.RulesetPublished("r", 1, "s", {"type": "X", "z": '"type":"Y"'})
    assert type_of(stored(event, meta={**META, "trace": '"type":"Z"'})) == "RulesetPublished"
    with pytest.raises(NotReadableError):
        type_of(b"{}")


# ── Growing up ─────────────────────────────────────────────────────────────────────────────────────────
@dataclasses.dataclass(frozen=True, slots=True)
class Renamed:
    """An event in its third version: `amount` was once called `value`, and `currency` came later."""

    amount: int
    currency: str


UPCASTERS = {
    ("Renamed", 1): lambda data: {"amount": data["value"]},
    ("Renamed", 2): lambda data: {**data, "currency": "USD"},
}


@pytest.mark.parametrize(
    ("schema", "data"), [(1, {"value": 5}), (2, {"amount": 5}), (3, {"amount": 5, "currency": "USD"})]
)
def test_older_versions_are_brought_up_to_the_present(schema: int, data: dict[str, Any]) -> None:
    """An event written with an older schema passes every step from there on, and the newest none."""
    form = StoredForm([Renamed], UPCASTERS)
    row = {
        "data": data,
        "meta": {"schema": schema},
        "position": 1,
        "recorded_at": "2026-11-29T21:24:01.000000Z",
        "salt": SALT,
        "stream": "s",
        "type": "Renamed",
        "version": 1,
    }
    assert form.schema_of("Renamed") == 3
    assert form.decode(rfc8785.dumps(row)).event == Renamed(5, "USD")


def test_upcasters_have_no_hole() -> None:
    """A step that nothing leads to, or that belongs to no event, is a mistake found at once."""
    with pytest.raises(ValueError, match="schema 2"):
        StoredForm([Renamed], {("Renamed", 2): dict})
    with pytest.raises(ValueError, match="Other"):
        StoredForm([Renamed], {("Other", 1): dict})


def test_every_event_is_written_with_its_first_schema() -> None:
    """No event has changed yet; an unknown one has no schema."""
    assert {schema_of(cls.__name__) for cls in ev.EVENT_CLASSES} == {1}
    with pytest.raises(NotReadableError):
        schema_of("Unknown")


# ── What annotations may say ───────────────────────────────────────────────────────────────────────────
def _class_with(annotation: Any) -> type:
    return dataclasses.make_dataclass("Odd", [("field", annotation)], frozen=True)


@pytest.mark.parametrize(
    "annotation", [float, int | str, tuple[int, str], set[int], typing.Literal[1]], ids=str
)
def test_a_class_with_a_field_of_no_stored_form_is_refused(annotation: Any) -> None:
    """An event class that could hold what has no stored form cannot be written at all."""
    with pytest.raises(NotJsonError, match=r"Odd\.field"):
        to_json(_class_with(annotation)(1))


def test_an_unknown_field_is_not_read() -> None:
    """Data with a field that its class does not have is an error, not a silent loss."""
    with pytest.raises(TypeError):
        from_json(ev.BettingClosed, {"seats": 1, "extra": 2})

"""Our binary arrays are those PostgreSQL's own driver writes."""

from __future__ import annotations

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.adapt import PyFormat, Transformer
from psycopg.types.numeric import Int4, Int8

from infrastructure.ledger.arrays import (
    byteas,
    int4s,
    int8,
    int8s,
    texts,
    to_bytes,
    to_int,
    to_optional_text,
    to_text,
)


def driver(values: list[object]) -> bytes:
    """Return what psycopg writes for a list."""
    adapter = Transformer.from_context(None).get_dumper(values, PyFormat.BINARY)
    return bytes(adapter.dump(values) or b"")


def read(oid: int, data: bytes) -> object:
    """Return what psycopg reads."""
    return Transformer.from_context(None).get_loader(oid, psycopg.pq.Format.BINARY).load(data)


@given(st.lists(st.binary(max_size=5000) | st.none(), max_size=20))
def test_byte_strings(values: list[bytes | None]) -> None:
    """An array of byte strings, some of them null, long or empty, reads back as it was."""
    assert read(1001, byteas(values)) == values


@given(st.lists(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])) | st.none()))
def test_texts(values: list[str | None]) -> None:
    """An array of texts, some of them null, reads back as it was."""
    assert read(1009, texts(values)) == values


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.none()))
def test_long_integers(values: list[int | None]) -> None:
    """An array of 64-bit integers, some of them null, reads back as it was."""
    assert read(1016, int8s(values)) == values


@given(st.lists(st.integers(-(2**31), 2**31 - 1)))
def test_short_integers(values: list[int]) -> None:
    """An array of 32-bit integers reads back as it was."""
    assert read(1007, int4s(values)) == values


def test_the_bytes_are_the_drivers() -> None:
    """Not only do they read back: byte for byte they are what the driver sends."""
    assert byteas([b"a", b"bc"]) == driver([b"a", b"bc"])
    assert int8s([1, -2]) == driver([Int8(1), Int8(-2)])
    assert int4s([1, -2]) == driver([Int4(1), Int4(-2)])


@pytest.mark.parametrize("value", [0, 1, -1, 2**63 - 1, -(2**63)])
def test_single_integers(value: int) -> None:
    """A single 64-bit integer is eight bytes and reads back as it was."""
    assert to_int(int8(value)) == value


def test_what_does_not_fit_is_an_error() -> None:
    """A number beyond its type is refused here, not cut."""
    with pytest.raises(OverflowError):
        int8(2**63)
    with pytest.raises(OverflowError):
        int8s([2**63])
    with pytest.raises(OverflowError):
        int4s([2**31])


def test_a_null_is_read_only_where_it_may_be() -> None:
    """A null where the schema promises a value is an error; where it does not, it is None."""
    for read_value in (to_int, to_bytes, to_text):
        with pytest.raises(TypeError):
            read_value(None)
    assert to_optional_text(None) is None
    assert to_optional_text(b"a") == "a"

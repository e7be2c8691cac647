"""What a refused body is told: the place and what belongs there, in words a client has."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from api.json_body import canonical, parse, shape_problem, validate
from api.problems import Problem
from api.shapes import Body


class Inner(Body):
    """An object in an object."""

    number: int = 0


class Outer(Body):
    """A body."""

    inner: Inner = Inner()
    table: Annotated[dict[Annotated[str, Field(pattern="^[a-z]$")], int], Field(default_factory=dict)]


def errors(value: Any) -> list[dict[str, str]]:
    """Return what the problem of a body says of its places."""
    with pytest.raises(Problem) as caught:
        validate(Outer, value)
    assert caught.value.code == "validation_failed"
    told: list[dict[str, str]] = caught.value.extra["errors"]
    return told


@pytest.mark.parametrize(
    ("value", "pointer"), [([], ""), ("text", ""), ({"inner": None}, "/inner"), ({"table": [1]}, "/table")]
)
def test_what_is_no_object_is_told_so(value: Any, pointer: str) -> None:
    """No name of a class of ours and no Python type stands in the answer."""
    assert errors(value) == [{"pointer": pointer, "detail": "Input should be an object"}]


def test_a_refused_name_is_pointed_at_by_itself() -> None:
    """The pointer names the member, and nothing that is not in the body."""
    assert [error["pointer"] for error in errors({"table": {"A": 1}})] == ["/table/A"]


def test_the_same_is_told_once() -> None:
    """A query that two parts of a route read is refused in one line."""
    error = {"loc": ("min_position",), "type": "int_parsing", "msg": "Input should be a valid integer"}
    assert shape_problem([error, error]).extra["errors"] == [
        {"pointer": "/min_position", "detail": "Input should be a valid integer"}
    ]


def test_where_the_text_stops_being_json() -> None:
    """The character is named, in whole sentences."""
    with pytest.raises(Problem) as caught:
        parse(b'"a\x00b"')
    assert caught.value.detail == "The body is not JSON: Invalid control character at character 2."


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**400])
def test_an_integer_that_no_field_bounds_is_refused_all_the_same(number: int) -> None:
    """What was asked has one spelling, and a number longer than that has none."""
    with pytest.raises(Problem) as caught:
        canonical({"amount": [number]})
    assert caught.value.code == "validation_failed"

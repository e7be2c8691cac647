"""Bodies: read within a bound, parsed strictly, checked against their model; every refusal is a problem.

JSON is taken as I-JSON (RFC 7493) says: UTF-8, no name twice in an object, no lone surrogates, no NaN.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn, TypeVar

import orjson
from pydantic import BaseModel, ValidationError
from starlette.types import Receive

from api.problems import Problem, validation_failed
from domain.money import AMOUNT_MAX

BODY_BYTES_MAX: Final = 256 * 1024
ERRORS_SHOWN_MAX: Final = 20
_POINTER_CHARACTERS_MAX: Final = 200
_NAME_ITSELF: Final = "[key]"
"""How pydantic ends the place of a name in an object that is refused itself; a pointer has no word for it."""

Model = TypeVar("Model", bound=BaseModel)


class ClientGone(Exception):
    """The client has left before it had sent its body."""


class _NotIJson(ValueError):
    """JSON that two readers could read differently."""


async def read_body(receive: Receive) -> bytes:
    """Return the whole body. Raises Problem body_too_large without reading on, and ClientGone."""
    message = await receive()
    body: bytes = message.get("body", b"")
    while message.get("more_body", False):
        if len(body) > BODY_BYTES_MAX:
            break
        message = await receive()
        body += message.get("body", b"")
    if message["type"] == "http.disconnect":
        raise ClientGone
    if len(body) > BODY_BYTES_MAX:
        raise too_large()
    return body


def too_large() -> Problem:
    """The problem of a body over the bound. The connection ends: what is still coming is not read."""
    return Problem(
        "body_too_large", f"A body has at most {BODY_BYTES_MAX} bytes.", headers={"Connection": "close"}
    )


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _NotIJson("an object has a name twice")
    return members


def _no_constant(name: str) -> NoReturn:
    raise _NotIJson(f"{name} is not a JSON value")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_no_name_twice, parse_constant=_no_constant)


def parse(body: bytes) -> Any:
    """Return the JSON value of a body; an empty body is an empty object. Raises Problem malformed_json.

    The standard library's reader keeps integers of any size, so that one too large is told from one that is
    no integer, and shows each object's names before they are merged.
    """
    if not body:
        return {}
    try:
        value = _DECODER.decode(body.decode())
        if b"\\u" in body:
            # Only an escape can hide a lone surrogate; text that has one cannot be encoded again.
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise Problem("malformed_json", f"The body is not JSON: {_why(error)}.") from None
    return value


def _why(error: Exception) -> str:
    """Say what is wrong without showing any of the body."""
    if isinstance(error, UnicodeError):
        return "it is not UTF-8, or has half of a surrogate pair"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.removesuffix(' at')} at character {error.pos}"
    if isinstance(error, _NotIJson):
        return str(error)
    return "it is nested too deeply, or has a number too long"


def validate(model: type[Model], value: Any) -> Model:
    """Return the body. Raises Problem validation_failed, amount_out_of_range where amounts are too large."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise shape_problem(error.errors(include_url=False, include_input=False)) from None


def canonical(value: Any) -> bytes:
    """The one spelling of a JSON value, for the fingerprint of what was asked.

    Raises Problem validation_failed for an integer that is longer than any number here can be.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # orjson writes 64 bits, and what JSON holds beside integers it writes all
        raise validation_failed([{"pointer": "", "detail": "An integer has at most 64 bits"}]) from None


def shape_problem(errors: Iterable[Mapping[str, Any]]) -> Problem:
    """The problem that pydantic's errors amount to."""
    found = list(errors)
    if all(_is_too_large_amount(error) for error in found):
        places = ", ".join(_pointer(error["loc"]) for error in found[:ERRORS_SHOWN_MAX])
        return Problem(
            "amount_out_of_range", f"One amount is at most {AMOUNT_MAX} minor units: see {places}."
        )
    told = dict.fromkeys((_pointer(error["loc"]), _expected(error)) for error in found)
    return validation_failed(
        [{"pointer": pointer, "detail": detail} for pointer, detail in list(told)[:ERRORS_SHOWN_MAX]]
    )


def _expected(error: Mapping[str, Any]) -> str:
    """What belongs in the place, in JSON's words: pydantic names Python's types, and the model's class."""
    if error["type"] in ("model_type", "dict_type"):
        return "Input should be an object"
    return str(error["msg"]).removeprefix("Value error, ")


def _is_too_large_amount(error: Mapping[str, Any]) -> bool:
    return bool(error["type"] == "less_than_equal" and error.get("ctx", {}).get("le") == AMOUNT_MAX)


def _pointer(place: Iterable[Any]) -> str:
    """A JSON pointer (RFC 6901), bounded: a name in it may be the client's own."""
    parts = (str(part).replace("~", "~0").replace("/", "~1") for part in place if part != _NAME_ITSELF)
    return "".join(f"/{part}" for part in parts)[:_POINTER_CHARACTERS_MAX]

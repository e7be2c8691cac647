"""PostgreSQL's binary format, as far as the ledger's statements need it.

A batch goes to the database as a handful of arrays. Writing them here takes a tenth of the time of a driver's
general adaptation, which looks at every element's type. The format is that of PostgreSQL's array_send:
dimensions, a flag for nulls, the elements' type, length and lower bound, then each element behind its length
in bytes.
"""

from __future__ import annotations

import struct
from array import array
from itertools import chain
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_HEADER: Final = struct.Struct(">iiIii")
_BYTEA, _INT8, _INT4, _TEXT = 17, 20, 23, 25
_EMPTY: Final = {oid: struct.pack(">iiI", 0, 0, oid) for oid in (_BYTEA, _INT8, _INT4, _TEXT)}
_LENGTH: Final = struct.Struct(">i")
_LENGTHS: Final = tuple(_LENGTH.pack(length) for length in range(4096))
_NULL: Final = _LENGTH.pack(-1)


def int8(value: int) -> bytes:
    """Return one bigint. Raises OverflowError beyond 64 bits."""
    return value.to_bytes(8, "big", signed=True)


def to_int(value: bytes | None) -> int:
    """Read a smallint, integer or bigint that is not null."""
    if value is None:
        raise TypeError("null where a number was expected")
    return int.from_bytes(value, "big", signed=True)


def to_bytes(value: bytes | None) -> bytes:
    """Read a bytea that is not null."""
    if value is None:
        raise TypeError("null where bytes were expected")
    return value


def to_text(value: bytes | None) -> str:
    """Read a text that is not null."""
    return to_bytes(value).decode()


def to_optional_text(value: bytes | None) -> str | None:
    """Read a text, None for null."""
    return None if value is None else value.decode()


def byteas(values: Sequence[bytes | None]) -> bytes:
    """Return a bytea[]; None is null."""
    return _array(_BYTEA, values)


def texts(values: Iterable[str | None]) -> bytes:
    """Return a text[]; None is null."""
    return _array(_TEXT, [None if value is None else value.encode() for value in values])


def int4s(values: Sequence[int]) -> bytes:
    """Return an integer[]. Raises OverflowError beyond 32 bits."""
    if not values:
        return _EMPTY[_INT4]
    words = array("i", [4]) * (2 * len(values))
    words[1::2] = array("i", values)
    words.byteswap()
    return _HEADER.pack(1, 0, _INT4, len(values), 1) + words.tobytes()


def int8s(values: Sequence[int | None]) -> bytes:
    """Return a bigint[]; None is null. Raises OverflowError beyond 64 bits."""
    return _array(
        _INT8, [None if value is None else value.to_bytes(8, "big", signed=True) for value in values]
    )


def _array(oid: int, values: Sequence[bytes | None]) -> bytes:
    if not values:
        return _EMPTY[oid]
    nulls = None in values
    if nulls:
        lengths = [_NULL if value is None else _LENGTH.pack(len(value)) for value in values]
        elements: Sequence[bytes] = [value or b"" for value in values]
    else:
        elements = cast("Sequence[bytes]", values)
        sizes = list(map(len, elements))
        # Looking a length up is faster than packing it, and nearly every element is short.
        lengths = list(map(_length_of(max(sizes)), sizes))
    header = _HEADER.pack(1, nulls, oid, len(values), 1)
    return b"".join(chain((header,), *zip(lengths, elements, strict=True)))


def _length_of(longest: int) -> Callable[[int], bytes]:
    return _LENGTHS.__getitem__ if longest < len(_LENGTHS) else _LENGTH.pack

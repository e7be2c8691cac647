"""The bytes of an event: what is stored, hashed, proved and handed out, and how they are read back.

An event is the RFC 8785 canonical JSON of ``{data, meta, position, recorded_at, salt, stream, type,
version}``. It can never change, so what does not round-trip is refused before it is written: floats, nulls,
integers beyond ±(2**53 - 1), text that is not NFC or holds control characters or lone surrogates, anything
over `EVENT_BYTES_MAX`.

For these restricted values orjson with sorted keys writes exactly the RFC 8785 bytes, some seventy times
faster than the reference implementation (a test compares the two): it escapes what JCS escapes, numbers are
integers, and keys are ASCII, where sorting by byte and by UTF-16 code unit (RFC 8785 section 3.2.3) agree.
Text is checked on the finished bytes: plain ASCII without a backslash holds nothing to refuse, and that is
nearly every event.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

import orjson

from domain.envelope import Recorded
from domain.events import EVENT_CLASSES
from infrastructure.ledger.json_values import NotJsonError, from_json, to_json

EVENT_BYTES_MAX: Final = 65_534
"""An entry of a tlog-tiles bundle carries its length in two bytes; the largest value stays free."""

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
"""Turns the `data` of one schema version of an event into the next version's."""

_OPTIONS: Final = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_META_TYPES: Final = frozenset({str, int})
_SALT_CHARACTERS: Final = 22
_BACKSLASH: Final = ord("\\")
_DELETE: Final = 0x7F
_TYPE_MARK: Final = b'"type":"'


class NotStorableError(ValueError):
    """An event that has no stored form: the message says which value and why. Nothing was written."""


class NotReadableError(ValueError):
    """Stored bytes that are not an event this software knows, or that a newer one wrote."""


def encode(
    position: int,
    recorded_at_us: int,
    stream: str,
    version: int,
    event: object,
    meta: Mapping[str, str | int],
    salt: str,
) -> bytes:
    """Return the stored bytes of an event.

    `recorded_at_us` is microseconds since the epoch, UTC; `salt` 16 bytes in base64url. Raises
    NotStorableError.
    """
    name = type(event).__name__
    if (
        position < 1
        or version < 1
        or len(salt) != _SALT_CHARACTERS
        or not _META_TYPES.issuperset(map(type, meta.values()))
    ):
        raise NotStorableError(
            f"malformed envelope of {name}: position {position}, version {version}, meta {sorted(meta)}"
        )
    seconds, microseconds = divmod(recorded_at_us, 1_000_000)
    try:
        envelope = {
            "data": to_json(event),
            "meta": meta,
            "position": position,
            "recorded_at": f"{_second_text(seconds)}{microseconds:06d}Z",
            "salt": salt,
            "stream": stream,
            "type": name,
            "version": version,
        }
        stored = orjson.dumps(envelope, option=_OPTIONS)
    except (NotJsonError, orjson.JSONEncodeError) as error:
        raise NotStorableError(f"{name} has no stored form: {error}") from None
    if not stored.isascii() or _BACKSLASH in stored or _DELETE in stored:
        _check_text(name, envelope)
    if len(stored) > EVENT_BYTES_MAX:
        raise NotStorableError(f"{name} takes {len(stored)} bytes, more than {EVENT_BYTES_MAX}")
    return stored


def decode(stored: bytes) -> Recorded:
    """Return the event of stored bytes, brought up to the present schema. Raises NotReadableError."""
    return _FORM.decode(stored)


def schema_of(name: str) -> int:
    """Return the schema version this type of event is written with now: what `meta.schema` must say."""
    return _FORM.schema_of(name)


def type_of(stored: bytes) -> str:
    """Return the type of an event without reading the rest.

    Only ``version``, an integer, comes after ``type`` in the canonical order, so the last mark is the one.
    Raises NotReadableError.
    """
    _, mark, rest = stored.rpartition(_TYPE_MARK)
    name, quote, _ = rest.partition(b'"')
    if not mark or not quote:
        raise NotReadableError(f"not an event: {stored[:80]!r}")
    return name.decode()


class StoredForm:
    """Reads stored events: `classes` by their names, older schema versions through `upcasters`.

    An upcaster's key is the event's type and the schema version it starts from; a chain of them leads to the
    present version. Raises ValueError where the chain of a type has a hole or belongs to no class.
    """

    def __init__(self, classes: Iterable[type], upcasters: Mapping[tuple[str, int], Upcaster]) -> None:
        self._classes = {cls.__name__: cls for cls in classes}
        self._upcasters = dict(upcasters)
        self._schemas = dict.fromkeys(self._classes, 1)
        for name, schema in sorted(self._upcasters):
            if self._schemas.get(name) != schema:
                raise ValueError(f"no way leads to the upcaster of {name} from schema {schema}")
            self._schemas[name] = schema + 1

    def schema_of(self, name: str) -> int:
        """Return the present schema version of a type. Raises NotReadableError for an unknown one."""
        try:
            return self._schemas[name]
        except KeyError:
            raise NotReadableError(f"unknown event type {name!r}") from None

    def raw(self, stored: bytes) -> dict[str, Any]:
        """Return the envelope as JSON, its data of the present schema. Raises NotReadableError."""
        try:
            row: dict[str, Any] = orjson.loads(stored)
            name, schema = row["type"], row["meta"]["schema"]
            if schema != self._schemas[name]:
                row["data"] = self._upcast(name, schema, row["data"])
        except (KeyError, TypeError, ValueError) as error:
            raise NotReadableError(f"not an event this software reads ({error}): {stored[:80]!r}") from error
        return row

    def decode(self, stored: bytes) -> Recorded:
        """Return the event of stored bytes. Raises NotReadableError."""
        row = self.raw(stored)
        name = row["type"]
        try:
            return Recorded(
                row["position"],
                datetime.fromisoformat(row["recorded_at"]),
                row["stream"],
                row["version"],
                from_json(self._classes[name], row["data"]),
                row["meta"],
                row["salt"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise NotReadableError(f"not an event this software reads ({error}): {stored[:80]!r}") from error

    def _upcast(self, name: str, schema: int, data: dict[str, Any]) -> dict[str, Any]:
        if not 1 <= schema < self._schemas[name]:
            raise NotReadableError(
                f"{name} has schema {schema}; this software knows up to {self._schemas[name]}"
            )
        for version in range(schema, self._schemas[name]):
            data = self._upcasters[name, version](data)
        return data


_FORM: Final = StoredForm(EVENT_CLASSES, {})

raw: Final = _FORM.raw
"""Return the envelope of stored bytes as JSON, its data brought up to the present schema.

A fraction of the work of `decode`, for those who look at some fields of very many events. Raises
NotReadableError for what is not an event this software knows.
"""


@lru_cache(maxsize=16)
def _second_text(seconds: int) -> str:
    """Return ``2026-11-29T21:24:01.`` of whole seconds since the epoch, which a batch's events share."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.")


def _check_text(name: str, value: Any) -> None:
    """Raise NotStorableError if text in a JSON value is not NFC or holds a control or noncharacter."""
    if isinstance(value, str):
        if not unicodedata.is_normalized("NFC", value):
            raise NotStorableError(f"{name} holds text that is not in Unicode normalization form C")
        if not value.isprintable() and any(map(_is_refused, value)):
            raise NotStorableError(f"{name} holds text with a control character")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _check_text(name, key)
            _check_text(name, item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_text(name, item)


def _is_refused(character: str) -> bool:
    """Say whether a character is a control or a noncharacter, which RFC 7493 section 2.1 forbids."""
    point = ord(character)
    return unicodedata.category(character) == "Cc" or 0xFDD0 <= point <= 0xFDEF or point & 0xFFFE == 0xFFFE  # noqa: PLR2004

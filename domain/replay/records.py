"""Events of a round in their envelopes, and the two ways to them.

The fast one takes an event's bytes, reads them into `domain.replay.kinds`, writes them again and accepts what
gives the same bytes. Whatever else there is takes the other: every field by the shapes of
`domain.replay.shapes`, which name the first that is wrong. What the fast way accepts, the other would accept
too (a property test), so that a report does not depend on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar

import msgspec
import orjson
from msgspec import Struct

from domain.replay import kinds, parts
from domain.replay.fields import wrong_field
from domain.replay.parts import Part, Position, Text
from domain.replay.shapes import ENVELOPE, EVENTS

_Data = TypeVar("_Data", bound=Part)

_SALT_LENGTH: Final = 22
_CANONICAL: Final = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER


class _Meta(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Who asked, by which command."""

    actor: Text
    command: Text
    schema: Literal[1]
    shown: str | None = None
    trace: str | None = None


class Record(Struct, Generic[_Data], kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A well-formed event in its place."""

    data: _Data
    meta: _Meta
    position: Position
    recorded_at: Annotated[str, msgspec.Meta(min_length=27, max_length=27)]
    salt: Annotated[str, msgspec.Meta(min_length=_SALT_LENGTH, max_length=_SALT_LENGTH)]
    stream: Annotated[str, msgspec.Meta(min_length=7, max_length=70)]
    type: str
    version: Position

    @property
    def command(self) -> str:
        """The command that the event came from."""
        return self.meta.command

    def problem(self, why: str) -> dict[str, Any]:
        """The event named as one at fault."""
        return {"version": self.version, "type": self.type, "problem": why}


Stored: TypeAlias = Record[Any] | bytes | Mapping[str, Any]
"""An event as it is handed in: read already, or its stored bytes, or the object they say."""

_DECODERS: Final = {
    kind.__name__.encode(): msgspec.json.Decoder(Record[kind]).decode  # type: ignore[valid-type] # one for each
    for kind in kinds.KINDS
}
_KINDS: Final = {kind.__name__: kind for kind in kinds.KINDS}
_decode_meta: Final = msgspec.json.Decoder(_Meta).decode
_encode: Final = msgspec.json.Encoder().encode

_DIGITS_TO_0: Final = bytes.maketrans(b"123456789", b"000000000")
_TIME: Final = b"0000-00-00T00:00:00.000000Z"
_SALT_CHARACTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def read_fast(stored: bytes) -> Record[Any] | None:
    """Return the event that canonical bytes say; None where there is anything to look at more closely.

    What a text that has to be a time, a salt or a stream consists of is not looked at: see `are_enveloped`.
    """
    try:
        # In canonical bytes, the type and a number are last.
        record = _DECODERS[stored.rsplit(b'"', 4)[-4]](stored)
        # An integer written as 1.0, a name twice, a space: all that the parser forgives shows here.
        return record if _encode(record) == stored else None
    except (msgspec.MsgspecError, LookupError, ValueError, RecursionError):
        return None


def command_of(meta: str) -> str | None:
    """The command that the canonical form of who asked names; None where this is none."""
    try:
        read = _decode_meta(meta)
    except msgspec.MsgspecError:
        return None
    return read.command if _encode(read).decode() == meta else None


def text_of(parts: Sequence[Part]) -> str:
    """The canonical form of some parts of an event."""
    return _encode(parts).decode()


def read_canonical(kind: type[_Data], data: str) -> _Data | None:
    """What the canonical form of an event's data says; None where this is none of that kind."""
    try:
        read = msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError:
        return None
    return read if _encode(read).decode() == data else None


def are_enveloped(records: Sequence[Record[Any]]) -> bool:
    """Whether events that were read fast have times, salts and one stream, as the shapes want them."""
    if not records:
        return True
    stream = records[0].stream
    return well_enveloped(
        stream, [record.recorded_at for record in records], [record.salt for record in records]
    ) and [record.stream for record in records].count(stream) == len(records)


def well_enveloped(stream: str, times: Sequence[str], salts: Sequence[str]) -> bool:
    """Whether a stream and the times and salts of its events, none too long, are as the shapes want them."""
    joined = "".join(salts).encode()
    return (
        "".join(times).encode().translate(_DIGITS_TO_0) == _TIME * len(times)
        and len(joined) == _SALT_LENGTH * len(salts)
        and not joined.translate(None, _SALT_CHARACTERS)
        and ENVELOPE.fields["stream"](stream)
    )


def read_all_fast(events: Sequence[Stored]) -> list[Record[Any]] | None:
    """Return all events, None where one of them has to be looked at more closely."""
    records = [event if type(event) is Record else _fast(event) for event in events]
    read = [record for record in records if record is not None]
    return read if len(read) == len(records) and are_enveloped(read) else None


def _fast(event: Stored) -> Record[Any] | None:
    if isinstance(event, bytes):
        return read_fast(event)
    try:
        return read_fast(orjson.dumps(event, option=_CANONICAL))
    except (orjson.JSONEncodeError, RecursionError):
        return None


def read_closely(event: Stored) -> Record[Any] | str:
    """Return an event, or the path of its first wrong field."""
    said: Any = event
    if isinstance(event, bytes):
        try:
            said = orjson.loads(event)
        except ValueError:
            return "(not JSON)"
    elif isinstance(event, Record):
        said = msgspec.to_builtins(event)
    wrong = wrong_field(said, ENVELOPE)
    if wrong is not None:
        return wrong
    wrong = wrong_field(said["data"], EVENTS[said["type"]])
    return _built(said) if wrong is None else f"data.{wrong}"


_NESTED: Final[Mapping[str, type[Part]]] = {
    "jackpot": parts.JackpotRef,
    "parameters": parts.Parameters,
    "ruleset": parts.RulesetRef,
}


def _built(event: Mapping[str, Any]) -> Record[Any]:
    """Make a record of an event that is well-formed."""
    kind = _KINDS[event["type"]]
    leg = parts.Leg if kind is kinds.Settled else parts.Refunded
    fields: dict[str, Any] = {}
    for name, value in event["data"].items():
        if name in _NESTED:
            fields[name] = _NESTED[name](**value)
        elif name == "bets":
            fields[name] = tuple(leg(**bet) for bet in value)
        else:
            fields[name] = tuple(value) if isinstance(value, list) else value
    meta = _Meta(actor=event["meta"]["actor"], command=event["meta"]["command"], schema=1)
    place = {name: event[name] for name in ("position", "recorded_at", "salt", "stream", "type", "version")}
    return Record(data=kind(**fields), meta=meta, **place)

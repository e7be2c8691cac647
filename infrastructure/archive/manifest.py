"""The manifest of an archived day: what it holds, and which manifest came before.

It is canonical JSON (RFC 8785), and follows from the events alone: a day that is exported again has the same
manifest, byte for byte. Its signature is a signed note (C2SP signed-note) by the key of the evidence log over
the manifest's SHA-256; the note's second line is none that a checkpoint can have. What depends on when a day
was exported is in a file of its own, `Sealed`, which proves itself.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode, b64encode
from typing import Any, Final, NamedTuple

import orjson

from infrastructure.archive.layout import FILES
from infrastructure.evidence.merkle import HASH_BYTES

FORMAT: Final = "stud-ledger/archive/1"
_HEX: Final = re.compile(r"[0-9a-f]{64}")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


class ArchiveError(RuntimeError):
    """An archive, or a day of it, is not what it should be: one line that says what and where."""


class File(NamedTuple):
    """What a manifest says of a file. `sha256` in hex."""

    bytes: int
    sha256: str
    rows: int


class Log(NamedTuple):
    """The evidence log's tree as of the day's last event: `root` (base64) is that of all events up to it.

    `before` and `after` are the hashes (base64) of the complete subtrees that the events before the day, and
    those up to its end, consist of, from left to right (`infrastructure.evidence.merkle.complete_subtrees`).
    """

    root: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class Sealed(NamedTuple):
    """What shows that a day's root is the log's.

    `checkpoint` is the whole signed note of the same or a larger tree, `proof` (base64) shows that it grew
    out of ours, `keys` are those of the log then, the newest first.
    """

    checkpoint: str
    proof: tuple[str, ...]
    keys: tuple[str, ...]


class Manifest(NamedTuple):
    """One day. Positions are of its first and last event, times of those as they say themselves.

    `sequence` counts all exports of the ledger from 1, `previous` is the SHA-256 (hex) of the manifest
    before, empty in the first. `writer` names the software that wrote the files.
    """

    sequence: int
    previous: str
    day: str
    first_position: int
    last_position: int
    first_time: str
    last_time: str
    files: dict[str, File]
    log: Log
    writer: str

    @property
    def events(self) -> int:
        """How many events the day has."""
        return self.last_position - self.first_position + 1


def encode(manifest: Manifest) -> bytes:
    """The bytes of a manifest."""
    value: dict[str, Any] = {
        **manifest._asdict(),
        "format": FORMAT,
        "files": {name: file._asdict() for name, file in manifest.files.items()},
        "log": manifest.log._asdict(),
    }
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER)


def decode(stored: bytes) -> Manifest:
    """The manifest of these bytes. Raises ArchiveError for any other than `encode` writes."""
    try:
        value: dict[str, Any] = orjson.loads(stored)
        format_, log = value.pop("format"), value["log"]
        manifest = Manifest(
            **{
                **value,
                "files": {name: File(**file) for name, file in value["files"].items()},
                "log": Log(**{**log, "before": tuple(log["before"]), "after": tuple(log["after"])}),
            }
        )
        sound = format_ == FORMAT and _is_sound(manifest) and encode(manifest) == stored
    except (KeyError, TypeError, ValueError, AttributeError, orjson.JSONEncodeError) as error:
        raise ArchiveError(f"this is not a manifest ({type(error).__name__})") from None
    if not sound:
        raise ArchiveError("this is not a manifest")
    return manifest


def sha256(stored: bytes) -> str:
    """The SHA-256 of a manifest's bytes, in hex: what the next one and the ledger name it by."""
    return hashlib.sha256(stored).hexdigest()


def signed_text(manifest: Manifest, stored: bytes) -> str:
    """What is signed: the text of a note."""
    return f"{FORMAT}\n{manifest.day} {manifest.sequence}\n{sha256(stored)}\n"


def encode_sealed(sealed: Sealed) -> bytes:
    """The bytes of what shows that a day's root is the log's."""
    return orjson.dumps(sealed._asdict(), option=orjson.OPT_SORT_KEYS)


def decode_sealed(stored: bytes) -> Sealed:
    """The reverse. Raises ArchiveError."""
    try:
        value: dict[str, Any] = orjson.loads(stored)
        sealed = Sealed(**{**value, "proof": tuple(value["proof"]), "keys": tuple(value["keys"])})
        texts = (sealed.checkpoint, *sealed.proof, *sealed.keys)
        sound = all(type(text) is str for text in texts) and encode_sealed(sealed) == stored
    except (KeyError, TypeError, ValueError) as error:
        raise ArchiveError(f"this is no proof of the log ({type(error).__name__})") from None
    if not sound:
        raise ArchiveError("this is no proof of the log")
    return sealed


def hash_from(text: str) -> bytes:
    """The hash that a text in base64 stands for. Raises ArchiveError where it is not spelt as we spell it."""
    try:
        found = b64decode(text, validate=True)
    except ValueError:
        found = b""
    if len(found) != HASH_BYTES or hash_text(found) != text:
        raise ArchiveError("this is not a hash in base64")
    return found


def hash_text(hash_: bytes) -> str:
    """A hash as manifests have it."""
    return b64encode(hash_).decode()


def _is_sound(manifest: Manifest) -> bool:
    numbers = (manifest.sequence, manifest.first_position, manifest.last_position)
    files = manifest.files
    log = manifest.log
    texts = (manifest.first_time, manifest.last_time, manifest.writer, log.root, *log.before, *log.after)
    return (
        all(type(number) is int and number > 0 for number in numbers)
        and manifest.last_position >= manifest.first_position
        and (manifest.previous == "" or _HEX.fullmatch(manifest.previous) is not None)
        and _DAY.fullmatch(manifest.day) is not None
        and set(files) == set(FILES)
        and all(
            type(file.bytes) is int
            and file.bytes > 0
            and type(file.rows) is int
            and file.rows >= 0
            and _HEX.fullmatch(file.sha256) is not None
            for file in files.values()
        )
        and all(type(text) is str for text in texts)
    )

"""Signed notes and checkpoints: C2SP signed-note, tlog-checkpoint and tlog-cosignature, with Ed25519 alone.

A note is text, an empty line, and a line for each signature. Whatever is parsed here was written by others:
it is bounded and taken strictly, and `NoteError` says what is wrong with it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from infrastructure.evidence.merkle import HASH_BYTES, SIZE_MAX

ED25519: Final = 0x01
COSIGNATURE: Final = 0x04
NOTE_BYTES_MAX: Final = 262_144
SIGNATURES_MAX: Final = 100
NAME_CHARACTERS_MAX: Final = 255
TIME_MAX: Final = 2**63 - 1

_KEY_BYTES: Final = 32
_ID_BYTES: Final = 4
_SIGNATURE_BYTES: Final = 64
_TIME_BYTES: Final = 8
_DASH: Final = "\u2014 "
_ID: Final = re.compile(r"[0-9a-f]{8}")
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f]")
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,18}")
_CHECKPOINT_LINES: Final = 3
_SPLIT_VKEY: Final = 3


class NoteError(ValueError):
    """A note, a checkpoint or a key is malformed, or a signature is wrong. No message repeats its bytes."""


class Signature(NamedTuple):
    """A signature line: who is said to have signed, with which key (4 bytes), and what (unverified)."""

    name: str
    key_id: bytes
    signature: bytes

    @property
    def line(self) -> str:
        """The line as it stands in a note, its newline included."""
        return f"{_DASH}{self.name} {_base64(self.key_id + self.signature)}\n"


class Note(NamedTuple):
    """A note's text, its last newline included, and its signatures, none of them verified yet."""

    text: str
    signatures: tuple[Signature, ...]

    @property
    def data(self) -> bytes:
        """The note as it is kept and sent."""
        return write_note(self.text, (signature.line for signature in self.signatures))


@dataclass(frozen=True, slots=True)
class Verifier:
    """A public key with its name: `algorithm` is `ED25519` or `COSIGNATURE`, `public` 32 bytes."""

    name: str
    public: bytes
    algorithm: int = ED25519

    def __post_init__(self) -> None:
        """Raise NoteError where that is no key."""
        _check_name(self.name)
        if self.algorithm not in (ED25519, COSIGNATURE) or len(self.public) != _KEY_BYTES:
            raise NoteError("not an Ed25519 key")

    @property
    def key_id(self) -> bytes:
        """The four bytes that signatures name the key by."""
        return sha256(f"{self.name}\n".encode() + self._material).digest()[:_ID_BYTES]

    @property
    def vkey(self) -> str:
        """The key as text: ``name+id+base64``."""
        return f"{self.name}+{self.key_id.hex()}+{_base64(self._material)}"

    def verify(self, text: str, signature: bytes) -> int | None:
        """Verify what a signature line holds behind the key's id.

        Returns the time of a cosignature in seconds since the epoch, None for a plain signature. Raises
        NoteError where the signature is not this key's over this text.
        """
        message, time = text.encode(), None
        if self.algorithm == COSIGNATURE:
            time = int.from_bytes(signature[:_TIME_BYTES], "big")
            signature = signature[_TIME_BYTES:]
            message = _cosigned(text, time)
        wrong = NoteError(f"the signature of {self.name} is wrong")
        if len(signature) != _SIGNATURE_BYTES or (time or 0) > TIME_MAX:
            raise wrong
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except (InvalidSignature, ValueError):
            raise wrong from None
        return time

    @property
    def _material(self) -> bytes:
        return bytes([self.algorithm]) + self.public


class Verified(NamedTuple):
    """Whose signature a note carries; `time` of a cosignature in seconds since the epoch, else None."""

    verifier: Verifier
    time: int | None

    @property
    def name(self) -> str:
        """The key's name."""
        return self.verifier.name


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key with its name. Raises NoteError where no key can be named so."""

    name: str
    private: Ed25519PrivateKey = field(repr=False)

    def __post_init__(self) -> None:
        """Raise NoteError where no key can be named so."""
        _check_name(self.name)

    @classmethod
    def from_seed(cls, name: str, seed: bytes) -> Signer:
        """The key of 32 secret bytes (RFC 8032 section 5.1.5)."""
        return cls(name, Ed25519PrivateKey.from_private_bytes(seed))

    @property
    def verifier(self) -> Verifier:
        """What verifies its signatures."""
        return Verifier(self.name, self.private.public_key().public_bytes_raw(), ED25519)

    @property
    def cosigner(self) -> Verifier:
        """What verifies its cosignatures."""
        return Verifier(self.name, self.private.public_key().public_bytes_raw(), COSIGNATURE)

    def sign(self, text: str) -> str:
        """The signature line under a text, its newline included."""
        return Signature(self.name, self.verifier.key_id, self.private.sign(text.encode())).line

    def cosign(self, text: str, time: int) -> str:
        """The cosignature line under a checkpoint's text: that it was consistent at a time (seconds)."""
        stamped = time.to_bytes(_TIME_BYTES, "big") + self.private.sign(_cosigned(text, time))
        return Signature(self.name, self.cosigner.key_id, stamped).line


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A tree's head: whose tree, how many leaves, their root (32 bytes)."""

    origin: str
    size: int
    root: bytes

    @property
    def root_text(self) -> str:
        """The root in base64, as in the note."""
        return _base64(self.root)

    def body(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{self.root_text}\n"


def parse_vkey(text: str) -> Verifier:
    """Read a key's text. Raises NoteError where it is malformed or not Ed25519, or its id is another's."""
    parts = text.split("+", _SPLIT_VKEY - 1)
    if len(parts) != _SPLIT_VKEY or not _ID.fullmatch(parts[1]):
        raise NoteError("not a verifier key: name+id+base64")
    material = _decoded(parts[2])
    verifier = Verifier(parts[0], material[1:], material[0] if material else 0)
    if verifier.key_id.hex() != parts[1]:
        raise NoteError("the verifier key's id is not its own")
    return verifier


def write_note(text: str, lines: Iterable[str]) -> bytes:
    """A note of a text, which ends in a newline, and signature lines."""
    return f"{text}\n{''.join(lines)}".encode()


def parse_note(data: bytes) -> Note:
    """Read a note. Raises NoteError where it is malformed or larger than `NOTE_BYTES_MAX`."""
    if len(data) > NOTE_BYTES_MAX:
        raise NoteError("the note is too large")
    try:
        whole = data.decode()
    except UnicodeDecodeError:
        raise NoteError("the note is not UTF-8") from None
    text, separator, signed = whole.rpartition("\n\n")
    if not separator or not signed.endswith("\n") or _CONTROL.search(whole):
        raise NoteError("not a signed note")
    lines = signed[:-1].split("\n")
    if len(lines) > SIGNATURES_MAX:
        raise NoteError("the note has too many signatures")
    return Note(f"{text}\n", tuple(map(parse_signature, lines)))


def parse_signature(line: str) -> Signature:
    """Read a signature line, without its newline. Raises NoteError where it is malformed."""
    name, space, encoded = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH) or not space:
        raise NoteError("not a signature line")
    _check_name(name)
    signature = _decoded(encoded)
    if len(signature) <= _ID_BYTES:
        raise NoteError("a signature is too short")
    return Signature(name, signature[:_ID_BYTES], signature[_ID_BYTES:])


def verify(note: Note, verifiers: Iterable[Verifier]) -> list[Verified]:
    """Whose signatures a note carries, of those that are known, in the note's order; the others are ignored.

    Raises NoteError where a known key's signature is wrong, and where there is none of a known key.
    """
    known = {(verifier.name, verifier.key_id): verifier for verifier in verifiers}
    found: dict[Verifier, int | None] = {}
    for name, key_id, signature in note.signatures:
        verifier = known.get((name, key_id))
        if verifier is not None:
            found.setdefault(verifier, verifier.verify(note.text, signature))
    if not found:
        raise NoteError("the note has no signature of a known key")
    return [Verified(*each) for each in found.items()]


def parse_checkpoint(text: str) -> Checkpoint:
    """Read a checkpoint's text; extension lines are passed over. Raises NoteError where it is malformed."""
    lines = text.split("\n")
    if lines.pop() or len(lines) < _CHECKPOINT_LINES or not all(lines) or not _SIZE.fullmatch(lines[1]):
        raise NoteError("not a checkpoint")
    origin, size, root = lines[0], int(lines[1]), _decoded(lines[2])
    if size > SIZE_MAX or len(root) != HASH_BYTES:
        raise NoteError("not a checkpoint")
    return Checkpoint(origin, size, root)


def _cosigned(text: str, time: int) -> bytes:
    return f"cosignature/v1\ntime {time}\n{text}".encode()


def _check_name(name: str) -> None:
    if (
        not 0 < len(name) <= NAME_CHARACTERS_MAX
        or "+" in name
        or _CONTROL.search(name)
        or any(map(str.isspace, name))
    ):
        raise NoteError("not a key's name")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decoded(text: str) -> bytes:
    """Decode base64 that is spelt as we would spell it. Raises NoteError where it is not."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise NoteError("not base64") from None
    if _base64(data) != text:
        raise NoteError("not base64")
    return data

"""Asking one witness over HTTP: C2SP tlog-witness, `add-checkpoint`."""

from __future__ import annotations

import base64
import http.client
import re
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from infrastructure.evidence.notes import (
    COSIGNATURE,
    Checkpoint,
    Note,
    NoteError,
    Verifier,
    parse_signature,
    parse_vkey,
)

TIMEOUT_SECONDS: Final = 5.0
ANSWER_BYTES_MAX: Final = 64 * 1024
SIZE_TYPE: Final = "text/x.tlog.size"

_SIZE: Final = re.compile(rb"(0|[1-9][0-9]{0,18})\n")
_CONFLICT: Final = 409
_UNPROVEN: Final = 422


class Refusal(Exception):
    """A witness did not sign; the message says why. `alarm`: it knows another history than we do."""

    def __init__(self, message: str, *, alarm: bool = False) -> None:
        super().__init__(message)
        self.alarm = alarm


@dataclass(frozen=True, slots=True)
class WitnessAddress:
    """A witness's public key and the URL prefix it takes checkpoints at."""

    verifier: Verifier
    url: str

    @classmethod
    def parse(cls, text: str) -> WitnessAddress:
        """Read ``VKEY URL``. Raises NoteError with a line that says what is wrong."""
        vkey, _, url = text.strip().partition(" ")
        verifier = parse_vkey(vkey)
        if verifier.algorithm != COSIGNATURE:
            raise NoteError("the key is not a witness's: ask the witness for its /key")
        parts = urlsplit(url.strip())
        try:
            usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable or parts.query or parts.fragment or parts.username:
            raise NoteError("a witness is named by its key and an http or https URL: 'VKEY URL'")
        return cls(verifier, url.strip().rstrip("/"))

    def __str__(self) -> str:
        return f"{self.verifier.vkey} {self.url}"


class WitnessConnection:
    """One witness, asked by one thread at a time; the connection is kept between questions."""

    def __init__(self, address: WitnessAddress) -> None:
        parts = urlsplit(address.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._http = kind(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
        self._path = f"{parts.path}/add-checkpoint"
        self.verifier = address.verifier
        self._socket: socket.socket | None = None

    def cosign(
        self,
        note: Note,
        checkpoint: Checkpoint,
        old: int,
        prove: Callable[[int, int], Sequence[bytes]],
    ) -> str:
        """Return the witness's signature line under a checkpoint.

        `old` is the size it is thought to have signed last; where it says another, it is asked once more.
        Raises Refusal, and whatever `prove` raises.
        """
        for _ in range(2):
            if old > checkpoint.size:
                raise Refusal(f"it has signed a tree of {old} leaves, larger than ours", alarm=True)
            status, kind, answer = self._post(_request(note, old, prove(old, checkpoint.size)))
            if status != _CONFLICT:
                break
            said = _SIZE.fullmatch(answer)
            if kind != SIZE_TYPE and old == checkpoint.size:
                raise Refusal("it has signed another tree of this size", alarm=True)
            if kind != SIZE_TYPE or said is None or int(said[1]) == old:
                raise Refusal("it does not say what size it has signed")
            old = int(said[1])
        if status == _UNPROVEN:
            raise Refusal(f"our tree does not continue what it has signed of {old} leaves", alarm=True)
        if status != http.client.OK:
            raise Refusal(f"it answers with status {status}")
        return self._line(note, answer)

    def hang_up(self) -> None:
        """End the question that is under way, from another thread; its asker gets a Refusal."""
        if (connected := self._socket) is not None:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the connection up, while nobody asks."""
        self._socket = None
        self._http.close()

    def _post(self, body: bytes) -> tuple[int, str, bytes]:
        """Send a request; a connection that the other side gave up meanwhile is made anew once."""
        kept = self._http.sock is not None
        try:
            return self._post_once(body)
        except (ConnectionError, http.client.RemoteDisconnected):
            if not kept:
                raise Refusal("it cannot be reached") from None
        except (OSError, http.client.HTTPException):
            raise Refusal("it cannot be reached") from None
        try:
            return self._post_once(body)
        except (OSError, http.client.HTTPException):
            raise Refusal("it cannot be reached") from None

    def _post_once(self, body: bytes) -> tuple[int, str, bytes]:
        try:
            self._http.request("POST", self._path, body, {"Content-Type": "text/plain; charset=utf-8"})
            self._socket = self._http.sock
            with self._http.getresponse() as answer:
                said = answer.read(ANSWER_BYTES_MAX + 1)
            if len(said) > ANSWER_BYTES_MAX:
                self.close()
                raise Refusal("its answer is too long")
            return answer.status, answer.headers.get_content_type(), said
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def _line(self, note: Note, answer: bytes) -> str:
        """Return the line that this witness's key made; others in the answer are passed over."""
        try:
            lines = answer.decode().splitlines()
            for signature in map(parse_signature, lines):
                if (signature.name, signature.key_id) == (self.verifier.name, self.verifier.key_id):
                    self.verifier.verify(note.text, signature.signature)
                    return signature.line
        except (UnicodeDecodeError, NoteError):
            raise Refusal("its answer is not a signature of its key") from None
        raise Refusal("its answer has no signature of its key")


def _request(note: Note, old: int, proof: Sequence[bytes]) -> bytes:
    lines = [f"old {old}", *(base64.b64encode(each).decode() for each in proof)]
    return "\n".join([*lines, "", ""]).encode() + note.data

"""What a witness decides: C2SP tlog-witness, `add-checkpoint`, with cosignature/v1.

A log shows its newest checkpoint and proves that it continues the last one the witness signed. The witness
signs each size of a log's tree with one root only, and never a tree that does not begin with its last one.
Whoever holds one of its signatures therefore knows that everybody else was shown the same history.
"""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from infrastructure.evidence.merkle import EMPTY_ROOT, HASH_BYTES, verify_consistency
from infrastructure.evidence.notes import (
    Checkpoint,
    Note,
    NoteError,
    Signer,
    Verifier,
    parse_checkpoint,
    parse_note,
    verify,
    write_note,
)
from infrastructure.witness.state import Seen, State

REQUEST_BYTES_MAX: Final = 64 * 1024
PROOF_LINES_MAX: Final = 63
SIZE_TYPE: Final = "text/x.tlog.size"
TEXT_TYPE: Final = "text/plain; charset=utf-8"

OK: Final = 200
MALFORMED: Final = 400
NOT_SIGNED: Final = 403
UNKNOWN_LOG: Final = 404
CONFLICT: Final = 409
UNPROVEN: Final = 422
NOT_KEPT: Final = 503

_OLD: Final = re.compile(r"old (0|[1-9][0-9]{0,18})")

Trust = Callable[[str], Sequence[Verifier]]
"""Gives the keys that a log, named by its origin, may sign with; none for a log that is not known."""


class Answer(NamedTuple):
    """What an HTTP request is answered with."""

    status: int
    body: str
    content_type: str = TEXT_TYPE


class Asked(NamedTuple):
    """A request to sign: the size signed last, the proof from there on, and the checkpoint as a note."""

    old: int
    proof: list[bytes]
    note: Note
    checkpoint: Checkpoint


class RefusedError(Exception):
    """The witness does not sign; the answer says why."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.body.strip())
        self.answer = answer


class Witness:
    """One witness. `clock` gives seconds since the epoch, `say` takes a line that an operator must read."""

    def __init__(
        self, state: State, trust: Trust, clock: Callable[[], float], say: Callable[[str], None]
    ) -> None:
        self._state = state
        self._trust = trust
        self._clock = clock
        self._say = say
        self._signer = Signer.from_seed(state.name, state.seed)
        self._one_at_a_time = threading.Lock()

    @property
    def vkey(self) -> str:
        """The public key that verifies its signatures."""
        return self._signer.cosigner.vkey

    def last(self, origin: str) -> Seen | None:
        """Return the last tree of a log that was signed, None where none was."""
        return self._state.last(origin)

    def add_checkpoint(self, body: bytes) -> Answer:
        """Answer a request to sign a checkpoint. May be called by several threads at once."""
        try:
            return Answer(OK, self.cosign(parse_request(body)))
        except RefusedError as refused:
            return refused.answer

    def cosign(self, asked: Asked) -> str:
        """Sign a checkpoint and return the signature line. Raises RefusedError where that must not be."""
        self._check_signed(asked)
        with self._one_at_a_time:  # between looking at the last tree and putting the next in its place
            origin, size, root = asked.checkpoint.origin, asked.checkpoint.size, asked.checkpoint.root
            last = self._state.last(origin)
            self._check_continues(asked, last)
            line = self._signer.cosign(asked.note.text, int(self._clock()))
            if last is None or last.size != size:
                note = write_note(asked.note.text, [*(each.line for each in asked.note.signatures), line])
                try:
                    self._state.record(origin, Seen(size, root, note.decode()))
                except OSError as problem:
                    why = f"cannot keep what it signs ({problem.strerror})"
                    self._say(why)
                    raise RefusedError(Answer(NOT_KEPT, f"the witness {why}\n")) from None
            return line

    def _check_signed(self, asked: Asked) -> None:
        """Raise RefusedError where the checkpoint is not a known log's, or speaks of the impossible."""
        trusted = self._trust(asked.checkpoint.origin)
        if not trusted:
            raise RefusedError(Answer(UNKNOWN_LOG, "this witness does not know that log\n"))
        try:
            verify(asked.note, trusted)
        except NoteError:
            raise RefusedError(
                Answer(NOT_SIGNED, "the checkpoint is not signed by a key of its log\n")
            ) from None
        if asked.old > asked.checkpoint.size:
            raise RefusedError(Answer(MALFORMED, "the old size is larger than the checkpoint's\n"))

    def _check_continues(self, asked: Asked, last: Seen | None) -> None:
        """Raise RefusedError where the checkpoint does not continue the last one signed."""
        old, root = (0, EMPTY_ROOT) if last is None else (last.size, last.root)
        shown = asked.checkpoint
        if asked.old != old:
            raise RefusedError(Answer(CONFLICT, f"{old}\n", SIZE_TYPE))
        if shown.size == old and shown.root != root:
            self._keep_refused("fork", asked)
            raise RefusedError(Answer(CONFLICT, "another tree of this size has been signed\n"))
        if not verify_consistency(old, root, shown.size, shown.root, asked.proof):
            self._keep_refused("unproven", asked)
            raise RefusedError(Answer(UNPROVEN, "the proof does not show that it continues the last one\n"))

    def _keep_refused(self, kind: str, asked: Asked) -> None:
        try:
            new = self._state.keep_refused(kind, asked.note.data)
        except OSError as problem:
            self._say(f"cannot keep a refused checkpoint ({problem.strerror})")
            return
        if new:
            self._say(
                f"refused a signed checkpoint of {asked.checkpoint.origin} at size {asked.checkpoint.size}"
                f" ({kind}): kept in the folder refused"
            )


def parse_request(body: bytes) -> Asked:
    """Read what a log sends. Raises RefusedError where it is malformed or too long."""
    try:
        return _parsed(body)
    except NoteError as problem:
        raise RefusedError(Answer(MALFORMED, f"{problem}\n")) from None


def _parsed(body: bytes) -> Asked:
    if len(body) > REQUEST_BYTES_MAX:
        raise NoteError("the request is too long")
    head, separator, signed = body.partition(b"\n\n")
    first, *lines = head.decode("ascii", errors="replace").split("\n")
    old = _OLD.fullmatch(first)
    if not separator or old is None or len(lines) > PROOF_LINES_MAX:
        raise NoteError("not 'old SIZE', a proof, an empty line and a checkpoint")
    note = parse_note(signed)
    return Asked(int(old[1]), [_hash(line) for line in lines], note, parse_checkpoint(note.text))


def _hash(line: str) -> bytes:
    try:
        found = base64.b64decode(line, validate=True)
    except ValueError:  # binascii.Error is one; so is a character that is not ASCII
        found = b""
    if len(found) != HASH_BYTES or base64.b64encode(found).decode() != line:
        raise NoteError("not a hash in base64")
    return found

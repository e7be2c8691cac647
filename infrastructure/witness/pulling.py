"""Fetching a log's checkpoint and the proof from its tiles: for a witness that the log cannot reach."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from contextlib import suppress
from typing import Final

from infrastructure.evidence.merkle import (
    HASH_BYTES,
    TILE_HEIGHT,
    TILE_WIDTH,
    complete_root,
    consistency_proof,
)
from infrastructure.evidence.notes import NOTE_BYTES_MAX, NoteError, parse_checkpoint, parse_note
from infrastructure.evidence.tiles import TILE_BYTES, tile_path, width_at
from infrastructure.witness.witness import CONFLICT, Answer, Asked, RefusedError, Witness

TIMEOUT_SECONDS: Final = 20.0


class PullError(Exception):
    """The log cannot be read; the message is one line."""


def pull(witness: Witness, prefix: str) -> str:
    """Sign the checkpoint that a log publishes below a URL prefix; return it with our signature.

    Raises PullError where the log cannot be read, RefusedError where its checkpoint must not be signed.
    """
    prefix = prefix.rstrip("/")
    try:
        note = parse_note(_get(f"{prefix}/checkpoint", NOTE_BYTES_MAX))
        shown = parse_checkpoint(note.text)
    except NoteError as problem:
        raise PullError(f"{prefix}/checkpoint is not a checkpoint: {problem}") from None
    last = witness.last(shown.origin)
    old = 0 if last is None else last.size
    proof: list[bytes] = []
    if old < shown.size:
        tiles = _Tiles(prefix, shown.size)
        proof = consistency_proof(old, shown.size, tiles.read)
    elif old > shown.size:
        raise RefusedError(Answer(CONFLICT, f"the log shows {shown.size} leaves, and {old} were signed"))
    return note.data.decode() + witness.cosign(Asked(old, proof, note, shown))


class _Tiles:
    """The hashes of a log's tree of `size` leaves, as its tiles say; nothing of it is believed yet."""

    def __init__(self, prefix: str, size: int) -> None:
        self._prefix = prefix
        self._size = size
        self._fetched: dict[tuple[int, int], bytes] = {}

    def read(self, level: int, index: int) -> bytes:
        """Return the hash of the complete subtree of 2^level leaves that is the index-th of these."""
        tile_level, height = divmod(level, TILE_HEIGHT)
        tile_index, place = divmod(index << height, TILE_WIDTH)
        tile = self._fetched.get((tile_level, tile_index))
        if tile is None:
            tile = self._fetched[tile_level, tile_index] = self._fetch(tile_level, tile_index)
        try:
            return complete_root(tile[place * HASH_BYTES : (place + (1 << height)) * HASH_BYTES])
        except ValueError:
            raise PullError(f"a tile of {self._prefix} is too short") from None

    def _fetch(self, level: int, index: int) -> bytes:
        """Return a tile; where the partial one is gone, the log has a full one by now that begins with it."""
        width = width_at(level, index, self._size)
        try:
            return _get(f"{self._prefix}/{tile_path(level, index, width)}", TILE_BYTES)
        except PullError:
            if width == TILE_WIDTH:
                raise
            with suppress(PullError):
                return _get(f"{self._prefix}/{tile_path(level, index)}", TILE_BYTES)
            raise


def _get(url: str, bytes_max: int) -> bytes:
    if not url.startswith(("http://", "https://")):
        raise PullError(f"{url} is not an http or https URL")
    try:
        request = urllib.request.Request(url)  # noqa: S310  # the scheme is one of two
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310  # the same
            found: bytes = answer.read(bytes_max + 1)
    except urllib.error.HTTPError as problem:
        problem.close()
        raise PullError(f"{url} answers with status {problem.code}") from None
    except (OSError, http.client.HTTPException, ValueError) as problem:
        raise PullError(f"{url} cannot be read: {getattr(problem, 'reason', problem)}") from None
    if len(found) > bytes_max:
        raise PullError(f"{url} is too long")
    return found

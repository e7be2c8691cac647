"""The evidence log's files and proofs, as C2SP's tlog-tiles and tlog-proof have them, for anybody's tools.

Checkpoint, keys, hash tiles and proofs are open: an event's salt keeps its hash from saying anything about
it (G5). Entry bundles hold the events themselves. They need the scope `audit`, and are there once every round
with an event in them has ended. Nothing is served beyond the newest published checkpoint: what a sealer
prepares for the next one may still change.

Each path is also there below `/log/<generation>`, for the logs that a ledger had before.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
from base64 import b64encode
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from api.auth import AUDIT, reader, scopes
from api.log import documented
from api.log.checkpoints import checkpoint_of, newest_note
from api.log.documented import BYTES, PROOF_FIRST_LINE, TEXT, served
from api.paging import reading_of
from api.problems import Problem
from api.tokens import Token
from infrastructure.evidence.folder import Generation, LogFolder
from infrastructure.evidence.merkle import TILE_WIDTH, leaf_hashes
from infrastructure.evidence.notes import Checkpoint
from infrastructure.evidence.tiles import pack_entries, parse_path, width_at
from infrastructure.evidence.unavailable import LogUnavailable
from infrastructure.reading import Reading

FOREVER: Final = "max-age=31536000, immutable"
A_WHILE: Final = "max-age=3600"
"""A partial tile never changes either, but the whole one takes its place; and where the path names no log,
another may take the log's place.
"""
A_MINUTE: Final = "max-age=60"
A_MOMENT: Final = "max-age=1"

_NOT_YET: Final = {"Cache-Control": "no-store"}
_NUMBER: Final = re.compile("0|[1-9][0-9]{0,15}", re.ASCII)

router = APIRouter(tags=["evidence log"])


def _log(request: Request) -> Generation:
    """The log that a path names: the newest, or one before. Raises Problem not_found."""
    folder: LogFolder = request.app.state.service.log
    number = request.path_params.get("generation")
    if number is None:
        current = folder.current
        if current is None:
            raise _nothing("The log has signed nothing yet.")
        return current
    for known in folder.generations():
        if str(known) == number:
            return folder.generation(known)
    raise _nothing("The ledger has no such log.")


_Log = Annotated[Generation, Depends(_log)]
_Auditor = Annotated[Token, Depends(reader(AUDIT))]


@served(router, "/checkpoint", "The newest checkpoint", documented.NOTE)
def read_checkpoint(request: Request, log: _Log) -> Response:
    """What the log has signed last: how many events it has and their tree's root, with all signatures on it.

    A signed note (C2SP tlog-checkpoint). Witnesses cosign it a moment later: then it has their lines too.
    """
    return _answer(request, _published(log)[0], TEXT, f"public, {A_MOMENT}")


@served(router, "/key", "The log's public keys", documented.KEY)
def read_keys(request: Request, log: _Log) -> Response:
    """One a line, the newest first: the older ones verify older checkpoints (C2SP signed-note)."""
    keys: list[str] = log.keys()
    return _answer(request, "".join(f"{key}\n" for key in keys).encode(), TEXT, f"public, {A_MINUTE}")


@served(
    router,
    "/tile/entries/{index:path}",
    "A bundle of events",
    "\x00\x13{…}",
    "entries_not_ready",
    "unauthenticated",
    "scope_missing",
    parts=(documented.INDEX,),
    media_type=BYTES,
    dependencies=[scopes(AUDIT)],
)
async def read_entries(request: Request, _: _Auditor, log: _Log) -> Response:
    """Up to 256 events as they are stored, each after its length in two bytes.

    `entries_not_ready` until every round with an event in it has ended.
    """
    number, width = await asyncio.to_thread(_tile, request, log, "entries")
    data = await _entries(reading_of(request), log, number, width)
    encoding = "gzip" if _takes_gzip(request) else None
    if encoding is not None:
        data = await asyncio.to_thread(gzip.compress, data, 6, mtime=0)
    return _answer(request, data, BYTES, f"private, {_age(request, width)}", encoding)


@served(
    router,
    "/tile/{level}/{index:path}",
    "A tile of hashes",
    "…",
    parts=(documented.LEVEL, documented.INDEX),
    media_type=BYTES,
)
def read_tile(request: Request, log: _Log) -> Response:
    """256 hashes of 32 bytes, or as many as a part of it is asked for (C2SP tlog-tiles).

    A tile of the newest checkpoint's tree, or of any smaller one. Where the path names the log's generation,
    it is the same for ever.
    """
    level: str = request.path_params["level"]
    number, width = _tile(request, log, level)
    return _answer(request, log.tile(int(level), number, width), BYTES, f"public, {_age(request, width)}")


@served(
    router,
    "/proof/{position}",
    "The proof that an event is in the log",
    documented.PROOF,
    parts=(documented.POSITION,),
)
def read_proof(request: Request, log: _Log) -> Response:
    """A file by itself (C2SP tlog-proof): inclusion proof and checkpoint, with cosignatures if there are any.

    What it proves is the event's hash: the event is not in it.
    """
    position = _number(request, "position")
    note = newest_note(log, position)
    if note is None or not position:
        raise _nothing("No checkpoint has an event of that position.")
    proof = log.inclusion(position - 1, checkpoint_of(note).size)
    lines = [PROOF_FIRST_LINE, f"index {position - 1}", *map(_base64, proof), "", ""]
    answer = _answer(request, "\n".join(lines).encode() + note, TEXT, f"public, {A_MOMENT}")
    answer.headers["Content-Disposition"] = f'attachment; filename="event-{position}.tlog-proof"'
    return answer


@served(
    router,
    "/consistency/{old}/{new}",
    "The proof that a tree begins with an older one",
    documented.HASHES,
    parts=(documented.OLD, documented.NEW),
)
def read_consistency(request: Request, log: _Log) -> Response:
    """Hashes in base64, one a line (RFC 9162 section 2.1.4); none where the old tree is empty or the same.

    Whoever keeps a checkpoint can verify that nothing up to it was changed since.
    """
    old, new = _number(request, "old"), _number(request, "new")
    if old > new or new > _published(log)[1].size:
        raise _nothing("No checkpoint has that many events, or the sizes are the other way round.")
    proof = "".join(f"{_base64(each)}\n" for each in log.consistency(old, new))
    return _answer(request, proof.encode(), TEXT, f"public, {_age(request)}")


def _published(log: Generation) -> tuple[bytes, Checkpoint]:
    """The newest checkpoint, as a note and read. Raises Problem not_found."""
    note = log.note()
    if note is None:
        raise _nothing("The log has signed nothing yet.")
    return note, checkpoint_of(note)


def _number(request: Request, name: str) -> int:
    """A number that a path names. Raises Problem not_found for any other spelling."""
    text: str = request.path_params[name]
    if not _NUMBER.fullmatch(text):
        raise _nothing("The path names no number of events.")
    return int(text)


def _tile(request: Request, log: Generation, level: str) -> tuple[int, int]:
    """Which tile a path names, and how wide, if a signed tree has it. Raises Problem not_found."""
    try:
        found, number, width = parse_path(f"tile/{level}/{request.path_params['index']}")
    except ValueError:
        raise _nothing("The path names no tile.") from None
    if width > width_at(found or 0, number, _published(log)[1].size):
        raise _nothing("No checkpoint has that tile yet.")
    return number, width


async def _entries(reading: Reading, log: Generation, number: int, width: int) -> bytes:
    """The bundle as the sealer has written it, or made of the events where it has not."""
    data = await asyncio.to_thread(log.entries, number) if width == TILE_WIDTH else None
    if data is None:
        first = number * TILE_WIDTH + 1
        events = await reading.disclosed(first, first + width - 1)
        if events is None:
            detail = "A round with an event in this bundle has not ended, or the events are archived."
            raise Problem("entries_not_ready", detail, headers=_NOT_YET)
        data = await asyncio.to_thread(_packed, log, number, events)
    return data


def _packed(log: Generation, number: int, events: list[bytes]) -> bytes:
    """A bundle of events as the database has them. Raises LogUnavailable where others were sealed."""
    if b"".join(leaf_hashes(events)) != log.tile(0, number, len(events)):
        raise LogUnavailable(f"the events of tile {number} are not those that were sealed")
    return pack_entries(events)


def _age(request: Request, width: int = TILE_WIDTH) -> str:
    lasts = width == TILE_WIDTH and "generation" in request.path_params
    return FOREVER if lasts else A_WHILE


def _answer(request: Request, data: bytes, kind: str, caching: str, encoding: str | None = None) -> Response:
    """What was asked for, or that whoever asks has it already (RFC 9110 section 13.1.2)."""
    tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": caching, "X-Content-Type-Options": "nosniff"}
    if encoding is not None:
        headers["Content-Encoding"] = encoding
    if caching.startswith("private"):
        headers["Vary"] = "Accept-Encoding, Authorization"
    asked = request.headers.get("if-none-match", "")
    known = {each.strip().removeprefix("W/") for each in asked.split(",")}
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=kind)


def _takes_gzip(request: Request) -> bool:
    return "gzip" in map(str.strip, request.headers.get("accept-encoding", "").split(","))


def _nothing(detail: str) -> Problem:
    return Problem("not_found", detail, headers=_NOT_YET)


def _base64(data: bytes) -> str:
    return b64encode(data).decode()

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
from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from api import openapi
from api.auth import AUDIT, reader, scopes
from api.log.checkpoints import newest_note
from api.paging import reading_of
from api.problems import Problem
from api.tokens import Token
from infrastructure.evidence.folder import Generation, LogFolder
from infrastructure.evidence.merkle import TILE_WIDTH
from infrastructure.evidence.notes import Checkpoint, parse_checkpoint, parse_note
from infrastructure.evidence.tiles import pack_entries, parse_path, width_at
from infrastructure.reading import Reading

FOREVER: Final = "max-age=31536000, immutable"
A_WHILE: Final = "max-age=3600"
"""A partial tile never changes either, but the whole one takes its place."""
A_MOMENT: Final = "max-age=1"
A_MINUTE: Final = "max-age=60"
PROOF_FIRST_LINE: Final = "c2sp.org/tlog-proof@v1"

_BYTES: Final = "application/octet-stream"
_TEXT: Final = "text/plain; charset=utf-8"
_NOT_YET: Final = {"Cache-Control": "no-store"}
_GENERATION: Final = {
    "name": "generation",
    "in": "path",
    "required": True,
    "description": "Which of the ledger's logs: they are counted from 1.",
    "schema": {"type": "string", "pattern": "^[1-9][0-9]{0,8}$"},
    "example": "1",
}
_NOTE: Final = (
    "stud-ledger/3f79bb7b435b0532/1\n4711\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "\u2014 stud-ledger/3f79bb7b435b0532/1 Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1"
    "gGzGGku9nTo+zyWE+xeMcTOAYQ8=\n"
)

_Level = Annotated[str, Path(pattern="^[0-7]$", description="0: the events' own hashes.", examples=["0"])]
_Index = Annotated[
    str,
    Path(
        pattern=r"^(x[0-9]{3}/){0,5}[0-9]{3}(\.p/[1-9][0-9]{0,2})?$",
        description="Which tile, in groups of three digits, all but the last after an `x`; behind `.p/` how "
        "many hashes a partial one holds.",
        examples=["x001/x234/067", "018.p/103"],
    ),
]
_Position = Annotated[
    str,
    Path(
        pattern="^[1-9][0-9]{0,15}$",
        description="The event's position: its leaf is one less.",
        examples=["42"],
    ),
]
_Size = Annotated[
    str, Path(pattern="^(0|[1-9][0-9]{0,15})$", description="A tree's size, in events.", examples=["42"])
]

_Auditor = Annotated[Token, Depends(reader(AUDIT))]
_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Response | Awaitable[Response]])

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


def _served(
    path: str, summary: str, example: str, *codes: str, **more: Any
) -> Callable[[_Endpoint], _Endpoint]:
    """Serve what an endpoint gives for the newest log and for those before, to GET and HEAD."""
    kind = more.pop("media_type", "text/plain")
    schema = {"type": "string", **({"format": "binary"} if kind == _BYTES else {})}
    answer = {"description": "Successful Response", "content": {kind: {"schema": schema, "example": example}}}

    def register(endpoint: _Endpoint) -> _Endpoint:
        for prefix, suffix, parameters in (
            ("", "", []),
            ("/{generation}", " (of an earlier log)", [_GENERATION]),
        ):
            for method in ("GET", "HEAD"):
                router.add_api_route(
                    f"/log{prefix}{path}",
                    endpoint,
                    methods=[method],
                    summary=summary + suffix,
                    include_in_schema=method == "GET",
                    response_class=Response,
                    responses=openapi.only("not_found", *codes, "overloaded", "internal_error"),
                    openapi_extra={"parameters": parameters, "responses": {"200": answer}},
                    **more,
                )
        return endpoint

    return register


@_served("/checkpoint", "The newest checkpoint", _NOTE)
def read_checkpoint(request: Request, log: _Log) -> Response:
    """What the log has signed last: how many events it has and their tree's root, with all signatures on it.

    A signed note (C2SP tlog-checkpoint). What a witness cosigned later comes with the next one.
    """
    return _answer(request, _published(log)[0], _TEXT, f"public, {A_MOMENT}")


@_served("/key", "The log's public keys", "stud-ledger/3f79bb7b435b0532/1+8f3a01c2+AXQ…\n")
def read_keys(request: Request, log: _Log) -> Response:
    """One a line, the newest first: the older ones verify older checkpoints (C2SP signed-note)."""
    keys = "".join(f"{key}\n" for key in list(log.keys()))
    return _answer(request, keys.encode(), _TEXT, f"public, {A_MINUTE}")


@_served(
    "/tile/entries/{index:path}",
    "A bundle of events",
    "…",
    "entries_not_ready",
    "unauthenticated",
    "scope_missing",
    media_type=_BYTES,
    dependencies=[scopes(AUDIT)],
)
async def read_entries(request: Request, _: _Auditor, log: _Log, index: _Index) -> Response:
    """Up to 256 events as they are stored, each after its length in two bytes.

    `entries_not_ready` until every round with an event in it has ended.
    """
    number, width = await asyncio.to_thread(_place, log, "entries", index)
    data = await _entries(reading_of(request), log, number, width)
    encoding = "gzip" if _takes_gzip(request) else None
    if encoding is not None:
        data = await asyncio.to_thread(gzip.compress, data, 6, mtime=0)
    return _answer(request, data, _BYTES, f"private, {_age(width)}", encoding)


@_served("/tile/{level}/{index:path}", "A tile of hashes", "…", media_type=_BYTES)
def read_tile(request: Request, log: _Log, level: _Level, index: _Index) -> Response:
    """256 hashes of 32 bytes, or as many as a partial one is asked for (C2SP tlog-tiles).

    A tile of the newest checkpoint's tree, or of any smaller one: it is the same for ever.
    """
    number, width = _place(log, level, index)
    return _answer(request, log.tile(int(level), number, width), _BYTES, f"public, {_age(width)}")


@_served(
    "/proof/{position}",
    "The proof that an event is in the log",
    f"{PROOF_FIRST_LINE}\nindex 41\n…\n\n{_NOTE}",
)
def read_proof(request: Request, log: _Log, position: _Position) -> Response:
    """A file by itself (C2SP tlog-proof): inclusion proof and checkpoint, with cosignatures if there are any.

    What it proves is the event's hash: the event is not in it.
    """
    size = int(position)
    note = newest_note(log, size)
    if note is None:
        raise _nothing("No checkpoint has an event of that position.")
    proof = log.inclusion(size - 1, _checkpoint(note).size)
    lines = [PROOF_FIRST_LINE, f"index {size - 1}", *map(_base64, proof), "", ""]
    answer = _answer(request, "\n".join(lines).encode() + note, _TEXT, f"public, {A_MOMENT}")
    answer.headers["Content-Disposition"] = f'attachment; filename="event-{position}.tlog-proof"'
    return answer


@_served("/consistency/{old}/{new}", "The proof that a tree begins with an older one", "CsUYapGGPo4d…\n")
def read_consistency(request: Request, log: _Log, old: _Size, new: _Size) -> Response:
    """Hashes in base64, one a line (RFC 9162 section 2.1.4); none where the old tree is empty or the same.

    Whoever keeps a checkpoint can verify that nothing up to it was changed since.
    """
    smaller, larger = int(old), int(new)
    if smaller > larger or larger > _published(log)[1].size:
        raise _nothing("No checkpoint has that many events, or the sizes are the other way round.")
    proof = "".join(f"{_base64(each)}\n" for each in log.consistency(smaller, larger))
    return _answer(request, proof.encode(), _TEXT, f"public, {FOREVER}")


def _published(log: Generation) -> tuple[bytes, Checkpoint]:
    """The newest checkpoint, as a note and read. Raises Problem not_found."""
    note = log.note()
    if note is None:
        raise _nothing("The log has signed nothing yet.")
    return note, _checkpoint(note)


def _place(log: Generation, level: str, index: str) -> tuple[int, int]:
    """Which tile a path names, and how wide, if a signed tree has it. Raises Problem not_found."""
    try:
        found, number, width = parse_path(f"tile/{level}/{index}")
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
        data = pack_entries(events)
    return data


def _age(width: int) -> str:
    return FOREVER if width == TILE_WIDTH else A_WHILE


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
    codings = [
        each.strip().replace(" ", "") for each in request.headers.get("accept-encoding", "").split(",")
    ]
    return "gzip" in codings


def _nothing(detail: str) -> Problem:
    return Problem("not_found", detail, headers=_NOT_YET)


def _checkpoint(note: bytes) -> Checkpoint:
    return parse_checkpoint(parse_note(note).text)


def _base64(data: bytes) -> str:
    return b64encode(data).decode()

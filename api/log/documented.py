"""How a path of the log is served: for the newest log and those before, to GET and HEAD, and documented.

The parts of its paths are read by the routes themselves: what does not fit names nothing, and is no error of
shape.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from fastapi import APIRouter
from starlette.responses import Response

from api import openapi

BYTES: Final = "application/octet-stream"
TEXT: Final = "text/plain; charset=utf-8"
PROOF_FIRST_LINE: Final = "c2sp.org/tlog-proof@v1"

KEY: Final = "stud-ledger/3f79bb7b435b0532/1+8f3a01c2+ASPD2M0sWiR6zNC3E4Dk0y2uA7Bl2pPPMbCVd2wPcQxj\n"
ROOT: Final = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
NOTE: Final = (
    f"stud-ledger/3f79bb7b435b0532/1\n4711\n{ROOT}\n\n"
    "\u2014 stud-ledger/3f79bb7b435b0532/1 Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1"
    "gGzGGku9nTo+zyWE+xeMcTOAYQ8=\n"
)
HASHES: Final = f"{ROOT}\n"
PROOF: Final = f"{PROOF_FIRST_LINE}\nindex 41\n{HASHES}\n{NOTE}"

_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Response | Awaitable[Response]])


def part(name: str, pattern: str, example: str, description: str) -> dict[str, Any]:
    """A part of a path."""
    schema = {"type": "string", "pattern": pattern}
    told = {"description": description, "schema": schema, "example": example}
    return {"name": name, "in": "path", "required": True, **told}


_SIZE: Final = "^(0|[1-9][0-9]{0,15})$"
_GENERATION: Final = part(
    "generation", "^[1-9][0-9]{0,8}$", "1", "Which of the ledger's logs: they are counted from 1."
)
LEVEL: Final = part("level", "^[0-7]$", "0", "0: the events' own hashes.")
INDEX: Final = part(
    "index",
    r"^(x[0-9]{3}/){0,5}[0-9]{3}(\.p/[1-9][0-9]{0,2})?$",
    "x001/x234/067",
    "Which tile, in groups of three digits, all but the last after an `x`; for a part of one, `.p/` and how "
    "many it holds behind it.",
)
POSITION: Final = part("position", "^[1-9][0-9]{0,15}$", "42", "The event's position: its leaf is one less.")
OLD: Final = part("old", _SIZE, "42", "The older tree's size, in events.")
NEW: Final = part("new", _SIZE, "4711", "The newer tree's size, in events.")


def served(
    router: APIRouter,
    path: str,
    summary: str,
    example: str,
    *codes: str,
    parts: tuple[dict[str, Any], ...] = (),
    media_type: str = "text/plain",
    **more: Any,
) -> Callable[[_Endpoint], _Endpoint]:
    """Have a router serve what an endpoint answers at a path below the log, with what is documented of it."""
    schema = {"type": "string", **({"format": "binary"} if media_type == BYTES else {})}
    content = {media_type: {"schema": schema, "example": example}}
    answers = {"200": {"description": "Successful Response", "content": content}}

    def register(endpoint: _Endpoint) -> _Endpoint:
        for prefix, suffix, before in (
            ("", "", ()),
            ("/{generation}", ", of an earlier log", (_GENERATION,)),
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
                    openapi_extra={"parameters": [*before, *parts], "responses": answers},
                    **more,
                )
        return endpoint

    return register

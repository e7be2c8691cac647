"""What the documentation says beside the functions' signatures: headers, problems and examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import orjson

from api.idempotency import KEY_CHARACTERS_MAX
from api.problems import KINDS, MEDIA_TYPE, document
from api.shapes import Answer

_OF_EVERY_CALL: Final = ("unauthenticated", "scope_missing", "overloaded", "internal_error")
_OF_EVERY_WRITE: Final = (
    "idempotency_key_missing",
    "malformed_json",
    "body_too_large",
    "validation_failed",
    "idempotency_key_reused",
    "personal_subject_required",  # of a person who is revoked while the request is on its way
    "ledger_read_only",
)

_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "description": "Names this request for ever: sent again it acts once and is answered as the first time.",
    "schema": {"type": "string", "minLength": 1, "maxLength": KEY_CHARACTERS_MAX, "pattern": "^[ -~]+$"},
    "example": "6f1c2a5e-ante-1",
}
_POSITION: Final = {
    "description": "The ledger's position after the command: `min_position` makes a read wait for it.",
    "schema": {"type": "integer"},
}
_REPLAYED: Final = {
    "description": "`true` where the command was known and this is its first answer.",
    "schema": {"type": "string", "enum": ["true"]},
}


class ProblemDocument(Answer):
    """Problem details (RFC 9457). `code` is stable for programs."""

    type: str
    title: str
    status: int
    code: str
    detail: str


def problems(*codes: str) -> dict[int | str, dict[str, Any]]:
    """The problems a read can answer, for a route's `responses`."""
    return _by_status((*codes, *_OF_EVERY_CALL))


def only(*codes: str) -> dict[int | str, dict[str, Any]]:
    """These problems and no others, for a route that is not like most."""
    return _by_status(codes)


def write_problems(*codes: str) -> dict[int | str, dict[str, Any]]:
    """The problems a write can answer: its own, and those of every write."""
    return _by_status((*codes, *_OF_EVERY_WRITE, *_OF_EVERY_CALL))


def _by_status(codes: Iterable[str]) -> dict[int | str, dict[str, Any]]:
    by_status: dict[int | str, dict[str, Any]] = {}
    for code in dict.fromkeys(codes):
        kind = KINDS[code]
        answer = by_status.setdefault(
            kind.status, {"description": "", "content": {MEDIA_TYPE: {"examples": {}}}}
        )
        answer["description"] = ", ".join(filter(None, (answer["description"], f"`{code}`")))
        content = answer["content"][MEDIA_TYPE]
        content["schema"] = {"$ref": "#/components/schemas/ProblemDocument"}
        example = orjson.loads(document(code, {"detail": f"{kind.title}."}))
        content["examples"][code] = {"summary": kind.title, "value": example}
    return by_status


def write(answer: dict[str, Any], *requests: dict[str, Any], status: int = 200) -> dict[str, Any]:
    """What a write route's documentation has beside its signature: key, headers, examples."""
    return {
        "parameters": [_KEY],
        "requestBody": {"content": {"application/json": {"examples": _examples(requests)}}},
        "responses": {
            str(status): {
                "headers": {"Ledger-Position": _POSITION, "Idempotent-Replayed": _REPLAYED},
                "content": {"application/json": {"example": answer}},
            }
        },
    }


def read(answer: dict[str, Any]) -> dict[str, Any]:
    """What a read route's documentation has beside its signature: an example."""
    return {"responses": {"200": {"content": {"application/json": {"example": answer}}}}}


def _examples(requests: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {f"example {number}": {"value": value} for number, value in enumerate(requests, 1)}

"""The Idempotency-Key: with the client's id it names a command for ever, so that sending it again is safe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from api.problems import Problem, validation_failed

KEY_CHARACTERS_MAX: Final = 255
_KEY: Final = re.compile(rb"[ -~]{1,255}")


def key_of(headers: Sequence[bytes]) -> str:
    """Return the key that the headers of that name hold.

    Raises Problem idempotency_key_missing, or validation_failed for one that is no key, or for two: a request
    that two parties have named is a retry to one of them and new to the other.
    """
    if len(headers) > 1:
        raise _not_valid("must be sent once")
    header = headers[0] if headers else b""
    if not header:
        raise Problem(
            "idempotency_key_missing", "Every POST needs an Idempotency-Key: a new one for a new request."
        )
    if not _KEY.fullmatch(header):
        raise _not_valid(f"must be 1 to {KEY_CHARACTERS_MAX} printable ASCII characters")
    return header.decode("ascii")


def _not_valid(detail: str) -> Problem:
    return validation_failed([{"pointer": "/Idempotency-Key", "detail": detail}])

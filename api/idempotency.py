"""The Idempotency-Key: with the client's id it names a command for ever, so that sending it again is safe."""

from __future__ import annotations

import re
from typing import Final

from api.problems import Problem, validation_failed

KEY_CHARACTERS_MAX: Final = 255
_KEY: Final = re.compile(rb"[ -~]{1,255}")


def key_of(header: bytes | None) -> str:
    """Return the key. Raises Problem idempotency_key_missing, or validation_failed for one that is no key."""
    if not header:
        raise Problem(
            "idempotency_key_missing", "Every POST needs an Idempotency-Key: a new one for a new request."
        )
    if not _KEY.fullmatch(header):
        detail = f"must be 1 to {KEY_CHARACTERS_MAX} printable ASCII characters"
        raise validation_failed([{"pointer": "/Idempotency-Key", "detail": detail}])
    return header.decode("ascii")

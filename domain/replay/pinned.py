"""What a round pins by hash: its rule set and its jackpot's parameters (G7)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from domain.replay.house import canonical, sha256
from domain.replay.parts import JackpotRef

_REMEMBERED: Final = 1024


@lru_cache(_REMEMBERED)
def hash_of(encoded: bytes) -> str:
    """The SHA-256 in hexadecimal of a rule set, which comes again with every round."""
    return sha256(encoded)


def parameters(jackpot: JackpotRef, currency: str) -> dict[str, Any]:
    """What the hash of a jackpot's parameters is made of."""
    named = {
        "contribution": jackpot.contribution,
        "currency": currency,
        "jackpot_id": jackpot.id,
        "reset": jackpot.reset,
        "version": jackpot.version,
    }
    if jackpot.ceiling is not None:
        named["ceiling"] = jackpot.ceiling
    if jackpot.diversion is not None:
        named["diversion"] = jackpot.diversion
    return named


@lru_cache(_REMEMBERED)
def parameters_hash(jackpot: JackpotRef, currency: str) -> str | None:
    """The hash that a jackpot's parameters have to have; None where they have no canonical form."""
    encoded = canonical(parameters(jackpot, currency))
    return None if encoded is None else sha256(encoded)

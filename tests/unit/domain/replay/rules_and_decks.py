"""Rule sets as plain values and decks by the published definition, with none of the ledger's code."""

from __future__ import annotations

import hashlib
import hmac
import json
import tomllib
from pathlib import Path
from typing import Any

HOUSES = Path(__file__).resolve().parents[4] / "domain" / "rulesets"
DECK = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
SEED = bytes(range(48)).hex()


def house(name: str, **changes: Any) -> dict[str, Any]:
    """A shipped house's rules as plain values.

    `changes` merges into its parts (`play={"on_timeout": "void"}`).
    """
    document = tomllib.loads((HOUSES / f"{name}.toml").read_text())
    for part, change in changes.items():
        document[part] = {**document.get(part, {}), **change} if isinstance(change, dict) else change
    return document


def plain(**changes: Any) -> dict[str, Any]:
    """A test house that never changes, so that the decks of `rng` rounds stay what the tests say.

    `changes` as in `house`.
    """
    document: dict[str, Any] = {
        "id": "plain",
        "currencies": ["EUR", "USD"],
        "seating": {"seats": 6},
        "deal": {"pattern": "round_robin", "player_cards": "down", "dealer_up_indices": [4]},
        "play": {"raise_multiple": 2},
        "raise_pays": {
            "royal_flush": 100,
            "straight_flush": 50,
            "four_of_a_kind": 20,
            "full_house": 7,
            "flush": 5,
            "straight": 4,
            "three_of_a_kind": 3,
            "two_pair": 2,
            "pair": 1,
            "high_card": 1,
        },
        "side_bets": [
            {
                "kind": "jackpot",
                "stake": "1",
                "basis": "for_1",
                "awards": {
                    "royal_flush": {"percent": 100},
                    "straight_flush": {"percent": 10},
                    "four_of_a_kind": {"fixed": "500"},
                    "full_house": {"fixed": "100", "funding": "house"},
                },
            },
            {"kind": "bonus", "stake": "table", "basis": "for_1", "awards": {"flush": {"fixed": "1000"}}},
        ],
        "exchange": {"fee_antes": 1, "forfeits": ["bonus"]},
    }
    for part, change in changes.items():
        document[part] = {**document.get(part, {}), **change} if isinstance(change, dict) else change
    return document


def digest(document: Any) -> str:
    """SHA-256 of the canonical JSON of a document, in hexadecimal."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def prefixed(*parts: str | bytes) -> bytes:
    """Parts with their lengths in front."""
    encoded = [part.encode() if isinstance(part, str) else part for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def shuffled(seed: str, round_id: str, ruleset_sha256: str, client_seeds: dict[int, str]) -> list[str]:
    """The deck by ``stud-deck-1``: HMAC_DRBG (SP 800-90A, 10.1.2), forward Fisher-Yates with rejection."""
    personalization = prefixed("stud-deck-1", round_id, bytes.fromhex(ruleset_sha256))
    for seat in sorted(client_seeds):
        personalization += prefixed(str(seat), client_seeds[seat])

    def mac(key: bytes, data: bytes) -> bytes:
        return hmac.new(key, data, hashlib.sha256).digest()

    def update(provided: bytes) -> None:
        nonlocal key, value
        key = mac(key, value + b"\0" + provided)
        value = mac(key, value)
        if provided:
            key = mac(key, value + b"\1" + provided)
            value = mac(key, value)

    key, value, pool = b"\0" * 32, b"\1" * 32, []
    update(bytes.fromhex(seed) + personalization)
    deck = list(DECK)
    for i in range(51):
        n = 52 - i
        while True:
            if not pool:
                value = mac(key, value)
                pool += value
                value = mac(key, value)
                pool += value
                update(b"")
            byte = pool.pop(0)
            if byte < 256 - 256 % n:
                break
        j = i + byte % n
        deck[i], deck[j] = deck[j], deck[i]
    return deck

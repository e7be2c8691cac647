"""How answers are kept: small, and exactly what they were."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.ledger.answers import DICTIONARY_1, AnswerUnreadableError, pack, unpack

ROUND = json.dumps(
    {
        "round_id": "01M8MZ2A00G7XJ8YV1JV1K776Z",
        "table_id": "demo-us-casino",
        "ruleset": {"id": "us-casino", "version": 1, "sha256": hashlib.sha256(b"rules").hexdigest()},
        "currency": "USD",
        "gaming_day": "2026-11-29",
        "phase": "dealt",
        "deck_commitment": hashlib.sha256(b"deck").hexdigest(),
        "committed": "same_command",
        "up_cards": ["Kd"],
        "seats": [
            {
                "seat": 1,
                "player_id": "alice",
                "ante": 500,
                "side_bets": {"jackpot": 100},
                "cards": ["As", "Ad", "7c", "4h", "2s"],
                "options": ["raise", "fold"],
                "category": "pair",
            }
        ],
    },
    separators=(",", ":"),
).encode()


STORED = bytes.fromhex(
    "0128b52ffd6017012d0500c34a1b2d435a6a20e107c6082b2ab20afd4008c624d3245fcb70afe49566379d8d52cbad13"
    "c24da9b8cc1cc3ea0f9531dd9488ed17d3d2939d73acfedc316b47312dc40b934246d59d42e526bd79c64f9dc9dddb78"
    "de9ab974c8888570b7c9fdb8dc8f207e01d224662228e4c44fce0216fc2cae3919eb30b5fb48e072a74e047db30edfc4"
    "f00b01178ca4912b22dc3ef064a3c9f20949e255c454eee9d68ce8704983bcd0"
)
"""`ROUND` as the first release stored it."""


@given(st.binary(max_size=2000))
def test_any_answer_comes_back(body: bytes) -> None:
    """Whatever the bytes, what is unpacked is what was packed, and packing costs at most one byte."""
    stored = pack(body)
    assert unpack(stored) == body
    assert len(stored) <= len(body) + 1


def test_an_answer_of_a_round_takes_a_third() -> None:
    """A typical answer shrinks to less than 40 %: what is left are hashes, ids and cards."""
    assert unpack(pack(ROUND)) == ROUND
    assert len(pack(ROUND)) < 0.4 * len(ROUND)


def test_the_dictionary_never_changes() -> None:
    """Stored answers need this very dictionary for ever; a better one is a new encoding."""
    assert (
        hashlib.sha256(DICTIONARY_1).hexdigest()
        == "ebcbb0d52e34c0f11a5d7cb747b12bd84ad5ab62802f58933bb6be9f6a15b7f0"
    )


def test_an_answer_stored_by_the_first_release_is_read() -> None:
    """Bytes once stored stay readable."""
    assert unpack(STORED) == ROUND


@pytest.mark.parametrize(
    "stored", [b"", b"\x02abc", b"\x01\xff\xff", pack(ROUND)[:-5], pack(ROUND) + b"x"], ids=range(5)
)
def test_damaged_answers_are_refused(stored: bytes) -> None:
    """An unknown encoding, and a stream that is damaged, cut off or too long, are errors."""
    with pytest.raises(AnswerUnreadableError):
        unpack(stored)

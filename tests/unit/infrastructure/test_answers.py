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
    "0128b52ffd601701ed0400a389177d612a880fd0ca64a2e5ad714bb49bce88b1e6a797c25da9d80e4a88d91f32747457"
    "2a3ebf98277d9d948ed9a74b684f525c4d71c3c5145276c790395a8f9ef157e7429eb707dd3a64c53fb83b73289843f1"
    "e11895d671ce057f9038c99d15fce61c977816b99424db1864b8292cf21e81d2c28241ebec92581e25cdf9f4ca833d34"
    "10d30a4329b598c2ffb29469be0020549e47f7998c6cc901"
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
        == "a421889a079af71216b0cbbcf1cecde8ccfd7a2418c66b3806ea08678f31f7ab"
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

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
    "01add53d0b02310c06e05f24e4a34dd3f126e1e4d6436f4b9b1677ff3f5875732ae29221cb3b84e7cd179d4db7831680"
    "73baae7adb71ddf192921cff262555081d0d22b25a5255e7e499245b76d3460db105abcda94bed4ea140b4822537c152"
    "609224e289f2944b5706a698412a7b0c608d70645931e814c68aaa27d051f526ca311a77e19ec47a5737e679d7179f70"
    "3d6e56db0faa97d7f75ffc6379f8be8f418f79d56f9e03f413"
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
        == "5ab99c7218a601deace95a2a8a75f99f985d3b6488de08c08a8c6eb51e2efab0"
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

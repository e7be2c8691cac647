"""The deck that the replay derives is the one that the definition gives and the writer deals."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from domain import shuffle
from domain.replay import Check, deck, replay
from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.rules_and_decks import SEED, plain, shuffled
from tests.unit.domain.replay.stream_builder import Stream

RULES_HASH = hashlib.sha256(b"rules").hexdigest()


@pytest.mark.parametrize("number", range(20))
@pytest.mark.parametrize("client_seeds", [{}, {10: "é", 2: "zwei"}], ids=["alone", "client_seeds"])
def test_three_implementations_give_the_same_deck(number: int, client_seeds: dict[int, str]) -> None:
    """Writer, replay and the tests' own code derive the same cards and commitment from the same seed."""
    seed = hashlib.sha384(bytes([number])).digest()
    ruleset_hash = bytes.fromhex(RULES_HASH)

    derived = deck.shuffled(seed, "r-9", ruleset_hash, sorted(client_seeds.items()))

    assert list(derived) == shuffled(seed.hex(), "r-9", RULES_HASH, client_seeds)
    assert derived == shuffle.Shuffle(seed, "r-9", RULES_HASH, client_seeds).first(52)
    assert deck.commitment(seed, "r-9", ruleset_hash) == shuffle.commitment(seed, "r-9", RULES_HASH)


def test_a_deck_is_what_it_was_when_this_was_written() -> None:
    """A published seed gives the same first cards for ever."""
    derived = deck.shuffled(bytes.fromhex(SEED), "r-1", bytes(32), [(1, "x")])

    assert derived[:8] == ("Th", "6s", "8c", "Qc", "3s", "Kc", "3c", "Ac")
    assert sorted(derived) == sorted(set(derived))


def test_a_deck_that_takes_a_second_request_to_the_generator() -> None:
    """A seed that needs more than 64 bytes, one in some 200 000, goes on from the generator's state."""
    seed = hashlib.sha384(b"239678").digest()

    derived = deck.shuffled(seed, "r-9", bytes(32), [])

    assert list(derived) == shuffled(seed.hex(), "r-9", "00" * 32, {})
    assert derived == shuffle.Shuffle(seed, "r-9", "00" * 32, {}).first(52)


def test_dealing_orders() -> None:
    """Round robin gives the dealer the last card of each turn, blocks the last five (reading 21)."""
    assert deck.hand_indices(0, 2, round_robin=True) == (0, 3, 6, 9, 12)
    assert deck.hand_indices(2, 2, round_robin=True) == (2, 5, 8, 11, 14)
    assert deck.hand_indices(1, 2, round_robin=False) == (5, 6, 7, 8, 9)


def check_of(stream: Stream, name: str) -> Check:
    """One check of a stream's report."""
    return next(check for check in replay(stream.events, stream.document).checks if check.check == name)


@pytest.mark.parametrize(
    ("stream", "result", "timing"),
    [
        (honest.rng_with_exchanges(), "pass", "before_stake"),
        (honest.rng_block_in_one_command(), "pass", "same_command"),
        (honest.us_quads(), "not_applicable", None),
    ],
    ids=["before_stake", "same_command", "table"],
)
def test_the_report_says_when_the_commitment_was_known(stream: Stream, result: str, timing: Any) -> None:
    """Whether the player could know the commitment before staking is said, not judged (G6)."""
    check = check_of(stream, "commitment_timing")

    assert (check.result, check.actual) == (result, timing)


def test_more_hands_than_a_deck_holds_are_refused() -> None:
    """Ten hands do not fit into 52 cards: the replay says so instead of dealing past the end."""
    stream = Stream(plain(seating={"seats": 12}), source="rng", bonus_stake=500)
    for seat in range(1, 11):
        stream.ante(seat, 100)
    for seat in range(1, 11):
        stream.emit("Dealt", {"to": "seat", "seat": seat, "cards": ["2c"], "indices": [0]})
    stream.emit("Dealt", {"to": "dealer", "cards": ["2c"], "indices": [0], "up_indices": [0]})

    check = check_of(stream, "deck_suffices")

    assert (check.result, check.expected, check.actual) == ("fail", 52, 55)

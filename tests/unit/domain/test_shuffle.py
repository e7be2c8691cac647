"""The committed deck: the generator against NIST's answers, the deck against its definition."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.cards import DECK
from domain.shuffle import (
    ALGORITHM,
    HmacDrbg,
    Shuffle,
    ShuffleError,
    commitment,
    deal_order,
    personalization,
    verify_commitment,
)

VECTORS = Path(__file__).parents[2] / "vectors"
NIST: dict[str, Any] = json.loads((VECTORS / "hmac_drbg_sha256_no_reseed.json").read_text(encoding="utf-8"))
DECKS: dict[str, Any] = json.loads((VECTORS / "stud_deck_1.json").read_text(encoding="utf-8"))

SEED = hashlib.sha384(b"seed material of the unit tests").digest()
ROUND_ID = "round-of-the-unit-tests"
RULESET = hashlib.sha256(b"rule set of the unit tests").hexdigest()
CLIENT_SEEDS = {1: "first", 4: "fourth"}

seed_materials = st.binary(min_size=48, max_size=48)
texts = st.text(st.characters(codec="utf-8"), max_size=64)
hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)
client_seed_maps = st.dictionaries(st.integers(1, 5000), texts, max_size=8)


def _flip(data: bytes, bit: int) -> bytes:
    """Return ``data`` with one bit changed."""
    changed = bytearray(data)
    changed[bit // 8 % len(data)] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param(vector, id=f"line {group['line']} count {vector['COUNT']}")
        for group in NIST["groups"]
        for vector in group["vectors"]
    ],
)
def test_generator_gives_nists_answers(vector: dict[str, Any]) -> None:
    """The generator's second output equals NIST's, with and without personalization and additional input."""
    first, second = map(bytes.fromhex, vector["AdditionalInput"])
    entropy_input, nonce, personal, expected = (
        bytes.fromhex(vector[name])
        for name in ("EntropyInput", "Nonce", "PersonalizationString", "ReturnedBits")
    )
    drbg = HmacDrbg(entropy_input, nonce, personal)
    drbg.generate(len(expected), first)
    assert drbg.generate(len(expected), second) == expected


def test_nist_vectors_cover_both_inputs() -> None:
    """The file holds sixty vectors: all four combinations of personalization and additional input."""
    lengths = {
        (g["parameters"]["PersonalizationStringLen"], g["parameters"]["AdditionalInputLen"]): len(
            g["vectors"]
        )
        for g in NIST["groups"]
    }
    assert lengths == {(0, 0): 15, (0, 256): 15, (256, 0): 15, (256, 256): 15}


def test_a_request_is_cut_to_its_length() -> None:
    """A shorter first request gives the beginning of a longer one, down to no byte at all."""
    long = HmacDrbg(SEED[:32], SEED[32:]).generate(100)
    for count in (0, 1, 31, 32, 33, 99):
        assert HmacDrbg(SEED[:32], SEED[32:]).generate(count) == long[:count]


def test_requests_are_limited_as_the_standard_says() -> None:
    """A request takes up to 65 536 bytes; more, or fewer than none, are refused and change nothing."""
    drbg, twin = HmacDrbg(SEED[:32], SEED[32:]), HmacDrbg(SEED[:32], SEED[32:])
    for count in (-1, 65_537):
        with pytest.raises(ShuffleError, match="request"):
            drbg.generate(count)
    assert drbg.generate(65_536) == twin.generate(65_536)


@pytest.mark.parametrize(("entropy_bytes", "nonce_bytes"), [(31, 16), (32, 15), (0, 0)])
def test_a_generator_needs_its_entropy(entropy_bytes: int, nonce_bytes: int) -> None:
    """Entropy input under 32 bytes and a nonce under 16 are refused."""
    with pytest.raises(ShuffleError):
        HmacDrbg(SEED[:entropy_bytes], SEED[:nonce_bytes])


def _inputs(vector: dict[str, Any]) -> tuple[bytes, str, str, dict[int, str]]:
    """Return the arguments of a deck vector."""
    client_seeds = {int(seat): text for seat, text in vector["client_seeds"].items()}
    return bytes.fromhex(vector["seed_material"]), vector["round_id"], vector["ruleset_sha256"], client_seeds


@pytest.mark.parametrize("vector", DECKS["vectors"], ids=lambda vector: vector["name"])
def test_decks_are_those_of_the_definition(vector: dict[str, Any]) -> None:
    """Commitment, personalization string and all 52 cards equal the published example's."""
    seed_material, round_id, ruleset, client_seeds = _inputs(vector)
    assert commitment(seed_material, round_id, ruleset) == vector["commitment"]
    assert personalization(round_id, ruleset, client_seeds).hex() == vector["personalization"]
    assert " ".join(deal_order(seed_material, round_id, ruleset, client_seeds)) == vector["deck"]


def test_the_examples_reach_a_second_block() -> None:
    """One published example needs more than the 64 bytes of a first request, the others do not."""
    assert DECKS["algorithm"] == ALGORITHM
    assert sorted(vector["stream_bytes_used"] > 64 for vector in DECKS["vectors"])[-2:] == [False, True]


def test_the_commitment_is_a_plain_hash() -> None:
    """The commitment is SHA-256 over tag, seed material, round and rule-set hash, each behind its length."""
    preimage = (
        b"\x00\x00\x00\x1dstud-ledger/deck-commitment/1"
        b"\x00\x00\x00\x30" + SEED + b"\x00\x00\x00\x17" + ROUND_ID.encode() + b"\x00\x00\x00\x20"
    )
    assert (
        commitment(SEED, ROUND_ID, RULESET) == hashlib.sha256(preimage + bytes.fromhex(RULESET)).hexdigest()
    )


def test_a_commitment_verifies_only_itself() -> None:
    """A commitment verifies with what it was made from and with nothing else."""
    published = commitment(SEED, ROUND_ID, RULESET)
    other_ruleset = hashlib.sha256(b"another rule set").hexdigest()
    assert verify_commitment(published, SEED, ROUND_ID, RULESET)
    assert not verify_commitment(published, _flip(SEED, 383), ROUND_ID, RULESET)
    assert not verify_commitment(published, SEED, ROUND_ID + "x", RULESET)
    assert not verify_commitment(published, SEED, ROUND_ID, other_ruleset)


@pytest.mark.parametrize("published", ["", "00" * 32, "♠" * 64, "\ud800", "\x00"])
def test_any_text_may_have_been_published(published: str) -> None:
    """Text that is no commitment, outside ASCII or not even UTF-8, is simply not the commitment."""
    assert not verify_commitment(published, SEED, ROUND_ID, RULESET)


def test_an_upper_case_commitment_is_not_the_commitment() -> None:
    """A commitment has one spelling, in lower case."""
    assert not verify_commitment(commitment(SEED, ROUND_ID, RULESET).upper(), SEED, ROUND_ID, RULESET)


@pytest.mark.parametrize("length", [0, 32, 47, 49])
def test_seed_material_has_48_bytes(length: int) -> None:
    """Seed material of another length is refused, and the refusal does not show it."""
    seed_material = (SEED * 2)[:length]
    for refused in (
        lambda: deal_order(seed_material, ROUND_ID, RULESET, {}),
        lambda: commitment(seed_material, ROUND_ID, RULESET),
    ):
        with pytest.raises(ShuffleError, match="expected 48") as refusal:
            refused()
        assert SEED.hex()[:8] not in str(refusal.value)
        assert repr(SEED[:8])[2:-1] not in repr(refusal.value)


@pytest.mark.parametrize(
    "ruleset",
    ["", "ab" * 31, "ab" * 33, "zz" * 32, "AB" * 32, "ab " * 32, "a" * 63, "sha256:" + "ab" * 32, "٣" * 64],
)
def test_a_ruleset_hash_has_one_spelling(ruleset: str) -> None:
    """Only 64 lower-case hexadecimal digits are taken for a rule-set hash."""
    with pytest.raises(ShuffleError, match="64 lower-case hexadecimal digits"):
        commitment(SEED, ROUND_ID, ruleset)
    with pytest.raises(ShuffleError, match="64 lower-case hexadecimal digits"):
        deal_order(SEED, ROUND_ID, ruleset, {})


@pytest.mark.parametrize("count", [-1, 53])
def test_a_deck_has_no_more_than_52_cards(count: int) -> None:
    """Fewer than no card and more than 52 are refused, and the deck stays as it was."""
    shuffle = Shuffle(SEED, ROUND_ID, RULESET, CLIENT_SEEDS)
    with pytest.raises(ShuffleError, match="0 to 52"):
        shuffle.first(count)
    assert shuffle.first(52) == deal_order(SEED, ROUND_ID, RULESET, CLIENT_SEEDS)


def test_text_without_a_utf8_form_is_refused() -> None:
    """A lone surrogate in a round id or a client seed raises instead of being replaced."""
    with pytest.raises(UnicodeEncodeError):
        deal_order(SEED, "\ud800", RULESET, {})
    with pytest.raises(UnicodeEncodeError):
        deal_order(SEED, ROUND_ID, RULESET, {1: "\udfff"})


def test_a_shuffle_shows_none_of_its_secrets() -> None:
    """A shuffle and a generator show their type and address and nothing of what they hold."""
    for secret in (Shuffle(SEED, ROUND_ID, RULESET, {}), HmacDrbg(SEED[:32], SEED[32:])):
        name = type(secret).__name__
        assert re.fullmatch(rf"<domain\.shuffle\.{name} object at 0x[0-9a-f]+>", repr(secret))
        assert str(secret) == repr(secret)


def test_seats_count_as_numbers_not_as_inserted() -> None:
    """Client seeds are mixed in by ascending seat number: neither insertion nor text order matters."""
    one_way = deal_order(SEED, ROUND_ID, RULESET, {2: "two", 10: "ten"})
    assert deal_order(SEED, ROUND_ID, RULESET, {10: "ten", 2: "two"}) == one_way
    assert personalization(ROUND_ID, RULESET, {10: "ten", 2: "two"}).endswith(
        b"\x00\x00\x00\x012\x00\x00\x00\x03two\x00\x00\x00\x0210\x00\x00\x00\x03ten"
    )


@pytest.mark.parametrize(
    "client_seeds",
    [{}, {1: ""}, {1: "a"}, {2: "a"}, {1: "a", 2: ""}, {1: "", 2: "a"}, {1: "a2"}, {12: "a"}, {1: "2a"}],
)
def test_different_client_seeds_never_join_to_the_same_bytes(client_seeds: dict[int, str]) -> None:
    """Who gave which seed is told apart: moving text between seats gives another personalization string."""
    others: list[dict[int, str]] = [
        {}, {1: ""}, {1: "a"}, {2: "a"}, {1: "a", 2: ""}, {1: "", 2: "a"}, {1: "a2"}, {12: "a"}, {1: "2a"},
    ]  # fmt: skip
    same = [
        other
        for other in others
        if personalization("r", RULESET, other) == personalization("r", RULESET, client_seeds)
    ]
    assert same == [client_seeds]


@given(seed_materials, texts, hashes, client_seed_maps)
def test_a_deck_is_a_permutation(seed: bytes, round_id: str, ruleset: str, clients: dict[int, str]) -> None:
    """Whatever the inputs, a deck holds each of the 52 cards once."""
    assert sorted(deal_order(seed, round_id, ruleset, clients)) == sorted(DECK)


@given(seed_materials, client_seed_maps, st.integers(0, 52))
def test_a_shorter_deal_begins_the_longer(seed: bytes, clients: dict[int, str], count: int) -> None:
    """The first k cards do not depend on how many are asked for."""
    whole = deal_order(seed, ROUND_ID, RULESET, clients)
    assert deal_order(seed, ROUND_ID, RULESET, clients, count) == whole[:count]


@given(seed_materials, st.lists(st.integers(0, 52), max_size=6))
def test_a_shuffle_may_be_asked_in_any_steps(seed: bytes, counts: list[int]) -> None:
    """Asking for more cards later, or for fewer again, gives prefixes of the one deck."""
    whole = deal_order(seed, ROUND_ID, RULESET, {})
    shuffle = Shuffle(seed, ROUND_ID, RULESET, {})
    for count in counts:
        assert shuffle.first(count) == whole[:count]


@given(seed_materials, st.integers(0, 383))
def test_every_bit_of_the_seed_matters(seed: bytes, bit: int) -> None:
    """A changed bit of the seed material changes deck and commitment."""
    changed = _flip(seed, bit)
    assert deal_order(changed, ROUND_ID, RULESET, {}) != deal_order(seed, ROUND_ID, RULESET, {})
    assert commitment(changed, ROUND_ID, RULESET) != commitment(seed, ROUND_ID, RULESET)


@given(hashes, st.integers(0, 255))
def test_every_bit_of_the_ruleset_hash_matters(ruleset: str, bit: int) -> None:
    """A changed bit of the rule-set hash changes deck and commitment."""
    changed = _flip(bytes.fromhex(ruleset), bit).hex()
    assert deal_order(SEED, ROUND_ID, changed, {}) != deal_order(SEED, ROUND_ID, ruleset, {})
    assert commitment(SEED, ROUND_ID, changed) != commitment(SEED, ROUND_ID, ruleset)


@given(texts, texts)
def test_every_round_has_its_own_deck(round_id: str, other: str) -> None:
    """Two round ids never share deck and commitment, with the same seed material."""
    same = round_id == other
    assert (deal_order(SEED, round_id, RULESET, {}) == deal_order(SEED, other, RULESET, {})) == same
    assert (commitment(SEED, round_id, RULESET) == commitment(SEED, other, RULESET)) == same


@given(st.binary(min_size=1, max_size=64).map(bytes.hex), st.integers(0, 511), st.sampled_from([1, 4]))
def test_every_bit_of_a_client_seed_matters(client_seed: str, bit: int, seat: int) -> None:
    """A changed bit of one seat's client seed changes the deck."""
    data = client_seed.encode()
    # The lowest five bits: of a hexadecimal digit they give ASCII again.
    position = bit // 5 % len(data)
    changed = _flip(data, 8 * position + bit % 5).decode()
    seeds = CLIENT_SEEDS | {seat: client_seed}
    assert deal_order(SEED, ROUND_ID, RULESET, seeds | {seat: changed}) != deal_order(
        SEED, ROUND_ID, RULESET, seeds
    )

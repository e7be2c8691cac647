"""Published test vectors, through the verifier's own implementation and through the ledger's."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.canonical import document_sha256
from domain.shuffle import HmacDrbg
from infrastructure.evidence import merkle, notes
from tests.unit.scripts.log_builder import growth, leaf_of, path, root
from tests.unit.scripts.verifier import verify

VECTORS = Path(__file__).parents[2] / "vectors"


def vectors(name: str) -> Any:
    """Return a file of vectors."""
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


# ── RFC 8032: Ed25519 ───────────────────────────────────────────────────────────────────────────────────────
ED25519 = vectors("rfc8032_ed25519")["vectors"]
ORDER = 2**252 + 27742317777372353535851937790883648493
Signed = Callable[[bytes, bytes, bytes], bool]


def signed_for_us(public: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether the ledger's notes take a signature; their messages are text, so the bytes are Latin-1."""
    key = notes.Verifier("name", public)
    try:
        key.verify(message.decode("utf-8"), signature)
    except notes.NoteError:
        return False
    return True


@pytest.mark.parametrize("case", ED25519, ids=lambda case: case["name"])
def test_ed25519_takes_every_signature_of_rfc_8032(case: dict[str, str]) -> None:
    """All five vectors of section 7.1 verify, and with any other key, message or signature they do not."""
    public, message, signature = (
        bytes.fromhex(case[name]) for name in ("public_key", "message", "signature")
    )
    assert verify.signed(public, message, signature)
    assert not verify.signed(public, message + b"\x00", signature)
    assert not verify.signed(bytes.fromhex(ED25519[ED25519[0] is case]["public_key"]), message, signature)


@pytest.mark.parametrize("case", ED25519, ids=lambda case: case["name"])
def test_our_signer_makes_the_signatures_of_rfc_8032(case: dict[str, str]) -> None:
    """The key that signs checkpoints has the public key of the vectors and signs as they do."""
    signer = notes.Signer.from_seed("name", bytes.fromhex(case["secret_key"]))
    assert signer.verifier.public.hex() == case["public_key"]
    assert signer.private.sign(bytes.fromhex(case["message"])).hex() == case["signature"]


@pytest.mark.parametrize("case", ED25519[:2], ids=lambda case: case["name"])
def test_our_notes_take_the_signatures_of_rfc_8032(case: dict[str, str]) -> None:
    """Those whose message is text verify as signatures of a note's text."""
    public, message, signature = (
        bytes.fromhex(case[name]) for name in ("public_key", "message", "signature")
    )
    assert signed_for_us(public, message, signature)
    assert not signed_for_us(public, message + b"\n", signature)


@pytest.mark.parametrize("check", [verify.signed, signed_for_us], ids=["verifier", "ours"])
@pytest.mark.parametrize("bit", range(0, 512, 37))
def test_a_changed_bit_of_a_signature_is_refused(check: Signed, bit: int) -> None:
    """R and S are bound to their last bit."""
    public, message, signature = (
        bytes.fromhex(ED25519[1][name]) for name in ("public_key", "message", "signature")
    )
    changed = bytearray(signature)
    changed[bit // 8] ^= 1 << bit % 8
    assert not check(public, message, bytes(changed))


@pytest.mark.parametrize("check", [verify.signed, signed_for_us], ids=["verifier", "ours"])
def test_a_second_spelling_of_s_is_refused(check: Signed) -> None:
    """S + L makes the same point: it has to be below the order (RFC 8032, 5.1.7 and 8.4)."""
    public, message, signature = (
        bytes.fromhex(ED25519[1][name]) for name in ("public_key", "message", "signature")
    )
    larger = int.from_bytes(signature[32:], "little") + ORDER
    assert not check(public, message, signature[:32] + larger.to_bytes(32, "little"))


@pytest.mark.parametrize(
    ("spelt", "why"),
    [
        ((2**255 - 19).to_bytes(32, "little"), "y = p is another spelling of 0"),
        ((2**255 - 18).to_bytes(32, "little"), "y = p + 1 is another spelling of 1"),
        ((2**255 + 1).to_bytes(32, "little"), "x = 0 has no odd spelling"),
        ((2).to_bytes(32, "little"), "no point of the curve has y = 2"),
    ],
)
def test_what_is_no_point_is_refused(spelt: bytes, why: str) -> None:
    """A point has one encoding (RFC 8032, 5.1.3): others are neither keys nor parts of signatures."""
    with pytest.raises(ValueError, match="not a point"):
        verify.point(spelt)
    _, message, signature = (
        bytes.fromhex(ED25519[1][name]) for name in ("public_key", "message", "signature")
    )
    assert not verify.signed(spelt, message, signature), why
    assert not verify.signed(bytes.fromhex(ED25519[1]["public_key"]), message, spelt + signature[32:]), why


def test_a_key_that_anybody_can_sign_for_is_refused() -> None:
    """With the neutral point as key, S = 0 and R = 0 «sign» every message; so small an order is no key."""
    neutral = (1).to_bytes(32, "little")
    assert not verify.signed(neutral, b"any message", neutral + bytes(32))


@pytest.mark.parametrize("size", [0, 31, 33])
def test_keys_and_signatures_of_other_lengths_are_refused(size: int) -> None:
    """Nothing is cut or padded."""
    public, message, signature = (
        bytes.fromhex(ED25519[1][name]) for name in ("public_key", "message", "signature")
    )
    assert not verify.signed((public * 2)[:size], message, signature)
    assert not verify.signed(public, message, (signature * 2)[: 2 * size])


# ── RFC 6962 and 9162: Merkle trees ─────────────────────────────────────────────────────────────────────────
TREE = vectors("rfc6962_tree")
LEAVES = [leaf_of(bytes.fromhex(entry)) for entry in TREE["leaves_hex"]]
MANY = [leaf_of(b"%d" % number) for number in range(130)]


def included(leaf: bytes, index: int, size: int, proof: list[bytes], tree: bytes) -> bool:
    """Tell whether the verifier takes an inclusion proof."""
    return bool(verify.climb(index + 1, size, b"", leaf, proof)[1] == tree)


def consistent(old: int, old_root: bytes, size: int, new_root: bytes, proof: list[bytes]) -> bool:
    """Tell whether the verifier takes a consistency proof."""
    return bool(verify.climb(old, size, old_root, b"", proof) == (old_root, new_root))


BOTH_INCLUDED = pytest.mark.parametrize(
    "check", [included, merkle.verify_inclusion], ids=["verifier", "ours"]
)
BOTH_CONSISTENT = pytest.mark.parametrize(
    "check", [consistent, merkle.verify_consistency], ids=["verifier", "ours"]
)


@pytest.mark.parametrize("of", [verify.root_of, merkle.root_of], ids=["verifier", "ours"])
def test_trees_have_the_published_roots(of: Callable[[list[bytes]], bytes]) -> None:
    """From the empty tree to the one of eight leaves."""
    assert [of(LEAVES[:size]).hex() for size in range(9)] == [TREE["empty_root"], *TREE["roots"]]
    assert [of(MANY[:size]) for size in range(1, 131)] == [root(MANY[:size]) for size in range(1, 131)]


@BOTH_INCLUDED
def test_published_inclusion_proofs_are_taken(check: Callable[..., bool]) -> None:
    """Each leads from its leaf to its tree's root, and from no other leaf or place."""
    for case in TREE["inclusion"]:
        leaf, size, proof = case["leaf"], case["size"], [*map(bytes.fromhex, case["path"])]
        tree = bytes.fromhex(TREE["roots"][size - 1])
        assert check(LEAVES[leaf], leaf, size, proof, tree)
        assert not any(check(LEAVES[other], leaf, size, proof, tree) for other in range(8) if other != leaf)
        assert not check(LEAVES[leaf], leaf, size, [*proof, tree], tree)
        assert not check(LEAVES[leaf], leaf, size, proof[:-1], tree) or not proof


@BOTH_CONSISTENT
def test_published_consistency_proofs_are_taken(check: Callable[..., bool]) -> None:
    """Each leads from the smaller tree's root to the larger one's."""
    for case in TREE["consistency"]:
        old, size = case["old"], case["new"]
        proof = [*map(bytes.fromhex, case["path"])]
        roots = [bytes.fromhex(TREE["roots"][count - 1]) for count in (old, size)]
        assert check(old, roots[0], size, roots[1], proof)
        assert not check(old, roots[1][::-1], size, roots[1], proof)
        assert not check(old, roots[0], size, roots[1], [*proof, roots[0]])


@BOTH_INCLUDED
def test_every_inclusion_proof_of_every_small_tree_is_taken(check: Callable[..., bool]) -> None:
    """Proofs made by the words of RFC 6962 lead to the root, for every leaf of every tree up to 40."""
    for size in range(1, 41):
        leaves = MANY[:size]
        assert all(check(leaves[at], at, size, path(at, leaves), root(leaves)) for at in range(size))
        assert not any(
            check(leaves[at], at + 1, size, path(at, leaves), root(leaves)) for at in range(size - 1)
        )


@BOTH_CONSISTENT
def test_every_consistency_proof_of_every_small_tree_is_taken(check: Callable[..., bool]) -> None:
    """Proofs made by the words of RFC 6962 are taken for every two sizes up to 40, and no others."""
    for old, size in itertools.combinations_with_replacement(range(1, 41), 2):
        leaves, proof = MANY[:size], growth(old, MANY[:size])
        assert check(old, root(leaves[:old]), size, root(leaves), proof)
        assert not check(old, root(MANY[1 : old + 1]), size, root(leaves), proof)
        assert not check(old + 1, root(leaves[:old]), size, root(leaves), proof)


@BOTH_CONSISTENT
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_a_damaged_consistency_proof_is_refused(check: Callable[..., bool], data: st.DataObject) -> None:
    """A hash changed, left out or put in anywhere is found."""
    size = data.draw(st.integers(2, 130))
    old = data.draw(st.integers(1, size - 1))
    proof = growth(old, MANY[:size])
    at = data.draw(st.integers(0, len(proof) - 1))
    damaged = data.draw(
        st.sampled_from(
            [
                proof[:at] + proof[at + 1 :],
                [*proof[:at], MANY[0], *proof[at:]],
                [*proof[:at], MANY[0], *proof[at + 1 :]],
            ]
        )
    )
    assert not check(old, root(MANY[:old]), size, root(MANY[:size]), damaged)


# ── RFC 8785: canonical JSON ────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("case", vectors("rfc8785_strings")["cases"], ids=lambda case: case["name"])
def test_canonical_json_is_that_of_rfc_8785(case: dict[str, Any]) -> None:
    """Strings, literals and the order of keys, in both implementations."""
    value, expected = json.loads(case["json"]), bytes.fromhex(case["canonical_hex"])
    assert verify.canonical(value) == expected
    assert document_sha256(value) == hashlib.sha256(expected).hexdigest()


# ── NIST SP 800-90A: HMAC_DRBG ──────────────────────────────────────────────────────────────────────────────
GROUPS = vectors("hmac_drbg_sha256_no_reseed")["groups"]
PLAIN = [
    pytest.param(case, id=f"line {group['line']} count {case['COUNT']}")
    for group in GROUPS
    for case in group["vectors"]
    if not any(case["AdditionalInput"])
]


@pytest.mark.parametrize("case", PLAIN)
def test_the_generator_gives_nists_answers(case: dict[str, Any]) -> None:
    """The second of two requests is NIST's answer, wherever nothing is put in between: as in a deck's."""
    names = ("EntropyInput", "Nonce", "PersonalizationString", "ReturnedBits")
    entropy, nonce, personal, expected = (bytes.fromhex(case[name]) for name in names)
    stream = verify.random_bytes(entropy + nonce, personal, len(expected) // 32)
    assert bytes(itertools.islice(stream, 2 * len(expected)))[len(expected) :] == expected
    ours = HmacDrbg(entropy, nonce, personal)
    assert [ours.generate(len(expected)), ours.generate(len(expected))][1] == expected


def test_the_vectors_without_additional_input_are_thirty() -> None:
    """Fifteen with a personalization string, fifteen without."""
    assert len(PLAIN) == 30

"""Merkle trees: published vectors, a tree after RFC 6962's own words, proofs that are tampered with."""

from __future__ import annotations

import json
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.evidence import merkle
from infrastructure.evidence.merkle import Frontier

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "vectors" / "rfc6962_tree.json").read_text()
)
LEAVES = [merkle.leaf_hash(bytes.fromhex(leaf)) for leaf in VECTORS["leaves_hex"]]
MANY = [merkle.leaf_hash(number.to_bytes(2, "big")) for number in range(1100)]
SIZES = st.one_of(st.integers(0, 40), st.sampled_from([255, 256, 257, 511, 512, 513, 1024, 1100]))


@cache
def naive(start: int, end: int) -> bytes:
    """MTH of some of `MANY`, as RFC 6962 section 2.1 defines it."""
    if end - start == 1:
        return MANY[start]
    if end == start:
        return merkle.EMPTY_ROOT
    split = 1
    while 2 * split < end - start:
        split *= 2
    return merkle.node_hash(naive(start, start + split), naive(start + split, end))


def read(level: int, index: int) -> bytes:
    """A complete subtree of `MANY`."""
    return naive(index << level, (index + 1) << level)


def of_vectors(level: int, index: int) -> bytes:
    """A complete subtree of the vectors' leaves."""
    return merkle.root_of(LEAVES[index << level : (index + 1) << level])


def test_roots_are_those_of_the_vectors() -> None:
    """The empty tree and each tree of one to eight leaves has the published root, however it is made."""
    assert merkle.EMPTY_ROOT.hex() == VECTORS["empty_root"] == merkle.root_of([]).hex()
    assert merkle.leaf_hashes(map(bytes.fromhex, VECTORS["leaves_hex"])) == LEAVES
    frontier = Frontier()
    for size, root in enumerate(VECTORS["roots"], 1):
        frontier.append(LEAVES[size - 1])
        assert frontier.root().hex() == merkle.root_of(LEAVES[:size]).hex() == root


@pytest.mark.parametrize("case", VECTORS["inclusion"])
def test_audit_paths_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    """Published audit paths come out as they are, and verify."""
    index, size = case["leaf"], case["size"]
    path = merkle.inclusion_proof(index, size, of_vectors)
    assert [step.hex() for step in path] == case["path"]
    root = bytes.fromhex(VECTORS["roots"][size - 1])
    assert merkle.verify_inclusion(LEAVES[index], index, size, path, root)


@pytest.mark.parametrize("case", VECTORS["consistency"])
def test_consistency_proofs_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    """Published consistency proofs come out as they are, and verify."""
    old, new = case["old"], case["new"]
    path = merkle.consistency_proof(old, new, of_vectors)
    assert [step.hex() for step in path] == case["path"]
    roots = [bytes.fromhex(VECTORS["roots"][size - 1]) for size in (old, new)]
    assert merkle.verify_consistency(old, roots[0], new, roots[1], path)


@given(size=SIZES)
def test_every_way_to_a_root_is_the_naive_one(size: int) -> None:
    """Appended, extended, read from elsewhere: the root is the one the definition gives."""
    one = Frontier()
    for leaf in MANY[:size]:
        one.append(leaf)
    assert one.root() == merkle.root_of(MANY[:size]) == merkle.root_at(size, read) == naive(0, size)
    assert Frontier.of(size, read).nodes == one.nodes


@given(cuts=st.lists(st.integers(0, 1100), max_size=6).map(sorted))
def test_ranges_made_apart_join_to_the_whole(cuts: list[int]) -> None:
    """A tree cut anywhere, its pieces hashed apart and pickled, is the same tree when they are joined."""
    whole = Frontier()
    for start, end in zip([0, *cuts], [*cuts, 1100], strict=True):
        part = Frontier(start)
        part.extend(MANY[start:end])
        assert part.size == end - start
        copy = part.copy()
        copy.append(MANY[0])
        whole.join(pickle.loads(pickle.dumps(part)))  # noqa: S301 - our own
    assert whole.root() == naive(0, 1100)


def test_a_range_takes_only_what_comes_next() -> None:
    """No range that is elsewhere and no subtree that begins elsewhere is taken; a part has no root."""
    frontier = Frontier()
    frontier.append(MANY[0])
    with pytest.raises(ValueError, match="do not follow"):
        frontier.join(Frontier(2))
    with pytest.raises(ValueError, match="no subtree of level 1"):
        frontier.push(1, MANY[0])
    with pytest.raises(ValueError, match="no root"):
        Frontier(1).root()
    with pytest.raises(ValueError, match="complete subtree"):
        merkle.complete_root(b"".join(MANY[:3]))


@given(st.data())
def test_inclusion_is_proved_and_nothing_else_is(data: st.DataObject) -> None:
    """The proof verifies for its leaf at its place in its tree; not when anything of it is another."""
    size = data.draw(SIZES.filter(bool))
    index = data.draw(st.integers(0, size - 1))
    root, leaf = naive(0, size), MANY[index]
    proof = merkle.inclusion_proof(index, size, read)
    assert merkle.verify_inclusion(leaf, index, size, proof, root)
    assert not merkle.verify_inclusion(MANY[index - 1], index, size, proof, root) or size == 1
    assert not merkle.verify_inclusion(leaf, index, size, [*proof, root], root)
    assert not merkle.verify_inclusion(leaf, index, size, proof, merkle.EMPTY_ROOT)
    assert not merkle.verify_inclusion(leaf, size, size, proof, root)
    assert not merkle.verify_inclusion(leaf, -1, size, proof, root)
    other = data.draw(st.integers(0, size - 1))
    assert merkle.verify_inclusion(leaf, other, size, proof, root) == (other == index)
    if proof:
        at = data.draw(st.integers(0, len(proof) - 1))
        flipped = bytes([proof[at][0] ^ 1]) + proof[at][1:]
        assert not merkle.verify_inclusion(leaf, index, size, [*proof[:at], flipped, *proof[at + 1 :]], root)
        assert not merkle.verify_inclusion(leaf, index, size, [*proof[:at], *proof[at + 1 :]], root)
        assert not merkle.verify_inclusion(leaf, index, size, [*proof[:at], b"short", *proof[at + 1 :]], root)


@given(st.data())
def test_consistency_is_proved_and_nothing_else_is(data: st.DataObject) -> None:
    """The proof verifies between its two trees; not when anything of it is another."""
    new = data.draw(SIZES)
    old = data.draw(st.integers(0, new))
    roots = naive(0, old), naive(0, new)
    proof = merkle.consistency_proof(old, new, read)
    assert merkle.verify_consistency(old, roots[0], new, roots[1], proof)
    assert not merkle.verify_consistency(old, roots[0], new, roots[1], [*proof, roots[0]])
    assert not merkle.verify_consistency(old, roots[0][::-1], new, roots[1], proof)
    assert not merkle.verify_consistency(new + 1, roots[0], new, roots[1], proof)
    assert old == 0 or not merkle.verify_consistency(old, roots[0], new, roots[1][::-1], proof)
    if proof:
        at = data.draw(st.integers(0, len(proof) - 1))
        flipped = bytes([proof[at][0] ^ 1]) + proof[at][1:]
        changed = [*proof[:at], flipped, *proof[at + 1 :]]
        assert not merkle.verify_consistency(old, roots[0], new, roots[1], changed)
        assert not merkle.verify_consistency(old, roots[0], new, roots[1], proof[:-1])
        assert not merkle.verify_consistency(old, roots[0], new, roots[1], [])


def test_there_is_no_proof_of_what_is_not_there() -> None:
    """A leaf beyond the tree, and an older tree that is larger, are errors."""
    with pytest.raises(ValueError, match="has no leaf 3"):
        merkle.inclusion_proof(3, 3, read)
    with pytest.raises(ValueError, match="does not begin with"):
        merkle.consistency_proof(4, 3, read)

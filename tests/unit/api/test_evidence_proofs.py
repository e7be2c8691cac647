"""Proofs of many events of a round at once are, each, the proof that RFC 6962 has for it."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from api.play.evidence import inclusion_proofs
from infrastructure.evidence import merkle

LEAVES = [merkle.leaf_hash(number.to_bytes(2, "big")) for number in range(700)]


def read(level: int, index: int) -> bytes:
    """Return the hash of a complete subtree."""
    found = LEAVES[index << level : (index + 1) << level]
    assert len(found) == 1 << level
    return merkle.complete_root(b"".join(found))


@given(st.data())
def test_each_proof_is_the_one_of_its_leaf(data: st.DataObject) -> None:
    """Whatever lies between them, and wherever the tree ends."""
    size = data.draw(st.integers(1, len(LEAVES)))
    first = data.draw(st.integers(0, size - 1))
    steps = data.draw(st.lists(st.integers(0, 9), max_size=30))
    indexes = [first]
    for step in steps:
        indexes.append(min(indexes[-1] + step, size - 1))
    expected = [
        [base64.b64encode(each).decode() for each in merkle.inclusion_proof(index, size, read)]
        for index in indexes
    ]
    assert inclusion_proofs(indexes, size, read) == expected


def test_neighbours_cost_next_to_nothing() -> None:
    """A thousand events of one round read a few hashes each, though a path has many more."""
    asked = 0

    def counted(level: int, index: int) -> bytes:
        nonlocal asked
        asked += 1
        return (level << 64 | index).to_bytes(32, "big")

    proofs = inclusion_proofs(range(5_000_000, 5_001_000), 10_000_000, counted)
    assert all(len(proof) > 20 for proof in proofs)
    assert asked < 3_000

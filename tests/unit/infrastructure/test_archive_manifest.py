"""Manifests: read back as they were written, and nothing else is taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.archive.day import frontier_of, hashes_of
from infrastructure.archive.layout import FILES
from infrastructure.archive.manifest import (
    ArchiveError,
    File,
    Log,
    Manifest,
    Sealed,
    decode,
    decode_sealed,
    encode,
    encode_sealed,
    hash_from,
    hash_text,
    sha256,
    signed_text,
)
from infrastructure.evidence.merkle import Frontier, leaf_hash
from infrastructure.evidence.notes import NoteError, parse_checkpoint

MANIFEST = Manifest(
    sequence=2,
    previous="a" * 64,
    day="2026-11-28",
    first_position=11,
    last_position=90,
    first_time="2026-11-28T00:00:01.000001Z",
    last_time="2026-11-28T23:59:59.999999Z",
    files={name: File(number + 1, "b" * 64, number) for number, name in enumerate(FILES)},
    log=Log("cm9vdA==", ("eA==",), ("eQ==", "eg==")),
    writer="a writer",
)
SEALED = Sealed("a note\n", ("cHJvb2Y=",), ("a key",))


def changed(**values: Any) -> bytes:
    """Return a manifest's bytes in which members have other values; None takes them away."""
    document = json.loads(encode(MANIFEST)) | values
    return rfc8785.dumps({name: value for name, value in document.items() if value is not None})


def test_a_manifest_is_canonical_and_read_back() -> None:
    """Its bytes are RFC 8785, and give the same manifest."""
    stored = encode(MANIFEST)
    assert stored == rfc8785.dumps(json.loads(stored))
    assert decode(stored) == MANIFEST
    assert MANIFEST.events == 80
    assert decode_sealed(encode_sealed(SEALED)) == SEALED


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        encode(MANIFEST) + b"\n",
        changed(format="stud-ledger/archive/2"),
        changed(more=1),
        changed(log=None),
        changed(log={"root": 1, "before": [], "after": []}),
        changed(log={"root": "cm9vdA==", "before": [1], "after": []}),
        changed(files={}),
        changed(files=[]),
        changed(
            files=json.loads(encode(MANIFEST))["files"] | {"more.parquet": File(1, "b" * 64, 1)._asdict()}
        ),
        changed(files=dict.fromkeys(FILES, File(0, "b" * 64, 1)._asdict())),
        changed(files=dict.fromkeys(FILES, File(1, "b" * 63, 1)._asdict())),
        changed(files={name: {"bytes": "1", "sha256": "b" * 64, "rows": 1} for name in FILES}),
        changed(sequence=0),
        changed(sequence=True),
        changed(last_position=10),
        changed(previous="a"),
        changed(day="yesterday"),
        changed(writer=7),
    ],
)
def test_anything_else_is_no_manifest(stored: bytes) -> None:
    """What lacks something, has more, or has it of another kind is refused."""
    with pytest.raises(ArchiveError, match="not a manifest"):
        decode(stored)


@given(st.data())
def test_a_flipped_bit_is_another_manifest_or_none(data: st.DataObject) -> None:
    """Whatever bit of a manifest changes, it is refused or has another hash and says something else."""
    stored = encode(MANIFEST)
    at = data.draw(st.integers(0, len(stored) - 1))
    flipped = stored[:at] + bytes([stored[at] ^ 1 << data.draw(st.integers(0, 7))]) + stored[at + 1 :]
    try:
        found = decode(flipped)
    except ArchiveError:
        return
    assert found != MANIFEST
    assert sha256(flipped) != sha256(stored)
    assert signed_text(found, flipped) != signed_text(MANIFEST, stored)


@pytest.mark.parametrize(
    "stored", [b"", b"{}", b'{"checkpoint":1,"keys":[],"proof":[]}', b'{"checkpoint":"","keys":1,"proof":[]}']
)
def test_anything_else_shows_nothing_of_the_log(stored: bytes) -> None:
    """What is not as it was written is refused."""
    with pytest.raises(ArchiveError, match="no proof"):
        decode_sealed(stored)


def test_what_is_signed_is_no_checkpoint() -> None:
    """A manifest's signature can never be shown as one of a tree."""
    with pytest.raises(NoteError):
        parse_checkpoint(signed_text(MANIFEST, encode(MANIFEST)))


@given(st.integers(0, 300), st.integers(0, 300))
def test_a_tree_goes_on_from_what_a_manifest_keeps(first: int, more: int) -> None:
    """The hashes that are kept of a tree are all that is needed to go on with it."""
    leaves = [leaf_hash(bytes([number % 251])) for number in range(first + more)]
    whole, begun = Frontier(), Frontier()
    whole.extend(leaves)
    begun.extend(leaves[:first])
    went_on = frontier_of(first, hashes_of(begun))
    went_on.extend(leaves[first:])
    assert went_on.root() == whole.root()
    assert hashes_of(went_on) == hashes_of(whole)
    with pytest.raises(ArchiveError, match="consists of"):
        frontier_of(first, (*hashes_of(begun), "eA=="))


@pytest.mark.parametrize("text", ["", "eA==", "%%%%", "A" * 42 + "B=", "A" * 43, "A" * 43 + "=\n", "é"])
def test_a_hash_has_one_spelling(text: str) -> None:
    """A hash is 32 bytes in base64, spelt in the one way."""
    with pytest.raises(ArchiveError, match="not a hash"):
        hash_from(text)
    assert hash_text(hash_from("A" * 43 + "=")) == "A" * 43 + "="

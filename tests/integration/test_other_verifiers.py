"""Other people's verifiers and our log: what they said of it is kept, compared with ours, and asked again.

The answers in tests/vectors/log are compared on every Python. Where the verifiers are installed they are
asked again, about the same log and about one that they made; how is told in `other_verifiers`.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infrastructure.evidence.merkle import leaf_hash, verify_consistency, verify_inclusion
from infrastructure.evidence.notes import parse_checkpoint, parse_note, verify
from infrastructure.witness.state import State
from infrastructure.witness.trust import KnownLogs
from infrastructure.witness.witness import Witness
from tests.integration import other_verifiers, vector_log
from tests.integration.other_verifiers import VECTORS
from tests.unit.infrastructure.witness.small_log import request

AICS = json.loads((VECTORS / "aics-tlog.json").read_text())
SUMDB = json.loads((VECTORS / "sumdb.json").read_text())
needs_aics = pytest.mark.skipif(
    not other_verifiers.has_aics(),
    reason="aics-tlog is not installed: it needs Python 3.12, this is {}.{}".format(*sys.version_info),
)
needs_go = pytest.mark.skipif(
    other_verifiers.go_sources() is None, reason="Go is not installed here with its sources"
)


def text(data: bytes) -> str:
    """Return base64."""
    return base64.b64encode(data).decode()


def hashes(texts: list[str]) -> list[bytes]:
    """Return what base64 says."""
    return list(map(base64.b64decode, texts))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with our log."""
    place = tmp_path_factory.mktemp("vectors")
    vector_log.write(place)
    return place


# ── What Go's golang.org/x/mod/sumdb said ───────────────────────────────────────────────────────────────────
def test_go_accepted_our_signatures() -> None:
    """The package note opened our checkpoint with the log's key and the witness's, and with no other."""
    ours = [vector_log.LOG.verifier, vector_log.WITNESS.cosigner]
    assert SUMDB["signers"] == [f"{each.name}+{each.key_id.hex()}" for each in ours]
    assert SUMDB["cosigned_at"] == vector_log.COSIGNED_AT
    assert SUMDB["stranger"] == "note has no verifiable signatures"


@pytest.mark.parametrize("size", vector_log.SIZES)
def test_go_found_our_root(size: int) -> None:
    """From our tiles the package tlog computes the root that we sign, at sizes about every edge of a tile."""
    assert SUMDB["roots"][str(size)] == text(vector_log.root(size))


@pytest.mark.parametrize("index", vector_log.LEAVES)
def test_go_proved_inclusion_as_we_do(index: int) -> None:
    """Its audit path is ours, byte for byte, and holds for our leaf and no other."""
    said = SUMDB["inclusion"][str(index)]
    assert hashes(said["proof"]) == vector_log.inclusion(index, vector_log.SIZE)
    assert said["checked"] == "ok"
    assert said["another_leaf"] == "invalid transparency proof"


@pytest.mark.parametrize(("old", "new"), vector_log.PAIRS)
def test_go_proved_consistency_as_we_do(old: int, new: int) -> None:
    """Its consistency proof is ours, byte for byte, and holds."""
    said = SUMDB["consistency"][f"{old}:{new}"]
    assert hashes(said["proof"]) == vector_log.consistency(old, new)
    assert said["checked"] == "ok"


def test_go_found_what_was_altered() -> None:
    """An earlier checkpoint of ours is the beginning, one of a fork is not, a flipped bit is no proof."""
    assert SUMDB["old.note"] == "ok"
    assert SUMDB["fork.note"] == "invalid transparency proof"
    assert SUMDB["broken"] in {"invalid transparency proof", "downloaded inconsistent tile"}


@needs_go
def test_go_says_so_again(folder: Path) -> None:
    """Asked now, golang.org/x/mod/sumdb says what is kept."""
    assert other_verifiers.ask_go(folder, *other_verifiers.GO) == SUMDB


# ── What aics-tlog said ─────────────────────────────────────────────────────────────────────────────────────
GOOD = ["checkpoint", "checkpoint from the tiles", "entry of leaf 256", "consistency"]
BAD = {
    "another origin": "origin mismatch",
    "a stranger's key": "no signature from log key",
    "not cosigned": "quorum not met",
    "another place": "the leaf is not included",
    "a fork": "history was rewritten",
    "a flipped bit": "does not match its parent tile",
}


def said(name: str) -> dict[str, Any]:
    """Return what a command printed."""
    found: dict[str, Any] = AICS["commands"][name]["output"]
    return found


def test_every_command_was_kept_as_it_is_now() -> None:
    """What is kept was asked for with the commands that we would ask with."""
    kept = {name: each["command"] for name, each in AICS["commands"].items()}
    assert kept == {name: f"aics-tlog {command}" for name, command in other_verifiers.AICS.items()}
    assert sorted(kept) == sorted([*GOOD, *BAD, *(f"leaf {i}" for i in vector_log.LEAVES)])


@pytest.mark.parametrize("name", GOOD)
def test_aics_accepted_our_log(name: str) -> None:
    """Checkpoint, entries and consistency verify, from our tiles, with the root that we sign."""
    assert AICS["commands"][name]["status"] == 0
    assert said(name)["ok"] is True
    assert said(name)["root"] == text(vector_log.root(vector_log.SIZE))
    assert said(name)["origin"] == vector_log.ORIGIN


def test_aics_counted_our_witness() -> None:
    """A quorum of one witness is met by our cosignature, and is not without it."""
    assert said("checkpoint")["witnesses"] == [vector_log.WITNESS.name]
    assert said("not cosigned")["cosignatures"] == 0


@pytest.mark.parametrize("index", vector_log.LEAVES)
def test_aics_found_our_leaves(index: int) -> None:
    """Each leaf is included with a proof as long as ours, and its hash is ours."""
    found = said(f"leaf {index}")
    assert found["ok"] is True
    assert found["leaf_hash"] == leaf_hash(vector_log.leaf(index)).hex()
    assert found["proof_length"] == len(vector_log.inclusion(index, vector_log.SIZE))


@pytest.mark.parametrize("name", BAD)
def test_aics_refused_what_was_altered(name: str) -> None:
    """Status 1, and the reason is the one that was made."""
    assert AICS["commands"][name]["status"] == 1
    assert BAD[name] in said(name)["error"]


@needs_aics
def test_aics_says_so_again(folder: Path) -> None:
    """Asked now, aics-tlog says what is kept."""
    assert other_verifiers.ask_aics(folder) == AICS["commands"]


# ── Our verifiers, and a log that aics-tlog made ────────────────────────────────────────────────────────────
MADE = AICS["made"]


@needs_aics
def test_aics_makes_the_same_log_again() -> None:
    """What is kept of its log is what it makes."""
    assert other_verifiers.made_by_aics() == MADE


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Witness]:
    """Yield a witness of that log, with the key that the log's own cosignature was made with."""
    state = tmp_path / "witness"
    with State.open(state, vector_log.WITNESS.name):
        seed = vector_log.WITNESS.private.private_bytes_raw()
        (state / "witness.key").write_text(seed.hex())
    with State.open(state) as opened:
        logs = KnownLogs([MADE["vkey"]])
        yield Witness(opened, logs, lambda: float(vector_log.COSIGNED_AT), lambda _: None)


def test_our_keys_are_written_as_theirs() -> None:
    """The same key has the same text with both, for signatures and for cosignatures."""
    assert MADE["vkey"] == vector_log.LOG.verifier.vkey
    assert MADE["witness_vkey"] == vector_log.WITNESS.cosigner.vkey


@pytest.mark.parametrize("size", [7, 300])
def test_we_verify_their_checkpoint_and_sign_the_same(size: int) -> None:
    """Their signed checkpoint verifies with our code, and is the one that we would have signed."""
    note = MADE["notes"][str(size)].encode()
    assert [each.verifier for each in verify(parse_note(note), [vector_log.LOG.verifier])] == [
        vector_log.LOG.verifier
    ]
    assert note == vector_log.note(size, vector_log.root(size))


def test_we_verify_their_proofs() -> None:
    """Inclusion and consistency that they prove hold for our verifier, and are what we prove."""
    roots = {
        size: parse_checkpoint(parse_note(MADE["notes"][str(size)].encode()).text).root for size in (7, 300)
    }
    inclusion, consistency = hashes(MADE["inclusion_of_7"]), hashes(MADE["consistency"])
    assert verify_inclusion(leaf_hash(vector_log.leaf(7)), 7, 300, inclusion, roots[300])
    assert verify_consistency(7, roots[7], 300, roots[300], consistency)
    assert inclusion == vector_log.inclusion(7, 300)
    assert consistency == vector_log.consistency(7, 300)


def test_our_witness_signs_their_log_as_they_would(witness: Witness) -> None:
    """From their checkpoints and their proof our witness makes the very cosignature that they make."""
    assert witness.vkey == MADE["witness_vkey"]
    assert witness.add_checkpoint(request(0, [], MADE["notes"]["7"].encode())).status == 200
    answer = witness.add_checkpoint(request(7, hashes(MADE["consistency"]), MADE["notes"]["300"].encode()))
    assert answer.status == 200
    assert answer.body == MADE["cosignature"]

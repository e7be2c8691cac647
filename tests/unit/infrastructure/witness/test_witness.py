"""What a witness signs and what it refuses: C2SP tlog-witness, `add-checkpoint`."""

from __future__ import annotations

import base64
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infrastructure.evidence.notes import NoteError, parse_note, parse_vkey, verify, write_note
from infrastructure.witness import state as state_module
from infrastructure.witness.state import State
from infrastructure.witness.trust import KnownLogs
from infrastructure.witness.witness import Answer, Witness
from tests.unit.infrastructure.witness.small_log import ORIGIN, SmallLog, request, signer

NOW = 1_700_000_000
LOG = SmallLog(600)


@pytest.fixture
def said() -> list[str]:
    """Return where the witness's lines for its operator go."""
    return []


@pytest.fixture
def witness(tmp_path: Path, said: list[str]) -> Iterator[Witness]:
    """Yield a witness that knows the log's key and a former one, and that has signed nothing."""
    vkeys = [signer().verifier.vkey, signer(number=2).verifier.vkey]
    with State.open(tmp_path / "witness", "regulator.example/w1") as state:
        yield Witness(state, KnownLogs(vkeys), lambda: NOW + 0.9, said.append)


def signed_time(witness: Witness, answer: Answer, note: bytes) -> int | None:
    """Return the time at which the witness signed a note, which the answer has to show."""
    assert answer.status == 200, answer.body
    whole = parse_note(note + answer.body.encode())
    (verified,) = verify(whole, [parse_vkey(witness.vkey)])
    return verified.time


def test_it_signs_the_first_checkpoint_and_what_continues_it(witness: Witness) -> None:
    """Each answer is a cosignature/v1 of the witness's key, with the time of now."""
    old = 0
    for size in (1, 2, 3, 256, 257, 600):
        answer = witness.add_checkpoint(LOG.request(old, size))
        assert signed_time(witness, answer, LOG.note(size)) == NOW
        old = size
    last = witness.last(ORIGIN)
    assert last is not None
    assert (last.size, last.root) == (600, LOG.checkpoint(600).root)


def test_what_it_keeps_is_the_checkpoint_with_both_signatures(witness: Witness) -> None:
    """The note it keeps shows the log's signature and its own: all that is needed to accuse either."""
    witness.add_checkpoint(LOG.request(0, 9))
    last = witness.last(ORIGIN)
    assert last is not None
    names = [
        each.name
        for each in verify(parse_note(last.note.encode()), [LOG.key.verifier, parse_vkey(witness.vkey)])
    ]
    assert names == [ORIGIN, "regulator.example/w1"]


def test_the_same_checkpoint_is_signed_again(witness: Witness) -> None:
    """A log whose answer was lost asks again, with the size that is signed by now, and gets a signature."""
    witness.add_checkpoint(LOG.request(0, 9))
    answer = witness.add_checkpoint(LOG.request(9, 9))
    assert signed_time(witness, answer, LOG.note(9)) == NOW


@pytest.mark.parametrize("old", [0, 1, 8, 10, 600])
def test_another_old_size_is_told_the_right_one(witness: Witness, old: int) -> None:
    """Conflict, with the size that was signed last, in decimal and a line of its own."""
    witness.add_checkpoint(LOG.request(0, 9))
    answer = witness.add_checkpoint(request(old, [], LOG.note(600)))
    assert answer == Answer(409, "9\n", "text/x.tlog.size")


def test_a_log_never_signed_has_size_zero(witness: Witness) -> None:
    """A log that asks with a size the witness has not signed is told zero."""
    assert witness.add_checkpoint(LOG.request(5, 9)) == Answer(409, "0\n", "text/x.tlog.size")


def test_an_empty_tree_can_be_signed(witness: Witness) -> None:
    """Size zero has one root; with it, it is signed, with another it is not."""
    assert witness.add_checkpoint(LOG.request(0, 0)).status == 200
    text = f"{ORIGIN}\n0\n{base64.b64encode(bytes(32)).decode()}\n"
    assert witness.add_checkpoint(request(0, [], write_note(text, [LOG.key.sign(text)]))).status == 409


def test_a_fork_at_the_size_signed_is_refused_and_kept(
    witness: Witness, said: list[str], tmp_path: Path
) -> None:
    """Another root for the same size: two signed trees that disagree, and the proof is kept, once."""
    witness.add_checkpoint(LOG.request(0, 100))
    fork = SmallLog(600, fork_at=50)
    for _ in range(2):
        answer = witness.add_checkpoint(request(100, [], fork.note(100)))
        assert (answer.status, answer.content_type) == (409, "text/plain; charset=utf-8")
    (kept,) = (tmp_path / "witness" / "refused").iterdir()
    assert kept.read_bytes() == fork.note(100)
    assert len(said) == 1
    assert "fork" in said[0]


@pytest.mark.parametrize("fork_at", [0, 50, 99])
def test_a_fork_that_has_grown_is_refused(witness: Witness, fork_at: int) -> None:
    """A tree that begins otherwise has no proof, and the true proof of the other tree does not help it."""
    witness.add_checkpoint(LOG.request(0, 100))
    fork = SmallLog(600, fork_at=fork_at)
    assert witness.add_checkpoint(fork.request(100, 600)).status == 422
    assert witness.add_checkpoint(request(100, LOG.proof(100, 600), fork.note(600))).status == 422
    assert witness.add_checkpoint(LOG.request(100, 600)).status == 200


def test_a_rollback_is_refused(witness: Witness) -> None:
    """A smaller tree is not signed: neither as it is, nor with the right old size."""
    witness.add_checkpoint(LOG.request(0, 100))
    assert witness.add_checkpoint(LOG.request(0, 99)).status == 409
    assert witness.add_checkpoint(request(100, [], LOG.note(99))).status == 400
    assert LOG.checkpoint(100).root == getattr(witness.last(ORIGIN), "root", None)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda proof: proof[:-1],
        lambda proof: [*proof, bytes(32)],
        lambda proof: proof[::-1],
        lambda proof: [bytes(32), *proof[1:]],
        lambda _: [],
    ],
)
def test_a_bad_proof_is_refused(witness: Witness, spoil: Callable[[list[bytes]], list[bytes]]) -> None:
    """A proof that is short, long, out of order, wrong or missing signs nothing and changes nothing."""
    witness.add_checkpoint(LOG.request(0, 100))
    assert witness.add_checkpoint(request(100, spoil(LOG.proof(100, 600)), LOG.note(600))).status == 422
    assert getattr(witness.last(ORIGIN), "size", None) == 100


def test_a_proof_from_nothing_must_be_empty(witness: Witness) -> None:
    """A first checkpoint comes with no proof; so does one of the size signed already."""
    assert witness.add_checkpoint(request(0, [bytes(32)], LOG.note(9))).status == 422
    assert witness.add_checkpoint(LOG.request(0, 9)).status == 200
    assert witness.add_checkpoint(request(9, [bytes(32)], LOG.note(9))).status == 422


def test_an_unknown_log_is_not_found(witness: Witness) -> None:
    """A log that was not named when the witness started gets nothing signed, well signed as it may be."""
    stranger = SmallLog(9, key=signer("example.com/stranger"))
    assert witness.add_checkpoint(stranger.request(0, 9)).status == 404


def test_an_unknown_key_is_forbidden(witness: Witness) -> None:
    """A checkpoint of a known log that none of its keys has signed is refused."""
    thief = SmallLog(9, key=signer(number=3))
    assert witness.add_checkpoint(thief.request(0, 9)).status == 403
    note = LOG.note(9)
    assert witness.add_checkpoint(request(0, [], note.replace(b"\n9\n", b"\n8\n"))).status == 403


def test_a_wrong_signature_of_a_known_key_is_forbidden_beside_a_right_one(witness: Witness) -> None:
    """Where one known key's signature is wrong, the whole note is (signed-note)."""
    other = signer(number=2)
    note = LOG.note(9, other.sign("something else\n"))
    assert witness.add_checkpoint(request(0, [], note)).status == 403


def test_each_of_a_logs_keys_is_enough_and_strangers_do_not_matter(witness: Witness) -> None:
    """After a change of keys the new one signs alone; signatures of unknown keys are passed over."""
    assert witness.add_checkpoint(LOG.request(0, 9)).status == 200
    renewed = SmallLog(600, key=signer(number=2))
    text = renewed.checkpoint(20).body()
    note = renewed.note(20, signer("example.com/stranger").sign(text))
    assert witness.add_checkpoint(request(9, renewed.proof(9, 20), note)).status == 200


GOOD = LOG.request(0, 9)
MALFORMED = {
    "nothing": b"",
    "no old size": GOOD.removeprefix(b"old 0\n"),
    "a sign": GOOD.replace(b"old 0", b"old -0"),
    "leading zeroes": GOOD.replace(b"old 0", b"old 00"),
    "two spaces": GOOD.replace(b"old 0", b"old  0"),
    "no number": GOOD.replace(b"old 0", b"old "),
    "digits that are not ASCII": GOOD.replace(b"old 0", "old \u0661".encode()),
    "a size beyond all trees": GOOD.replace(b"old 0", b"old " + b"9" * 20),
    "carriage returns": GOOD.replace(b"\n", b"\r\n"),
    "no empty line": GOOD.replace(b"\n\n", b"\n"),
    "no checkpoint": b"old 0\n\n",
    "no signature": GOOD.rpartition("—".encode())[0],
    "64 hashes": request(1, [bytes(32)] * 64, LOG.note(9)),
    "a hash of 31 bytes": request(1, [bytes(31)], LOG.note(9)),
    "a hash that is not base64": GOOD.replace(b"old 0\n", b"old 0\n*\n"),
    "a hash that is not ASCII": GOOD.replace(b"old 0\n", "old 0\né\n".encode()),
    "not UTF-8": GOOD + b"\xff",
    "a root of 31 bytes": GOOD.replace(base64.b64encode(LOG.checkpoint(9).root), base64.b64encode(bytes(31))),
    "too long": GOOD + b"x" * 70_000,
    "an old size larger than the checkpoint's": request(10, [], LOG.note(9)),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_request_is_bad(witness: Witness, name: str) -> None:
    """Whatever is not exactly a request is refused, and nothing is signed or remembered."""
    assert witness.add_checkpoint(MALFORMED[name]).status == 400
    assert witness.last(ORIGIN) is None


def test_sixty_three_hashes_are_no_malformed_request(witness: Witness) -> None:
    """The longest proof there may be is judged as a proof."""
    witness.add_checkpoint(LOG.request(0, 1))
    assert witness.add_checkpoint(request(1, [bytes(32)] * 63, LOG.note(9))).status == 422


@given(st.binary(max_size=400), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_no_garbage_is_signed_or_ends_the_witness(garbage: bytes, chance: int) -> None:
    """Bytes from anywhere, alone or as a bit of a good request, are answered; nothing of it is signed."""

    class Nowhere(State):
        def record(self, origin: str, seen: state_module.Seen) -> None:
            raise AssertionError(f"signed {origin} {seen}")

    logs = KnownLogs([signer().verifier.vkey])
    witness = Witness(Nowhere(Path(), bytes(32), "w", {}), logs, lambda: NOW, lambda _: None)
    assert witness.add_checkpoint(garbage).status == 400
    flipped = bytearray(GOOD)
    at = random.Random(chance).randrange(GOOD.index(ORIGIN.encode()), len(GOOD))
    flipped[at] ^= 1 << chance % 8
    assert witness.add_checkpoint(bytes(flipped)).status in {400, 403, 404}


def test_of_many_at_once_one_history_is_signed(witness: Witness) -> None:
    """Two forks are shown by eight threads at once: sizes signed belong to one of them, each size once."""
    forks = [LOG, SmallLog(600, fork_at=0)]
    signed: list[tuple[int, int]] = []
    start = threading.Barrier(8)

    def show(number: int) -> None:
        log = forks[number % 2]
        start.wait()
        for size in range(1, 60):
            seen = witness.last(ORIGIN)
            old = 0 if seen is None else seen.size
            if old < size and witness.add_checkpoint(log.request(old, size)).status == 200:
                signed.append((size, number % 2))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(show, range(8)))
    assert len({fork for _, fork in signed}) == 1
    assert len({size for size, _ in signed}) == len(signed)
    assert max(signed)[0] == 59


def test_what_cannot_be_kept_is_not_signed(
    witness: Witness, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the disk full the answer is 503; when there is room again the same request is signed."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(state_module, "_write", full)
        answer = witness.add_checkpoint(LOG.request(0, 9))
        assert answer.status == 503
        assert "—" not in answer.body
        assert witness.last(ORIGIN) is None
    assert said == ["cannot keep what it signs (No space left on device)"]
    assert witness.add_checkpoint(LOG.request(0, 9)).status == 200


def test_a_refusal_is_told_even_where_it_cannot_be_kept(
    witness: Witness, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the disk full a fork is refused as ever, and the operator reads that it was not kept."""
    witness.add_checkpoint(LOG.request(0, 9))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(state_module, "_write", full)
    assert witness.add_checkpoint(request(9, [], SmallLog(9, fork_at=0).note(9))).status == 409
    assert said == ["cannot keep a refused checkpoint (No space left on device)"]


def test_a_flood_of_refusals_fills_no_disk(
    witness: Witness, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only so many refused checkpoints are kept, the first ones; the rest is refused in silence."""
    monkeypatch.setattr(state_module, "REFUSED_MAX", 3)
    witness.add_checkpoint(LOG.request(0, 9))
    for size in range(10, 20):
        assert witness.add_checkpoint(request(9, [], LOG.note(size))).status == 422
    kept = {path.read_bytes() for path in (tmp_path / "witness" / "refused").iterdir()}
    assert kept == {LOG.note(size) for size in (10, 11, 12)}
    assert len(said) == 3


def test_logs_kept_on_this_machine_are_known_as_they_change(tmp_path: Path) -> None:
    """The keys in a folder of logs are read anew each time; what is no key there is passed over."""
    logs = KnownLogs([], tmp_path)
    assert logs(ORIGIN) == []
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "keys").write_text(signer().verifier.vkey + "\n")
    assert logs(ORIGIN) == [signer().verifier]
    (tmp_path / "1" / "keys").write_text(
        f"{signer(number=2).verifier.vkey}\n{signer().verifier.vkey}\nno key\n"
    )
    assert logs(ORIGIN) == [signer(number=2).verifier, signer().verifier]
    assert logs("another") == []


def test_several_keys_can_be_named_as_a_log_tells_them() -> None:
    """What a ledger answers at /log/key, a key on each line, names them all."""
    keys = [signer(number=2).verifier, signer().verifier]
    assert KnownLogs(["".join(f"{each.vkey}\n" for each in keys)])(ORIGIN) == keys


def test_a_witnesss_key_is_no_logs_key() -> None:
    """A key that makes cosignatures names no log; the message says where a log's key is had."""
    with pytest.raises(NoteError, match="/log/key"):
        KnownLogs([signer().cosigner.vkey])

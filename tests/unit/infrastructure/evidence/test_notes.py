"""Signed notes, checkpoints and keys: other people's vectors, and everything that is refused."""

from __future__ import annotations

import base64
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.evidence import notes
from infrastructure.evidence.notes import (
    Checkpoint,
    NoteError,
    Signer,
    Verifier,
    parse_checkpoint,
    parse_note,
    parse_vkey,
    verify,
    write_note,
)

PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETERS_TEXT = (
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
)
PETERS_SIGNATURE = (
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
)
PETERS_NOTE = f"{PETERS_TEXT}\n\u2014 PeterNeumann {PETERS_SIGNATURE}\n".encode()
LOG = Signer.from_seed("stud-ledger/0123456789abcdef/1", bytes(range(32)))
WITNESS = Signer.from_seed("witness.example", b"w" * 32)
CHECKPOINT = Checkpoint(LOG.name, 3, b"r" * 32)


def signed(*lines: str) -> bytes:
    """A checkpoint's note with these signature lines."""
    return write_note(CHECKPOINT.body(), lines)


def test_a_note_of_somebody_else_verifies() -> None:
    """The example of Go's sumdb/note package verifies under its key, and not when a word is another."""
    key = parse_vkey(PETER)
    assert key.vkey == PETER
    note = parse_note(PETERS_NOTE)
    assert note.text == PETERS_TEXT
    assert note.data == PETERS_NOTE
    assert [(each.name, each.time) for each in verify(note, [key])] == [("PeterNeumann", None)]
    with pytest.raises(NoteError, match="the signature of PeterNeumann is wrong"):
        verify(parse_note(PETERS_NOTE.replace(b"answer", b"Answer")), [key])


@pytest.mark.parametrize(
    ("seed", "public", "text", "signature"),
    [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            (
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25b"
                "f5f0595bbe24655141438e7a100b"
            ),
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "r",
            (
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b"
                "2eaeb4302aeeb00d291612bb0c00"
            ),
        ),
    ],
)
def test_signatures_are_those_of_rfc_8032(seed: str, public: str, text: str, signature: str) -> None:
    """Tests 1 and 2 of RFC 8032 section 7.1 come out as they are, behind the key's id."""
    signer = Signer.from_seed("rfc8032", bytes.fromhex(seed))
    assert signer.verifier.public.hex() == public
    line = signer.sign(text).rpartition(" ")[2]
    assert base64.b64decode(line) == signer.verifier.key_id + bytes.fromhex(signature)


def test_a_cosignature_says_when() -> None:
    """A witness's line verifies with its time; at another time or by another algorithm's key it does not."""
    line = WITNESS.cosign(CHECKPOINT.body(), 1_679_315_147)
    note = parse_note(signed(LOG.sign(CHECKPOINT.body()), line))
    found = verify(note, [WITNESS.cosigner, LOG.verifier])
    assert [(each.name, each.time) for each in found] == [(LOG.name, None), (WITNESS.name, 1_679_315_147)]
    assert [each.name for each in verify(note, [WITNESS.verifier, LOG.verifier])] == [LOG.name]
    later = note.signatures[1]
    stamped = (int.from_bytes(later.signature[:8], "big") + 1).to_bytes(8, "big") + later.signature[8:]
    moved = note._replace(signatures=(note.signatures[0], later._replace(signature=stamped)))
    with pytest.raises(NoteError, match=r"witness\.example is wrong"):
        verify(moved, [WITNESS.cosigner])


@pytest.mark.parametrize("cut", [0, 4, 8, 71, 73])
def test_a_cosignature_of_another_length_is_wrong(cut: int) -> None:
    """Fewer or more bytes than a time and a signature are refused, not read beyond."""
    whole = parse_note(signed(WITNESS.cosign(CHECKPOINT.body(), 7))).signatures[0].signature
    with pytest.raises(NoteError, match="is wrong"):
        WITNESS.cosigner.verify(CHECKPOINT.body(), (whole + b"x")[:cut])


def test_unknown_signatures_are_passed_over_and_known_ones_are_needed() -> None:
    """A note counts with one known signature; with none it is refused, and with one wrong one as well."""
    body = CHECKPOINT.body()
    good, other = LOG.sign(body), WITNESS.sign(body)
    assert [each.name for each in verify(parse_note(signed(other, good)), [LOG.verifier])] == [LOG.name]
    with pytest.raises(NoteError, match="no signature of a known key"):
        verify(parse_note(signed(other)), [LOG.verifier])
    wrong = LOG.sign(body + "more\n")
    with pytest.raises(NoteError, match="is wrong"):
        verify(parse_note(signed(good, wrong)), [LOG.verifier])


def test_signing_again_gives_the_same_bytes() -> None:
    """Ed25519 is deterministic: a checkpoint that is signed again after a crash is the same note."""
    assert LOG.sign(CHECKPOINT.body()) == LOG.sign(CHECKPOINT.body())


@pytest.mark.parametrize(
    "note",
    [
        b"", b"text\n", b"text\n\n", b"text\n\nno line\n", b"text\n\xff\n\n" + LOG.sign("x\n").encode(),
        b"text\n\n" + LOG.sign("text\n").encode()[:-1], b"te\x00xt\n\n" + LOG.sign("x\n").encode(),
        b"text\n\n" + LOG.sign("x\n").encode() + b"\n", "text\n\n\u2014 a+b AAAAAAAA\n".encode(),
        "text\n\n\u2014 a b AAAAAAAA\n".encode(), "text\n\n\u2014 a AAAA\n".encode(),
        "text\n\n\u2014 a AAAAAAAA==\n".encode(), "text\n\n\u2014 a AAAAAAB=\n".encode(),
        "text\n\n\u2014  AAAAAAAA\n".encode(), "text\n\n\u2014 a\u00a0b AAAAAAAA\n".encode(),
        b"text\n\n- a AAAAAAAA\n", b"text\r\n\n" + LOG.sign("x\n").encode(),
        b"text\n\n" + LOG.sign("x\n").encode() * 101, b"x" * 300_000,
    ],
)  # fmt: skip
def test_what_is_no_note_is_refused(note: bytes) -> None:
    """Missing parts, control characters, loose base64, bad names, too many or too much: a NoteError each."""
    with pytest.raises(NoteError):
        parse_note(note)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_nothing_that_is_parsed_raises_anything_else(data: bytes) -> None:
    """Whatever bytes come in, reading them gives a note or a NoteError."""
    for parse in (parse_note, lambda data: parse_checkpoint(data.decode(errors="replace"))):
        with suppress(NoteError):
            parse(data)


def test_a_checkpoint_is_read_as_it_is_written() -> None:
    """Origin, size and root come back; extension lines are passed over."""
    assert parse_checkpoint(CHECKPOINT.body()) == CHECKPOINT
    assert parse_checkpoint(CHECKPOINT.body() + "extension\n") == CHECKPOINT
    assert parse_checkpoint(Checkpoint("o", 0, b"0" * 32).body()).size == 0


@pytest.mark.parametrize(
    "text",
    [
        "", "origin\n", "origin\n3\n", f"\n3\n{CHECKPOINT.root_text}\n", f"o\n03\n{CHECKPOINT.root_text}\n",
        f"o\n-3\n{CHECKPOINT.root_text}\n", f"o\n\u0663\n{CHECKPOINT.root_text}\n", "o\n3\nAAAA\n",
        f"o\n{2**63}\n{CHECKPOINT.root_text}\n", f"o\n3\n{CHECKPOINT.root_text}",
        f"o\n3 \n{CHECKPOINT.root_text}\n",
        f"o\n3\n{CHECKPOINT.root_text}\n\nmore\n", f"o\n3\n{CHECKPOINT.root_text} \n",
    ],
)  # fmt: skip
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    """Missing or empty lines, numbers and hashes in other spellings are NoteErrors."""
    with pytest.raises(NoteError):
        parse_checkpoint(text)


@pytest.mark.parametrize("key", [LOG.verifier, WITNESS.cosigner])
def test_a_key_is_read_as_it_is_written(key: Verifier) -> None:
    """A verifier key's text gives the key again, whatever its algorithm."""
    assert parse_vkey(key.vkey) == key


@pytest.mark.parametrize(
    "text",
    [
        "", "name", "name+c74f20a3", PETER.replace("c74f20a3", "c74f20a4"), PETER.replace("c74f", "C74F"),
        PETER.replace("Peter", "Paul"), PETER + "=", PETER[:-4], PETER + "\n", PETER[12:],
        "na me" + PETER[12:],
        "x+00000000+", f"x+{'0' * 8}+{base64.b64encode(bytes([2]) + bytes(32)).decode()}",
    ],
)  # fmt: skip
def test_what_is_no_key_is_refused(text: str) -> None:
    """A malformed key, one with another's id, and one of another algorithm are NoteErrors."""
    with pytest.raises(NoteError):
        parse_vkey(text)


def test_the_secret_half_is_not_shown() -> None:
    """A signer's representation has its name alone."""
    assert repr(LOG) == f"Signer(name={LOG.name!r})"
    assert notes.NOTE_BYTES_MAX > 16 * 5_000  # as many signatures as every verifier must take, of any kind

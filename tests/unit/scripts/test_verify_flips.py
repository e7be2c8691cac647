"""One bit of a sealed file changed anywhere: never verified, never a traceback."""

from __future__ import annotations

import json
from argparse import Namespace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.scripts.evidence_builder import canonical
from tests.unit.scripts.log_builder import LOG_KEY, WITNESS, hashed, sealed
from tests.unit.scripts.verified_rounds import nordic, us_casino, void_after_decisions
from tests.unit.scripts.verifier import verify

FILES = {
    name: canonical(sealed(evidence))
    for name, evidence in {
        "a round": us_casino().evidence(),
        "one player's": nordic().evidence("p-3"),
        "a void round": void_after_decisions().evidence(),
    }.items()
}
NOTHING = Namespace(key=[], witness=[], since="", jackpot=None)
KNOWN = Namespace(key=[LOG_KEY.vkey], witness=[WITNESS.vkey], since="", jackpot=None)
PLACES = st.sampled_from(sorted(FILES)), st.integers(0, 2**32), st.integers(0, 7)
SLOWLY = settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def flipped(raw: bytes, place: int, bit: int) -> bytes:
    """Return bytes with one bit changed."""
    changed = bytearray(raw)
    changed[place % len(raw)] ^= 1 << bit
    return bytes(changed)


def test_the_files_are_verified() -> None:
    """Untouched they pass, with and without the keys known."""
    for raw in FILES.values():
        assert verify.examine(raw, NOTHING).verdict() == verify.examine(raw, KNOWN).verdict() == "verified"


@SLOWLY
@given(*PLACES)
def test_a_changed_bit_is_never_verified(name: str, place: int, bit: int) -> None:
    """Whatever bit it is, of the events, the rules, the proof or the hash, with nothing known beforehand."""
    raw = flipped(FILES[name], place, bit)
    assert verify.examine(raw, NOTHING).verdict() in ("refuted", "unusable")


@SLOWLY
@given(*PLACES)
def test_a_changed_bit_under_a_new_hash_is_never_verified(name: str, place: int, bit: int) -> None:
    """The file's own hash made to agree helps nobody: every byte is bound to the log or by its signatures.

    A cosignature is nothing to who does not know the witness, so here the keys are known.
    """
    raw = flipped(FILES[name], place, bit)
    try:
        file = json.loads(raw)
        raw = canonical(hashed(file))
    except (ValueError, TypeError, AttributeError):
        pass  # it is no JSON any more, or nothing that could be hashed: it is examined as it is
    if raw != FILES[name]:  # what was flipped was only in the old hash
        assert verify.examine(raw, KNOWN).verdict() in ("refuted", "unusable")


def test_every_bit_of_the_log_proof_is_bound() -> None:
    """The same over each byte of the proof in turn, one bit of it: no place is left out by chance."""
    raw = FILES["a round"]
    start = raw.index(b'"log":')
    end = raw.index(b'"player":')
    for place in range(start, end, 11):
        assert verify.examine(flipped(raw, place, place % 7), NOTHING).verdict() != "verified", place

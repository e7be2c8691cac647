"""Sealed seeds open for their round and key alone."""

from __future__ import annotations

import pytest

from infrastructure.seals import SealBrokenError, Seals

KEY = bytes(range(32))
SEED = b"seed material of forty-eight bytes, never seen.."


def test_a_sealed_seed_opens_for_its_round() -> None:
    """What was sealed for a round opens for it, and does not show in the sealed bytes."""
    sealed = Seals(KEY).seal("R1", SEED)
    assert SEED not in sealed
    assert len(sealed) == len(SEED) + 30
    assert Seals(KEY).open("R1", sealed) == SEED


def test_sealing_twice_gives_different_bytes() -> None:
    """A fresh nonce each time: equal seeds are not seen to be equal."""
    seals = Seals(KEY)
    assert seals.seal("R1", SEED) != seals.seal("R1", SEED)


def test_a_seal_of_another_round_or_key_does_not_open() -> None:
    """Sealed bytes moved to another round, or read with another key, are an error that names the round."""
    sealed = Seals(KEY).seal("R1", SEED)
    with pytest.raises(SealBrokenError, match="R2"):
        Seals(KEY).open("R2", sealed)
    with pytest.raises(SealBrokenError, match="R1"):
        Seals(KEY[::-1]).open("R1", sealed)


@pytest.mark.parametrize("index", [0, 1, 2, 13, 14, 50, -1])
def test_a_changed_byte_breaks_the_seal(index: int) -> None:
    """Any changed byte, of the head, the nonce, the seed or the tag, is found."""
    sealed = bytearray(Seals({0: KEY, 1: KEY}).seal("R1", SEED))
    sealed[index] ^= 1
    with pytest.raises(SealBrokenError):
        Seals({0: KEY, 1: KEY}).open("R1", bytes(sealed))


def test_a_seal_cut_short_is_broken() -> None:
    """Too few bytes are damage, not a crash."""
    for length in (0, 1, 29):
        with pytest.raises(SealBrokenError):
            Seals(KEY).open("R1", Seals(KEY).seal("R1", b"")[:length])


def test_a_new_key_seals_and_the_old_one_still_opens() -> None:
    """After a rotation the newest key seals; what older ones sealed opens as long as they are here."""
    old = Seals(KEY).seal("R1", SEED)
    rotated = Seals({0: KEY, 1: KEY[::-1]})
    assert rotated.open("R1", old) == SEED
    new = rotated.seal("R1", SEED)
    assert Seals({1: KEY[::-1]}).open("R1", new) == SEED
    with pytest.raises(SealBrokenError, match="key 1"):
        Seals(KEY).open("R1", new)


def test_only_proper_keys_are_taken() -> None:
    """A key of another length, a number beyond one byte, or no key at all is refused."""
    for keys in (b"short", {0: b"short"}, {256: KEY}, {-1: KEY}, {}):
        with pytest.raises(ValueError, match="key to seal with"):
            Seals(keys)


def test_nothing_secret_is_printed() -> None:
    """Printing the seals shows the numbers of the keys alone."""
    assert repr(Seals({3: KEY})) == "Seals(keys [3])"

"""Sealing what must wait unseen: the seed of an open round's deck.

A seed lies in the database from the opening of its round until its reveal. It is encrypted with AES-256-GCM
(NIST SP 800-38D) and bound to its round: sealed bytes that were moved to another round do not open.

A random 96-bit nonce may be used at most 2**32 times with one key before a repetition, which would give seeds
away, is no longer out of the question (SP 800-38D section 8.3). A busy ledger meets that in days of years, so
the key of the files never encrypts anything itself: each round's key is derived from it with HKDF-SHA256 (RFC
5869) and the round's id, and seals a handful of times at most.

The first byte of what is sealed names the form, the second the key. A new key gets the next number; the old
one stays in `keys` until no open round needs it.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY_BYTES: Final = 32
_FORM: Final = 1
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_HEAD_BYTES: Final = 2 + _NONCE_BYTES
_KEY_IDS: Final = range(256)
_INFO: Final = b"stud-ledger/deck-seal/1\x00"


class SealBrokenError(ValueError):
    """Sealed bytes that do not open: damaged, of another round, or sealed with a key that is not here."""


class Seals:
    """Seals and opens with the keys of a service: `keys` by their number, the newest seals.

    A single key is number 0. Raises ValueError for keys that are not 32 bytes.
    """

    __slots__ = ("_keys", "_newest")

    def __init__(self, keys: bytes | Mapping[int, bytes]) -> None:
        self._keys = {0: keys} if isinstance(keys, bytes) else dict(keys)
        if not self._keys or any(len(key) != KEY_BYTES for key in self._keys.values()):
            raise ValueError(f"a key to seal with has {KEY_BYTES} bytes")
        if any(number not in _KEY_IDS for number in self._keys):
            raise ValueError("the number of a key to seal with fits one byte")
        self._newest = max(self._keys)

    def seal(self, round_id: str, seed: bytes) -> bytes:
        """Return a round's seed encrypted, 30 bytes longer; each time different."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        head = bytes((_FORM, self._newest)) + nonce
        return head + _cipher(self._keys[self._newest], round_id).encrypt(
            nonce, seed, head[:2] + round_id.encode()
        )

    def open(self, round_id: str, sealed: bytes) -> bytes:
        """Return the seed that was sealed for this round. Raises SealBrokenError."""
        if len(sealed) < _HEAD_BYTES + _TAG_BYTES or sealed[0] != _FORM:
            raise SealBrokenError(f"the sealed seed of round {round_id} is damaged")
        key = self._keys.get(sealed[1])
        if key is None:
            raise SealBrokenError(
                f"the seed of round {round_id} was sealed with key {sealed[1]}, which is not here"
            )
        nonce, encrypted = sealed[2:_HEAD_BYTES], sealed[_HEAD_BYTES:]
        try:
            return _cipher(key, round_id).decrypt(nonce, encrypted, sealed[:2] + round_id.encode())
        except InvalidTag:
            raise SealBrokenError(
                f"the sealed seed of round {round_id} does not open: damaged, of another round or key"
            ) from None

    def __repr__(self) -> str:
        return f"Seals(keys {sorted(self._keys)})"


def _cipher(key: bytes, round_id: str) -> AESGCM:
    return AESGCM(HKDF(SHA256(), KEY_BYTES, salt=None, info=_INFO + round_id.encode()).derive(key))

"""The committed deck: how a round's cards follow from a secret fixed before any stake.

This text is the whole definition; whoever follows it gets the same cards byte for byte.

**Notation.** ``lp(x)`` is the length of ``x`` in bytes as four big-endian bytes, then ``x``. Text is
UTF-8. ``‖`` joins bytes. The *rule-set hash* is the 32 bytes whose lower-case hexadecimal form
names the rule set. The *algorithm* is the text ``stud-deck-1``.

**Seed material.** 48 secret bytes: 32 of entropy input, then 16 of nonce.

**Commitment.** Published before the first stake, in lower-case hexadecimal::

    SHA-256( lp("stud-ledger/deck-commitment/1") ‖ lp(seed material) ‖ lp(round id) ‖ lp(rule-set hash) )

**Personalization string.** The seats that gave a client seed, in ascending order of their numbers,
each add two parts; a seat number is written in decimal ASCII digits::

    lp("stud-deck-1") ‖ lp(round id) ‖ lp(rule-set hash)
        ‖ lp(seat number) ‖ lp(client seed)    for each of those seats

**Byte stream.** HMAC_DRBG of NIST SP 800-90A Rev. 1, section 10.1.2, with SHA-256, without prediction
resistance and without additional input: instantiate with the entropy input, the nonce and the
personalization string; call Generate for 64 bytes, again and again as bytes are needed; join the outputs.

**Cards.** A forward Fisher-Yates shuffle. The deck starts in the order of the card codes, ``2c`` at
index 0 to ``As`` at index 51. For i = 0, 1, … 50 let n = 52 - i; take bytes b from the stream,
skipping each b ≥ 256 - (256 mod n), so that every remainder is equally likely; let
j = i + (b mod n); exchange the cards at i and j. Index i never changes after its step, so a deal
of k cards takes k steps, and a longer deal begins with a shorter one.

Until the reveal nobody outside knows the seed material; once the commitment stands the house can no
longer change it, and client seeds that come after the commitment it could not foresee.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Final

from domain.cards import DECK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from domain.cards import Card

ALGORITHM: Final = "stud-deck-1"
COMMITMENT_TAG: Final = "stud-ledger/deck-commitment/1"

ENTROPY_BYTES: Final = 32
NONCE_BYTES: Final = 16
SEED_BYTES: Final = ENTROPY_BYTES + NONCE_BYTES
RULESET_HASH_BYTES: Final = 32
BLOCK_BYTES: Final = 64

# SP 800-90A Rev. 1, table 2: at most 2^19 bits a request.
_REQUEST_BYTES_MAX: Final = 2**16
_BYTE_VALUES: Final = 256
# The last step chooses between two cards; the 52nd card is what remains.
_STEPS: Final = len(DECK) - 1


class ShuffleError(ValueError):
    """Inputs no deck can be derived from. Never tells the seed material."""

    @classmethod
    def wrong_length(cls, name: str, expected: str, given: int) -> ShuffleError:
        """Return the error for a ``name`` of ``given`` bytes where ``expected`` says what is right."""
        return cls(f"{name}: expected {expected}, not {given} bytes")


class HmacDrbg:
    """HMAC_DRBG with SHA-256 (NIST SP 800-90A Rev. 1, section 10.1.2), never reseeded.

    Instantiates at a security strength of 256 bits; section 8.6.7 then asks for 256 bits of entropy
    input and a nonce of 128. The reseed counter is left out: its limit of 2^48 requests cannot be
    reached by a deck, which takes two or three.

    Raises ``ShuffleError`` if entropy input or nonce are shorter than that.
    """

    __slots__ = ("_key", "_value")

    def __init__(self, entropy_input: bytes, nonce: bytes, personalization: bytes = b"") -> None:
        """Instantiate (section 10.1.2.3)."""
        if len(entropy_input) < ENTROPY_BYTES:
            raise ShuffleError.wrong_length("entropy input", f"at least {ENTROPY_BYTES}", len(entropy_input))
        if len(nonce) < NONCE_BYTES:
            raise ShuffleError.wrong_length("nonce", f"at least {NONCE_BYTES}", len(nonce))
        self._key = bytes(32)
        self._value = b"\x01" * 32
        self._update(entropy_input + nonce + personalization)

    def generate(self, count: int, additional_input: bytes = b"") -> bytes:
        """Return the next ``count`` bytes, 0 to 65 536 a request (section 10.1.2.5).

        Raises ``ShuffleError`` for any other count.
        """
        if not 0 <= count <= _REQUEST_BYTES_MAX:
            raise ShuffleError.wrong_length("request", f"0 to {_REQUEST_BYTES_MAX}", count)
        if additional_input:
            self._update(additional_input)
        key, value, output = self._key, self._value, b""
        while len(output) < count:
            value = hmac.digest(key, value, "sha256")
            output += value
        self._value = value
        self._update(additional_input)
        return output[:count]

    def _update(self, provided: bytes) -> None:
        """Mix ``provided`` into the state (HMAC_DRBG_Update, section 10.1.2.2)."""
        key = hmac.digest(self._key, self._value + b"\x00" + provided, "sha256")
        value = hmac.digest(key, self._value, "sha256")
        if provided:
            key = hmac.digest(key, value + b"\x01" + provided, "sha256")
            value = hmac.digest(key, value, "sha256")
        self._key, self._value = key, value


class Shuffle:
    """The deck of one round, shuffled only as far as cards have been asked for.

    Holds the secrets of the round while it lives: keep it out of anything that is stored or printed.

    ``seed_material`` has 48 bytes, ``ruleset_sha256`` is 64 lower-case hexadecimal digits, and
    ``client_seeds`` maps seat numbers to what those seats sent. Raises ``ShuffleError``, and
    ``UnicodeEncodeError`` for text that has no UTF-8 form (a lone surrogate).
    """

    __slots__ = ("_bytes", "_cards", "_steps_done")

    def __init__(
        self, seed_material: bytes, round_id: str, ruleset_sha256: str, client_seeds: Mapping[int, str]
    ) -> None:
        """Seed the generator; no card is drawn yet."""
        _require_seed(seed_material)
        drbg = HmacDrbg(
            seed_material[:ENTROPY_BYTES],
            seed_material[ENTROPY_BYTES:],
            personalization(round_id, ruleset_sha256, client_seeds),
        )
        self._bytes = _stream(drbg)
        self._cards = list(DECK)
        self._steps_done = 0

    def first(self, count: int) -> tuple[Card, ...]:
        """Return the first ``count`` cards of the deck, 0 to 52, in dealing order.

        Raises ``ShuffleError`` for any other count.
        """
        if not 0 <= count <= len(DECK):
            raise ShuffleError(f"a deck has 0 to {len(DECK)} cards to deal, not {count}")
        cards, stream = self._cards, self._bytes
        for i in range(self._steps_done, min(count, _STEPS)):
            n = len(DECK) - i
            limit = _BYTE_VALUES - _BYTE_VALUES % n
            b = next(stream)
            while b >= limit:
                b = next(stream)
            j = i + b % n
            cards[i], cards[j] = cards[j], cards[i]
        self._steps_done = max(self._steps_done, min(count, _STEPS))
        return tuple(cards[:count])


def deal_order(
    seed_material: bytes,
    round_id: str,
    ruleset_sha256: str,
    client_seeds: Mapping[int, str],
    count: int = len(DECK),
) -> tuple[Card, ...]:
    """Return the first ``count`` cards of a round's deck, in dealing order.

    Arguments and errors are those of ``Shuffle``.
    """
    return Shuffle(seed_material, round_id, ruleset_sha256, client_seeds).first(count)


def commitment(seed_material: bytes, round_id: str, ruleset_sha256: str) -> str:
    """Return the commitment to a round's seed material, 64 lower-case hexadecimal digits.

    Raises ``ShuffleError`` for seed material that is not 48 bytes or a hash that is not SHA-256.
    """
    _require_seed(seed_material)
    parts = (COMMITMENT_TAG.encode(), seed_material, round_id.encode(), _ruleset_hash(ruleset_sha256))
    return hashlib.sha256(b"".join(map(_lp, parts))).hexdigest()


def verify_commitment(published: str, seed_material: bytes, round_id: str, ruleset_sha256: str) -> bool:
    """Return whether ``published`` is the commitment to this seed material, in constant time.

    Raises ``ShuffleError`` as ``commitment`` does.
    """
    expected = commitment(seed_material, round_id, ruleset_sha256)
    # Compared as bytes: compare_digest refuses text outside ASCII, and any text may have been published.
    return hmac.compare_digest(published.encode(errors="backslashreplace"), expected.encode())


def personalization(round_id: str, ruleset_sha256: str, client_seeds: Mapping[int, str]) -> bytes:
    """Return the personalization string of a round's generator.

    Raises ``ShuffleError`` for a hash that is not SHA-256.
    """
    parts = [ALGORITHM.encode(), round_id.encode(), _ruleset_hash(ruleset_sha256)]
    for seat in sorted(client_seeds):
        parts += (str(seat).encode(), client_seeds[seat].encode())
    return b"".join(map(_lp, parts))


def _lp(part: bytes) -> bytes:
    """Return ``part`` behind its length, so that no two lists of parts join to the same bytes."""
    return len(part).to_bytes(4, "big") + part


def _stream(drbg: HmacDrbg) -> Iterator[int]:
    """Yield the generator's bytes without end, one block a request."""
    while True:
        yield from drbg.generate(BLOCK_BYTES)


def _require_seed(seed_material: bytes) -> None:
    """Refuse seed material of another length than 48 bytes."""
    if len(seed_material) != SEED_BYTES:
        raise ShuffleError.wrong_length("seed material", f"{SEED_BYTES}", len(seed_material))


def _ruleset_hash(ruleset_sha256: str) -> bytes:
    """Return the 32 bytes of a rule-set hash given as 64 lower-case hexadecimal digits."""
    try:
        raw = bytes.fromhex(ruleset_sha256)
    except ValueError:
        raw = b""
    # One spelling only: what two parties compare as text must not differ where the bytes agree.
    if len(raw) != RULESET_HASH_BYTES or raw.hex() != ruleset_sha256:
        raise ShuffleError("rule-set hash: expected 64 lower-case hexadecimal digits")
    return raw

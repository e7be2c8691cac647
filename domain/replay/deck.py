"""The deck, derived again from the revealed seed (algorithm ``stud-deck-1``).

A second implementation of what `domain.shuffle` defines in words; it shares no code with it. HMAC_DRBG is
NIST SP 800-90A Rev. 1, section 10.1.2, with SHA-256 and without additional input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256 as _sha256
from operator import itemgetter
from typing import Final

from domain.cards import DECK

ALGORITHM: Final = "stud-deck-1"

_BLOCKS_A_REQUEST: Final = 2
_BYTE_VALUES: Final = 256

_LEFT: Final = tuple(range(len(DECK), 1, -1))
"""The cards to choose from for each place."""
_LIMITS: Final = tuple(_BYTE_VALUES - _BYTE_VALUES % left for left in _LEFT)
"""Bytes that choose the card for each place: any above would prefer the first cards."""

# HMAC's two paddings of the key: a translation of its bytes, and what follows it up to the hash's block size.
_INNER: Final = bytes(byte ^ 0x36 for byte in range(_BYTE_VALUES))
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(_BYTE_VALUES))
_INNER_REST: Final = b"\x36" * 32
_OUTER_REST: Final = b"\x5c" * 32


def _prefixed(*parts: bytes) -> bytes:
    """Each part after its length in four big-endian bytes, so that no two lists of parts read the same."""
    return b"".join([len(part).to_bytes(4, "big") + part for part in parts])


_COMMITMENT: Final = _prefixed(b"stud-ledger/deck-commitment/1")
_DECK: Final = _prefixed(ALGORITHM.encode())


@lru_cache(2)
def _of_round(round_id: str, ruleset_hash: bytes) -> bytes:
    """What commitment and deck of a round both depend on: the one is asked for after the other."""
    return _prefixed(round_id.encode(), ruleset_hash)


def commitment(seed: bytes, round_id: str, ruleset_hash: bytes) -> str:
    """The hash, in hexadecimal, that was published before the first stake for this seed material."""
    return _sha256(_COMMITMENT + _prefixed(seed) + _of_round(round_id, ruleset_hash)).hexdigest()


def _padded(key: bytes) -> tuple[bytes, bytes]:
    """A key of 32 bytes as HMAC-SHA-256 (RFC 2104) uses it: for the inner and for the outer hash."""
    return key.translate(_INNER) + _INNER_REST, key.translate(_OUTER) + _OUTER_REST


_FIRST_VALUE: Final = b"\x01" * 32
_FIRST_INNER, _FIRST_OUTER = _padded(bytes(32))
_FIRST_MESSAGE: Final = _FIRST_INNER + _FIRST_VALUE + b"\x00"


def _blocks(material: bytes) -> Iterator[bytes]:
    """What successive 64-byte requests to an HMAC_DRBG give that begins with seed and personalization.

    In halves, and each only when it is asked for: ten cards seldom need more than 32 bytes. HMAC is written
    out, in half of the time that the standard library's takes: sha(outer + sha(inner + message)).
    """
    sha = _sha256
    inner, outer = _padded(sha(_FIRST_OUTER + sha(_FIRST_MESSAGE + material).digest()).digest())
    value = sha(outer + sha(inner + _FIRST_VALUE).digest()).digest()
    inner, outer = _padded(sha(outer + sha(inner + value + b"\x01" + material).digest()).digest())
    value = sha(outer + sha(inner + value).digest()).digest()
    while True:
        for _ in range(_BLOCKS_A_REQUEST):
            value = sha(outer + sha(inner + value).digest()).digest()
            yield value
        inner, outer = _padded(sha(outer + sha(inner + value + b"\x00").digest()).digest())
        value = sha(outer + sha(inner + value).digest()).digest()


def shuffled(
    seed: bytes,
    round_id: str,
    ruleset_hash: bytes,
    client_seeds: Iterable[tuple[int, str]],
    count: int = len(DECK),
) -> tuple[str, ...]:
    """The first `count` cards in dealing order; `client_seeds` are (seat, seed) in order of seats."""
    personalization = _DECK + _of_round(round_id, ruleset_hash)
    for seat, client_seed in client_seeds:
        personalization += _prefixed(str(seat).encode(), client_seed.encode())
    blocks = _blocks(seed + personalization)
    cards = [*DECK]
    place, places = 0, min(count, len(cards) - 1)
    while place < places:
        for number in next(blocks):
            if number < _LIMITS[place]:
                chosen = place + number % _LEFT[place]
                cards[place], cards[chosen] = cards[chosen], cards[place]
                place += 1
                if place == places:
                    break
    return tuple(cards[:count])


@lru_cache(maxsize=1024)
def picker(indices: tuple[int, ...]) -> Callable[[Sequence[str]], tuple[str, ...]]:
    """Make a function that takes the cards of these places out of a deck."""
    if len(indices) > 1:
        return itemgetter(*indices)
    return lambda cards: (cards[indices[0]],)


@lru_cache(maxsize=1024)
def hand_indices(hand: int, hands: int, *, round_robin: bool) -> tuple[int, ...]:
    """Where the cards of one hand lie in the deck.

    Hands count from 0, and hand number `hands` is the dealer's.

    ``round_robin`` gives one card to each hand, then to the dealer, five times; otherwise five cards to
    each hand.
    """
    if round_robin:
        return tuple(range(hand, 5 * (hands + 1), hands + 1))
    return tuple(range(5 * hand, 5 * hand + 5))

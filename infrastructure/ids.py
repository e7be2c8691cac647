"""Identifiers the ledger gives out, in Crockford's base 32: no letter can be mistaken for a digit.

Characters are in the order of their values and of their bytes, so ids that begin with the time sort by it as
text (collation "C"), and new rows go to the end of an index.
"""

from __future__ import annotations

import secrets
from typing import Final

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS: Final = tuple(high + low for high in ALPHABET for low in ALPHABET)
_PAIR_BITS: Final = 10
_PAIR_MASK: Final = (1 << _PAIR_BITS) - 1

_RANDOM_BITS: Final = 35
_TIME_BITS: Final = 55
_ROUND_ID_CHARACTERS: Final = 18
_PSEUDONYM_CHARACTERS: Final = 12
_TRANSACTION_CHARACTERS: Final = 16


def round_id(now_us: int) -> str:
    """Return a new round's id: 18 characters.

    The first eleven are the time in microseconds, the other seven 35 random bits, so that processes that open
    rounds at one instant do not meet. It stands in every event of its round three times over (in the bytes,
    beside them, in an index), which is why it is no longer than that. It is no secret.
    """
    microseconds = now_us & ((1 << _TIME_BITS) - 1)
    return _text(microseconds << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS), _ROUND_ID_CHARACTERS)


def approval_id(now_us: int) -> str:
    """Return a new proposal's id, of the form of a round's: they sort by time."""
    return round_id(now_us)


def time_of(id_: str) -> int | None:
    """Return the time in a round's id, microseconds since the epoch; None for an id of another form."""
    if len(id_) != _ROUND_ID_CHARACTERS or not set(id_) <= set(ALPHABET):
        return None
    number = 0
    for character in id_[: _TIME_BITS // 5]:
        number = number << 5 | ALPHABET.index(character)
    return number


def pseudonym() -> str:
    """Return a new player's pseudonym: ``p`` and 60 random bits in 12 characters.

    It stands in every event that moves the player's money. Should two players ever draw the same one, the
    database refuses the second, who draws again.
    """
    return "p" + _text(secrets.randbits(5 * _PSEUDONYM_CHARACTERS), _PSEUDONYM_CHARACTERS)


def transaction_id() -> str:
    """Return a new cashier's transaction id: ``t`` and 80 random bits in 16 characters."""
    return "t" + _text(secrets.randbits(5 * _TRANSACTION_CHARACTERS), _TRANSACTION_CHARACTERS)


def _text(number: int, characters: int) -> str:
    """Return a number in base 32 with leading zeros; two characters a step, `characters` is even."""
    pairs = []
    for _ in range(characters // 2):
        pairs.append(_PAIRS[number & _PAIR_MASK])
        number >>= _PAIR_BITS
    return "".join(reversed(pairs))

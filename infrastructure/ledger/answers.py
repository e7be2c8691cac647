"""How the answers to commands are kept: compressed, for they are kept for ever.

The first byte of what is stored names the encoding: 0, the bytes as they are; 1, a raw deflate stream (RFC
1951) with the preset dictionary below. An answer is about 750 bytes, three quarters of it the same words in
every one, so that the dictionary does most of the work: a general compressor alone saves half as much. What
is left are hashes, cards and ids.

The dictionary is part of the stored form and never changes; a better one would be encoding 2.
"""

from __future__ import annotations

import zlib
from typing import Final

_PLAIN: Final = b"\x00"
_DEFLATED_1: Final = b"\x01"
_WORTH_IT_BYTES_MIN: Final = 64

DICTIONARY_1: Final = (
    b'{"currency":"EUR","balance":0,"on_game":0}{"transaction_id":"","balance":'
    b'{"code":"insufficient_funds","detail":"wrong_phase already_decided round_not_found side_bet_stake '
    b"royal_flush straight_flush four_of_a_kind full_house flush straight three_of_a_kind two_pair "
    b"evolution-live casino-poker-1982 adelaide macau nordic cyber czech us-casino uk-casino demo-"
    b'"before_stake""table""push""lose""win""folded""void","decision":"fold","decided_by":"timeout""operator"'
    b'"exchange_fee","stake":"five_plus_one","stake":"bonus":"exchanged":true,"session_id":"'
    b'"totals":{"seats":1,"undecided":0,"folded":0,"settled":0,"refunded":0},"next_round":{"round_id":"01'
    b'"jackpot_hits":[{"seat":1,"jackpot_id":"","category":"","award":0,"meter_before":"","meter_after":"",'
    b'"order":1}]5c6c7c8c9cTcJcQcKcAc2d3d4d5d6d7d8d9dTdJdQdKdAd2h3h4h5h6h7h8h9hThJhQhKhAh2s3s4s5s6s7s8s9sTs'
    b'JsQsKsAs{"round_id":"01","table_id":"demo-us-casino","ruleset":{"id":"us-casino","version":1,"sha256":"'
    b'"},"currency":"USD","gaming_day":"2026-","phase":"dealt","deck_commitment":"'
    b'","committed":"same_command","up_cards":["2c"],"seats":[{"seat":1,"player_id":"player-","ante":500,'
    b'"side_bets":{"jackpot":100},"cards":["3c","4c","5c","6c","7c"],"options":["raise","fold"],'
    b'"category":"high_card"}]}"phase":"closed","options":[],"category":"pair","decision":"raise",'
    b'"decided_by":"player","shown":true,"result":"dealer_not_qualified","bets":[{"bet":"ante","stake":500,'
    b'"returned":500,"won":500,"odds":1},{"bet":"raise","stake":1000,"returned":1000,"won":0},'
    b'{"bet":"jackpot","stake":100,"returned":0,"won":0}],"total_returned":2000,"net":400}],'
    b'"dealer":{"cards":["8c","9c","Tc","Jc","Qc"],"category":"high_card","qualified":false},"deck_seed":"'
)
"""Words and phrases of answers, the commonest last."""

_LEVEL: Final = 6
_MEMORY_LEVEL: Final = 6
_WINDOW_BITS: Final = -12
"""Negative: raw. 4 KiB holds the dictionary and a long answer; a smaller state is faster to start from."""

_PRIMED: Final = zlib.compressobj(
    _LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, DICTIONARY_1
)
"""A compressor that has read the dictionary: copying it is faster than making one."""


class AnswerUnreadableError(ValueError):
    """Stored bytes that are not an answer this software wrote."""


def pack(body: bytes) -> bytes:
    """Return what is stored of an answer."""
    if len(body) >= _WORTH_IT_BYTES_MIN:
        compressor = _PRIMED.copy()
        deflated = _DEFLATED_1 + compressor.compress(body) + compressor.flush()
        if len(deflated) <= len(body):
            return deflated
    return _PLAIN + body


def unpack(stored: bytes) -> bytes:
    """Return the answer of stored bytes. Raises AnswerUnreadableError."""
    encoding, rest = stored[:1], stored[1:]
    if encoding == _PLAIN:
        return rest
    if encoding != _DEFLATED_1:
        raise AnswerUnreadableError(f"unknown encoding {encoding.hex()!r} of an answer")
    decompressor = zlib.decompressobj(_WINDOW_BITS, DICTIONARY_1)
    try:
        body = decompressor.decompress(rest)
    except zlib.error as error:
        raise AnswerUnreadableError(f"a damaged answer: {error}") from error
    if not decompressor.eof or decompressor.unused_data:
        raise AnswerUnreadableError("a damaged answer: it is cut off or too long")
    return body

"""How the answers to commands are kept: compressed, for they are kept for ever.

The first byte of what is stored names the encoding: 0, the bytes as they are; 1, a Zstandard frame (RFC 8878)
with the dictionary ``answers_1.zdict`` beside this file. An answer is about 750 bytes, three quarters of it
the same words in every one, so that the dictionary does most of the work. What is left are hashes, cards and
ids.

The dictionary is part of the stored form and never changes; a better one would be encoding 2. It was trained
with zstandard's ``train_dictionary`` (8 KiB) on the answers of 2 500 simulated rounds over all nine houses,
in all their currencies, and of what came before and between them.
"""

from __future__ import annotations

import threading
from importlib import resources
from typing import Final

from zstandard import ZstdCompressionDict, ZstdCompressor, ZstdDecompressor, ZstdError

_PLAIN: Final = b"\x00"
_ZSTANDARD_1: Final = b"\x01"
_WORTH_IT_BYTES_MIN: Final = 64

DICTIONARY_1: Final = (resources.files("infrastructure.ledger") / "answers_1.zdict").read_bytes()

_LEVEL: Final = 3


class AnswerUnreadableError(ValueError):
    """Stored bytes that are not an answer this software wrote."""


class _Codec(threading.local):
    """A compressor and a decompressor for each thread: neither may be used by two at once."""

    def __init__(self) -> None:
        dictionary = ZstdCompressionDict(DICTIONARY_1)
        self.compressor = ZstdCompressor(_LEVEL, dictionary, write_dict_id=False)
        self.decompressor = ZstdDecompressor(dictionary)


_codec = _Codec()


def pack(body: bytes) -> bytes:
    """Return what is stored of an answer."""
    if len(body) >= _WORTH_IT_BYTES_MIN:
        packed = _ZSTANDARD_1 + _codec.compressor.compress(body)
        if len(packed) <= len(body):
            return packed
    return _PLAIN + body


def unpack(stored: bytes) -> bytes:
    """Return the answer of stored bytes. Raises AnswerUnreadableError."""
    encoding, rest = stored[:1], stored[1:]
    if encoding == _PLAIN:
        return rest
    if encoding != _ZSTANDARD_1:
        raise AnswerUnreadableError(f"unknown encoding {encoding.hex()!r} of an answer")
    try:
        return _codec.decompressor.decompress(rest, allow_extra_data=False)
    except (ZstdError, MemoryError) as error:
        raise AnswerUnreadableError(f"a damaged answer: {error}") from error

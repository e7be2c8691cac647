"""How a range of positions is cut into partitions, each for one process at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

PARTITION_POSITIONS: Final = 32_768
"""A few thousand rounds: seconds of work, tens of megabytes, and whole tiles of the evidence log."""


class Span(NamedTuple):
    """The positions behind `after` up to and with `up_to`."""

    after: int
    up_to: int


def spans(after: int, up_to: int, size: int = PARTITION_POSITIONS) -> Iterator[Span]:
    """Yield spans that follow each other, cut at the multiples of `size`."""
    while after < up_to:
        end = min((after // size + 1) * size, up_to)
        yield Span(after, end)
        after = end

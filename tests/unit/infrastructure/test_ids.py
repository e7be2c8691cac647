"""Identifiers: their form, their order, and that nobody guesses them."""

from __future__ import annotations

import re
import time

from infrastructure import ids
from infrastructure.clock import system_clock

CROCKFORD = "[0-9A-HJKMNP-TV-Z]"


def test_round_ids_have_eighteen_characters() -> None:
    """Eighteen Crockford characters, so that ids of a thousand years have one length."""
    assert re.fullmatch(f"{CROCKFORD}{{18}}", ids.round_id(system_clock()))


def test_round_ids_sort_by_time() -> None:
    """As text, compared by byte, ids are in the order of their times, a microsecond apart or a century."""
    times_us = [0, 1, 1_796_000_000_000_000, 1_796_000_000_000_001, 4_000_000_000_000_000]
    made = [ids.round_id(time_us) for time_us in times_us]
    assert sorted(made) == made


def test_the_time_in_a_round_id_can_be_read() -> None:
    """The first eleven characters are the microseconds."""
    value = 0
    for character in ids.round_id(1_796_000_000_123_456)[:11]:
        value = value * 32 + ids.ALPHABET.index(character)
    assert value == 1_796_000_000_123_456


def test_pseudonyms_and_transactions_say_what_they_are() -> None:
    """A letter and twelve or sixteen random characters."""
    assert re.fullmatch(f"p{CROCKFORD}{{12}}", ids.pseudonym())
    assert re.fullmatch(f"t{CROCKFORD}{{16}}", ids.transaction_id())


def test_ids_differ() -> None:
    """A thousand ids of one instant, pseudonyms and transactions are all different."""
    made = [
        make() for make in (ids.pseudonym, ids.transaction_id, lambda: ids.round_id(0)) for _ in range(1000)
    ]
    assert len(set(made)) == 3000


def test_the_clock_counts_microseconds_since_the_epoch() -> None:
    """The system's clock in whole microseconds, UTC."""
    before = time.time()
    now_us = system_clock()
    assert isinstance(now_us, int)
    assert before * 1e6 - 1 <= now_us <= time.time() * 1e6 + 1

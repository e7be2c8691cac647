"""Is the deck fair? Chi-square tests on fixed seeds that anyone can repeat, and faults they must find.

Seed i of a sample is SHA-384 of the sample's label and the decimal number i, so a result here
is a fact about the algorithm and never changes from run to run.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from scipy import stats

from domain.cards import DECK
from domain.shuffle import BLOCK_BYTES, ENTROPY_BYTES, HmacDrbg, deal_order, personalization

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROUND_ID = "round-of-the-chi-square-test"
RULESET_SHA256 = hashlib.sha256(b"rule set of the chi-square test").hexdigest()
SHUFFLES = 50_000


def _seeds(label: str, count: int) -> Iterator[bytes]:
    """Yield the published seeds of a sample."""
    for i in range(count):
        yield hashlib.sha384(f"{label}{i}".encode()).digest()


@pytest.fixture(scope="module")
def decks() -> list[tuple[str, ...]]:
    """Return 50 000 whole decks of the sample "stud-deck-1 chi-square "."""
    seeds = _seeds("stud-deck-1 chi-square ", SHUFFLES)
    return [deal_order(seed, ROUND_ID, RULESET_SHA256, {}) for seed in seeds]


def _position_p_value(decks: Sequence[Sequence[Any]]) -> float:
    """Return how likely a fair deck's table of 52 cards by 52 positions strays as far as this one.

    Each row and each column of the table adds up to the number of shuffles, which leaves 51 x 51
    degrees of freedom. Every cell has the variance N/52 * 51/52, so the covariance, which has no
    preferred direction, is N/51 in each of those dimensions: dividing the squares by N/51, not by
    the expected count N/52, gives exactly the chi-square distribution in the limit.
    """
    shuffles = len(decks)
    expected = shuffles / 52
    cards = sorted(decks[0])
    columns = [Counter(column) for column in zip(*decks, strict=True)]
    squares = sum((column[card] - expected) ** 2 for column in columns for card in cards)
    return float(stats.chi2.sf(squares / (shuffles / 51), 51 * 51))


def test_every_card_is_equally_likely_everywhere(decks: list[tuple[str, ...]]) -> None:
    """The table of cards by positions strays from uniform as far as chance does: not further, not less."""
    assert 1e-3 < _position_p_value(decks) < 1 - 1e-3


def test_the_first_two_cards_are_independent(decks: list[tuple[str, ...]]) -> None:
    """All 52 * 51 ordered pairs of first cards are equally likely."""
    pairs = Counter(deck[:2] for deck in decks)
    expected = SHUFFLES / (52 * 51)
    counts = [pairs[a, b] for a in DECK for b in DECK if a != b]
    statistic = sum((count - expected) ** 2 for count in counts) / expected
    assert 1e-3 < float(stats.chi2.sf(statistic, 52 * 51 - 1)) < 1 - 1e-3


# Ways to choose the index that step i exchanges with, from a stream of bytes.


def _sound(i: int, stream: Iterator[int]) -> int:
    """Choose as defined: one of the indices from i on, all equally likely."""
    n = 52 - i
    return i + next(b for b in stream if b < 256 - 256 % n) % n


def _modulo_on_one_byte(i: int, stream: Iterator[int]) -> int:
    """Skip no byte: small remainders come up more often."""
    return i + next(stream) % (52 - i)


def _swap_with_any(_: int, stream: Iterator[int]) -> int:
    """Choose among all indices at every step: 52^51 ways do not divide evenly over 52! decks."""
    return next(b for b in stream if b < 256 - 256 % 52) % 52


def _off_by_one(i: int, stream: Iterator[int]) -> int:
    """Never leave a card where it is: only cyclic permutations come out (Sattolo's algorithm)."""
    n = 51 - i
    return i + 1 + next(b for b in stream if b < 256 - 256 % n) % n


def _shuffled(seed: bytes, choose: Callable[[int, Iterator[int]], int]) -> list[str]:
    """Return a deck shuffled as defined but for the choice of indices."""
    drbg = HmacDrbg(seed[:ENTROPY_BYTES], seed[ENTROPY_BYTES:], personalization(ROUND_ID, RULESET_SHA256, {}))
    stream = (b for _ in range(16) for b in drbg.generate(BLOCK_BYTES))
    deck = list(DECK)
    for i in range(51):
        j = choose(i, stream)
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def test_the_faulty_shuffles_differ_in_the_choice_alone(decks: list[tuple[str, ...]]) -> None:
    """With the sound choice the test's own shuffle gives the very decks of the ledger."""
    seeds = _seeds("stud-deck-1 chi-square ", 500)
    assert [tuple(_shuffled(seed, _sound)) for seed in seeds] == decks[:500]


@pytest.mark.parametrize("fault", [_modulo_on_one_byte, _swap_with_any, _off_by_one])
def test_a_classic_fault_is_found(fault: Callable[[int, Iterator[int]], int]) -> None:
    """On 20 000 shuffles the position table condemns each of the three classic faults."""
    seeds = _seeds(f"stud-deck-1 fault {fault.__name__} ", 20_000)
    assert _position_p_value([_shuffled(seed, fault) for seed in seeds]) < 1e-9

"""Cards of many rounds at once, from a seed: the same whatever the number of processes that play them.

Cards are numbers, 0 to 51, in the order of `domain.cards.DECK`. Rounds are dealt in portions; each has a
stream of its own that the seed, the rule set and the portion's number make, so that no two houses see the
same cards. Another version of NumPy may draw others from the same stream.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from domain.cards import DECK
from domain.dealing import HAND, positions
from domain.rules import Rules

Cards = NDArray[np.uint8]

PORTION_ROUNDS: Final = 50_000
_BURNED: Final = 1
_USED: Final = 2 * HAND + _BURNED + 1
"""The player's and the dealer's five, and what an exchange burns and draws."""


class Deals(NamedTuple):
    """The cards of as many rounds as there are rows: hands in ascending order, up-cards as they lie.

    ``hands`` and ``dealer`` [rounds, 5], ``ups`` [rounds, up-cards], ``drawn`` [rounds]: the card that an
    exchange would bring, the one behind the burned one.
    """

    hands: Cards
    ups: Cards
    dealer: Cards
    drawn: Cards


def portions(rounds: int) -> list[tuple[int, int]]:
    """Divide rounds into portions: the number of each, from 0, and its rounds."""
    whole, rest = divmod(rounds, PORTION_ROUNDS)
    return [(number, PORTION_ROUNDS) for number in range(whole)] + ([(whole, rest)] if rest else [])


def deal(rules: Rules, seed: int, portion: int, rounds: int) -> Deals:
    """Deal a portion of rounds to one seat and the dealer in the house's order."""
    house = int.from_bytes(hashlib.sha256(rules.ref.id.encode()).digest()[:8])
    sequence = np.random.SeedSequence([seed, house], spawn_key=(portion,))
    decks = _shuffled(np.random.Generator(np.random.PCG64(sequence)), rounds)
    hand, dealer = positions(rules, 1)
    dealt = decks[:, dealer]
    return Deals(
        np.sort(decks[:, hand], axis=1), dealt[:, rules.up_indices], np.sort(dealt, axis=1), decks[:, -1]
    )


def _shuffled(generator: np.random.Generator, rounds: int) -> Cards:
    """The first cards of shuffled decks (Fisher and Yates, as far as cards are used), one deck a row."""
    decks = np.tile(np.arange(len(DECK), dtype=np.uint8), (rounds, 1))
    rows: NDArray[Any] = np.arange(rounds)
    for place in range(_USED):
        other = generator.integers(place, len(DECK), rounds)
        taken = decks[rows, other]
        decks[rows, other] = decks[:, place]
        decks[:, place] = taken
    return decks[:, :_USED]

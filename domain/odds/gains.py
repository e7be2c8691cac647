"""What a raise is worth more than a fold, as a sum that cannot overflow.

Over all hands the dealer can have, N in number, a raise gains

    nq (2 ante + raise) + win (2 ante + raise + what it wins) + tie (ante + raise) - N raise

over a fold, where nq do not qualify, and the player beats win and ties with tie of those that do. An ante
and a raise have at most 13 digits, what a raise wins up to 18 where nothing caps it, so that the sum may need
more than 64 bits. Where it may, each factor is split in two parts, and the sums of the parts are put together
again.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from domain.odds.payoffs import Payoffs

SPLIT_BITS: Final = 31
_SAFE: Final = 2**62


class Gains(NamedTuple):
    """The four factors by category [10, 4]: of nq, win and tie, and what is always added.

    A factor is ``high`` 2^``bits`` + ``low``. Where ``bits`` is 0, all of it is in ``high``: the sum fits.
    """

    high: NDArray[np.int64]
    low: NDArray[np.int64]
    bits: int


def gains_of(payoffs: Payoffs, hands: int) -> Gains:
    """Return the factors for a dealer with that many hands."""
    ante, raised = payoffs.ante, payoffs.raised
    rows = [
        (2 * ante + raised, 2 * ante + raised + wins, ante + raised, -hands * raised)
        for wins in payoffs.raise_wins
    ]
    bits = 0 if max(map(max, rows)) * hands < _SAFE else SPLIT_BITS
    return Gains(
        high=np.array([[factor >> bits for factor in row] for row in rows], np.int64),
        low=np.array([[factor & ((1 << bits) - 1) for factor in row] for row in rows], np.int64),
        bits=bits,
    )

"""What exchanges are worth, where that is on the shelf: for who judges hands and waits for nothing.

Nothing is counted here. What the shelf lacks is judged without it, to the same result, until the service has
computed the odds of the house.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from domain.hands import Qualifier
from domain.odds.payoffs import Payoffs

if TYPE_CHECKING:
    from domain.odds.exchange_values import ExchangeValues

HELD_MAX: Final = 4
"""Stakes whose values are held: 70 MB each, of files, so that memory that is needed is given back."""
LOOK_SECONDS: Final = 60.0
STAKES_MAX: Final = 500

_Key: TypeAlias = tuple[Qualifier, tuple[int, int, tuple[int, ...], int | None]]


class KeptExchanges:
    """The values on the shelf in ``folder``, by the hand that dealers qualify with and by payoffs.

    What is not there, and what was let go for others, is looked for at most once in `LOOK_SECONDS` by the
    ``clock``. Not thread safe.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._clock = clock
        self._held: dict[_Key, ExchangeValues] = {}
        self._looked: dict[_Key, float] = {}

    def __call__(self, qualify: Qualifier, payoffs: Payoffs) -> ExchangeValues | None:
        """Return what exchanges are worth for these payoffs, in whatever unit; None where it is not there."""
        key = qualify, payoffs.proportions
        found = self._held.pop(key, None)
        if found is None and self._is_due(key):
            found = self._load(qualify, payoffs)
        if found is not None:
            self._held[key] = found  # the last one is the one used last
            if len(self._held) > HELD_MAX:
                del self._held[next(iter(self._held))]
        return found

    def _is_due(self, key: _Key) -> bool:
        """Whether to look on the shelf now."""
        now = self._clock()
        if now - self._looked.get(key, -LOOK_SECONDS) < LOOK_SECONDS:
            return False
        if len(self._looked) >= STAKES_MAX:
            self._looked.clear()
        self._looked[key] = now
        return True

    def _load(self, qualify: Qualifier, payoffs: Payoffs) -> ExchangeValues | None:
        # Only now: it loads a compiler, which who judges no exchange is spared.
        from infrastructure.odds.computing import kept_exchange_values  # noqa: PLC0415
        from infrastructure.odds.shelf import Shelf  # noqa: PLC0415

        return kept_exchange_values(qualify, replace(payoffs, unit=1), Shelf(self._folder))

"""Stores for the simulation: they fail where the seed says so, and tell the world of every commit.

A commit is sent and awaited in one step: whoever else looks at the ledger between a writer's `send` and its
`finish` finds it done or not, and which of the two is the seed's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from infrastructure.ledger.store import StoreLost, StoreRefused

if TYPE_CHECKING:
    from infrastructure.ledger.store import (
        Changes,
        CommandRecord,
        FirstAnswer,
        FirstReading,
        Store,
        WalletRow,
    )

_T = TypeVar("_T")


class Crash(BaseException):
    """The process is gone; what it had in memory with it."""


class FaultyStore:
    """A `Store` that asks `fault` before every step what is to go wrong.

    ``lost`` and ``crash`` strike before the step, ``lost after`` and ``crash after`` behind it, when its
    answer is on the way; ``refused`` is the database's refusal of a commit. `committed` is told what was
    written.
    """

    def __init__(
        self, inner: Store, fault: Callable[[str], str], committed: Callable[[Changes], None]
    ) -> None:
        self._inner = inner
        self._fault = fault
        self._committed = committed
        self._end: BaseException | None = None
        self.refused = False

    def begin(self, reading: FirstReading) -> FirstAnswer:
        """Begin."""
        return self._step("begin", lambda: self._inner.begin(reading))

    def read_wallets(self, players: Sequence[str], player_ids: Sequence[str]) -> list[WalletRow]:
        """Read wallets."""
        return self._step("read", lambda: self._inner.read_wallets(players, player_ids))

    def send(self, changes: Changes) -> None:
        """Commit, or not; `finish` says so. A crash says nothing any more."""
        fault = self._fault("commit")
        self._end = None
        if fault in ("lost", "crash"):
            self._inner.close()
            self._end = StoreLost("lost before the commit")
        elif fault == "refused":
            self._inner.rollback()
            self.refused = True
            self._end = StoreRefused("refused by the seed")
        else:
            self._commit(changes)
        if fault in ("crash", "crash after"):
            raise Crash
        if fault == "lost after":
            self._inner.close()
            self._end = StoreLost("lost after the commit")

    def _commit(self, changes: Changes) -> None:
        try:
            self._inner.commit(changes)
        except StoreLost as lost:
            self._end = lost
            if getattr(self._inner, "committed", False):
                self._committed(changes)
        else:
            self._committed(changes)

    def finish(self) -> None:
        """Tell how the commit ended."""
        end, self._end = self._end, None
        if end is not None:
            raise end

    def commit(self, changes: Changes) -> None:
        """Send and finish."""
        self.send(changes)
        self.finish()

    def rollback(self) -> None:
        """End the transaction."""
        self._inner.rollback()

    def find_commands(self, ids: Sequence[bytes]) -> dict[bytes, CommandRecord]:
        """Look up."""
        return self._step("find", lambda: self._inner.find_commands(ids))

    def statements(self) -> int:
        """Count."""
        return self._inner.statements()

    def close(self) -> None:
        """End."""
        self._inner.close()

    def _step(self, name: str, do: Callable[[], _T]) -> _T:
        fault = self._fault(name)
        result: Any = None if fault in ("lost", "crash") else do()
        if fault == "":
            return result  # type: ignore[no-any-return]
        self._inner.close()
        raise Crash if fault.startswith("crash") else StoreLost(f"{fault} {name}")

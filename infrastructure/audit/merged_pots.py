"""The jackpots of a whole audit: each partition's part compared with what the jackpot was before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from infrastructure.audit import pots
from infrastructure.audit.results import BetElsewhere, Claim, PartResult, PotPart, StoredRow
from infrastructure.audit.rounds import Belongs, Round
from infrastructure.checking.exact import MINOR, text

_UNKNOWN: Belongs = ("", "")


class _Pot:
    """A jackpot as it stands. A pool is None where what it held before the audit is not known."""

    __slots__ = ("belongs", "hits", "moved_at", "pools")

    def __init__(self) -> None:
        self.belongs = _UNKNOWN
        self.pools: list[int | None] = [None, None, None]
        self.moved_at = 0
        self.hits: int | None = None


class Pots:
    """All jackpots. Exceptions go to `total`; `whole` is whether the audit begins with the first event."""

    def __init__(self, total: PartResult, *, whole: bool) -> None:
        self._total = total
        self._whole = whole
        self._pots: dict[str, _Pot] = {}

    def begin(self, jackpot: str, pools: Sequence[int]) -> None:
        """Take what a jackpot held before the audit: meter, overflow and diversion, exact."""
        self._pots[jackpot] = pot = _Pot()
        pot.pools = list(pools)

    def held(self) -> Iterator[tuple[str, Belongs, tuple[int, int, int]]]:
        """Yield each jackpot of which it is known, whose it is, and what its pools hold."""
        for name, pot in self._pots.items():
            meter, overflow, diversion = pot.pools
            if meter is not None and overflow is not None and diversion is not None:
                yield name, pot.belongs, (meter, overflow, diversion)

    def take(
        self,
        jackpot: str,
        part: PotPart,
        bets: Iterable[BetElsewhere],
        open_rounds: Mapping[str, Sequence[StoredRow]],
    ) -> Belongs:
        """Take the part that comes next, and return whose the jackpot is.

        `bets` are those of rounds whose first event is among `open_rounds`.
        """
        pot = self._pot(jackpot, part)
        claims = list(part.claims.values())
        for bet in bets:
            if bet.jackpot == jackpot:
                claims += _room(bet, open_rounds)
        for claim in claims:
            self._judge(jackpot, pot, claim)
        for pool, held in enumerate(pot.pools):
            before = part.known[pool] if held is None else held
            if before is None:
                continue
            least = before + part.lowest[pool]
            if least < 0:
                self._total.differs(part.first, f"jackpot.{pots.POOLS[pool]}", "0 or more", text(least))
            pot.pools[pool] = before + part.moved[pool]
        pot.moved_at = part.moved_at or pot.moved_at
        pot.hits = part.hits or pot.hits
        return pot.belongs

    def _pot(self, jackpot: str, part: PotPart) -> _Pot:
        """The jackpot that a part is about, which has to begin there or to have begun before."""
        pot = self._pots.get(jackpot)
        if pot is not None and part.opened is not None:
            self._total.differs(part.first, "jackpot", "opened once", jackpot)
        if pot is None:
            pot = self._pots[jackpot] = _Pot()
            if part.opened is not None:
                pot.pools, pot.hits = [0, 0, 0], 0
            elif self._whole:
                self._total.differs(part.first, "jackpot", "one that was opened before", jackpot)
        if part.opened is not None:
            pot.belongs = part.opened
        return pot

    def _judge(self, jackpot: str, pot: _Pot, claim: Claim) -> None:
        """Compare what a part says of a jackpot before it with what the jackpot was."""
        known = _known(pot, claim)
        if known is None:
            return
        shown = str(claim.value) if claim.what in _NAMES else text(claim.value)
        what = _NAMES.get(claim.what, claim.what)
        self._total.differs(claim.position, f"jackpot.{what}", f"{jackpot}: {known}", shown)
        if claim.what in pots.POOLS:
            pot.pools[pots.POOLS.index(claim.what)] = claim.value  # go on with what the events say


_NAMES = {"moved_at": "previous_position", "hits": "order"}
"""What is no amount, and the field of an event that says it."""


def _known(pot: _Pot, claim: Claim) -> str | None:
    """What is known of a jackpot, where a claim contradicts it."""
    what, value = claim.what, claim.value
    if what == "moved_at":
        return str(pot.moved_at) if pot.moved_at and value != pot.moved_at else None
    if what == "hits":
        return str(pot.hits) if pot.hits is not None and value != pot.hits else None
    if what == "no_overflow":
        return "0"
    held = pot.pools[pots.POOLS.index(what) if what in pots.POOLS else pots.METER]
    if held is None:
        return None
    if what == pots.AT_MOST:
        wrong = held > value
    elif what == pots.AT_LEAST:
        wrong = held < value
    else:
        wrong = held != value
    return text(held) if wrong else None


def _room(bet: BetElsewhere, open_rounds: Mapping[str, Sequence[StoredRow]]) -> tuple[Claim, ...]:
    """What a side bet says of the meter, whose round began in a part before."""
    rows = open_rounds.get(bet.stream)
    opened = None if rows is None else Round.of(rows[:1]).opened
    if opened is None:
        return ()
    pinned = opened.data.jackpot
    ceiling = None if pinned is None or pinned.ceiling is None else pinned.ceiling * MINOR
    return pots.room(bet.meter, ceiling, bet.contribution, bet.overflow, bet.position)

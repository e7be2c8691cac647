"""The audit of consecutive events, as a pure function: nothing is needed but the events and the rule sets.

Every event is hashed as a leaf of the evidence log, compared with the place it is kept at, and followed after
the one before it: positions, time, each stream's versions, each wallet, each jackpot. Every round that begins
and ends here is derived again as soon as it has ended. What only the events before can tell is in the result,
for `infrastructure.audit.merging`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from domain.replay import Record, read_closely, read_fast
from domain.replay.kinds import (
    ContributionReversed,
    JackpotHit,
    RoundClosed,
    RoundVoided,
    SideBetPlaced,
    StakeRefunded,
)
from infrastructure.audit import beside, pots, rounds
from infrastructure.audit.results import Context, Leaves, PartResult, StoredRow, WalletPart
from infrastructure.audit.rounds import Round
from infrastructure.evidence.merkle import TILE_HEIGHT, TILE_WIDTH, Frontier, complete_root, leaf_hashes

_ROUND: Final = "round-"


def audit_partition(rows: Iterable[StoredRow], context: Context) -> PartResult:
    """Audit events that follow one another, in the order they are kept in. Raises nothing for any content."""
    kept = list(rows)
    part = _Partition(context)
    if kept:
        part.result.leaves = _leaves(kept[0][0] - 1, [row[3] for row in kept], context.roots_at)
        with _uncollected():
            part.take(kept)
    return part.result


@contextmanager
def _uncollected() -> Iterator[None]:
    """Spare the search for cycles among very many objects, none of which is in one: a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _leaves(begin: int, stored: list[bytes], roots_at: Iterable[int]) -> Leaves:
    """Hash the events as leaves, from index `begin` on."""
    hashes = leaf_hashes(stored)
    first_tile = -(-begin // TILE_WIDTH)
    leaves = Leaves(Frontier(begin), first_tile=first_tile)
    head = min(first_tile * TILE_WIDTH - begin, len(hashes))
    tail = head + (len(hashes) - head) // TILE_WIDTH * TILE_WIDTH
    leaves.range.extend(hashes[:head])
    for at in range(head, tail, TILE_WIDTH):
        tile = complete_root(b"".join(hashes[at : at + TILE_WIDTH]))
        leaves.tiles.append(tile)
        leaves.range.push(TILE_HEIGHT, tile)
    leaves.range.extend(hashes[tail:])
    for size in roots_at:
        if begin < size < begin + len(hashes):
            cut = Frontier(begin)
            cut.extend(hashes[: size - begin])
            leaves.cuts.append(cut)
    return leaves


class _Partition:
    """The audit of a partition under way: its result, and the rounds that have not ended."""

    def __init__(self, context: Context) -> None:
        self.rulesets = context.rulesets
        self.result = PartResult()
        self.rounds: dict[str, Round] = {}

    def take(self, rows: Sequence[StoredRow]) -> None:
        """Take all events."""
        result = self.result
        result.first, result.last, result.events = rows[0][0], rows[-1][0], len(rows)
        due, recorded_at = result.first, ""
        for row in rows:
            position = row[0]
            if position != due:
                result.differs(due, "position", due, position)
            due = position + 1
            record = read_fast(row[3])  # None where it is no event of a round
            if record is None or not record.stream.startswith(_ROUND):
                time = self._take_other(row)
            else:
                time = record.recorded_at
                self._take(row, record)
            if time > recorded_at:
                recorded_at = time
            elif time:
                result.differs(position, "recorded_at", f"after {recorded_at}", time)
            result.began = result.began or time
        result.ended = recorded_at
        for stream, left in self.rounds.items():
            self._leave(stream, left)

    def _take_other(self, row: StoredRow) -> str:
        """Take an event of another stream, or one that takes a closer look; return when it was recorded.

        Empty where it does not say.
        """
        position, stream, _, stored = row
        try:
            if not stream.startswith(_ROUND):
                return beside.take(self.result, row)
            record = read_closely(stored)
            if isinstance(record, str):
                self.result.differs(position, "readable", "a well-formed event", record)
                (self.rounds.get(stream) or self._begin(stream)).take(row, None)
                return ""
            if not beside.is_canonical(stored):
                self.result.differs(position, "canonical", "the canonical form", "another")
            self._take(row, record)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            # What an edited event holds can be anything; the audit survives it and says where.
            self.result.differs(position, "readable", "an event of its kind", type(error).__name__)
            return ""
        return record.recorded_at

    def _begin(self, stream: str) -> Round:
        round_ = self.rounds[stream] = Round()
        return round_

    def _take(self, row: StoredRow, record: Record[Any]) -> None:
        """Take an event of a round."""
        position, stream, version, _ = row
        if record.position != position or record.version != version or record.stream != stream:
            beside.same_place(self.result, row, record.position, record.stream, record.version)
        round_ = self.rounds.get(stream) or self._begin(stream)
        moved = round_.take(row, record)
        if moved is not None:
            self._move(record, moved, round_)
        further = _FURTHER.get(type(record.data))
        if further is not None:
            further(self, record, stream, round_)

    def _move(self, record: Record[Any], amount: int, round_: Round) -> None:
        """Add minor units to a player's wallet; see `beside.move`, which this spares a call."""
        data, position = record.data, record.position
        player, after, wallets = data.player, data.balance_after, self.result.wallets
        wallet = wallets.get(player)
        if wallet is None:
            wallet = wallets[player] = WalletPart(after - amount, after, position, position)
        else:
            if wallet.closing + amount != after:
                self.result.differs(position, "balance_after", wallet.closing + amount, after)
            wallet.closing, wallet.last = after, position
        if wallet.played != round_.belongs and round_.belongs is not None:
            if wallet.played is not None:
                was, said = " ".join(wallet.played), " ".join(round_.belongs)
                self.result.differs(position, "wallet.currency", was, said)
            wallet.played = round_.belongs

    def _move_jackpot(self, record: Record[Any], stream: str, round_: Round) -> None:
        """See what an event of a round does to a jackpot."""
        if record.data.jackpot_id is not None:
            pots.take(self.result, record, stream, round_.opened)

    def _end(self, _: Record[Any], stream: str, round_: Round) -> None:
        """Derive a round again that has ended, if its rules are known here."""
        if not round_.ended or round_.opened is None:
            return
        del self.rounds[stream]
        ruleset = self.rulesets.get(round_.opened.data.ruleset.sha256)
        if ruleset is None:
            self._leave(stream, round_)
        else:
            rounds.finish(self.result, round_, ruleset)

    def _leave(self, stream: str, round_: Round) -> None:
        """Leave a round to the merging."""
        self.result.fragments.setdefault(stream, []).extend(round_.rows)


_FURTHER: Final[dict[type, Callable[[_Partition, Record[Any], str, Round], None]]] = {
    SideBetPlaced: _Partition._move_jackpot,  # noqa: SLF001 - its own
    JackpotHit: _Partition._move_jackpot,  # noqa: SLF001
    ContributionReversed: _Partition._move_jackpot,  # noqa: SLF001
    RoundClosed: _Partition._end,  # noqa: SLF001
    RoundVoided: _Partition._end,  # noqa: SLF001
    StakeRefunded: _Partition._end,  # noqa: SLF001
}
"""What there is to do beside the round and the wallet."""

"""The audit of consecutive events, as a pure function: nothing is needed but the events and the rule sets.

Every event is hashed as a leaf of the evidence log, compared with the place it is kept at, and followed after
the one before it: positions, time, each stream's versions, each wallet, each jackpot. Every round that begins
and ends here is derived again as soon as it has ended. What only the events before can tell is in the result,
for `infrastructure.audit.merging`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from domain.replay import Record, read_closely, read_fast
from domain.replay.kinds import (
    AntePlaced,
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
_ENDING: Final = frozenset({RoundClosed, RoundVoided, StakeRefunded})
_OF_JACKPOTS: Final = frozenset({SideBetPlaced, JackpotHit, ContributionReversed})


def audit_partition(rows: Iterable[StoredRow], context: Context) -> PartResult:
    """Audit events that follow one another, in the order they are kept in. Raises nothing for any content."""
    kept = list(rows)
    part = _Partition(context)
    if kept:
        part.result.leaves = _leaves(kept[0][0] - 1, [row[3] for row in kept], context.roots_at)
        part.take(kept)
    return part.result


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

    def take(self, rows: list[StoredRow]) -> None:
        """Take all events."""
        result = self.result
        result.first, result.last, result.events = rows[0][0], rows[-1][0], len(rows)
        due, recorded_at = result.first, ""
        for row in rows:
            position, stream = row[0], row[1]
            if position != due:
                result.differs(due, "position", due, position)
            due = position + 1
            try:
                time = self._take_of_round(row) if stream.startswith(_ROUND) else beside.take(result, row)
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
                # What an edited event holds can be anything; the audit survives it and says where.
                result.differs(position, "readable", "an event of its kind", type(error).__name__)
                continue
            if time <= recorded_at:
                result.differs(position, "recorded_at", f"after {recorded_at}", time)
            elif not recorded_at:
                result.began = time
            recorded_at = time
        result.ended = recorded_at
        for stream, left in self.rounds.items():
            self._leave(stream, left)

    def _take_of_round(self, row: StoredRow) -> str:
        """Take an event of a round; return when it was recorded, as it says."""
        position, stream, version, stored = row
        round_ = self.rounds.get(stream)
        if round_ is None:
            round_ = self.rounds[stream] = Round()
        record = read_fast(stored)
        if record is None:
            record = self._read_closely(row)
        moved = round_.take(row, record)
        if record is None:
            raise ValueError
        if record.position != position or record.version != version or record.stream != stream:
            beside.same_place(self.result, row, record.position, record.stream, record.version)
        kind = type(record.data)
        if moved is not None:
            self._move(record, moved, round_)
        if kind in _OF_JACKPOTS:
            pots.take(self.result, record, stream, round_.opened)
        if kind in _ENDING and round_.ended:
            self._finish(stream, round_)
        return record.recorded_at

    def _read_closely(self, row: StoredRow) -> Record[Any] | None:
        """Read an event that is not as this software writes it; None where it is not well-formed."""
        record = read_closely(row[3])
        if isinstance(record, str):
            self.result.differs(row[0], "readable", "a well-formed event", record)
            return None
        if not beside.is_canonical(row[3]):
            self.result.differs(row[0], "canonical", "the canonical form", "another")
        return record

    def _move(self, record: Record[Any], amount: int, round_: Round) -> None:
        """Add minor units to a player's wallet; see `beside.move`."""
        data = record.data
        player, after, wallets = data.player, data.balance_after, self.result.wallets
        wallet = wallets.get(player)
        if wallet is None:
            wallet = wallets[player] = WalletPart(after - amount, after, record.position, record.position)
        else:
            if wallet.closing + amount != after:
                expected = wallet.closing + amount
                self.result.differs(record.position, "balance_after", expected, after)
            wallet.closing, wallet.last = after, record.position
        if type(data) is AntePlaced and round_.belongs is not None and wallet.played != round_.belongs:
            if wallet.played is not None:
                said = " ".join(round_.belongs)
                self.result.differs(record.position, "wallet.currency", " ".join(wallet.played), said)
            wallet.played = round_.belongs

    def _finish(self, stream: str, round_: Round) -> None:
        """Derive a round again that has ended, if its rules are known here."""
        del self.rounds[stream]
        assert round_.opened is not None  # noqa: S101 - it has ended
        ruleset = self.rulesets.get(round_.opened.data.ruleset.sha256)
        if ruleset is None:
            self._leave(stream, round_)
        else:
            rounds.finish(self.result, round_, ruleset)

    def _leave(self, stream: str, round_: Round) -> None:
        """Leave a round to the merging."""
        self.result.fragments.setdefault(stream, []).extend(round_.rows)

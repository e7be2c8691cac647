"""The audit of consecutive events, as a pure function: nothing is needed but the events and the rule sets.

Every event is hashed as a leaf of the evidence log, compared with the place it is kept at, and followed after
the one before it: positions, time, each stream's versions, each wallet, each jackpot. Every round that begins
and ends here is derived again: told as a whole where it is an ordinary one in which nothing is wrong, else
event by event. What all events do to wallets and jackpots is followed afterwards, in the order of positions.
What only the events before can tell is in the result, for `infrastructure.audit.merging`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from operator import itemgetter, lt
from typing import Any, Final, TypeAlias

from domain.replay import Record, read_closely, read_fast, retell
from domain.replay.kinds import (
    ContributionReversed,
    JackpotHit,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    SideBetPlaced,
    StakeRefunded,
)
from infrastructure.audit import beside, pots, rounds
from infrastructure.audit.results import Context, Leaves, PartResult, StoredRow, WalletPart
from infrastructure.audit.rounds import Round
from infrastructure.evidence.merkle import TILE_HEIGHT, TILE_WIDTH, Frontier, complete_root, leaf_hashes

_ROUND: Final = "round-"
_CLOSED: Final = b'"type":"RoundClosed"'
_ENDING: Final = 64
"""In the last bytes of an event is its type."""

_AT_ONCE: Final = 2_048
"""So many events are in the processor's own memory, where the next step finds them."""

_position: Final = itemgetter(0)
_stream: Final = itemgetter(1)

_Deed: TypeAlias = tuple[Any, ...]
"""What an event does to wallets and jackpots.

It begins with the position. A movement of a wallet goes on with None, player, amount and balance after (minor
units), and the player's account class and currency; all else with the function that does it, and what that
takes.
"""


def audit_partition(
    rows: Iterable[StoredRow], context: Context, hashes: list[bytes] | None = None
) -> PartResult:
    """Audit events that follow one another, in the order they are kept in. Raises nothing for any content.

    `hashes` get those of the events as leaves, for who wants them, too.
    """
    part, hashes, remaining = _Partition(context), [] if hashes is None else hashes, iter(rows)
    while some := [*islice(remaining, _AT_ONCE)]:
        hashes += leaf_hashes([row[3] for row in some])
        part.take(some)
    if hashes:
        part.finish()
        part.result.leaves = _leaves(part.result.first - 1, hashes, context.roots_at)
    return part.result


@contextmanager
def uncollected() -> Iterator[None]:
    """Spare the search for cycles among very many objects, none of which is in one: a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _leaves(begin: int, hashes: Sequence[bytes], roots_at: Iterable[int]) -> Leaves:
    """The tree over the hashes of leaves from index `begin` on."""
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
    """The audit of a partition under way: its result, and the rounds that have not ended.

    `waiting` are the rows of rounds that may yet be told as a whole, `rounds` are those that are taken event
    by event. `tables` are what the former came to, by the identity of what their first events say. `times`
    are when events were recorded, by position.
    """

    def __init__(self, context: Context) -> None:
        self.rulesets = context.rulesets
        self.result = PartResult()
        self.waiting: dict[str, list[StoredRow]] = {}
        self.rounds: dict[str, Round] = {}
        self.tables: dict[int, rounds.Table] = {}
        self.deeds: list[_Deed] = []
        self.positions: list[int] = []
        self.times: dict[int, str] = {}

    def take(self, rows: Sequence[StoredRow]) -> None:
        """Take some more events."""
        waiting = self.waiting
        self.positions += [row[0] for row in rows]
        for stream, run in groupby(rows, _stream):
            kept = waiting.get(stream)
            if kept is not None:
                kept.extend(run)
            elif not stream.startswith(_ROUND):
                self.deeds += [(row[0], _take_beside, row) for row in run]
                continue
            elif stream in self.rounds:
                self._take_each(run)
                continue
            else:
                kept = waiting[stream] = [*run]
            if _CLOSED in kept[-1][3][-_ENDING:]:
                del waiting[stream]
                self._take_whole(kept)

    def finish(self) -> None:
        """See what all events that were taken come to, one at least."""
        result, positions = self.result, self.positions
        result.first, result.last, result.events = positions[0], positions[-1], len(positions)
        self._follow_positions(positions)
        for kept in self.waiting.values():
            self._take_each(kept)
        for table in self.tables.values():
            table.add_to(result)
        self._do()
        self._follow_times(positions)
        for stream, left in self.rounds.items():
            self._leave(stream, left)

    def _follow_positions(self, positions: Sequence[int]) -> None:
        due = positions[0]
        if positions == [*range(due, due + len(positions))]:
            return
        for position in positions:
            if position != due:
                self.result.differs(due, "position", due, position)
            due = position + 1

    def _follow_times(self, positions: Sequence[int]) -> None:
        """See that each event was recorded after the one before, of those that say when."""
        times, recorded_at = [self.times.get(position, "") for position in positions], ""
        if not all(times) or not all(map(lt, times, times[1:])):
            for position, time in zip(positions, times, strict=True):
                if time > recorded_at:
                    recorded_at = time
                elif time:
                    self.result.differs(position, "recorded_at", f"after {recorded_at}", time)
        self.result.began, self.result.ended = next(filter(None, times), ""), max(times)

    def _take_whole(self, rows: list[StoredRow]) -> None:
        """Take all events of a round that seems to have been played to its end."""
        told = retell(rows, self.rulesets)
        if told is None:
            self._take_each(rows)
            return
        self.times.update(zip(map(_position, rows), told.times, strict=True))
        opened = told.opened
        belongs = opened.account_class, opened.currency
        self.deeds += [
            (position, None, player, amount, after, belongs) for position, player, amount, after in told.moves
        ]
        self.deeds += [
            (bet.position, _move_jackpot, bet, opened) for bet in told.bets if bet.data.jackpot_id is not None
        ]
        table = self.tables.get(id(opened))
        if table is None:
            table = self.tables[id(opened)] = rounds.Table(opened)
        table.add(told, rows[0])

    # ── Event by event ──────────────────────────────────────────────────────────────────────────────────────
    def _take_each(self, rows: Iterable[StoredRow]) -> None:
        for row in rows:
            record = read_fast(row[3])  # None where it is no event of a round
            if record is None or not record.stream.startswith(_ROUND):
                self._take_closely(row)
            else:
                self.times[row[0]] = record.recorded_at
                self._take(row, record)

    def _take_closely(self, row: StoredRow) -> None:
        """Take an event of a round that takes a closer look."""
        position, stream, _, stored = row
        with self._surviving(position):
            record = read_closely(stored)
            if isinstance(record, str):
                self.result.differs(position, "readable", "a well-formed event", record)
                (self.rounds.get(stream) or self._begin(stream)).take(row, None)
                return
            if not beside.is_canonical(stored):
                self.result.differs(position, "canonical", "the canonical form", "another")
            self._take(row, record)
            self.times[position] = record.recorded_at

    @contextmanager
    def _surviving(self, position: int) -> Iterator[None]:
        """Survive what an edited event holds, which can be anything, and say where."""
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            self.result.differs(position, "readable", "an event of its kind", type(error).__name__)

    def _begin(self, stream: str) -> Round:
        round_ = self.rounds[stream] = Round()
        return round_

    def _take(self, row: StoredRow, record: Record[Any]) -> None:
        """Take an event of a round."""
        position, stream, version, _ = row
        if record.position != position or record.version != version or record.stream != stream:
            beside.same_place(self.result, row, record.position, record.stream, record.version)
        round_ = self.rounds.get(stream) or self._begin(stream)
        moved, data = round_.take(row, record), record.data
        if moved is not None:
            self.deeds.append((record.position, None, data.player, moved, data.balance_after, round_.belongs))
        if type(data) in _ENDS:
            self._end(stream, round_)
        elif type(data) in _OF_JACKPOTS and data.jackpot_id is not None:
            opened = None if round_.opened is None else round_.opened.data
            self.deeds.append((record.position, _move_jackpot, record, opened))

    def _end(self, stream: str, round_: Round) -> None:
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

    # ── Wallets, jackpots, and all beside rounds ────────────────────────────────────────────────────────────
    def _do(self) -> None:
        """Do in the order of positions what there is to do."""
        wallets = self.result.wallets
        for deed in sorted(self.deeds, key=_position):
            if deed[1] is not None:
                with self._surviving(deed[0]):
                    deed[1](self, *deed[2:])
                continue
            # What `beside.move` does, which this spares a call.
            position, _, player, amount, after, belongs = deed
            wallet = wallets.get(player)
            if wallet is None:
                wallet = wallets[player] = WalletPart(after - amount, after, position, position)
            else:
                if wallet.closing + amount != after:
                    self.result.differs(position, "balance_after", wallet.closing + amount, after)
                wallet.closing, wallet.last = after, position
            if wallet.played != belongs and belongs is not None:
                if wallet.played is not None:
                    self.result.differs(
                        position, "wallet.currency", " ".join(wallet.played), " ".join(belongs)
                    )
                wallet.played = belongs


def _take_beside(partition: _Partition, row: StoredRow) -> None:
    """Take an event of a stream that is no round's."""
    partition.times[row[0]] = beside.take(partition.result, row)


def _move_jackpot(partition: _Partition, record: Record[Any], opened: RoundOpened | None) -> None:
    """See what an event of a round does to a jackpot."""
    pots.take(partition.result, record, opened)


_ENDS: Final = frozenset((RoundClosed, RoundVoided, StakeRefunded))
_OF_JACKPOTS: Final = frozenset((SideBetPlaced, JackpotHit, ContributionReversed))

"""One batch: read under the head's lock, decide each command in order, write, commit.

`Batch` knows the way a command goes; `infrastructure.ledger.writer` knows threads, queues and what to do when
something fails.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any, Final

import orjson

from domain.commands import Command
from domain.events import ClockWentBackwards
from domain.handlers import HANDLERS, players_touched, reads
from domain.rejections import Rejection
from domain.round import Round, evolve
from domain.work import Secret, Transfer, Work
from infrastructure.ledger import bookkeeping
from infrastructure.ledger.store import (
    Changes,
    CommandRecord,
    FirstAnswer,
    FirstReading,
    OpenRoundRow,
    Store,
    StoredEventRow,
    TransferRow,
)
from infrastructure.ledger.stored_form import decode, encode
from infrastructure.ledger.submission import (
    ACCEPTED,
    REJECTED,
    Outcome,
    Result,
    Reused,
    Submission,
    command_name,
    rejection_body,
)
from infrastructure.seals import Seals

WALLETS_CACHED_MAX: Final = 50_000
ROUNDS_CACHED_MAX: Final = 20_000
COMPILED_MAX: Final = 2_000
CLOCK_TOLERANCE_US: Final = 1_000_000
"""Events are a microsecond apart at least, so that a burst may run ahead of the clock.

A second behind is the clock's fault.
"""
SALT_BYTES: Final = 16
EVENT_SCHEMA: Final = 1


class Books:
    """A writer's memory between batches: the domain's books, and how far they are known to be true.

    `known_position` is the head as this writer left it; where the head has moved since, another process
    wrote, at `foreign_at` at the latest. `checked_at` says up to which position each round in memory is
    known; one that was last looked at before `foreign_at` is read on from there. `sealed` holds the
    encrypted seeds of the open rounds in memory.
    """

    def __init__(self, build: str, settle_seats_max: int) -> None:
        self._build = build
        self._settle_seats_max = settle_seats_max
        self.forget()

    def forget(self) -> None:
        """Drop everything: the next batch reads it again."""
        self.work = Work(os.urandom, self._build, self._settle_seats_max)
        self.sealed: dict[str, bytes | None] = {}
        self.checked_at: dict[str, int] = {}
        self.known_position = 0
        self.foreign_at = 0

    def trim(self) -> None:
        """Keep memory bounded; what is dropped is read again when it is needed."""
        work = self.work
        if len(work.wallets) > WALLETS_CACHED_MAX:
            work.wallets.clear()
            work.players.clear()
        if len(work.compiled) > COMPILED_MAX:
            work.compiled.clear()
        while len(work.rounds) > ROUNDS_CACHED_MAX:
            self.drop_round(next(iter(work.rounds)))

    def drop_round(self, round_id: str) -> None:
        """Forget one round and its secret."""
        work = self.work
        work.rounds.pop(round_id, None)
        work.secrets.pop(round_id, None)
        work.deadlines.pop(round_id, None)
        work.shown.pop(f"round-{round_id}", None)
        self.sealed.pop(round_id, None)
        self.checked_at.pop(round_id, None)


class Batch:
    """The commands of one transaction and what becomes of them."""

    def __init__(
        self,
        submissions: Sequence[Submission],
        books: Books,
        store: Store,
        seals: Seals,
        clock: Callable[[], int],
    ) -> None:
        self.submissions = submissions
        self.books = books
        self.store = store
        self.seals = seals
        self.clock = clock
        self.outcomes: list[Outcome] = []
        self.unsettled: list[tuple[str, int]] = []

    def run(self) -> list[Outcome]:
        """Read, decide, write and commit. Returns an outcome for each submission, in order.

        Raises StoreRefused and StoreLost, or whatever a defect raises, with the transaction ended and
        the books not to be trusted.
        """
        reading = self._reading()
        answer = self.store.begin(reading)
        try:
            self._refresh(reading, answer)
            records = self._decide(answer)
            work = self.books.work
            if not records and not work.emitted:
                self.store.rollback()
            else:
                changes = self._changes(records)
                self.store.commit(changes)
                self._committed(changes)
        except BaseException:
            self.store.rollback()
            raise
        self.books.trim()
        return self.outcomes

    # ── Reading ─────────────────────────────────────────────────────────────────────────────────────────────
    def _reading(self) -> FirstReading:
        books, work = self.books, self.books.work
        player_ids: dict[str, None] = {}
        cached: dict[str, int] = {}
        new: dict[str, None] = {}
        transfers = []
        known_position = books.known_position
        for submission in self.submissions:
            wanted = reads(submission.command)
            for player_id in wanted.player_ids:
                if player_id not in work.players:
                    player_ids[player_id] = None
            if wanted.round_id is not None:
                known = work.rounds.get(wanted.round_id)
                if known is None:
                    new[wanted.round_id] = None
                else:
                    cached[wanted.round_id] = known.version
                    checked_at = books.checked_at.get(wanted.round_id, 0)
                    if checked_at < books.foreign_at:
                        known_position = min(known_position, checked_at)
            if wanted.transfer is not None:
                transfers.append(wanted.transfer)
        ids = [submission.id for submission in self.submissions]
        return FirstReading(known_position, ids, cached, list(new), list(player_ids), transfers)

    def _refresh(self, reading: FirstReading, answer: FirstAnswer) -> None:
        """Bring the books up to the head.

        Where another process has written since, what may have changed is read again.
        """
        books, work = self.books, self.books.work
        moved = answer.position != books.known_position
        if moved:
            books.foreign_at = answer.position
            work.wallets.clear()
            work.players.clear()
        work.position, work.recorded_at_us = answer.position, answer.recorded_at_us
        for table in answer.tables:
            work.tables[table.table_id] = bookkeeping.table_from(table)
        for jackpot in answer.jackpots:
            work.jackpots[jackpot.jackpot_id] = bookkeeping.jackpot_from(jackpot)
        for published in answer.rulesets:
            work.rulesets.setdefault(published.ruleset_id, {})[published.version] = bookkeeping.ruleset_from(
                published
            )
        for wallet_row in answer.wallets:
            self._learn_wallet(bookkeeping.wallet_from(wallet_row))
        self._refresh_rounds(answer)
        for round_id in (*reading.cached_rounds, *reading.new_rounds):
            books.checked_at[round_id] = answer.position
        self._read_wallets(moved=moved)
        self._refresh_transfers(answer)

    def _learn_wallet(self, wallet: Any) -> None:
        work = self.books.work
        work.wallets[wallet.player] = wallet
        if wallet.player_id is not None:
            work.players[wallet.player_id] = wallet.player

    def _refresh_rounds(self, answer: FirstAnswer) -> None:
        books, work = self.books, self.books.work
        for round_id, stored in answer.events.items():
            stream = f"round-{round_id}"
            state: Round | None = work.rounds.get(round_id)
            for data in stored:
                recorded = decode(data)
                if state is not None and recorded.version <= state.version:
                    continue
                state = evolve(state, stream, recorded.event, recorded.meta["command"])
            if state is not None:
                work.rounds[round_id] = state
        for round_id, row in answer.open_rounds.items():
            books.sealed[round_id] = row.sealed
            if row.deadline_us is None:
                work.deadlines.pop(round_id, None)
            else:
                work.deadlines[round_id] = row.deadline_us
            if row.answer_sha256 is not None:
                work.shown[f"round-{round_id}"] = row.answer_sha256
            if row.sealed is not None and round_id not in work.secrets:
                work.secrets[round_id] = Secret(self.seals.open(round_id, row.sealed))

    def _read_wallets(self, *, moved: bool) -> None:
        """Read the wallets of the batch's rounds, and its players' where memory is out of date."""
        work = self.books.work
        by_round: dict[str, list[Command]] = {}
        for submission in self.submissions:
            round_id = reads(submission.command).round_id
            if round_id is not None and round_id in work.rounds:
                by_round.setdefault(round_id, []).append(submission.command)
        players: set[str] = set()
        for round_id, commands in by_round.items():
            players |= players_touched(work.rounds[round_id], commands, work.settle_seats_max)
        missing = [player for player in players if player not in work.wallets]
        player_ids: list[str] = []
        if moved:
            player_ids = [
                p for s in self.submissions for p in reads(s.command).player_ids if p not in work.players
            ]
        if missing or player_ids:
            for row in self.store.read_wallets(missing, player_ids):
                self._learn_wallet(bookkeeping.wallet_from(row))

    def _refresh_transfers(self, answer: FirstAnswer) -> None:
        work = self.books.work
        work.transfers = {
            (row.player, row.direction, row.reference): Transfer(row.amount, orjson.loads(row.answer))
            for row in answer.transfers
        }

    # ── Deciding ────────────────────────────────────────────────────────────────────────────────────────────
    def _decide(self, answer: FirstAnswer) -> list[CommandRecord]:
        work = self.books.work
        work.now_us = self.clock()
        self._watch_clock()
        records: list[CommandRecord] = []
        decided: dict[bytes, CommandRecord] = answer.commands
        for submission in self.submissions:
            known = decided.get(submission.id)
            if known is not None:
                self.outcomes.append(_replay(known, submission))
                continue
            record = self._decide_one(submission)
            decided[submission.id] = record
            records.append(record)
            self.outcomes.append(Result(record.outcome, record.body, record.position))
        return records

    def _watch_clock(self) -> None:
        work = self.books.work
        behind = work.recorded_at_us - work.now_us
        if behind > CLOCK_TOLERANCE_US:
            work.meta = {"actor": "ledger", "command": "clock", "schema": EVENT_SCHEMA}
            work.emit(f"ledger-clock-{work.position + 1}", 1, ClockWentBackwards(behind))

    def _decide_one(self, submission: Submission) -> CommandRecord:
        work = self.books.work
        work.command = command_name(submission.id)
        work.meta = {"actor": submission.actor, "command": work.command, "schema": EVENT_SCHEMA}
        if submission.trace is not None:
            work.meta["trace"] = submission.trace
        first = len(work.emitted)
        try:
            answer = HANDLERS[type(submission.command)](submission.command, work)
        except Rejection as rejection:
            if len(work.emitted) != first:
                raise RuntimeError(
                    f"{type(submission.command).__name__} was rejected after it had emitted"
                ) from rejection
            body = orjson.dumps(rejection_body(rejection.code, rejection.detail, rejection.extra))
            return CommandRecord(submission.id, submission.fingerprint, REJECTED, body, work.position)
        body = orjson.dumps(answer)
        streams = {emitted.stream for emitted in work.emitted[first:] if emitted.stream.startswith("round-")}
        if streams:
            shown = hashlib.sha256(body).hexdigest()
            for stream in streams:
                work.shown[stream] = shown
        return CommandRecord(submission.id, submission.fingerprint, ACCEPTED, body, work.position)

    # ── Writing ─────────────────────────────────────────────────────────────────────────────────────────────
    def _changes(self, records: list[CommandRecord]) -> Changes:
        work = self.books.work
        changes = Changes(work.position, work.recorded_at_us, commands=records, accounts=work.accounts)
        salts = os.urandom(SALT_BYTES * len(work.emitted)).hex()
        width = 2 * SALT_BYTES
        changes.events = [
            StoredEventRow(
                e.position,
                e.stream,
                e.version,
                encode(
                    e.position,
                    e.recorded_at_us,
                    e.stream,
                    e.version,
                    e.event,
                    e.meta,
                    salts[n * width : (n + 1) * width],
                ),
            )
            for n, e in enumerate(work.emitted)
        ]
        changes.wallets = [
            bookkeeping.wallet_row(work.wallets[player]) for player in sorted(work.touched_wallets)
        ]
        changes.jackpots = [
            bookkeeping.jackpot_row(work.jackpots[j], work.position) for j in sorted(work.touched_jackpots)
        ]
        changes.tables = [
            bookkeeping.table_row(work.tables[t], work.position) for t in sorted(work.touched_tables)
        ]
        changes.rulesets = [
            bookkeeping.ruleset_row(published, work.position) for published in work.new_rulesets
        ]
        changes.transfers = [
            TransferRow(player, direction, reference, transfer.amount, orjson.dumps(transfer.answer))
            for (player, direction, reference), transfer in work.new_transfers.items()
        ]
        self._round_rows(changes)
        return changes

    def _round_rows(self, changes: Changes) -> None:
        books, work = self.books, self.books.work
        for round_id in sorted(work.touched_rounds):
            round_ = work.rounds[round_id]
            if round_.finished:
                if round_id in books.sealed:
                    changes.closed_rounds.append(round_id)
                continue
            if round_id not in books.sealed:
                secret = work.secrets.get(round_id)
                books.sealed[round_id] = (
                    self.seals.seal(round_id, secret.seed) if secret is not None else None
                )
            unsettled = round_.phase == "voided" or 0 < round_.settled < len(round_.seats)
            if unsettled:
                self.unsettled.append((round_id, round_.version))
            changes.open_rounds.append(
                OpenRoundRow(
                    round_id,
                    round_.opened.table_id,
                    books.sealed[round_id],
                    work.shown.get(f"round-{round_id}"),
                    work.deadlines.get(round_id),
                    unsettled,
                )
            )

    def _committed(self, changes: Changes) -> None:
        """The batch is in the ledger.

        The books are true up to its last position, and nothing of it is left over.
        """
        books, work = self.books, self.books.work
        books.known_position = changes.position
        for round_id in work.touched_rounds:
            if work.rounds[round_id].finished:
                books.drop_round(round_id)
            else:
                books.checked_at[round_id] = changes.position
        work.emitted = []
        work.accounts = {}
        work.touched_wallets = set()
        work.touched_tables = set()
        work.touched_jackpots = set()
        work.touched_rounds = set()
        work.new_transfers = {}
        work.new_rulesets = []
        work.transfers = {}


def _replay(known: CommandRecord, submission: Submission) -> Outcome:
    if known.fingerprint != submission.fingerprint:
        return Reused()
    return Result(known.outcome, known.body, known.position, replayed=True)

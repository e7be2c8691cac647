"""One batch: read under the head's lock, decide each command in order, write, commit.

`Batch` knows the way a command goes; `infrastructure.ledger.writer` knows threads, queues and what to do when
something fails.
"""

from __future__ import annotations

import hashlib
import os
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Any, Final

import orjson

from domain.approvals import require_person
from domain.events import ClockWentBackwards
from domain.handlers import HANDLERS
from domain.read_only import is_refused
from domain.rejections import Rejection
from infrastructure.ledger import bookkeeping, registers
from infrastructure.ledger.books import Books
from infrastructure.ledger.store import (
    Changes,
    CommandRecord,
    FirstReading,
    OpenRoundRow,
    Store,
    StoredEventRow,
    TransferRow,
)
from infrastructure.ledger.stored_form import encode
from infrastructure.ledger.submission import (
    ACCEPTED,
    REJECTED,
    Outcome,
    ReadOnly,
    Result,
    Reused,
    Submission,
    command_name,
    rejection_body,
)
from infrastructure.seals import Seals

CLOCK_TOLERANCE_US: Final = 1_000_000
"""Events are a microsecond apart at least, so that a burst may run ahead of the clock.

A second behind is the clock's fault.
"""
SALT_BYTES: Final = 16
ANSWER_SALT_BYTES: Final = 8
EVENT_SCHEMA: Final = 1


def no_checkpoint(_generation: int) -> None:
    """Where there is no evidence log, answers show nothing of one."""


class Batch:
    """The commands of one transaction and what becomes of them."""

    def __init__(
        self,
        submissions: Sequence[Submission],
        books: Books,
        store: Store,
        seals: Seals,
        clock: Callable[[], int],
        checkpoint: Callable[[int], dict[str, Any] | None] = no_checkpoint,
    ) -> None:
        self.submissions = submissions
        self.books = books
        self.store = store
        self.seals = seals
        self.clock = clock
        self.checkpoint = checkpoint
        self.outcomes: list[Outcome] = []
        self.unsettled: list[tuple[str, int]] = []
        self._sent = False
        self._anticipated: tuple[FirstReading, list[CommandRecord]]

    def run(self) -> list[Outcome]:
        """Read, decide, write and commit. Returns an outcome for each submission, in order.

        Raises StoreRefused and StoreLost, or whatever a defect raises, with the transaction ended and
        the books not to be trusted.
        """
        self.send()
        return self.finish()

    def send(self) -> None:
        """Read, decide, and send what is to be written: the commit is on its way. Raises what `run` raises.

        From here on the books are as the batch leaves them; should it not come to that, they are dropped.
        """
        reading = self.books.reading(self.submissions)
        answer = self.store.begin(reading)
        try:
            self.books.refresh(self.submissions, answer, self.store, self.seals)
            records = self._decide(answer.commands)
            self._send(reading, records)
        except BaseException:
            self.store.rollback()
            raise

    def finish(self) -> list[Outcome]:
        """Wait for the commit. Returns the outcomes. Raises StoreRefused and StoreLost."""
        if self._sent:
            self.store.finish()
        return self.outcomes

    # ── While the batch before is being committed ─────────────────────────────────────────────────────────
    def anticipate(self) -> bool:
        """Decide on the books as the batch before leaves them, while the database is still busy with it.

        False, and nothing done, where something would have to be read first. What is decided here is sent by
        `confirm`, or not at all.
        """
        reading = self.books.reading(self.submissions)
        if not self.books.suffice(self.submissions, reading):
            return False
        self._anticipated = reading, self._decide({})
        return True

    def confirm(self) -> bool:
        """Take the head; send what was anticipated if nobody has written since and no command is known.

        False where it does not: the transaction is ended, and the books are not to be trusted. So an
        anticipated batch that is written is what it would have been, had it been decided under its own lock.
        Raises what `run` raises.
        """
        reading, records = self._anticipated
        answer = self.store.begin(reading)
        try:
            if answer.position != reading.known_position or answer.commands:
                self.store.rollback()
                return False
            self._send(reading, records)
        except BaseException:
            self.store.rollback()
            raise
        return True

    def _send(self, reading: FirstReading, records: list[CommandRecord]) -> None:
        if records or self.books.work.emitted:
            self.store.send(self._changes(records))
            self._sent = True
        else:
            self.store.rollback()
        self.books.remember(reading)

    # ── Deciding ────────────────────────────────────────────────────────────────────────────────────────────
    def _decide(self, known_before: dict[bytes, CommandRecord]) -> list[CommandRecord]:
        work = self.books.work
        work.now_us = self.clock()
        work.checkpoint = self.checkpoint(work.log.generation)
        self._watch_clock()
        records: list[CommandRecord] = []
        decided = dict(known_before)
        for submission in self.submissions:
            known = decided.get(submission.id)
            if known is not None:
                self.outcomes.append(replay(known, submission))
                continue
            if work.log.halted is not None and is_refused(submission.command, work):
                self.outcomes.append(ReadOnly())
                continue
            record = self._decide_one(submission)
            decided[submission.id] = record
            records.append(record)
            self.outcomes.append(Result(record.outcome, record.body, record.position))
        return records

    def _watch_clock(self) -> None:
        """Record that the clock went back: once, and once more each time that it goes back further."""
        books, work = self.books, self.books.work
        behind = work.recorded_at_us - work.now_us
        gone_back = behind > books.behind_us + CLOCK_TOLERANCE_US
        books.behind_us = max(behind, 0)
        if gone_back:
            work.meta = {"actor": "ledger", "command": "clock", "schema": EVENT_SCHEMA}
            work.emit(f"ledger-clock-{work.position + 1}", 1, ClockWentBackwards(behind))

    def _decide_one(self, submission: Submission) -> CommandRecord:
        work = self.books.work
        work.command = command_name(submission.id)
        work.person, work.scopes = submission.person, submission.scopes
        work.meta = {"actor": submission.actor, "command": work.command, "schema": EVENT_SCHEMA}
        if submission.trace is not None:
            work.meta["trace"] = submission.trace
        first = len(work.emitted)
        try:
            if submission.person is not None:
                require_person(work)  # revoked a moment ago, and the token's verifier has not seen it yet
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
        salt = None
        if streams:
            # An answer holds few cards: who knew the rest could find them by trying, if its hash had no salt.
            salt = os.urandom(ANSWER_SALT_BYTES)
            shown = _base64url(hashlib.sha256(salt + body).digest())
            for stream in streams:
                work.shown[stream] = shown
        return CommandRecord(submission.id, submission.fingerprint, ACCEPTED, body, work.position, salt)

    # ── Writing ─────────────────────────────────────────────────────────────────────────────────────────────
    def _changes(self, records: list[CommandRecord]) -> Changes:
        work = self.books.work
        changes = Changes(work.position, work.recorded_at_us, commands=records, accounts=work.accounts)
        random = os.urandom(SALT_BYTES * len(work.emitted))
        salts = [_base64url(random[at : at + SALT_BYTES]) for at in range(0, len(random), SALT_BYTES)]
        changes.events = [
            StoredEventRow(
                e.position,
                e.stream,
                e.version,
                encode(e.position, e.recorded_at_us, e.stream, e.version, e.event, e.meta, salt),
            )
            for e, salt in zip(work.emitted, salts, strict=True)
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
        changes.registers = [
            registers.row_of(work, name, work.position) for name in sorted(work.touched_registers)
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


def replay(known: CommandRecord, submission: Submission) -> Outcome:
    """The end of a command whose id is known: its first answer, or Reused where it was another command."""
    if known.fingerprint != submission.fingerprint:
        return Reused()
    return Result(known.outcome, known.body, known.position, replayed=True)


def _base64url(value: bytes) -> str:
    return urlsafe_b64encode(value).decode().rstrip("=")

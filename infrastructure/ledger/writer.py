"""The writer.

One thread a process that takes whatever commands are waiting and makes one transaction of them.

Several processes each have one; the head row's lock is the order between them. Nothing is answered before its
transaction has committed.

While the database is busy with one batch, the next is already decided, on the books as the first leaves them.
It is written only if, once the head is locked for it, nobody else has written in between and none of its
commands is known; otherwise it is decided again. Either way it is what deciding under the lock comes to.

What goes wrong is handled here. A batch that the database refuses, or that meets a defect, is rolled back,
what is in memory is dropped, and its commands run one at a time: only there is the number of statements not
constant. A command that fails alone is logged, answered as failed and not remembered. After a lost connection
the writer first looks up which of its commands happened.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import structlog

from infrastructure.defects import place
from infrastructure.ledger.batch import Batch, no_checkpoint, replay
from infrastructure.ledger.books import Books
from infrastructure.ledger.delivery import AnyFuture, Waiting, deliver
from infrastructure.ledger.meter import Meter
from infrastructure.ledger.store import Store, StoreLost, StoreRefused
from infrastructure.ledger.submission import (
    CommandFailed,
    Outcome,
    Overloaded,
    Result,
    Submission,
    continuation,
)
from infrastructure.seals import Seals

BATCH_MAX: Final = 256
QUEUE_MAX: Final = 4096
SETTLE_SEATS_MAX: Final = 500
ANTICIPATED_SHARE: Final = 2
"""A batch is decided ahead where at least one in so many of the commands before it is waiting."""
RECOVERY_SECONDS: Final = 30.0
RECOVERY_PAUSE_SECONDS: Final = 0.2

log = structlog.get_logger(__name__)


class _OnItsWay(NamedTuple):
    """A batch that was sent to the database, who waits for it, and when it began (of the monotonic clock)."""

    waiting: Sequence[Waiting]
    batch: Batch
    began: float


class Figures(NamedTuple):
    """What the writer has done so far."""

    batches: int
    commands: int
    statements: int
    waiting: int


class Writer:
    """Takes submissions from any thread or event loop, writes them in one order, answers after the commit.

    `checkpoint` tells the newest checkpoint, as answers show it, of the evidence log of a generation, the one
    that the ledger goes on with; None where there is none. It is asked once for each batch, and must not
    raise.
    """

    def __init__(
        self,
        store: Store,
        seals: Seals,
        clock: Callable[[], int],
        build: str,
        *,
        settle_seats_max: int = SETTLE_SEATS_MAX,
        meter: Meter | None = None,
        checkpoint: Callable[[int], dict[str, Any] | None] = no_checkpoint,
    ) -> None:
        self._store = store
        self._seals = seals
        self._clock = clock
        self._meter = meter
        self._checkpoint = checkpoint
        self._books = Books(build, settle_seats_max)
        self._queue: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._door = threading.Lock()
        self._stopping = False
        self._lost_at: float | None = None
        self._on_its_way: _OnItsWay | None = None
        self._batches = 0
        self._commands = 0
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what is waiting, then end and give the connection back."""
        with self._door:  # whoever was let in is in the queue before its end
            self._stopping = True
            self._queue.put(None)
        if self._thread.ident is not None:
            self._thread.join()
        self._store.close()

    def submit(self, submission: Submission) -> asyncio.Future[Result]:
        """Hand over a command from an event loop; await the future.

        It ends in a Result, or raises Reused, Overloaded or CommandFailed.
        """
        future = asyncio.get_running_loop().create_future()
        self._put(submission, future)
        return future

    def call(self, submission: Submission, timeout_seconds: float = 60.0) -> Result:
        """Hand over a command from a thread and wait. Raises what `submit` raises, and TimeoutError."""
        return self.hand_over(submission).result(timeout_seconds)

    def hand_over(self, submission: Submission) -> Future[Result]:
        """Hand over a command from a thread without waiting, so that many of them share a transaction.

        The future ends as one of `submit` does; Overloaded is also raised at once where there is no room.
        """
        future: Future[Result] = Future()
        self._put(submission, future)
        return future

    @property
    def alive(self) -> bool:
        """Whether the thread is there to write what is handed over."""
        return self._thread.is_alive()

    def figures(self) -> Figures:
        """Counts since the start, for metrics and benchmarks."""
        return Figures(self._batches, self._commands, self._store.statements(), self._queue.qsize())

    def _put(self, submission: Submission, future: AnyFuture) -> None:
        with self._door:
            if self._stopping or self._queue.qsize() >= QUEUE_MAX:
                raise Overloaded
            self._queue.put(Waiting(submission, future))

    # ── The thread ──────────────────────────────────────────────────────────────────────────────────────────
    def _run(self) -> None:
        while self._step():
            pass

    def _step(self) -> bool:
        """Send a batch, or, while the database commits one, decide the next and send that. False: the end."""
        if self._on_its_way is None:
            waiting = self._take()
            if not waiting:
                return False
            self._on_its_way = self._start(waiting)
            return True
        on_its_way = self._on_its_way
        waiting, ahead = self._anticipate(len(on_its_way.waiting))
        finished = self._finish(on_its_way)
        if not waiting:
            self._on_its_way = None
        elif ahead is not None and finished:
            self._on_its_way = self._confirm(waiting, ahead)
        else:
            self._on_its_way = self._start(waiting)
        return True

    def _take(self) -> list[Waiting]:
        """Wait for a command, then take what else is waiting, up to the bound.

        Empty: the writer is to end.
        """
        first = self._queue.get()
        return [] if first is None else [first, *self._waiting(BATCH_MAX - 1)]

    def _waiting(self, count_max: int) -> list[Waiting]:
        """What is waiting now, `count_max` at most."""
        found: list[Waiting] = []
        while len(found) < count_max:
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                break
            if following is None:
                self._queue.put(None)
                break
            found.append(following)
        return found

    # ── One batch ───────────────────────────────────────────────────────────────────────────────────────────
    def _start(self, waiting: Sequence[Waiting]) -> _OnItsWay | None:
        """Decide a batch under its own lock and send it. None: it failed; its commands are answered."""
        began = time.monotonic()
        batch = self._batch([w.submission for w in waiting])
        try:
            batch.send()
        except Exception as error:  # noqa: BLE001 - whatever it is, each command's own end will tell
            deliver(waiting, self._failed(batch, error))
            return None
        return _OnItsWay(waiting, batch, began)

    def _anticipate(self, commands_before: int) -> tuple[list[Waiting], Batch | None]:
        """Take what is waiting and decide it while the batch before is being committed.

        Returns it with its batch, or without where that could not be. Where little is waiting nothing is
        taken: a moment later it is part of a larger batch.
        """
        if self._queue.qsize() * ANTICIPATED_SHARE < commands_before:
            return [], None
        waiting = self._waiting(BATCH_MAX)
        batch = self._batch([w.submission for w in waiting])
        try:
            return waiting, batch if waiting and batch.anticipate() else None
        except Exception:  # noqa: BLE001 - decided again under its own lock
            self._books.forget()
            return waiting, None

    def _confirm(self, waiting: Sequence[Waiting], batch: Batch) -> _OnItsWay | None:
        """Send what was anticipated, or decide again where it does not hold. None as for `_start`."""
        began = time.monotonic()
        try:
            holds = batch.confirm()
        except Exception as error:  # noqa: BLE001 - whatever it is, each command's own end will tell
            deliver(waiting, self._failed(batch, error))
            return None
        if holds:
            return _OnItsWay(waiting, batch, began)
        self._books.forget()
        return self._start(waiting)

    def _finish(self, on_its_way: _OnItsWay) -> bool:
        """Wait for a batch's commit and answer. False where it failed; even then all are answered."""
        waiting, batch, began = on_its_way
        try:
            outcomes = batch.finish()
        except Exception as error:  # noqa: BLE001 - whatever it is, each command's own end will tell
            deliver(waiting, self._failed(batch, error))
            return False
        self._wrote(batch, began)
        deliver(waiting, outcomes)
        return True

    def _process(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """One transaction, or, where it fails, as many as it takes to know each command's end."""
        batch = self._batch(submissions)
        try:
            return self._write(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, each command's own end will tell
            return self._failed(batch, error)

    def _failed(self, batch: Batch, error: Exception) -> list[Outcome]:
        """Find each command's end after their batch has failed."""
        submissions = batch.submissions
        if isinstance(error, StoreLost):
            self._lost(error, submissions)
            return self._recover(submissions, batch.outcomes)
        self._books.forget()
        command = type(submissions[0].command).__name__
        if isinstance(error, StoreRefused):
            if len(submissions) > 1:
                log.warning("batch_refused", commands=len(submissions), reason=str(error))
                return self._one_by_one(submissions)
            log.error("command_refused", command=command, reason=str(error))
            return [CommandFailed()]
        # A defect in deciding one command must not take the others with it. The error's values may be secret:
        # only its kind and place are logged.
        log.error("batch_failed", commands=len(submissions), error=type(error).__name__, at=place(error))
        if len(submissions) > 1:
            return self._one_by_one(submissions)
        log.error("command_failed", command=command)
        return [CommandFailed()]

    def _one_by_one(self, submissions: Sequence[Submission]) -> list[Outcome]:
        return [outcome for submission in submissions for outcome in self._process([submission])]

    def _batch(self, submissions: Sequence[Submission]) -> Batch:
        return Batch(submissions, self._books, self._store, self._seals, self._clock, self._checkpoint)

    def _write(self, batch: Batch) -> list[Outcome]:
        began = time.monotonic()
        outcomes = batch.run()
        self._wrote(batch, began)
        return outcomes

    def _wrote(self, batch: Batch, began: float) -> None:
        self._found()
        self._batches += 1
        self._commands += len(batch.submissions)
        self._measured(batch, time.monotonic() - began)
        for round_id, version in batch.unsettled:
            self._queue.put(Waiting(continuation(round_id, version), Future()))

    def _measured(self, batch: Batch, seconds: float) -> None:
        """Tell who measures. Whatever that comes to, nobody's answer waits for it."""
        if self._meter is None:
            return
        try:
            self._meter.wrote(batch.outcomes, seconds, self._queue.qsize())
        except Exception as error:  # noqa: BLE001 - the batch is committed: what is left is to answer
            log.error("meter_failed", error=type(error).__name__, at=place(error))  # noqa: TRY400

    # ── A lost connection ───────────────────────────────────────────────────────────────────────────────────
    def _lost(self, lost: StoreLost, submissions: Sequence[Submission]) -> None:
        self._books.forget()
        if self._lost_at is None:
            self._lost_at = time.monotonic()
            log.warning("store_lost", commands=len(submissions), reason=str(lost))

    def _found(self) -> None:
        if self._lost_at is not None:
            log.info("store_found", after_seconds=round(time.monotonic() - self._lost_at, 1))
            self._lost_at = None

    def _recover(self, submissions: Sequence[Submission], decided: Sequence[Outcome]) -> list[Outcome]:
        """Find out what happened before anybody is answered; what did not happen is tried again.

        `decided` is what the lost batch came to: all of it, or nothing where it had not begun. An outage has
        one bound for all that wait: from then on, and where the writer is to end, a batch is tried once,
        until one succeeds.
        """
        while self._lost_at is None or self._waits_until(self._lost_at + RECOVERY_SECONDS):
            try:
                found = self._store.find_commands([submission.id for submission in submissions])
                missing = [submission for submission in submissions if submission.id not in found]
                again = iter(self._write(self._batch(missing)) if missing else ())
                self._found()  # not before: a server whose disk is full answers, and takes nothing
            except StoreLost as lost:
                self._lost(lost, submissions)
                time.sleep(RECOVERY_PAUSE_SECONDS)
                continue
            except Exception:  # noqa: BLE001 - whatever it is, each command's own end will tell
                self._books.forget()
                return self._one_by_one(submissions)
            outcomes = [
                replay(found[submission.id], submission) if submission.id in found else next(again)
                for submission in submissions
            ]
            return [_first_answer(*pair) for pair in zip_longest(outcomes, decided)]
        return self._give_up(submissions)

    def _waits_until(self, end: float) -> bool:
        return not self._stopping and time.monotonic() < end

    def _give_up(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """The store was away for too long: nobody who waits is kept waiting, each may send it again."""
        log.error("store_unreachable", commands=len(submissions))
        waiting = self._waiting(QUEUE_MAX)
        deliver(waiting, [Overloaded() for _ in waiting])
        return [Overloaded() for _ in submissions]


def _first_answer(outcome: Outcome, decided: Outcome | None) -> Outcome:
    """The lost batch's own answer where that is what is remembered: nobody has had it before."""
    if isinstance(outcome, Result) and outcome.replayed and decided == outcome._replace(replayed=False):
        return decided
    return outcome

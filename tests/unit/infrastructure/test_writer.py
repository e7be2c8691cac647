"""The writer: its queue, its thread, its end, and what it does with a batch that fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from structlog.testing import capture_logs

from domain import commands as c
from domain import events as ev
from domain.handlers import HANDLERS
from domain.rejections import Rejection
from domain.work import Work
from infrastructure.ledger import writer as writing
from infrastructure.ledger.memory import MemoryStore
from infrastructure.ledger.stored_form import decode
from infrastructure.ledger.submission import (
    CommandFailed,
    Overloaded,
    Result,
    Reused,
    Submission,
    continuation,
)
from infrastructure.ledger.writer import Writer
from tests.unit.infrastructure.ledgers import (
    SEALS,
    Process,
    deposit,
    furnished,
    stake,
    submission,
    told,
)

SECRET = "As Kd 4h 3c 2s c0ffee"


@pytest.fixture
def ledger() -> Process:
    """Return a furnished ledger, with a process that can look at it."""
    return furnished()


@pytest.fixture
def new_writer(ledger: Process) -> Iterator[Callable[..., Writer]]:
    """Yield what makes writers on the ledger; they are stopped after the test."""
    made: list[Writer] = []

    def make(**options: Any) -> Writer:
        store = MemoryStore(ledger.ledger, lock_seconds_max=5)
        made.append(Writer(store, SEALS, ledger.clock, "test-build", **options))
        return made[-1]

    yield make
    for writer in made:
        writer.stop()


@pytest.fixture
def writer(new_writer: Callable[..., Writer]) -> Writer:
    """Return a writer that has not begun: what is handed over until then is one batch."""
    return new_writer()


def hand_over(writer: Writer, *submissions: Submission) -> list[Future[Result]]:
    """Hand over commands without waiting for them."""
    return [writer.hand_over(each) for each in submissions]


def end(future: Future[Result]) -> Any:
    """Return what became of a command: its answer, or the exception."""
    error = future.exception(30)
    return told(future.result()) if error is None else error


class BrokenMeter:
    """A meter without a disk to count on."""

    def wrote(self, outcomes: object, seconds: float, waiting: int) -> None:
        """Fail with what nobody may read."""
        raise OSError(f"{SECRET} {outcomes} {seconds} {waiting}")


def test_a_meter_that_fails_keeps_nobody_waiting(new_writer: Callable[..., Writer]) -> None:
    """What is committed is answered, batch after batch, whatever becomes of its figures; that is logged."""
    writer = new_writer(meter=BrokenMeter())
    with capture_logs() as logged:
        writer.start()
        answers = [writer.call(submission(deposit(1, 1, f"r{n}"), f"k{n}")) for n in range(3)]
    assert [told(answer)["balance"] for answer in answers] == [1_000_001, 1_000_002, 1_000_003]
    assert [(line["event"], line["error"]) for line in logged] == [("meter_failed", "OSError")] * 3
    assert SECRET not in str(logged)


def test_what_is_waiting_is_one_batch(writer: Writer) -> None:
    """Commands that wait together are written together and each gets its own answer."""
    futures = hand_over(writer, *(submission(deposit(1, 1, f"r{n}"), f"k{n}") for n in range(100)))
    assert writer.figures() == (0, 0, 0, 100)
    writer.start()
    assert [end(future)["balance"] for future in futures] == list(range(1_000_001, 1_000_101))
    figures = writer.figures()
    assert (figures.batches, figures.commands, figures.waiting) == (1, 100, 0)


def test_a_batch_has_a_bound(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than the bound are several batches, in the order they came."""
    monkeypatch.setattr(writing, "BATCH_MAX", 10)
    futures = hand_over(writer, *(submission(deposit(1, 1, f"r{n}"), f"k{n}") for n in range(25)))
    writer.start()
    assert [end(future)["balance"] for future in futures] == list(range(1_000_001, 1_000_026))
    assert writer.figures().batches == 3


def test_the_queue_has_a_bound(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes when it is full is told at once; those who wait are served."""
    monkeypatch.setattr(writing, "QUEUE_MAX", 3)
    futures = hand_over(writer, *(submission(deposit(1, 1, f"r{n}"), f"k{n}") for n in range(3)))
    with pytest.raises(Overloaded):
        writer.call(submission(deposit(1, 1, "late"), "late"))
    writer.start()
    assert [end(future)["balance"] for future in futures] == [1_000_001, 1_000_002, 1_000_003]
    assert told(writer.call(submission(deposit(1, 1, "late"), "late")))["balance"] == 1_000_004


def test_an_event_loop_awaits_its_answers(writer: Writer) -> None:
    """Answers and refusals come to the loop that asked."""
    writer.start()
    one, other = (submission(deposit(1, amount, "r"), "key") for amount in (5, 6))

    async def ask() -> None:
        assert told(await writer.submit(one))["balance"] == 1_000_005
        results = await asyncio.gather(*(writer.submit(one) for _ in range(50)))
        assert {(result.replayed, told(result)["balance"]) for result in results} == {(True, 1_000_005)}
        with pytest.raises(Reused):
            await writer.submit(other)

    asyncio.run(ask())


def test_nobody_waiting_is_no_harm(writer: Writer) -> None:
    """A caller that gave up, or whose event loop has ended, does not stop the writer: the commands stand."""

    async def give_up() -> None:
        for n in range(3):
            waiting = writer.submit(submission(deposit(1, 1, f"r{n}"), f"k{n}"))
            if n:
                waiting.cancel()

    asyncio.run(give_up())
    with capture_logs() as logs:
        writer.start()
        assert told(writer.call(submission(deposit(1, 1, "r3"), "k3")))["balance"] == 1_000_004
    assert [line["event"] for line in logs] == ["nobody_waits"]
    assert writer.alive


# ── The end ─────────────────────────────────────────────────────────────────────────────────────────────────
def test_stopping_finishes_what_is_waiting(writer: Writer) -> None:
    """What was taken in is answered; what comes later is refused; stopping twice is harmless."""
    futures = hand_over(writer, *(submission(deposit(1, 1, f"r{n}"), f"k{n}") for n in range(50)))
    writer.start()
    writer.stop()
    assert end(futures[-1])["balance"] == 1_000_050
    assert not writer.alive
    with pytest.raises(Overloaded):
        writer.call(submission(deposit(1, 1, "late"), "late"))
    writer.stop()


def test_a_writer_that_never_began_can_be_stopped(new_writer: Callable[..., Writer]) -> None:
    """A service that failed at its start takes everything down in order."""
    new_writer().stop()


@pytest.mark.parametrize("attempt", range(5))
def test_whoever_is_let_in_is_answered(new_writer: Callable[..., Writer], attempt: int) -> None:
    """However callers and the end race, each is refused at the door or answered: nobody waits for ever."""
    writer = new_writer()
    writer.start()
    ends: list[str] = []

    def call(caller: int) -> None:
        for n in range(1_000):
            try:
                writer.call(submission(deposit(1, 1, f"{caller}-{n}"), f"{attempt}-{caller}-{n}"), 20)
            except Overloaded:
                ends.append("refused")
                return

    callers = [threading.Thread(target=call, args=(n,)) for n in range(4)]
    for caller in callers:
        caller.start()
    while writer.figures().commands < 20:
        pass
    writer.stop()
    for caller in callers:
        caller.join(30)
    assert ends == ["refused"] * 4


# ── A command that cannot be written ────────────────────────────────────────────────────────────────────────
def overdraw(command: c.Withdraw, work: Work) -> dict[str, Any]:
    """Withdraw without looking: what a defect in deciding would do."""
    wallet = work.wallet_of(command.player_id)
    wallet.balance -= 10**9
    work.touched_wallets.add(wallet.player)
    return {"leaked": SECRET}


def stumble(command: c.Withdraw, work: Work) -> dict[str, Any]:
    """Raise an error that says too much."""
    work.wallet_of(command.player_id).balance = -5
    raise ValueError(SECRET)


def half_reject(_: c.Withdraw, work: Work) -> dict[str, Any]:
    """Write an event and think better of it."""
    work.emit("wallet-p1", work.wallets["p1"].version + 1, ev.Deposited("p1", 1, "half", "t", 1))
    raise Rejection("insufficient_funds", SECRET)


@pytest.mark.parametrize("broken", [overdraw, stumble, half_reject])
def test_a_command_that_cannot_be_written_harms_no_other(
    writer: Writer, ledger: Process, monkeypatch: pytest.MonkeyPatch, broken: Callable[..., Any]
) -> None:
    """Of a hundred and one commands a hundred succeed; the one fails, is logged and is not remembered."""
    bad = submission(c.Withdraw("player-1", 10, "out", "t"), "bad")
    good = [submission(deposit(n % 3, 1, f"r{n}"), f"k{n}") for n in range(100)]
    monkeypatch.setitem(HANDLERS, c.Withdraw, broken)
    futures = hand_over(writer, *good[:50], bad, *good[50:])
    with capture_logs() as logs:
        writer.start()
        ends = [end(future) for future in futures]
    assert isinstance(ends.pop(50), CommandFailed)
    assert max(answer["balance"] for answer in ends) == 1_000_034
    assert bad.id not in ledger.ledger.commands
    assert ledger.ledger.wallets["p1"].balance == 1_000_033
    said = repr(logs)
    assert "Withdraw" in said
    assert not any(part in said for part in SECRET.split())
    monkeypatch.undo()
    assert told(writer.call(bad))["balance"] == 1_000_023


def test_each_failure_is_its_own(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """No two callers are given the same exception: a traceback belongs to one."""
    monkeypatch.setitem(HANDLERS, c.Withdraw, stumble)
    known = submission(deposit(2, 1, "r"), "known")
    others = [submission(deposit(2, n, "r"), "known") for n in (2, 3)]
    sent = [submission(c.Withdraw("player-1", 10, f"o{n}", "t"), f"bad-{n}") for n in range(3)]
    futures = hand_over(writer, known, *others, *sent)
    writer.start()
    errors = [end(future) for future in futures[1:]]
    assert [type(error) for error in errors] == [Reused] * 2 + [CommandFailed] * 3
    assert len(set(map(id, errors))) == 5


# ── A round that takes several commands ─────────────────────────────────────────────────────────────────────
def test_a_big_round_goes_on_by_itself(new_writer: Callable[..., Writer], ledger: Process) -> None:
    """The writer sends what goes on with it; another process that sends the same acts on nothing twice."""
    bettors = [n for n in range(8) if n % 4 != 3]
    ledger.do(c.OpenRound("r", "live", tuple(stake(n + 1, n) for n in bettors), deal=True))
    first, second = (new_writer(settle_seats_max=1) for _ in range(2))
    first.start()
    second.start()
    stream = ledger.ledger.streams["round-r"]
    for n in bettors:
        decided = told(first.call(submission(c.Decide("r", n + 1, "raise"), f"d{n}")))
    assert decided["phase"] == "revealed"
    for n in bettors:
        second.call(continuation("r", len(stream)))
        first.call(submission(deposit(1, 1, f"after-{n}"), f"after-{n}"))  # waits behind what goes on
    assert decode(stream[-1].data).event.__class__ is ev.RoundClosed
    settled = [
        (each.event.seat, each.meta["command"])
        for each in map(decode, [row.data for row in stream])
        if isinstance(each.event, ev.Settled)
    ]
    assert [seat for seat, _ in settled] == [n + 1 for n in bettors]
    assert len({command for _, command in settled}) == len(bettors)

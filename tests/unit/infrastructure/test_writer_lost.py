"""A lost connection: whether a batch happened is found out before anybody is answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest
from structlog.testing import capture_logs

from domain import commands as c
from domain.handlers import HANDLERS
from infrastructure.ledger import writer as writing
from infrastructure.ledger.memory import MemoryStore
from infrastructure.ledger.store import CommandRecord, FirstAnswer, FirstReading, StoreLost
from infrastructure.ledger.submission import CommandFailed, Overloaded, Result, Reused, Submission
from infrastructure.ledger.writer import Writer
from tests.unit.infrastructure.ledgers import SEALS, Process, beside, deposit, furnished, submission, told
from tests.unit.infrastructure.random_play import RandomPlay
from tests.unit.infrastructure.rebuilding import Rebuilt
from tests.unit.infrastructure.test_writer import end, hand_over, stumble


class Line(MemoryStore):
    """A store whose database can be away: then nothing gets through. `tried` counts the attempts."""

    away = False
    tried = 0

    def begin(self, reading: FirstReading) -> FirstAnswer:
        """Begin, if the database is there."""
        self._try()
        return super().begin(reading)

    def find_commands(self, ids: Sequence[bytes]) -> dict[bytes, CommandRecord]:
        """Find, if the database is there."""
        self._try()
        return super().find_commands(ids)

    def _try(self) -> None:
        self.tried += 1
        if self.away:
            raise StoreLost("the server is away")


@pytest.fixture
def ledger() -> Process:
    """Return a furnished ledger, with a process that can look at it."""
    return furnished()


@pytest.fixture
def line(ledger: Process) -> Line:
    """Return the writer's connection."""
    return Line(ledger.ledger, lock_seconds_max=5)


@pytest.fixture
def writer(ledger: Process, line: Line, monkeypatch: pytest.MonkeyPatch) -> Iterator[Writer]:
    """Yield a writer that has not begun, and that asks often whether its database is back."""
    monkeypatch.setattr(writing, "RECOVERY_PAUSE_SECONDS", 0.001)
    made = Writer(line, SEALS, ledger.clock, "test-build")
    yield made
    made.stop()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a database half a second to come back."""
    monkeypatch.setattr(writing, "RECOVERY_SECONDS", 0.5)


@pytest.mark.parametrize("losses", [["before"], ["after"], ["before", "after"], ["before", "before"]])
def test_a_lost_commit_is_answered_once(writer: Writer, ledger: Process, losses: list[str]) -> None:
    """Whether it happened or not, every command of the batch has one effect, and a first answer (G11)."""
    sent = [submission(deposit(1, 1, f"r{n}"), f"k{n}") for n in range(20)]
    known = submission(deposit(2, 1, "known"), "known")
    ledger.run([known])
    ledger.ledger.fail_commits += losses
    futures = hand_over(writer, *sent, known)
    with capture_logs() as logs:
        writer.start()
        answers = [end(future) for future in futures]
    assert [answer["balance"] for answer in answers[:-1]] == list(range(1_000_001, 1_000_021))
    assert ledger.ledger.wallets["p1"].balance == 1_000_020
    replayed = [future.result().replayed for future in futures]
    assert replayed[-1]
    assert not any(replayed[:-1]) or losses == ["before", "after"]
    assert [line["event"] for line in logs][:1] == ["store_lost"]
    assert [line["event"] for line in logs][-1:] == ["store_found"]


@pytest.mark.parametrize("loss", ["before", "after"])
def test_repeats_in_a_lost_batch_keep_their_answers_apart(writer: Writer, ledger: Process, loss: str) -> None:
    """The first of one id acted, its repeat is a repeat, and another body under the id is still refused."""
    ledger.ledger.fail_commits.append(loss)
    one, other = (submission(deposit(1, amount, "r"), "key") for amount in (100, 999))
    futures = hand_over(writer, one, one, other)
    writer.start()
    assert isinstance(end(futures[2]), Reused)
    first, second = (future.result() for future in futures[:2])
    assert (first.replayed, second) == (False, first._replace(replayed=True))
    assert told(first)["balance"] == 1_000_100


def test_what_another_process_did_meanwhile_is_its_answer(writer: Writer, ledger: Process) -> None:
    """A command that was lost here and sent again elsewhere has the answer it got there."""
    sent = submission(deposit(1, 100, "r"), "key")
    writer.start()
    ledger.ledger.fail_commits.append("before")
    lost = threading.Event()
    find = writer._store.find_commands

    def elsewhere_first(ids: Sequence[bytes]) -> dict[bytes, CommandRecord]:
        beside(ledger).do(deposit(1, 7, "elsewhere"))
        beside(ledger).run([sent])
        lost.set()
        return find(ids)

    writer._store.find_commands = elsewhere_first  # type: ignore[method-assign]
    result = writer.call(sent)
    assert lost.is_set()
    assert (told(result)["balance"], result.replayed) == (1_000_107, True)


def test_a_command_that_fails_in_a_lost_batch_harms_no_other(
    writer: Writer, ledger: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the connection is back the batch is tried again, and then one by one."""
    futures = hand_over(writer, submission(deposit(1, 1, "a"), "a"))
    ledger.ledger.fail_commits.append("before")
    find = writer._store.find_commands

    def break_then_find(ids: Sequence[bytes]) -> dict[bytes, CommandRecord]:
        monkeypatch.setitem(HANDLERS, c.Withdraw, stumble)
        return find(ids)

    writer._store.find_commands = break_then_find  # type: ignore[method-assign]
    futures += hand_over(writer, submission(c.Withdraw("player-1", 5, "o", "t"), "bad"))
    futures += hand_over(writer, submission(deposit(1, 1, "b"), "b"))
    writer.start()
    ends = [end(future) for future in futures]
    assert (ends[0]["balance"], ends[2]["balance"]) == (1_000_001, 1_000_002)
    assert isinstance(ends[1], CommandFailed)


@pytest.mark.usefixtures("impatient")
def test_a_database_that_stays_away_keeps_nobody_waiting(writer: Writer, line: Line, ledger: Process) -> None:
    """After a bounded time all who wait are told to try again; what they sent has not happened."""
    line.away = True
    batches = [[submission(deposit(1, 1, f"{b}-{n}"), f"{b}-{n}") for n in range(300)] for b in range(3)]
    futures = hand_over(writer, *(each for batch in batches for each in batch))
    writer.start()
    assert {type(end(future)) for future in futures} == {Overloaded}
    tried = line.tried
    with pytest.raises(Overloaded):
        writer.call(batches[0][0])
    assert line.tried == tried + 1  # one attempt, no second wait
    line.away = False
    assert told(writer.call(batches[0][0]))["balance"] == 1_000_001
    line.away = True
    with pytest.raises(Overloaded):
        writer.call(batches[0][1])
    assert line.tried >= tried + 4  # one for the answer, then a new outage is waited for again
    assert ledger.ledger.wallets["p1"].balance == 1_000_001


@pytest.mark.usefixtures("impatient")
def test_a_database_that_answers_and_takes_nothing_keeps_nobody_waiting(
    writer: Writer, ledger: Process
) -> None:
    """A server whose disk is full is no more waited for than one that cannot be reached."""
    ledger.ledger.fail_commits += ["before"] * 100_000
    futures = hand_over(writer, *(submission(deposit(1, 1, f"r{n}"), f"k{n}") for n in range(300)))
    writer.start()
    assert {type(end(future)) for future in futures} == {Overloaded}
    ledger.ledger.fail_commits.clear()
    assert told(writer.call(submission(deposit(1, 1, "r1"), "k1")))["balance"] == 1_000_001


def test_stopping_during_an_outage_waits_for_nothing(writer: Writer, line: Line) -> None:
    """A writer that cannot reach its database ends all the same, at once, and answers who waits."""
    line.away = True
    futures = hand_over(writer, *(submission(deposit(1, 1, f"r{n}"), f"k{n}") for n in range(600)))
    writer.start()
    while line.tried < 3:
        pass
    began = time.monotonic()
    writer.stop()
    assert time.monotonic() < began + writing.RECOVERY_SECONDS / 2
    assert {type(end(future)) for future in futures} == {Overloaded}


def test_a_database_that_comes_back_in_time_is_not_noticed(writer: Writer, line: Line) -> None:
    """Within the bound callers wait a little longer and are answered."""
    line.away = True
    (future,) = hand_over(writer, submission(deposit(1, 1, "r"), "k"))
    writer.start()
    while line.tried < 3:
        pass
    line.away = False
    assert end(future)["balance"] == 1_000_001


@pytest.mark.parametrize("seed", range(2))
def test_many_writers_and_losses_leave_the_books_as_the_events_say(ledger: Process, seed: int) -> None:
    """Three writers, six callers, connections lost at any time: each command once, all books true."""
    ledger.ledger.fail_commits += (["before"] + ["after"] * 2) * 4
    writers = [
        Writer(MemoryStore(ledger.ledger), SEALS, ledger.clock, "b", settle_seats_max=2) for _ in range(3)
    ]
    for writer in writers:
        writer.start()
    truth = Rebuilt()
    answers: list[tuple[Submission, Result]] = []

    def call(caller: int) -> None:
        play = RandomPlay(100 * seed + caller, rounds=truth.rounds)
        for n in range(150):
            with ledger.ledger.lock:
                truth.read(ledger.ledger)
                sent = play.next()
            with suppress(Reused):
                answers.append((sent, writers[(n + caller) % 3].call(sent)))

    callers = [threading.Thread(target=call, args=(n,)) for n in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for writer in writers:
        writer.stop()
    for sent, result in answers:
        record = ledger.ledger.commands[sent.id]
        assert (record.outcome, record.body) == (result.outcome, result.body)
    assert not ledger.ledger.fail_commits
    for writer in writers:
        process = beside(ledger)
        process.books = writer._books
        process.ask(*map(c.TimeOutRound, truth.rounds))
        truth.read(ledger.ledger)
        truth.check(process.books, ledger.ledger)
        truth.check_rows(ledger.ledger)

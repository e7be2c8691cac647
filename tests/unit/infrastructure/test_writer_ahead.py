"""Deciding ahead comes to what deciding under the lock comes to, whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

import pytest

from domain import commands as c
from domain import events as ev
from domain.handlers import HANDLERS
from infrastructure.ledger.batch import Batch
from infrastructure.ledger.books import QUIET_BATCHES_MIN
from infrastructure.ledger.delivery import Waiting
from infrastructure.ledger.memory import MemoryLedger, MemoryStore
from infrastructure.ledger.store import Changes, StoreRefused
from infrastructure.ledger.submission import CommandFailed, Result, Submission
from infrastructure.ledger.writer import Writer
from tests.unit.infrastructure.ledgers import (
    SEALS,
    Process,
    beside,
    deposit,
    events,
    furnished,
    refused,
    stake,
    submission,
    told,
)

Hook = Callable[[], None]


class BusyStore(MemoryStore):
    """A store whose commits take a while: `meanwhile` runs before each is told to have ended, once each."""

    def __init__(self, ledger: MemoryLedger) -> None:
        super().__init__(ledger, lock_seconds_max=5)
        self.meanwhile: list[Hook] = []
        self.refuse_next = False

    def send(self, changes: Changes) -> None:
        """Send, or have the database refuse it, which shows at the end of the commit."""
        if self.refuse_next:
            self.refuse_next = False
            self.rollback()
            self._sent, self._end_of_commit = True, StoreRefused("a constraint")
            return
        super().send(changes)


class Watched(Batch):
    """A batch that says whether it was decided ahead, and whether that held."""

    ahead: list[str] = []  # noqa: RUF012 - one list for the test that empties it

    def anticipate(self) -> bool:
        """Decide ahead; then let happen what is to happen meanwhile."""
        decided = super().anticipate()
        self.ahead.append("decided" if decided else "not decided")
        assert isinstance(self.store, BusyStore)
        if self.store.meanwhile:
            self.store.meanwhile.pop(0)()
        return decided

    def confirm(self) -> bool:
        """Confirm, and note whether it held."""
        holds = super().confirm()
        self.ahead.append("held" if holds else "did not hold")
        return holds


class Stage:
    """A writer on a furnished ledger that takes the second batch while the first is committed, and so on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.process: Process = furnished()
        self.store = BusyStore(self.process.ledger)
        self.writer = Writer(self.store, SEALS, self.process.clock, "test-build")
        Watched.ahead.clear()
        monkeypatch.setattr("infrastructure.ledger.writer.Batch", Watched)
        self._warm()

    def _warm(self) -> None:
        """Let the writer learn the players and open a round for each, as if it had written all the time."""
        warm = Batch(
            [
                submission(c.OpenRound(f"r{n}", "pots", (stake(1, n),), deal=True), f"open-{n}")
                for n in (0, 1, 2)
            ],
            self.writer._books,
            self.store,
            SEALS,
            self.process.clock,
        )
        for outcome in warm.run():
            told(outcome)
        self.writer._books.quiet_batches = QUIET_BATCHES_MIN

    def write(self, *batches: Sequence[Submission]) -> list[Result | BaseException]:
        """Hand over the batches so that each of them is what waits when the one before is on its way."""
        futures: list[Future[Result]] = []
        real = self.writer._waiting
        rest = [list(batch) for batch in batches]

        def hand_over(_: int) -> list[Waiting]:
            waiting = [(s, Future()) for s in rest.pop(0)] if rest else []
            futures.extend(future for _, future in waiting)
            return [Waiting(s, f) for s, f in waiting]

        first = hand_over(0)
        on_its_way = self.writer._start(first)  # type: ignore[arg-type]
        self.writer._waiting = hand_over  # type: ignore[method-assign,assignment]
        while on_its_way is not None:
            waiting, ahead = self.writer._anticipate(0)
            finished = self.writer._finish(on_its_way)
            if not waiting:
                on_its_way = None
            elif ahead is not None and finished:
                on_its_way = self.writer._confirm(waiting, ahead)
            else:
                on_its_way = self.writer._start(waiting)
        self.writer._waiting = real  # type: ignore[method-assign]
        return [future.exception(1) or future.result(1) for future in futures]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Return a stage."""
    return Stage(monkeypatch)


def raises(n: int) -> Submission:
    """Return the raise in the round of player n."""
    return submission(c.Decide(f"r{n}", 1, "raise"), f"raise-{n}")


def test_a_batch_decided_ahead_is_written_as_it_was_decided(stage: Stage) -> None:
    """Nobody writes in between: what was decided while the first was committed holds, and the books agree."""
    first, second = stage.write([raises(0)], [raises(1)])
    assert Watched.ahead == ["decided", "held"]
    assert told(first)["phase"] == told(second)["phase"] == "closed"  # type: ignore[arg-type]
    assert len(events(stage.process.ledger, ev.RoundClosed)) == 2
    positions = [row.position for row in stage.process.ledger.events]
    assert positions == list(range(1, len(positions) + 1))


def test_what_another_process_wrote_in_between_counts(stage: Stage) -> None:
    """Another process takes the player's money meanwhile: the raise that was decided ahead is refused."""
    other = beside(stage.process)
    balance = stage.process.ledger.wallets["p1"].balance
    stage.store.meanwhile.append(
        lambda: other.do(c.Withdraw("player-1", balance, "all", "t-all")) and None  # type: ignore[func-returns-value]
    )
    first, second = stage.write([raises(0)], [raises(1)])
    assert "did not hold" in Watched.ahead
    assert told(first)["phase"] == "closed"  # type: ignore[arg-type]
    assert refused(second) == "insufficient_funds"  # type: ignore[arg-type]
    assert stage.process.ledger.wallets["p1"].balance == 0


def test_the_same_command_in_both_batches_acts_once(stage: Stage) -> None:
    """A repeat that waits while the first is committed is answered as the first was, once more."""
    joins = submission(c.JoinTable("three", "player-0"), "joins")
    first, second = stage.write([joins], [joins])
    assert "did not hold" in Watched.ahead
    assert isinstance(first, Result)
    assert second == first._replace(replayed=True)
    assert len(events(stage.process.ledger, ev.PlayerJoined)) == 1


def test_a_batch_is_decided_again_where_the_one_before_is_refused(stage: Stage) -> None:
    """The database refuses the first: what was decided on top of it is not written, but decided anew."""
    stage.store.meanwhile.append(lambda: None)
    stage.store.refuse_next = True
    first, second = stage.write([raises(0)], [raises(1)])
    assert isinstance(first, CommandFailed)
    assert told(second)["phase"] == "closed"  # type: ignore[arg-type]
    assert [e.seat for e in events(stage.process.ledger, ev.Raised)] == [1]


def test_a_batch_is_decided_again_where_the_one_before_was_lost(stage: Stage) -> None:
    """The connection goes with the first's answer: it happened once, and so does the second."""
    stage.process.ledger.fail_commits.append("after")
    first, second = stage.write([raises(0)], [raises(1)])
    assert told(first)["phase"] == told(second)["phase"] == "closed"  # type: ignore[arg-type]
    assert len(events(stage.process.ledger, ev.Raised)) == 2


def test_the_connection_may_go_before_what_was_decided_ahead(stage: Stage) -> None:
    """The second's own commit is lost and has not happened: it is tried again."""
    stage.store.meanwhile.append(lambda: stage.process.ledger.fail_commits.append("before"))
    first, second = stage.write([raises(0)], [raises(1)])
    assert told(first)["phase"] == told(second)["phase"] == "closed"  # type: ignore[arg-type]
    assert len(events(stage.process.ledger, ev.Raised)) == 2


@pytest.mark.parametrize(
    "command",
    [
        c.OpenPlayer("somebody", "p-new", "USD"),
        deposit(1, 100, "new"),
        c.Decide("r-unknown", 1, "raise"),
        c.OpenRound("r-new", "pots", (stake(1, 7),)),
    ],
    ids=["player", "transfer", "round", "stranger"],
)
def test_what_has_to_be_read_first_is_not_decided_ahead(stage: Stage, command: c.Command) -> None:
    """A command on something that is not in memory waits for its own reading."""
    stage.write([raises(0)], [submission(command, "needs-reading")])
    assert Watched.ahead[0] == "not decided"
    assert "held" not in Watched.ahead


def test_a_defect_met_ahead_harms_nobody(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command whose deciding breaks is told apart under its own lock; the others stand."""

    def breaks(*_: object) -> dict[str, object]:
        raise ZeroDivisionError

    monkeypatch.setitem(HANDLERS, c.LeaveTable, breaks)
    bad = submission(c.LeaveTable("pots", "player-1"), "bad")
    first, second, third = stage.write([raises(0)], [bad, raises(1)])
    assert told(first)["phase"] == told(third)["phase"] == "closed"  # type: ignore[arg-type]
    assert isinstance(second, CommandFailed)


def test_what_is_decided_ahead_is_not_written_ahead(stage: Stage) -> None:
    """While the first is committed nothing of the second is in the ledger, though it is decided."""
    seen: list[int] = []
    stage.store.meanwhile.append(lambda: seen.append(len(events(stage.process.ledger, ev.Raised))))
    stage.write([raises(0)], [raises(1)])
    assert seen == [1]
    assert len(events(stage.process.ledger, ev.Raised)) == 2


def test_nothing_is_decided_ahead_while_others_write(stage: Stage) -> None:
    """Where another process has written of late, batches are decided under their own locks."""
    stage.writer._books.quiet_batches = QUIET_BATCHES_MIN - 2
    stage.write([raises(0)], [raises(1)])
    assert Watched.ahead == ["not decided"]
    beside(stage.process).do(c.LeaveTable("pots", "player-5"), c.JoinTable("pots", "player-5"))
    stage.write([raises(2)])
    assert stage.writer._books.quiet_batches == 0

"""Ledgers broken on purpose: each a context in which one thing is wrong that real ledgers have got wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import psycopg

import domain.betting
import domain.settlement
import domain.wallets
from domain import commands as c
from domain.handlers import HANDLERS
from domain.money import contribution_exact
from infrastructure.ledger.batch import Batch
from infrastructure.ledger.books import Books
from infrastructure.ledger.delivery import deliver
from infrastructure.ledger.store import FirstReading
from infrastructure.ledger.submission import Outcome, Submission
from infrastructure.ledger.writer import Writer
from infrastructure.projections.kinds import Happened
from infrastructure.projections.performance import Performance
from infrastructure.projections.sink import Move
from tests.property.deterministic.simulated_readers import FaultySink

Mutant = Callable[[], Any]


@contextmanager
def a_lost_commit_is_taken_for_done() -> Iterator[None]:
    """The answers of a lost batch are given without looking whether it happened."""

    def believe(self: Writer, submissions: Sequence[Submission], decided: Sequence[Outcome]) -> list[Outcome]:
        return list(decided) if len(decided) == len(submissions) else recover(self, submissions, decided)

    recover = Writer._recover
    with mock.patch.object(Writer, "_recover", believe):
        yield


@contextmanager
def ids_are_not_looked_up() -> Iterator[None]:
    """Whether a command is known is never asked."""

    def read(self: Books, submissions: Sequence[Submission]) -> FirstReading:
        return replace(reading(self, submissions), command_ids=())

    reading = Books.reading
    with mock.patch.object(Books, "reading", read):
        yield


@contextmanager
def books_are_not_forgotten() -> Iterator[None]:
    """After a failed batch the memory of it is kept."""
    forget = Books.forget

    def keep(self: Books) -> None:
        if not hasattr(self, "work"):
            forget(self)

    with mock.patch.object(Books, "forget", keep):
        yield


@contextmanager
def wallets_are_kept_though_others_wrote() -> Iterator[None]:
    """The last to write a wallet overwrites what others did to it."""
    refresh = Books.refresh

    def keep(self: Books, *arguments: Any) -> None:
        wallets, players = dict(self.work.wallets), dict(self.work.players)
        refresh(self, *arguments)
        self.work.wallets.update(wallets)
        self.work.players.update(players)

    with mock.patch.object(Books, "refresh", keep):
        yield


@contextmanager
def rounds_are_kept_though_others_played() -> Iterator[None]:
    """What another process did in a round is not read on."""
    with mock.patch.object(Books, "_refresh_rounds", return_value=None):
        yield


@contextmanager
def what_is_decided_ahead_always_holds() -> Iterator[None]:
    """A batch decided ahead is written whoever has written in between."""

    def confirm(self: Batch) -> bool:
        reading, records = self._anticipated
        answer = self.store.begin(reading)
        self.books.work.position = max(self.books.work.position, answer.position)
        self._send(reading, records)
        return True

    with mock.patch.object(Batch, "confirm", confirm), mock.patch.object(Books, "suffice", return_value=True):
        yield


@contextmanager
def answers_come_before_the_commit() -> Iterator[None]:
    """Who waits is answered when the batch is decided."""
    start = Writer._start

    def answer_first(self: Writer, waiting: Any) -> Any:
        on_its_way = start(self, waiting)
        if on_its_way is not None:
            deliver(waiting, on_its_way.batch.outcomes)
        return on_its_way

    with mock.patch.object(Writer, "_start", answer_first):
        yield


@contextmanager
def a_contribution_counts_twice() -> Iterator[None]:
    """The meter gets twice the share of a side bet."""
    with mock.patch.object(
        domain.betting, "contribution_exact", lambda *figures: 2 * contribution_exact(*figures)
    ):
        yield


@contextmanager
def a_reference_is_credited_again() -> Iterator[None]:
    """The cashier's references are not remembered."""
    with mock.patch.object(domain.wallets, "_known", return_value=None):
        yield


@contextmanager
def a_tie_is_a_win() -> Iterator[None]:
    """Equal hands are paid to the player."""
    beats = domain.settlement.beats

    def wins(one: Any, other: Any) -> bool:
        return beats(one, other) or not beats(other, one)

    with mock.patch.object(domain.settlement, "beats", wins):
        yield


@contextmanager
def a_round_settles_twice() -> Iterator[None]:
    """Going on with a round that is settled half begins at its first seat."""
    go_on = HANDLERS[c.ContinueRound]

    def again(command: c.ContinueRound, work: Any) -> dict[str, Any]:
        if command.round_id in work.rounds:
            work.rounds[command.round_id].settled = 0
        return go_on(command, work)

    with mock.patch.dict(HANDLERS, {c.ContinueRound: again}):
        yield


@contextmanager
def the_checkpoint_is_not_in_the_transaction() -> Iterator[None]:
    """Rows are written, and where the process ends then their checkpoint is not: they are written again."""

    def apply(self: FaultySink, moves: Sequence[Move]) -> None:
        self._inner.apply(moves)
        if self._fault("project"):
            for move in moves:
                self._inner._change(move.name, move.build, position=move.before)  # type: ignore[attr-defined]
            raise psycopg.OperationalError

    with mock.patch.object(FaultySink, "apply", apply):
        yield


@contextmanager
def a_projection_counts_twice() -> Iterator[None]:
    """Every round that is opened counts as two."""
    event = Performance.event

    def twice(self: Performance, happened: Happened, *more: Any) -> None:
        event(self, happened, *more)
        if happened.type == "RoundOpened":
            event(self, happened, *more)

    with mock.patch.object(Performance, "event", twice):
        yield


@contextmanager
def an_outage_begins_anew_with_each_attempt() -> Iterator[None]:
    """A database that answers and takes nothing is waited for as long as it likes."""
    lost = Writer._lost

    def anew(self: Writer, *more: Any) -> None:
        self._lost_at = None
        lost(self, *more)

    with mock.patch.object(Writer, "_lost", anew):
        yield


MUTANTS: tuple[Mutant, ...] = (
    a_lost_commit_is_taken_for_done,
    ids_are_not_looked_up,
    books_are_not_forgotten,
    wallets_are_kept_though_others_wrote,
    rounds_are_kept_though_others_played,
    what_is_decided_ahead_always_holds,
    answers_come_before_the_commit,
    a_contribution_counts_twice,
    a_reference_is_credited_again,
    a_tie_is_a_win,
    a_round_settles_twice,
    an_outage_begins_anew_with_each_attempt,
    the_checkpoint_is_not_in_the_transaction,
    a_projection_counts_twice,
)

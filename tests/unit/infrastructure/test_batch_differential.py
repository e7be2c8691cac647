"""Several processes, one ledger: in whatever order they write, each one's memory is what the events say."""

from __future__ import annotations

import random

import pytest

from infrastructure.ledger.store import StoreLost
from infrastructure.ledger.submission import Submission
from tests.unit.infrastructure.ledgers import Clock, Process, furnished
from tests.unit.infrastructure.random_play import RandomPlay, continuations
from tests.unit.infrastructure.rebuilding import Rebuilt

BATCHES = 400


@pytest.mark.parametrize("seed", range(4))
def test_every_process_remembers_what_the_events_say(seed: int) -> None:
    """After each batch the books of the process that ran it, and all rows, are what the events say."""
    turns = random.Random(seed)
    clock = Clock()
    first = furnished(clock=clock, settle_seats_max=turns.choice((1, 2, 3)))
    processes = [first, *(Process(first.ledger, clock, first.settle_seats_max) for _ in range(2))]
    truth = Rebuilt()
    truth.read(first.ledger)
    play = RandomPlay(seed, rounds=truth.rounds)
    waiting: list[Submission] = []
    lost = 0
    for _ in range(BATCHES):
        clock.now_us += turns.choice((0, 1_000, 1_000_000, 30_000_000))
        process = turns.choice(processes)
        batch = [play.next() for _ in range(turns.randint(1, 6))]
        if turns.random() < 0.6:
            batch += waiting
            waiting = []
        turns.shuffle(batch)
        if turns.random() < 0.03:
            first.ledger.fail_commits.append(turns.choice(("before", "after")))
        try:
            process.run(batch)
            waiting += continuations(process.unsettled)
        except StoreLost:
            lost += 1
            truth.read(first.ledger)
            waiting += batch  # whoever sent them sends them again
            continue
        first.ledger.fail_commits.clear()
        truth.read(first.ledger)
        truth.check(process.books, first.ledger)
        truth.check_rows(first.ledger)
    assert {"closed", "voided"} <= {round_.phase for round_ in truth.rounds.values()}
    assert truth.hits
    assert lost

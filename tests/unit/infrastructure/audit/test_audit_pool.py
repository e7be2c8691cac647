"""Processes that share an audit's work: in order, bounded, and never left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from infrastructure.audit.pool import AHEAD, Beside, Pool, WorkerDied, WorkFailed
from tests.unit.infrastructure.audit import pool_work


def test_results_come_in_the_order_of_the_tasks() -> None:
    """However long each takes and whoever does it; the processes are others than this one."""
    with Pool(pool_work.double, 2, niceness=0) as pool:
        found = list(pool.map(range(25)))
        assert len(pool.process_ids) == 2
    assert [number for number, _ in found] == [2 * number for number in range(25)]
    assert os.getpid() not in {process for _, process in found}


def test_one_slow_task_holds_the_others_up_and_no_longer() -> None:
    """The other process does what may be begun and waits; then both go on."""
    with Pool(pool_work.slow_first, 2, niceness=0) as pool:
        assert list(pool.map(range(30))) == list(range(30))


def test_tasks_are_taken_as_they_are_needed() -> None:
    """A long list of tasks is not begun all at once: what waits to be taken is bounded."""
    taken = 0

    def tasks() -> Iterator[int]:
        nonlocal taken
        for number in range(1_000):
            taken += 1
            yield number

    with Pool(pool_work.double, 1, niceness=0) as pool:
        results = pool.map(tasks())
        for number in range(20):
            next(results)
            assert taken <= number + 1 + AHEAD
        results.close()
    with Pool(pool_work.double, 1, niceness=0) as pool:
        assert list(pool.map([])) == []


def test_what_fails_is_told_in_a_line() -> None:
    """The first line of what was raised, where the results are taken."""
    with Pool(pool_work.fail, 2, niceness=0) as pool, pytest.raises(WorkFailed) as failure:
        list(pool.map(range(10)))
    assert str(failure.value) == "ValueError: the third"


def test_a_process_that_is_killed_is_noticed() -> None:
    """Nobody waits for ever for what will not come."""
    with Pool(pool_work.die, 2, niceness=0) as pool, pytest.raises(WorkerDied, match="in the middle"):
        list(pool.map(range(10)))


def test_one_process_beside_tells_how_far_it_is() -> None:
    """It goes on by itself, and its result waits for whoever asks."""
    beside = Beside(pool_work.count, 200, niceness=0)
    try:
        assert beside.result() == 200
        assert (beside.done, beside.ended) == (200, True)
    finally:
        beside.close()
    failing = Beside(pool_work.count, None, niceness=0)
    try:
        with pytest.raises(WorkFailed, match="TypeError"):
            failing.result()
    finally:
        failing.close()


def test_nobody_outlives_a_parent_that_was_killed() -> None:
    """Processes in the middle of their work, and those that these have started, end when it is gone."""
    code = (
        "from infrastructure.audit.pool import Beside\n"
        "from tests.unit.infrastructure.audit import pool_work\n"
        "if __name__ == '__main__':\n"
        "    beside = Beside(pool_work.coordinate, None, niceness=0, alone=False)\n"
        "    beside.result()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [psutil.Process(int(parent.stdout.readline())) for _ in range(2)]
        coordinator = workers[0].parent()
        assert coordinator is not None
        parent.kill()
        everybody = [coordinator, *workers]
        _, left = psutil.wait_procs(everybody, timeout=10)
        for process in left:
            process.kill()
    assert left == []


def test_nothing_is_left_behind() -> None:
    """What is closed in the middle of its work is gone."""
    beside = Beside(pool_work.outlive, "/dev/null", niceness=0)
    while not beside.done:
        pass
    process = beside.process_id
    assert process == beside.done
    with Pool(pool_work.double, 1, niceness=0) as pool:
        (other,) = pool.process_ids
    beside.close()
    assert not psutil.pid_exists(process)
    assert not psutil.pid_exists(other)

"""Work done by processes of this machine, each with an interpreter of its own, results in the work's order.

The processes are started afresh (not forked: a parent may have threads and connections), give way to
whatever else the machine does, and end when the parent is gone, however it ended. At most `AHEAD` tasks for
each process are under way or wait to be taken, so that memory does not grow with the work.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, Generic, NamedTuple, TypeVar

import structlog

Task = TypeVar("Task")
Result = TypeVar("Result")

NICENESS: Final = 5
AHEAD: Final = 4
"""Tasks of one process that may be begun before the oldest unfinished one is ready."""
_END_SECONDS: Final = 5.0


class WorkerDied(RuntimeError):
    """A process ended in the middle of its work: killed from outside, or by the system for its memory."""


class WorkFailed(RuntimeError):
    """The work itself raised something in its process; the message is one line."""


class _Worker(NamedTuple):
    process: BaseProcess
    pipe: Connection


class Pool(Generic[Task, Result]):
    """Processes that all do `work`, a function of a module that can be pickled. A context manager.

    `niceness` is what they give way by.
    """

    def __init__(
        self, work: Callable[[Task], Result], processes: int | None = None, *, niceness: int = NICENESS
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        try:
            for _ in range(processes or usable_processors()):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, work, niceness), daemon=True)
                process.start()
                theirs.close()
                self._workers.append(_Worker(process, ours))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Pool[Task, Result]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def process_ids(self) -> list[int]:
        """The processes, for who watches their memory."""
        return [worker.process.pid for worker in self._workers if worker.process.pid is not None]

    def map(self, tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """Yield the tasks' results in their order. Raises WorkerDied, WorkFailed."""
        numbered = enumerate(tasks)
        idle, busy = list(self._workers), dict[int, _Worker]()
        ready: dict[int, Result] = {}
        told, exhausted = 0, False
        while True:
            while idle and not exhausted and len(busy) + len(ready) < AHEAD * len(self._workers):
                begun = next(numbered, None)
                if begun is None:
                    exhausted = True
                    break
                worker = idle.pop()
                with _talking():
                    worker.pipe.send(begun[1])
                busy[begun[0]] = worker
            while told in ready:
                yield ready.pop(told)
                told += 1
            if not busy:
                if exhausted:
                    return
                continue  # all that was begun is told: there is room again
            readable = wait([worker.pipe for worker in busy.values()])
            for number in [number for number, worker in busy.items() if worker.pipe in readable]:
                worker = busy.pop(number)
                with _talking():
                    failed, value = worker.pipe.recv()
                if failed:
                    raise WorkFailed(value)
                ready[number] = value
                idle.append(worker)

    def close(self) -> None:
        """End the processes: those at work at once, what they do is thrown away."""
        for worker in self._workers:
            worker.pipe.close()
            worker.process.terminate()
        for worker in self._workers:
            _end(worker.process)
        self._workers = []


class Beside(Generic[Task, Result]):
    """One process that does one piece of work while others do theirs. `work` is given the task and `tell`.

    `tell` takes how far it has come, which `done` is here. `alone`: it starts no processes itself.
    """

    def __init__(
        self,
        work: Callable[[Task, Callable[[int], None]], Result],
        task: Task,
        *,
        niceness: int = NICENESS,
        alone: bool = True,
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_do, args=(theirs, work, task, niceness), daemon=alone)
        self._process.start()
        theirs.close()
        self._done = 0
        self._ended: tuple[bool, Any] | None = None

    @property
    def process_id(self) -> int:
        """The process, for who watches its memory."""
        return self._process.pid or 0

    @property
    def done(self) -> int:
        """How far it has said that it has come."""
        while self._ended is None and self._pipe.poll():
            self._receive()
        return self._done

    @property
    def ended(self) -> bool:
        """Whether there is a result."""
        return self.done >= 0 and self._ended is not None

    def result(self) -> Result:
        """Wait for its end. Raises WorkerDied, WorkFailed."""
        while self._ended is None:
            self._receive()
        failed, value = self._ended
        if failed:
            raise WorkFailed(value)
        result: Result = value
        return result

    def close(self) -> None:
        """End it, whatever it does."""
        self._pipe.close()
        _end(self._process)

    def _receive(self) -> None:
        with _talking():
            failed, value = self._pipe.recv()
        if failed is None:
            self._done = value
        else:
            self._ended = failed, value


def usable_processors() -> int:
    """How many processors this process may use."""
    with contextlib.suppress(AttributeError):  # macOS does not tell
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _end(process: BaseProcess) -> None:
    process.terminate()
    process.join(_END_SECONDS)
    if process.is_alive():
        process.kill()
        process.join()


@contextlib.contextmanager
def _talking() -> Iterator[None]:
    try:
        yield
    except (EOFError, BrokenPipeError, ConnectionResetError) as error:
        raise WorkerDied(
            "a process of the audit ended in the middle of its work: was it killed, or is there too little"
            " memory?"
        ) from error


def _serve(pipe: Connection, work: Callable[[Any], Any], niceness: int) -> None:
    """What a process does: task by task, until the other end of the pipe is closed."""
    _give_way(niceness)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            task = pipe.recv()
            pipe.send(_answer(functools.partial(work, task)))


def _do(pipe: Connection, work: Callable[..., Any], task: object, niceness: int) -> None:
    """What a process does that is there for one task."""
    _give_way(niceness)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        pipe.send(_answer(lambda: work(task, lambda done: pipe.send((None, done)))))


def _end_with_parent() -> None:
    """End at once when the parent is gone, also one that was killed: nobody takes what we do any more.

    A pipe that nobody reads would tell only when there is a result; until then we would keep a processor and
    a connection. The kernel's signal for it comes when the parent's *thread* ends, so it is not asked for.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _give_way(niceness: int) -> None:
    threading.Thread(target=_end_with_parent, name="end-with-parent", daemon=True).start()
    # What is logged here is no part of what the parent prints, which may be JSON.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # a parent may wait for it in its own way
    os.nice(niceness)


def _answer(work: Callable[[], Any]) -> tuple[bool, Any]:
    """What is sent back: whether it failed, and the result or one line about the failure."""
    try:
        return False, work()
    except Exception as error:  # noqa: BLE001 - it is raised where the results are taken
        # A value of the events may be in the text of an error of ours; its first line says enough.
        return True, f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"[:500]

"""Reading the next batch while one is projected: a source in front of a source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future

from infrastructure.projections.source import Source


class ReadingAhead:
    """A `Source` that reads one step ahead where it is told to. Without an executor it never does.

    One thing is read at a time, whoever asks. What goes wrong while reading ahead is raised when what was
    read is asked for.
    """

    def __init__(self, source: Source, executor: Executor | None) -> None:
        self._source = source
        self._executor = executor
        self._ahead: tuple[int, int, Future[tuple[Sequence[bytes], bool]]] | None = None

    def begin(self, position: int, limit: int) -> None:
        """Begin to read what `after` will be asked for next."""
        self.forget()
        if self._executor is not None:
            self._ahead = position, limit, self._executor.submit(self._source.after, position, limit)

    def after(self, position: int, limit: int) -> tuple[Sequence[bytes], bool]:
        """The stored bytes of the events after a position, and whether there may be more."""
        if self._ahead is not None and self._ahead[:2] == (position, limit):
            (_, _, future), self._ahead = self._ahead, None
            return future.result()
        self.forget()
        return self._source.after(position, limit)

    def older(self, below: Mapping[str, int]) -> Iterator[bytes]:
        """The events of these streams whose version is below the one given, each stream's in order."""
        self._wait()
        return self._source.older(below)

    def forget(self) -> None:
        """Let go of what was read ahead."""
        self._wait()
        self._ahead = None

    def _wait(self) -> None:
        if self._ahead is not None:
            self._ahead[2].exception()

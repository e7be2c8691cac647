"""The same partitions, given to the workers of a Dask scheduler: an audit over many machines.

Dask is an extra (`pip install stud-ledger[dask]`). Workers need this package, and to reach what the parts
name: the archive's files at the same path, or the database. Results come back in order, a bounded number of
partitions at a time, as from the processes of one machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from infrastructure.audit.source import Part
from infrastructure.audit.work import Done, Work

AHEAD: Final = 4
"""Partitions for each of the workers' threads that are begun before the oldest has come back."""

Execute = Callable[[Work, Iterable[Part]], Iterator[Done]]


class NotInstalledError(RuntimeError):
    """Dask is not here: one line that says what to do."""


def on_dask(address: str, wait_seconds: float) -> Execute:
    """Have the work done by the workers of the scheduler at an address such as ``tcp://audit:8786``.

    The work raises NotInstalledError without Dask, OSError where no scheduler answers within that time, and
    what a worker met.
    """

    def execute(work: Work, parts: Iterable[Part]) -> Iterator[Done]:
        try:
            from distributed import Client  # noqa: PLC0415 - an extra
        except ImportError:
            raise NotInstalledError("--dask needs the package distributed (the extra dask)") from None
        # Its annotations are incomplete.
        with Client(address, timeout=wait_seconds, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            yield from on_client(client, work, parts)

    return execute


def on_client(client: Any, work: Work, parts: Iterable[Part]) -> Iterator[Done]:
    """Have the work done by a client's workers; `client` is a `distributed.Client`."""
    # A key of its own: that of the content would be let go with the audit before, which had the same one.
    (scattered,) = client.scatter([work], broadcast=True, hash=False)
    ahead = AHEAD * max(1, sum(client.nthreads().values()))
    waiting: deque[Any] = deque()
    for part in parts:
        waiting.append(client.submit(_do, scattered, part, pure=False))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _do(work: Work, part: Part) -> Done:
    return work(part)

"""Who waits for an answer, and how it gets there: futures of threads and of event loops."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple

import structlog

from infrastructure.ledger.submission import Outcome, Result, Submission

log = structlog.get_logger(__name__)

AnyFuture = asyncio.Future[Result] | Future[Result]


class Waiting(NamedTuple):
    """A command in the queue, and the future its end is told to."""

    submission: Submission
    future: AnyFuture


def deliver(batch: Sequence[Waiting], outcomes: Sequence[Outcome]) -> None:
    """Resolve the futures: one call into each event loop for the whole batch."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[AnyFuture, Outcome]]] = {}
    for waiting, outcome in zip(batch, outcomes, strict=True):
        future = waiting.future
        if isinstance(future, Future):
            _resolve([(future, outcome)])
        else:
            by_loop.setdefault(future.get_loop(), []).append((future, outcome))
    for loop, pairs in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve, pairs)
        except RuntimeError:
            # The event loop has been closed; the commands stand.
            log.warning("nobody_waits", answers=len(pairs))


def _resolve(pairs: Sequence[tuple[AnyFuture, Outcome]]) -> None:
    for future, outcome in pairs:
        if future.done():
            continue
        if isinstance(outcome, Result):
            future.set_result(outcome)
        else:
            future.set_exception(outcome)

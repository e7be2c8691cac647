"""The checkpoint that evidence is made with: it has what is to be proved, and is cosigned if it can be."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from typing import Final

from api.problems import RETRY_AFTER_SECONDS, Problem
from domain.registers import LogState
from infrastructure.clock import Clock
from infrastructure.evidence.folder import Generation, LogFolder
from infrastructure.evidence.notes import Checkpoint, parse_checkpoint, parse_note

WAIT_SECONDS_MAX: Final = 2.0
"""How long a request waits for the log: it signs within two seconds of a commit."""
WITNESS_SECONDS_MAX: Final = 3.0
"""How long after an event its proof waits for the witnesses."""
LOOK_SECONDS: Final = 0.05


def newest_note(log: Generation, size: int) -> bytes | None:
    """The newest checkpoint with at least `size` events: cosigned, or else as the log alone has signed it."""
    return _with(log.cosigned(), size) or _with(log.note(), size)


async def sealed(
    folder: LogFolder, state: LogState, size: int, recorded_at: datetime, clock: Clock
) -> tuple[Generation, bytes]:
    """The log and its newest checkpoint with at least `size` events; waits for it, a bounded time.

    It is the log that the ledger goes on with (`state`): where that has signed nothing yet, or the ledger is
    halted and what is asked for lies behind what both agree on, the one before is no proof of it. The last of
    the events was recorded at `recorded_at`: shortly after it the witnesses get the time to cosign. Raises
    Problem evidence_not_ready, LogUnavailable.
    """
    agreed = state.halted is None or size <= (state.position or 0)
    end = time.monotonic() + WAIT_SECONDS_MAX
    while True:
        log = folder.current
        if log is not None and not (agreed and log.number == state.generation):
            log = None
        note = None if log is None else _with(log.note(), size)
        if log is not None and note is not None:
            cosigned = log.cosigned()
            with_witnesses = _with(cosigned, size)
            age_seconds = clock() / 1_000_000 - recorded_at.timestamp()
            late = age_seconds > WITNESS_SECONDS_MAX or time.monotonic() > end
            if with_witnesses is not None or cosigned is None or late:
                return log, with_witnesses or note
        elif time.monotonic() > end:
            raise Problem(
                "evidence_not_ready",
                f"The log has not signed the events up to position {size} yet: ask again.",
                headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
                position=size,
            )
        await asyncio.sleep(LOOK_SECONDS)


def checkpoint_of(note: bytes) -> Checkpoint:
    """The checkpoint of a note that a log has published. Raises NoteError."""
    return parse_checkpoint(parse_note(note).text)


def _with(note: bytes | None, size: int) -> bytes | None:
    return note if note is not None and checkpoint_of(note).size >= size else None

"""What a process of the service sees to before anything else: that ledger and evidence log agree.

What was signed last is kept in the log's folder, outside the database and its backups. A ledger that was
restored from a backup has fewer events than that, and somebody may hold proofs of those that are gone; so it
is halted before the first request, the first time-out, the first anything.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psycopg
import structlog

from domain.commands import HaltLog, StartLog
from domain.registers import LogState
from infrastructure import log_keys
from infrastructure.bootstrap import DEFAULT_SCHEMA, NotReadyError
from infrastructure.evidence import folder
from infrastructure.evidence.unavailable import LogUnavailable
from infrastructure.ledger.submission import own_submission
from infrastructure.register_reading import read_log

if TYPE_CHECKING:
    from api.composition import Service

log = structlog.get_logger(__name__)

NAME: Final = "stud-ledger"
ID_CHARACTERS: Final = 16


async def compare(service: Service) -> None:
    """Halt the ledger where it is behind what its log has signed, or where that is lost.

    Raises NotReadyError where what was signed last cannot be read, Overloaded or CommandFailed where the
    database takes no command, ReadingUnavailable.
    """
    state = await service.reading.registers.log()
    if state.halted is not None:
        log.error("ledger_read_only", generation=state.generation, reason=state.halted)
        return
    position = await service.reading.position()
    command = await asyncio.to_thread(disagreement, service.settings.log, state, position)
    if command is None:
        return
    if state.generation == 0:  # a backup of before there was a log: it begins, to be halted at once
        await start(service)
    await service.submit(own_submission(command, f"log:halt:{command.generation}:start:{position}"))
    log.error("ledger_halted", generation=command.generation, reason=command.reason, position=position)


async def start(service: Service) -> None:
    """Start the log of a ledger that has none. Several processes may do this at once: it happens once.

    Raises KeysError, OSError, and what `compare` raises of the database.
    """
    if (await service.reading.registers.log()).generation:
        return
    command = await asyncio.to_thread(first, service.settings.keys, service.settings.log)
    await service.submit(own_submission(command, "log:start"))


def require_place(dsn: str, place: Path, *, alone: bool) -> None:
    """Raise NotReadyError where a folder cannot be that of the log of the ledger that is to be served.

    A service that is not `alone` on its ledger may have been told the wrong folder, or none: it must not halt
    the others as if the log were lost. Raises psycopg.Error.
    """
    with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection:
        position, state = read_log(connection, DEFAULT_SCHEMA)
    if state.generation and not alone and not place.is_dir():
        raise NotReadyError(
            f"the ledger has an evidence log, and not in {place}: name its folder with --log, the same for "
            "all that serve the ledger (where it is lost, make that folder: the ledger is read-only then)"
        )
    disagreement(place, state, position)


def disagreement(place: Path, state: LogState, position: int) -> HaltLog | None:
    """What is wrong between a ledger as it stands and its log's folder; None: nothing is.

    Raises NotReadyError where the folder cannot be read, or is another ledger's.
    """
    try:
        head = folder.read_head(place)
        if head is not None and head.generation >= state.generation:
            return _behind(place, head, state, position)
        published = folder.LogFolder(place).generation(state.generation).newest() is not None
    except LogUnavailable as problem:
        raise NotReadyError(str(problem)) from problem
    if state.generation and (published or not folder.has_begun(place, state.generation)):
        return HaltLog(state.generation, "lost", position)
    return None


def _behind(place: Path, head: folder.Head, state: LogState, position: int) -> HaltLog | None:
    """Compare a ledger with what was signed last; None: it has at least as many events.

    One that was restored from before its log was started, or a later one, knows less than that signed.
    """
    origin = head.checkpoint.origin
    name = state.origin.rpartition("/")[0]
    if state.generation and origin.rpartition("/")[0] != name:
        raise NotReadyError(
            f"the evidence log in {place} is of another ledger ({origin}): name the right one"
        )
    if origin == state.origin and head.checkpoint.size <= position:
        return None
    keys = folder.LogFolder(place).generation(head.generation).keys()
    later = {} if origin == state.origin else {"origin": origin, "vkey": keys[0] if keys else None}
    agree_to = min(position, head.checkpoint.size)
    return HaltLog(
        max(state.generation, 1),
        "behind",
        agree_to,
        head.checkpoint.size,
        head.checkpoint.root_text,
        **later,
    )


def first(keys: Path, place: Path) -> StartLog:
    """Make the first log's key and mark its folder; the name follows from the key, so it is one for all.

    A ledger that comes back from before its log keeps the name that the folder has signed under: its key may
    be another one since, and the folder would seem to be another ledger's. Raises KeysError, OSError,
    LogUnavailable.
    """
    verifier = log_keys.load_or_create(keys, NAME).verifier
    head = folder.read_head(place)
    if head is None:
        name = f"{NAME}/{hashlib.sha256(verifier.public).hexdigest()[:ID_CHARACTERS]}"
    else:
        name = head.checkpoint.origin.rpartition("/")[0]
    origin = f"{name}/1"
    begin(place, 1)
    return StartLog(origin, replace(verifier, name=origin).vkey)


def begin(place: Path, generation: int) -> None:
    """Mark that a log begins in a folder, whoever else does the same at this moment. Raises OSError."""
    try:
        folder.begin(place, generation)
    except FileNotFoundError:
        if not folder.has_begun(place, generation):
            raise

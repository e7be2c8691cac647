"""The sealer in a process: its locks, its connections, and the thread that keeps it going.

One process seals a ledger. An advisory lock of the database lets another take over when its holder's
connection ends, however it ends; a lock on the folder keeps a holder that has lost its connection, and does
not know it yet, from writing beside the next one.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

import psycopg
import structlog
from psycopg import sql

from domain.commands import HaltLog
from infrastructure import log_keys
from infrastructure.advisory import try_lock
from infrastructure.evidence import files
from infrastructure.evidence.asking import WitnessAddress
from infrastructure.evidence.events import PostgresEvents
from infrastructure.evidence.files import Disk
from infrastructure.evidence.sealing import EVENTS_MAX, Sealing
from infrastructure.evidence.witnesses import Witnesses
from infrastructure.keys import KeysError
from infrastructure.ledger.once import submit_once
from infrastructure.ledger.submission import CommandFailed, Overloaded, ReadOnly, Reused, own_submission
from infrastructure.tireless import Tireless, connect

TURN_SECONDS: Final = 0.3
"""Between the beginnings of two turns, where there is not more to do: what is committed waits so long."""
LOCK_SECONDS: Final = 0.5
RECONNECT_SECONDS: Final = 1.0
LOCK: Final = "lock"

_OPTIONS: Final = "-c statement_timeout=60000 -c lock_timeout=10000 -c jit=off"
_RAISE: Final = """
    INSERT INTO {}.alarms AS a (name, position, detail, since_us) VALUES (%s, %s, %s, %s)
    ON CONFLICT (name) DO UPDATE SET position = excluded.position, detail = excluded.detail
    WHERE (a.position, a.detail) IS DISTINCT FROM (excluded.position, excluded.detail)"""
_END: Final = "DELETE FROM {}.alarms WHERE name = %s"
_NOT_TAKEN: Final = (Overloaded, CommandFailed, ReadOnly, Reused, TimeoutError)
_DETAIL_CHARACTERS_MAX: Final = 500

log = structlog.get_logger(__name__)


class Teller:
    """Tells alarms in the read side's table, beside the others, and halts the ledger by a command.

    Raises psycopg.Error, and what `submit_once` raises.
    """

    def __init__(
        self, connection: psycopg.Connection, schema: str, halt: Callable[[HaltLog], object]
    ) -> None:
        self._connection = connection
        self._read = sql.Identifier(f"{schema}_read")
        self._halt = halt

    def alarm(self, name: str, position: int, detail: str) -> None:
        """Raise an alarm, or let it go on."""
        values = [name, position, detail[:_DETAIL_CHARACTERS_MAX], time.time_ns() // 1_000]
        if self._connection.execute(sql.SQL(_RAISE).format(self._read), values).rowcount:
            log.error("log_alarm", alarm=name, position=position, detail=detail)  # and not in every turn

    def ended(self, name: str) -> None:
        """End an alarm that is raised."""
        self._connection.execute(sql.SQL(_END).format(self._read), [name])

    def halt(self, command: HaltLog) -> None:
        """Halt the ledger."""
        self._halt(command)


class Sealer:
    """The sealing on a connection of its own. A context manager; not thread safe.

    `folder` is the log's, `keys` that of the service's keys. Until `try_to_act` says so, do not `turn`.
    """

    def __init__(
        self,
        dsn: str,
        schema: str,
        folder: Path,
        keys: Path,
        witnesses: Witnesses,
        *,
        disk: Disk | None = None,
        events_max: int = EVENTS_MAX,
    ) -> None:
        self._dsn = dsn
        self._schema = schema
        self._folder = folder
        self._keys = keys
        self._witnesses = witnesses
        self._disk = disk
        self._events_max = events_max
        self._stack = ExitStack()
        self._descriptor: int | None = None
        self.sealing: Sealing | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._connection = stack.enter_context(connect(self._dsn, "sealer", _OPTIONS))
            if self._disk is None:
                self._disk = Disk()
                stack.callback(self._disk.close)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def acting(self) -> bool:
        """Whether this is the process that seals."""
        return self.sealing is not None

    def try_to_act(self) -> bool:
        """Become the one that seals, unless another is. Raises psycopg.Error, OSError."""
        if (
            self.sealing is None
            and try_lock(self._connection, "sealer", self._schema)
            and self._has_folder()
            and self._disk is not None
        ):
            self.sealing = Sealing(
                PostgresEvents(self._connection, self._schema),
                self._folder,
                lambda vkey: log_keys.load_for(self._keys, vkey),
                self._witnesses,
                Teller(self._connection, self._schema, self._halt),
                self._disk,
                self._events_max,
            )
        return self.acting

    def turn(self) -> bool:
        """Seal what there is, up to a bound; return whether there is more to do at once.

        Raises psycopg.Error, and what `submit_once` raises: then begin anew with another instance.
        """
        if self.sealing is None:
            raise RuntimeError("another process seals, or nobody tried to act")
        return self.sealing.turn()

    def _has_folder(self) -> bool:
        if self._descriptor is None:
            files.make_folder(self._folder, Path(self._folder.anchor))
            self._descriptor = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._stack.callback(os.close, self._descriptor)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _halt(self, command: HaltLog) -> None:
        occasion = f"halt-log:{command.generation}:{command.reason}:{command.size}:{command.root}"
        submit_once(self._dsn, self._schema, self._keys, own_submission(command, occasion))


class SealerRunner(Tireless):
    """A thread that seals for as long as it lives, and waits while another process does.

    `witnesses` (``VKEY URL``) are asked for their signatures. Raises NoteError where one is not named so.
    """

    INTERRUPTED_BY = (psycopg.Error, OSError, KeysError, *_NOT_TAKEN)

    def __init__(
        self, dsn: str, schema: str, folder: Path, keys: Path, witnesses: Sequence[str] = ()
    ) -> None:
        super().__init__("sealer", RECONNECT_SECONDS)
        self._witnesses = Witnesses([WitnessAddress.parse(witness) for witness in witnesses])
        self._make: Callable[[], Sealer] = lambda: Sealer(dsn, schema, folder, keys, self._witnesses)

    def stop(self) -> None:
        """End after the turn that is under way."""
        super().stop()
        self._witnesses.stop()

    def _live(self) -> None:
        with self._make() as sealer:
            self._seal(sealer)

    def _seal(self, sealer: Sealer) -> None:
        while not self._stop.is_set():
            self._acting = sealer.try_to_act()
            if not self._acting:
                self._stop.wait(LOCK_SECONDS)
                continue
            began = time.monotonic()
            if not sealer.turn():
                self._stop.wait(max(0.0, began + TURN_SECONDS - time.monotonic()))

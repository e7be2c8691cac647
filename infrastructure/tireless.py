"""A thread that does a part of the ledger's own work for as long as its process lives, whatever goes wrong.

Every process of a service has the same ones, and one process acts: it holds the advisory lock of the work on
its connection, so that another takes over when that is gone.
"""

from __future__ import annotations

import threading
from typing import ClassVar

import psycopg
import structlog

from infrastructure import defects
from infrastructure.advisory import try_lock

log = structlog.get_logger(__name__)


def connect(dsn: str, work: str, options: str | None = None) -> psycopg.Connection:
    """Connect for some work, in autocommit mode, so that a server that is gone is noticed within seconds.

    `options` are the server's. Raises psycopg.Error.
    """
    return psycopg.connect(
        dsn,
        autocommit=True,
        connect_timeout=5,
        options=options,
        application_name=f"stud-ledger {work}",
        keepalives_idle=5,
        keepalives_interval=2,
        keepalives_count=3,
    )


class Tireless:
    """The thread. A kind of work is a subclass, whose `_live` works until `_stop` is set or something fails.

    `work` is the thread's name, and what its lines in the log begin with; after a failure it rests for
    `rest_seconds`.
    """

    INTERRUPTED_BY: ClassVar[tuple[type[Exception], ...]] = (psycopg.Error,)
    """What can happen to it; everything else is a defect."""

    def __init__(self, work: str, rest_seconds: float) -> None:
        self._work = work
        self._rest_seconds = rest_seconds
        self._acting = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=work, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after what is under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def alive(self) -> bool:
        """Whether the thread is there."""
        return self._thread.is_alive()

    @property
    def acting(self) -> bool:
        """Whether this process is the one that acts."""
        return self._acting

    def _live(self) -> None:
        """Work until `_stop` is set. What it raises ends this life, and another begins."""
        raise NotImplementedError

    def _is_first(self, connection: psycopg.Connection, schema: str) -> bool:
        """Say whether this process acts, after trying to be the one. Raises psycopg.Error."""
        if not self._acting:
            self._acting = try_lock(connection, self._work, schema)
        return self._acting

    def _run(self) -> None:
        interrupted, failed = f"{self._work}_interrupted", f"{self._work}_failed"
        while not self._stop.is_set():
            try:
                self._live()
            except self.INTERRUPTED_BY as error:
                log.warning(interrupted, error=type(error).__name__, at=defects.place(error))
            except Exception as error:  # noqa: BLE001 - a defect must not end the work for good
                # The error's values may be secret: only its kind and place are logged.
                log.error(failed, error=type(error).__name__, at=defects.place(error))  # noqa: TRY400
            self._acting = False
            self._stop.wait(self._rest_seconds)

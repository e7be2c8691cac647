"""Keeping the embedded database server up while the service runs."""

from __future__ import annotations

import time
from typing import Protocol

import psycopg

from infrastructure.postgres import LauncherError

RETRY_S = 2.0
PATIENCE_S = 900.0
"""How long a server may not start before the service gives up: a full disk is given room, or is not."""


class Server(Protocol):
    """What is watched: see `infrastructure.postgres.EmbeddedPostgres`."""

    def restart_if_dead(self) -> bool:
        """Start the server again if it died; tell whether that was so."""

    def trim_log(self) -> None:
        """Keep the log bounded."""


class DatabaseWatch:
    """Starts the server again when it has died, and goes on trying for a while where it does not start.

    A full disk ends PostgreSQL and keeps it from starting. Meanwhile the workers answer that they can take
    nothing.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._failing_since: float | None = None
        self._next_try = 0.0
        self._told = ""

    def look(self) -> str:
        """Look after the server; return what there is to say. Raises what kept it from starting for long."""
        now = time.monotonic()
        if now < self._next_try:
            return ""
        try:
            restarted = self._server.restart_if_dead()
            self._server.trim_log()
        except (LauncherError, OSError, psycopg.OperationalError) as problem:
            return self._failed(problem, now)
        self._failing_since, self._told = None, ""
        return "PostgreSQL ended and was started again" if restarted else ""

    def _failed(self, problem: Exception, now: float) -> str:
        if self._failing_since is None:
            self._failing_since = now
        if now - self._failing_since > PATIENCE_S:
            raise problem
        self._next_try = now + RETRY_S
        why = getattr(problem, "strerror", None) or str(problem).strip().partition("\n")[0]
        told, self._told = self._told, why
        return "" if why == told else f"PostgreSQL ended and does not start ({why}): trying again"

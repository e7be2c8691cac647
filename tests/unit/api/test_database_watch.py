"""The embedded server while the service runs: started again, and patiently where it does not start."""

from __future__ import annotations

import errno

import pytest

from api.cli import database_watch
from api.cli.database_watch import DatabaseWatch
from infrastructure.postgres import LauncherError

RUNS, DIED = "runs", "died"
FULL = OSError(errno.ENOSPC, "No space left on device")
REFUSED = LauncherError("PostgreSQL did not start: FATAL: could not write")


class Server:
    """A server that comes to what it is told to, one look after the other; then it runs."""

    def __init__(self, *ends: str | Exception) -> None:
        self.ends = list(ends)
        self.trimmed = 0

    def restart_if_dead(self) -> bool:
        """Come to the next end."""
        end = self.ends.pop(0) if self.ends else RUNS
        if isinstance(end, Exception):
            raise end
        return end == DIED

    def trim_log(self) -> None:
        """Count how often the log was looked at."""
        self.trimmed += 1


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it try again at every look."""
    monkeypatch.setattr(database_watch, "RETRY_S", 0.0)


def test_a_server_that_runs_is_nothing_to_talk_about() -> None:
    """Nothing is said while it runs, one sentence when it was started again, and its log is kept bounded."""
    server = Server(RUNS, DIED, RUNS)
    watch = DatabaseWatch(server)
    assert [watch.look() for _ in range(4)] == ["", "PostgreSQL ended and was started again", "", ""]
    assert server.trimmed == 4


def test_a_server_that_does_not_start_is_tried_until_it_does() -> None:
    """Each reason is said once, in a line; the service goes on, and says when the server is back."""
    watch = DatabaseWatch(Server(REFUSED, FULL, FULL, REFUSED, DIED, FULL, DIED))
    told = [watch.look() for _ in range(8)]
    assert told[0] == f"PostgreSQL ended and does not start ({REFUSED}): trying again"
    assert told[1] == "PostgreSQL ended and does not start (No space left on device): trying again"
    assert told[2] == ""
    assert told[3:6] == [told[0], "PostgreSQL ended and was started again", told[1]]
    assert told[6:] == [told[4], ""]


def test_it_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that never starts ends the service with the reason, for whoever looks after that."""
    watch = DatabaseWatch(Server(*[FULL] * 3))
    assert watch.look()
    assert not watch.look()
    monkeypatch.setattr(database_watch, "PATIENCE_S", -1.0)
    with pytest.raises(OSError, match="No space left"):
        watch.look()


def test_between_two_tries_there_is_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not start is not tried with every look."""
    monkeypatch.setattr(database_watch, "RETRY_S", 60.0)
    server = Server(FULL, FULL)
    watch = DatabaseWatch(server)
    assert [bool(watch.look()) for _ in range(5)] == [True, False, False, False, False]
    assert server.ends == [FULL]

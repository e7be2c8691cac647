"""A line to PostgreSQL: prepared statements, many in one round trip.

The writer's two trips a batch are a dozen small statements. psycopg makes and keeps the connection, but its
cursors spend more time adapting parameters than the server spends answering; here the statements go out
through the driver's own binding of libpq's pipeline mode, with parameters and results in the binary format. A
dozen statements cost 0.03 ms of processor time this way and 0.3 to 1.5 ms the other.

Waiting is done with poll, outside the interpreter's lock: the binding's blocking calls would hold it.
"""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING, Final

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg.pq.abc import PGconn, PGresult

Call = tuple[str, "Sequence[bytes | None]"]
"""A statement's name and its parameters, each in the binary format."""

_OK: Final = frozenset({pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK})

CONNECTION_DEFAULTS: Final = {
    # A peer that vanished without a word is noticed in seconds, not in the kernel's two hours.
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
    # Of several hosts, the one that takes writes: after a fail-over that is another one.
    "target_session_attrs": "read-write",
}


class LineRefusedError(Exception):
    """The server refused a statement and ran none after it. `sqlstate` says why, five characters."""

    def __init__(self, sqlstate: str, message: str) -> None:
        super().__init__(f"{message} ({sqlstate})")
        self.sqlstate = sqlstate


class LineLostError(Exception):
    """The connection is gone, or the server did not answer in time; the line is closed."""


class Line:
    """One connection in pipeline mode with its prepared statements. Not thread safe.

    `statements` maps names to SQL with typed `$1` parameters. `sent` counts the statements so far. Raises
    LineLostError where the server cannot be reached, LineRefusedError where it refuses a statement.
    """

    def __init__(
        self,
        dsn: str,
        statements: Mapping[str, str],
        *,
        application_name: str,
        connect_seconds_max: int,
        answer_seconds_max: float,
    ) -> None:
        settings = {
            **CONNECTION_DEFAULTS,
            "connect_timeout": str(connect_seconds_max),
            "application_name": application_name,
            **conninfo_to_dict(dsn),
        }
        self.sent = 0
        self._answer_seconds_max = answer_seconds_max
        try:
            self._connection = psycopg.connect(make_conninfo("", **settings), autocommit=True)
        except psycopg.Error as error:
            raise LineLostError(f"cannot reach the database: {error}") from error
        self._pgconn: PGconn = self._connection.pgconn
        self._pgconn.nonblocking = 1
        self._poll = select.poll()
        self._pgconn.enter_pipeline_mode()
        self._names = {name: name.encode() for name in statements}
        try:
            for name, statement in statements.items():
                self._pgconn.send_prepare(self._names[name], statement.encode())
            self._flush()
            self._collect()
        except psycopg.OperationalError as error:
            raise self._lost(str(error)) from error
        except BaseException:
            self.close()
            raise

    def trip(self, calls: Sequence[Call]) -> list[PGresult]:
        """Run the calls in order in one round trip; return a result for each.

        Raises LineRefusedError at the first refusal, LineLostError.
        """
        self.send(calls)
        return self.receive()

    def send(self, calls: Sequence[Call]) -> None:
        """Send the calls, for the server to work on; `receive` is next. Raises LineLostError."""
        send = self._pgconn.send_query_prepared
        try:
            for name, parameters in calls:
                send(self._names[name], parameters, [1] * len(parameters), result_format=1)
            self.sent += len(calls)
            self._flush()
        except psycopg.OperationalError as error:
            raise self._lost(str(error)) from error
        except BaseException:
            self.close()  # interrupted: half a trip on its way cannot be taken back
            raise

    def receive(self) -> list[PGresult]:
        """Wait for a result of each call that was sent. Raises as `trip` does."""
        try:
            return self._collect()
        except psycopg.OperationalError as error:
            raise self._lost(str(error)) from error
        except LineRefusedError:
            raise
        except BaseException:
            self.close()  # interrupted: answers left unread would be taken for those of the next trip
            raise

    def close(self) -> None:
        """Close the connection; harmless when it is closed."""
        self._connection.close()

    def _flush(self) -> None:
        """Send what is queued, and the synchronisation point behind it."""
        deadline = time.monotonic() + self._answer_seconds_max
        self._pgconn.pipeline_sync()
        while self._pgconn.flush():
            self._wait(select.POLLIN | select.POLLOUT, deadline)

    def _collect(self) -> list[PGresult]:
        """Return the results up to the synchronisation point."""
        deadline = time.monotonic() + self._answer_seconds_max
        results: list[PGresult] = []
        while True:
            while self._pgconn.is_busy():
                self._wait(select.POLLIN, deadline)
            result = self._pgconn.get_result()
            if result is None:
                if self._pgconn.status != pq.ConnStatus.OK:
                    raise self._lost("the server closed the connection")
            elif result.status == pq.ExecStatus.PIPELINE_SYNC:
                break
            else:
                results.append(result)
        for result in results:
            if result.status not in _OK:
                self._refuse(result)
        return results

    def _wait(self, events: int, deadline: float) -> None:
        seconds = deadline - time.monotonic()
        # Registered anew each time: libpq may have closed the socket, and the number be somebody else's.
        self._poll.register(self._pgconn.socket, events)
        if seconds <= 0 or not self._poll.poll(seconds * 1000):
            raise self._lost(f"no answer within {self._answer_seconds_max} s")
        self._pgconn.consume_input()

    def _refuse(self, result: PGresult) -> None:
        state = result.error_field(pq.DiagnosticField.SQLSTATE)
        message = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY)
        if self._pgconn.status != pq.ConnStatus.OK or state is None:
            raise self._lost(result.get_error_message())
        raise LineRefusedError(state.decode(), (message or b"").decode(errors="replace"))

    def _lost(self, reason: str) -> LineLostError:
        self.close()
        return LineLostError(reason.strip())

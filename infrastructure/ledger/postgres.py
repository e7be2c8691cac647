"""The ledger's state in PostgreSQL: a batch in two round trips.

The head row's lock is the order of the ledger. Under READ COMMITTED each statement sees what was committed
before it began, so everything that is read after the lock is as the last batch left it, whichever process
wrote that.

Every statement is prepared when the connection is made, and planned once, for keys alone: the session rules
out the plans that are right for an empty table and wrong for a full one.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NoReturn

from infrastructure.ledger import rows, statements
from infrastructure.ledger.arrays import byteas, texts
from infrastructure.ledger.line import Line, LineLostError, LineRefusedError
from infrastructure.ledger.store import StoreLost, StoreRefused, refuse_gaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg.pq.abc import PGresult

    from infrastructure.ledger.line import Call
    from infrastructure.ledger.store import Changes, CommandRecord, FirstAnswer, FirstReading, WalletRow

_REFUSALS: Final = ("22", "23", "42", "54", "P0")
"""SQLSTATE classes that say something about the batch: a value, a constraint, a right, a limit, a trigger.

All others (a lock not had in time, a full disk, a server going down or turned read-only) are about the
server, and are treated like a lost connection.
"""

_LOCK_NOT_AVAILABLE: Final = "55P03"

STATEMENT_SECONDS_MAX: Final = 20
"""How long a statement may run, and how long the server lets a transaction wait for our next word."""

_BACKOFF_SECONDS_MIN: Final = 0.05
_BACKOFF_SECONDS_MAX: Final = 1.0


class UnsafeServerError(RuntimeError):
    """The server does not keep what it acknowledges: ``fsync`` or ``full_page_writes`` is off."""


class PostgresStore:
    """A `Store` on one connection, made when it is needed and made again after it was lost.

    `schema` is the ledger's. `reconnect_seconds_max` bounds how long one call tries to connect,
    `lock_seconds_max` how long it waits for the head row, `answer_seconds_max` how long for an answer.
    `throwaway` accepts a server that may lose committed data. Raises UnsafeServerError, when it connects, for
    one where that was not said.
    """

    def __init__(
        self,
        dsn: str,
        schema: str = "ledger",
        *,
        throwaway: bool = False,
        reconnect_seconds_max: float = 5.0,
        lock_seconds_max: int = 10,
        answer_seconds_max: float = 30.0,
    ) -> None:
        self._dsn = dsn
        self._statements = statements.for_schema(schema)
        self._throwaway = throwaway
        self._reconnect_seconds_max = reconnect_seconds_max
        self._lock_seconds_max = lock_seconds_max
        self._answer_seconds_max = answer_seconds_max
        self._line: Line | None = None
        self._sent_before = 0
        self._head: tuple[int, int] | None = None
        self._sent = False

    # ── The store ───────────────────────────────────────────────────────────────────────────────────────────
    def begin(self, reading: FirstReading) -> FirstAnswer:
        """Open the transaction, lock the head, read. Raises StoreLost, StoreRefused.

        A connection that was lost since the last batch is made again here: nothing was under way on it.
        """
        if self._head is not None:
            raise RuntimeError("a transaction is open already")
        calls = rows.calls_to_begin(reading)
        was_connected = self._line is not None
        try:
            results = self._trip(calls)
        except StoreLost as error:
            if not was_connected or getattr(error.__cause__, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
                raise
            results = self._trip(calls)
        answer = rows.answer(dict(zip((name for name, _ in calls), results, strict=True)))
        self._head = answer.position, answer.recorded_at_us
        return answer

    def read_wallets(self, players: Sequence[str], player_ids: Sequence[str]) -> list[WalletRow]:
        """Wallets by pseudonym or by the operator's id, inside the open transaction.

        Raises StoreLost, StoreRefused.
        """
        self._require_transaction()
        (result,) = self._trip([("wallets_by_player", [texts(players), texts(player_ids)])])
        return [rows.wallet(row) for row in rows.rows_of(result)]

    def send(self, changes: Changes) -> None:
        """Send what is to be written and the commit, and do not wait: `finish` is the next call.

        Raises StoreRefused (rolled back) or StoreLost.
        """
        head = self._require_transaction()
        try:
            refuse_gaps(*head, changes)
            calls = rows.calls_to_write(head[0], changes)
        except StoreRefused:
            self.rollback()
            raise
        except (OverflowError, ValueError) as error:
            self.rollback()
            raise StoreRefused(f"a value has no place in the database: {error}") from error
        line = self._connected()
        try:
            line.send([*calls, ("commit", ())])
        except LineLostError as error:
            raise self._lost(error) from error
        self._head = None
        self._sent = True

    def finish(self) -> None:
        """Wait until what was sent is durable. Raises StoreRefused (rolled back) or StoreLost."""
        if not self._sent or self._line is None:
            raise RuntimeError("nothing was sent")
        self._sent = False
        line = self._line
        try:
            line.receive()
        except LineLostError as error:
            raise self._lost(error) from error
        except LineRefusedError as error:
            self._refused(line, error)

    def commit(self, changes: Changes) -> None:
        """Write and commit durably. Raises StoreRefused (rolled back) or StoreLost."""
        self.send(changes)
        self.finish()

    def rollback(self) -> None:
        """End the transaction without effect; harmless when there is none."""
        if self._head is None:
            return
        self._head = None
        try:
            self._trip([("rollback", ())])
        except StoreLost:
            return  # a server ends the transaction of a connection that is gone

    def find_commands(self, ids: Sequence[bytes]) -> dict[bytes, CommandRecord]:
        """Return which of these commands happened. Raises StoreLost.

        The lost connection's server process may not know yet that we are gone, and may still be committing.
        It holds the head row until it has ended one way or the other, so the head row is taken before
        looking.
        """
        if self._head is not None:
            raise RuntimeError("a transaction is open")
        try:
            _, _, found = self._trip([("begin", ()), ("head", ()), ("commands", [byteas(ids)])])
            self._trip([("rollback", ())])
        except StoreRefused as error:
            raise StoreLost(str(error)) from error
        return {record.id: record for record in map(rows.command, rows.rows_of(found))}

    def statements(self) -> int:
        """How many statements this store has sent so far, transaction control included."""
        return self._sent_before + (self._line.sent if self._line else 0)

    def close(self) -> None:
        """Give the connection back; an open transaction ends without effect."""
        self._head = None
        self._drop()

    # ── The connection ──────────────────────────────────────────────────────────────────────────────────────
    def _trip(self, calls: Sequence[Call]) -> list[PGresult]:
        line = self._connected()
        try:
            return line.trip(calls)
        except LineLostError as error:
            raise self._lost(error) from error
        except LineRefusedError as error:
            self._refused(line, error)

    def _lost(self, error: LineLostError) -> StoreLost:
        self._head = None
        self._sent = False
        self._drop()
        return StoreLost(str(error))

    def _refused(self, line: Line, error: LineRefusedError) -> NoReturn:
        """End the failed transaction and raise what the refusal means."""
        self._head = None
        if error.sqlstate.startswith(_REFUSALS):
            try:
                line.trip([("rollback", ())])
            except (LineLostError, LineRefusedError):
                self._drop()
            raise StoreRefused(str(error)) from error
        self._drop()
        raise StoreLost(str(error)) from error

    def _connected(self) -> Line:
        if self._line is None:
            if self._head is not None:
                raise StoreLost("the connection was lost")
            self._line = self._connect()
        return self._line

    def _connect(self) -> Line:
        deadline = time.monotonic() + self._reconnect_seconds_max
        pause = _BACKOFF_SECONDS_MIN
        while True:
            try:
                return self._connect_once()
            except (LineLostError, LineRefusedError) as error:
                if time.monotonic() + pause > deadline:
                    raise StoreLost(f"no connection to the database: {error}") from error
            time.sleep(pause)
            pause = min(2 * pause, _BACKOFF_SECONDS_MAX)

    def _connect_once(self) -> Line:
        line = Line(
            self._dsn,
            self._statements,
            application_name="stud-ledger writer",
            connect_seconds_max=max(2, round(self._reconnect_seconds_max)),
            answer_seconds_max=self._answer_seconds_max,
        )
        try:
            milliseconds = [
                str(seconds * 1000).encode() for seconds in (self._lock_seconds_max, STATEMENT_SECONDS_MAX)
            ]
            (settings,) = line.trip([("settings", milliseconds)])
            fsync, full_page_writes = (settings.get_value(0, column) for column in (0, 1))
        except BaseException:
            line.close()
            raise
        if (fsync, full_page_writes) != (b"on", b"on") and not self._throwaway:
            line.close()
            raise UnsafeServerError(
                "the database server may lose what it has committed: set fsync and full_page_writes on"
            )
        return line

    def _drop(self) -> None:
        if self._line is not None:
            self._sent_before += self._line.sent
            self._line.close()
            self._line = None

    def _require_transaction(self) -> tuple[int, int]:
        if self._head is None:
            raise RuntimeError("no transaction is open")
        return self._head

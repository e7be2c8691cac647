"""Filling a ledger fast: events by COPY, many thousands in one transaction, and the state they lead to.

A *chunk* is one transaction: its events go to the server while they are being decided, and the rows of
wallets, jackpots, tables, accounts and transfers, and the head, follow at its end. So a chunk is there as a
whole or not at all, and a ledger whose filling was interrupted is a shorter one, as valid as any.

Several processes can each have a chunk open, of positions that follow one another, on books that have no
player, table or jackpot in common. They commit in the order of their positions: `commit` takes the head's
lock and goes on only from the position where the chunk before ended, so that readers find no gap (G4) and a
ledger that somebody else is writing to stays whole.

What is written here are decisions nobody waits for. They have no idempotency key that could be sent again,
and therefore no remembered answers (G3): `commands` has no row of them.
"""

from __future__ import annotations

import os
import struct
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Final

import orjson
import psycopg
from psycopg import pq, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from infrastructure.ledger import bookkeeping, rows, statements
from infrastructure.ledger.line import CONNECTION_DEFAULTS
from infrastructure.ledger.store import Changes, TransferRow
from infrastructure.ledger.stored_form import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.work import Emitted, Work

_COPY: Final = "COPY {}.events (position, version, data, stream) FROM STDIN (FORMAT BINARY)"
# PostgreSQL's binary copy format: a signature, flags and the length of an extension; then each row as the
# number of its columns and each column behind its length; then a row of minus one columns.
_SIGNATURE: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END: Final = b"\xff\xff"
_ROW: Final = struct.Struct(">hiqiii")
_LENGTH: Final = struct.Struct(">i")
_COLUMNS: Final = 4
_LAST_CHARACTERS: Final = "AQgw"
_OK: Final = frozenset({pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK})


class BulkRefusedError(RuntimeError):
    """A chunk cannot stand where it was to stand, and was not written: one line that says why."""


class BulkLoad:
    """One connection that writes chunk after chunk. Raises psycopg.Error wherever the server does."""

    def __init__(self, dsn: str, schema: str = "ledger") -> None:
        self._statements = statements.for_schema(schema)
        self._copy_statement = sql.SQL(_COPY).format(sql.Identifier(schema))
        settings = {**CONNECTION_DEFAULTS, "application_name": "stud-ledger bulk", **conninfo_to_dict(dsn)}
        self._connection = psycopg.connect(make_conninfo("", **settings), autocommit=True)
        self._copy: psycopg.Copy | None = None

    def head(self) -> tuple[int, int]:
        """The ledger's last position and its time, microseconds since the epoch."""
        position, recorded_at_us = self._ask("head")
        return position, recorded_at_us

    def begin(self) -> None:
        """Open a chunk."""
        self._connection.execute("BEGIN")
        self._copying = self._connection.cursor().copy(self._copy_statement)
        self._copy = self._copying.__enter__()
        self._copy.write(_SIGNATURE)

    def events(self, emitted: Sequence[Emitted]) -> int:
        """Send events, in the order of their positions, without a gap; return the bytes of their data.

        Raises NotStorableError.
        """
        if self._copy is None:
            raise RuntimeError("no chunk is open")
        row, length = _ROW.pack, _LENGTH.pack
        parts: list[bytes] = []
        total = 0
        for (position, at_us, stream, version, event, meta), salt in zip(
            emitted, _salts(len(emitted)), strict=True
        ):
            data = encode(position, at_us, stream, version, event, meta, salt)
            name = stream.encode()
            size = len(data)
            total += size
            parts += (row(_COLUMNS, 8, position, 4, version, size), data, length(len(name)), name)
        self._copy.write(b"".join(parts))
        return total

    def commit(self, work: Work, position_before: int) -> None:
        """Write the state that the chunk's events lead to, and end it.

        What `work` knows as touched is written, and its marks are taken off. Raises BulkRefusedError, with
        nothing written, where the ledger does not stand at `position_before`.
        """
        if self._copy is None:
            raise RuntimeError("no chunk is open")
        self._copy.write(_END)
        self._copying.__exit__(None, None, None)
        self._copy = None
        position, recorded_at_us = self._ask("head")
        if position != position_before or work.recorded_at_us < recorded_at_us:
            self._connection.execute("ROLLBACK")
            raise BulkRefusedError(
                f"somebody else is writing to this ledger: it is at {position}, not {position_before}"
            )
        for name, parameters in rows.calls_to_write(position_before, _state(work)):
            self._call(name, parameters)
        self._connection.execute("COMMIT")
        _forget(work)

    def close(self) -> None:
        """Give the connection back; a chunk that is open leaves nothing."""
        self._connection.close()

    def _ask(self, name: str) -> list[int]:
        result = self._call(name, [])
        return [int.from_bytes(result.get_value(0, column) or b"", "big") for column in range(result.nfields)]

    def _call(self, name: str, parameters: Sequence[bytes | None]) -> pq.abc.PGresult:
        """Run one of the store's statements; its parameters are in the binary format."""
        connection = self._connection.pgconn
        statement = self._statements[name].encode()
        result = connection.exec_params(statement, parameters, None, [1] * len(parameters), 1)
        if result.status not in _OK:
            raise psycopg.errors.error_from_result(result)
        return result


def _salts(count: int) -> list[str]:
    """So many salts: 16 random bytes each in base64url.

    They are cut from one long text, 24 characters for 18 bytes: 21 characters and a last one, which says
    the two bits that are left of 16 bytes.
    """
    text = urlsafe_b64encode(os.urandom(18 * count)).decode()
    ends = [_LAST_CHARACTERS[bits & 3] for bits in os.urandom(count)]
    return [text[24 * n : 24 * n + 21] + end for n, end in enumerate(ends)]


def _state(work: Work) -> Changes:
    """The rows of what the chunk has touched. Its rounds are all finished: none of them is among the open."""
    return Changes(
        work.position,
        work.recorded_at_us,
        wallets=[bookkeeping.wallet_row(work.wallets[player]) for player in sorted(work.touched_wallets)],
        accounts=work.accounts,
        jackpots=[
            bookkeeping.jackpot_row(work.jackpots[name], work.position)
            for name in sorted(work.touched_jackpots)
        ],
        tables=[
            bookkeeping.table_row(work.tables[name], work.position) for name in sorted(work.touched_tables)
        ],
        transfers=[
            TransferRow(player, direction, reference, transfer.amount, orjson.dumps(transfer.answer))
            for (player, direction, reference), transfer in work.new_transfers.items()
        ],
    )


def _forget(work: Work) -> None:
    work.accounts = {}
    work.touched_wallets = set()
    work.touched_jackpots = set()
    work.touched_tables = set()
    work.touched_rounds = set()
    work.transfers = {}
    work.new_transfers = {}

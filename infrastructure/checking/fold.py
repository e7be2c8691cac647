"""The fold: from stored bytes to the checker's books, event by event.

Every event's bytes are read again and written again: they have to be canonical, and have to say of themselves
the position, stream and version that they are kept under. Positions and every stream's versions have no gap,
and time never stands still.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from infrastructure.checking.beside_rounds import BESIDE_ROUNDS, WITHOUT_MONEY
from infrastructure.checking.books import Books
from infrastructure.checking.envelopes import Envelopes, Row
from infrastructure.checking.in_rounds import IN_ROUNDS, opened
from infrastructure.checking.shelf import HELD_MAX
from infrastructure.checking.state import OpenRound


class Fold:
    """All books as of the last event that was given to `take`. At most `held_max` wallets are in memory."""

    def __init__(self, held_max: int = HELD_MAX) -> None:
        self.books = Books(held_max)
        self._envelopes = Envelopes()

    @property
    def position(self) -> int:
        """The last position that was taken."""
        return self.books.position

    @property
    def recorded_at_us(self) -> int:
        """When that event was recorded, in microseconds since the epoch; 0 where there is none."""
        if not self._envelopes.recorded_at:
            return 0
        moment = datetime.fromisoformat(self._envelopes.recorded_at)
        return int(moment.replace(microsecond=0).timestamp()) * 1_000_000 + moment.microsecond

    def take(self, rows: Iterable[Row]) -> None:
        """Fold events in the order of their positions; what is wrong with them is in `books.findings`."""
        books, envelopes = self.books, self._envelopes
        for row in rows:
            position, version, stream, _ = row
            books.position = position
            event = envelopes.read(row)
            for finding in envelopes.take_findings():
                books.findings.add(*finding)
            if event is None:
                continue
            try:
                self._apply(version, stream, event["type"], event["data"])
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                # What an edited event holds can be anything; the checker survives it and says where.
                books.differs("unreadable", f"the event is not one of its kind ({type(error).__name__})")
            books.balanced()

    # ── One event ───────────────────────────────────────────────────────────────────────────────────────────
    def _apply(self, version: int, stream: str, type_: str, data: dict[str, Any]) -> None:
        books = self.books
        kind, _, name = stream.partition("-")
        if kind == "round":
            self._apply_to_round(version, name, type_, data)
            return
        if kind == "wallet" and type_ != "WalletOpened":
            wallet = books.wallet(name)
            expected = wallet.version + 1
            wallet.version = version
        else:
            expected = self._expected(kind, stream, version)
        if version != expected:
            books.differs("version_gap", f"{stream} goes on with version {version} instead of {expected}")
        known = BESIDE_ROUNDS.get(type_)
        if known is not None:
            known[1](books, name, data)
            of = known[0]
        else:
            of = WITHOUT_MONEY.get(type_, "")
        if of != kind:
            books.differs("type", f"{type_} does not belong into the stream {stream}")

    def _expected(self, kind: str, stream: str, version: int) -> int:
        """The version that a stream goes on with; those of what happens once are not kept."""
        if kind == "ledger":
            return 1
        last = self.books.versions.get(stream)
        if last is None:
            self.books.versions.add(stream, [version])
            return 1
        expected = last[0] + 1
        last[0] = version
        return expected

    def _apply_to_round(self, version: int, round_id: str, type_: str, data: dict[str, Any]) -> None:
        books = self.books
        round_ = books.rounds.get(round_id)
        if round_ is None:
            if type_ != "RoundOpened" or version != 1:
                books.differs("version_gap", f"round {round_id} begins, or goes on, with version {version}")
                return
            books.rounds.add(round_id, opened(books, round_id, data))
            books.opened.append(round_id)
            return
        if version != round_.version + 1:
            books.differs(
                "version_gap", f"round {round_id} goes on with {version} instead of {round_.version + 1}"
            )
        round_.version = version
        round_.moved_at = books.position
        change = IN_ROUNDS.get(type_)
        if change is None:
            books.differs("type", f"{type_} does not belong into a round")
            return
        change(books, round_, round_id, data)
        if type_ == "RoundClosed" or (round_.void and round_.refunded == len(round_.seats)):
            self._finish(round_id, round_)

    def _finish(self, round_id: str, round_: OpenRound) -> None:
        books = self.books
        if not round_.void and round_.settled != len(round_.seats):
            books.differs("settlement", f"the round is closed, but {round_.settled} seats are settled")
        books.rounds.remove(round_id)
        books.finished.append((round_id, books.position, round_))
        table = books.tables.get(round_.table)
        if table is not None and table.open_round == round_id:
            table.open_round = None
            table.touched_at = books.position

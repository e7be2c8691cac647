"""The fold: from stored bytes to the checker's books, event by event.

Every event's bytes are read again and written again: they have to be canonical, and have to say of themselves
the position, stream and version that they are kept under. Positions and every stream's versions have no gap,
and time never stands still.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

import orjson

from infrastructure.checking.beside_rounds import BESIDE_ROUNDS, WITHOUT_MONEY
from infrastructure.checking.books import Books
from infrastructure.checking.in_rounds import IN_ROUNDS, opened
from infrastructure.checking.shelf import HELD_MAX
from infrastructure.checking.state import OpenRound

Row = tuple[int, int, str, bytes]
"""An event as it is kept: position, version, stream, bytes."""

_CANONICAL: Final = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_MEMBERS: Final = ["data", "meta", "position", "recorded_at", "salt", "stream", "type", "version"]
_META: Final = frozenset(("actor", "command", "schema"))
_TIME_CHARACTERS: Final = len("2026-11-29T21:24:01.000000Z")
_SALT_CHARACTERS: Final = 22
_SCHEMA: Final = 1


class Fold:
    """All books as of the last event that was given to `take`. At most `held_max` wallets are in memory."""

    def __init__(self, held_max: int = HELD_MAX) -> None:
        self.books = Books(held_max)
        self.recorded_at = ""

    @property
    def position(self) -> int:
        """The last position that was taken."""
        return self.books.position

    @property
    def recorded_at_us(self) -> int:
        """When that event was recorded, in microseconds since the epoch; 0 where there is none."""
        if not self.recorded_at:
            return 0
        moment = datetime.fromisoformat(self.recorded_at)
        return int(moment.replace(microsecond=0).timestamp()) * 1_000_000 + moment.microsecond

    def take(self, rows: Iterable[Row]) -> None:
        """Fold events in the order of their positions; what is wrong with them is in `books.findings`."""
        books = self.books
        for position, version, stream, data in rows:
            if position != books.position + 1:
                missing = books.position + 1
                books.findings.add(
                    "position_gap", missing, f"position {missing} is missing: {position} comes next"
                )
            books.position = position
            try:
                event = self._read(position, version, stream, data)
                self._apply(version, stream, event["type"], event["data"])
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                # What an edited event holds can be anything; the checker survives it and says where.
                books.differs("unreadable", f"the event is not one of its kind ({type(error).__name__})")
            books.balanced()

    # ── One event ───────────────────────────────────────────────────────────────────────────────────────────
    def _read(self, position: int, version: int, stream: str, data: bytes) -> dict[str, Any]:
        event: dict[str, Any] = orjson.loads(data)
        if orjson.dumps(event, option=_CANONICAL) != data or list(event) != _MEMBERS:
            self.books.differs("canonical", "the bytes are not the canonical form of what they say")
        if (event["position"], event["version"], event["stream"]) != (position, version, stream):
            self.books.differs(
                "place", f"kept as {stream} {version}, the bytes say {event['stream']} {event['version']}"
            )
        recorded_at = event["recorded_at"]
        if len(recorded_at) != _TIME_CHARACTERS or recorded_at[-1] != "Z":
            raise ValueError(recorded_at)
        if recorded_at <= self.recorded_at:
            self.books.differs("time", f"recorded at {recorded_at}, not after {self.recorded_at}")
        self.recorded_at = recorded_at
        meta = event["meta"]
        if not meta.keys() >= _META or len(event["salt"]) != _SALT_CHARACTERS:
            self.books.differs("envelope", "the envelope lacks what every event has")
        if meta["schema"] != _SCHEMA:
            raise ValueError(meta["schema"])
        return event

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
        table = books.tables.get(round_.table)
        if table is not None and table.open_round == round_id:
            table.open_round = None
            table.touched_at = books.position

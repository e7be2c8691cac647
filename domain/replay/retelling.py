"""A round's events as they are kept, each told once more: what has to be kept is written, and compared.

Most of what a round's events say follows from the rules, the deck and the players' decisions. To write an
event that is due, in its envelope, and to compare texts takes a fraction of reading what is kept. What is not
known beforehand is read (stakes, decisions), or taken from its place and judged: who asked, the time, the salt.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import lt
from typing import Any, Final, TypeAlias

from domain.replay import fields
from domain.replay.conservation import Balances, follows
from domain.replay.records import Record, command_of, read_fast, well_enveloped

Row: TypeAlias = tuple[int, str, int, bytes]
"""An event as it is kept: its position, stream and version, and its bytes."""

_HEAD: Final = len('{"data":')
_BETWEEN: Final = len('{"data":,"meta":')
_SALT: Final = 22
_TIME_END: Final = _SALT + len('","salt":"')
_TIME: Final = _TIME_END + len("2026-11-29T21:24:01.000000Z")
_BALANCE: Final = len('{"data":{"balance_after":')


class Odd(Exception):
    """Something is out of the ordinary."""


class Retelling:
    """All events of a stream, to be taken in order. `rows` are of that stream and hold at least one.

    `read`, `write`, `balance_said` and `end` raise Odd, LookupError or ValueError where an event is another
    than is due. `moves` are what wallets got, as (position, player, amount, balance after), minor units.
    """

    __slots__ = (
        "_balances",
        "_meta",
        "_position",
        "_rows",
        "_salts",
        "_tail",
        "command",
        "moves",
        "stream",
        "times",
        "version",
    )

    def __init__(self, stream: str, rows: Sequence[Row]) -> None:
        self.stream = stream
        self._rows = rows
        self._tail = f'","stream":"{stream}","type":"'
        self._meta = ""
        self.command: str | None = None
        self._position = 0
        self._salts: list[str] = []
        self._balances: Balances = {}
        self.version = 0  # of the last event that was taken
        self.times: list[str] = []
        self.moves: list[tuple[int, str, int, int]] = []

    def read(self) -> Record[Any]:
        """Take the next event, whatever it says."""
        position, _, version, stored = self._rows[self.version]
        record = read_fast(stored)
        self.version += 1
        if (
            record is None
            or record.position != position
            or record.version != version
            or version != self.version
            or record.stream != self.stream
            or position <= self._position
        ):
            raise Odd
        self._position = position
        self.times.append(record.recorded_at)
        self._salts.append(record.salt)
        return record

    def write(self, kind: str, data: str) -> None:
        """Take the next event, which has to be of that kind and to say that: `data` is its canonical form."""
        position, _, version, stored = self._rows[self.version]
        self.version += 1
        if version != self.version or position <= self._position:
            raise Odd
        self._position = position
        text = stored.decode()
        tail = f'{self._tail}{kind}","version":{version}}}'
        end = len(text) - len(tail)
        time, salt = text[end - _TIME : end - _TIME_END], text[end - _SALT : end]
        rest = f',"position":{position},"recorded_at":"{time}","salt":"{salt}{tail}'
        if text != f'{{"data":{data},"meta":{self._meta}{rest}':
            # Another command's than the event before, or wrong.
            self._meta = text[len(data) + _BETWEEN : -len(rest)]
            self.command = command_of(self._meta)
            if self.command is None or text != f'{{"data":{data},"meta":{self._meta}{rest}':
                raise Odd
        self.times.append(time)
        self._salts.append(salt)

    def move(self, player: str, amount: int, after: int) -> None:
        """Note what the event just taken does to its player's wallet, and what it says that this holds then."""
        if (
            not 0 <= after <= fields.BALANCE_MAX
            or follows(self.version, self._position, player, amount, after, self._balances) is not None
        ):
            raise Odd
        self.moves.append((self._position, player, amount, after))

    def balance_said(self) -> int:
        """What the next event says that a wallet holds, where that is the first of its fields."""
        stored = self._rows[self.version][3]
        return int(stored[_BALANCE : stored.index(b",", _BALANCE)])

    @property
    def first(self) -> str:
        """The text of the first event, without what every event begins with."""
        return self._rows[0][3].decode()[_HEAD:]

    @property
    def last(self) -> bytes:
        """The bytes of the last event."""
        return self._rows[-1][3]

    def end(self) -> None:
        """See that no event is left, and that all were well enveloped and in order."""
        if (
            self.version != len(self._rows)
            or not all(map(lt, self.times, self.times[1:]))
            or self._position > fields.NUMBER_MAX
            or not well_enveloped(self.stream, self.times, self._salts)
        ):
            raise Odd

"""A round's events as they are kept, each told once more: what has to be kept is written, and compared.

Most of what a round's events say follows from the rules, the deck and the players' decisions. To write an
event that is due, in its envelope, and to compare texts takes a fraction of reading what is kept. What is not
known beforehand is read (stakes, decisions), or taken from its place and judged: who asked, the time, and the
salt.
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
_ENDING: Final = 40
"""In the last characters of an event is its type."""
_BALANCE: Final = len('{"data":{"balance_after":')


class Odd(Exception):
    """Something is out of the ordinary."""


class Retelling:
    """All events of a stream, to be taken in order. `rows` are of that stream, one at least.

    Everything raises Odd, LookupError or ValueError where an event is another than is due. `moves` are what
    wallets got, as (position, player, amount, balance after), minor units; `command` is that of the event
    written last; `taken` is how many events were, `position` that of the last.
    """

    __slots__ = (
        "_balances",
        "_meta",
        "_rows",
        "_salts",
        "_tail",
        "_texts",
        "command",
        "moves",
        "position",
        "stream",
        "taken",
        "times",
    )

    def __init__(self, stream: str, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._texts = [stored.decode() for _, _, _, stored in rows]
        self._tail = f'","stream":"{stream}","type":"'
        self._meta = ""
        self._salts: list[str] = []
        self._balances: Balances = {}
        self.stream = stream
        self.command: str | None = None
        self.position = self.taken = 0
        self.times: list[str] = []
        self.moves: list[tuple[int, str, int, int]] = []

    def next_is(self, kind: str) -> bool:
        """Whether the next event seems to be of a kind, which is given in quotes."""
        return kind in self._texts[self.taken][-_ENDING:]

    def read(self) -> Record[Any]:
        """Take the next event, whatever it says."""
        taken = self.taken
        position, _, version, stored = self._rows[taken]
        record = read_fast(stored)
        if (
            record is None
            or version != taken + 1
            or position <= self.position
            or record.position != position
            or record.version != version
            or record.stream != self.stream
        ):
            raise Odd
        self.taken, self.position = version, position
        self.times.append(record.recorded_at)
        self._salts.append(record.salt)
        return record

    def write(self, kind: str, data: str) -> None:
        """Take the next event, which has to be of that kind and to say that: `data` is its canonical form."""
        taken = self.taken
        text = self._texts[taken]
        position, _, version, _ = self._rows[taken]
        tail = f'{self._tail}{kind}","version":{version}}}'
        end = len(text) - len(tail)
        time, salt = text[end - _TIME : end - _TIME_END], text[end - _SALT : end]
        rest = f',"position":{position},"recorded_at":"{time}","salt":"{salt}{tail}'
        if text != f'{{"data":{data},"meta":{self._meta}{rest}':
            # Another command's than the event before, or wrong.
            self._meta = meta = text[len(data) + _BETWEEN : -len(rest)]
            self.command = command_of(meta)
            if self.command is None or text != f'{{"data":{data},"meta":{meta}{rest}':
                raise Odd
        if version != taken + 1 or position <= self.position:
            raise Odd
        self.taken, self.position = version, position
        self.times.append(time)
        self._salts.append(salt)

    def move(self, player: str, amount: int, after: int) -> None:
        """Note what the event just taken does to its player's wallet, and what it says that this holds."""
        position = self.position
        if (
            not 0 <= after <= fields.BALANCE_MAX >= amount
            or follows(self.taken, position, player, amount, after, self._balances) is not None
        ):
            raise Odd
        self.moves.append((position, player, amount, after))

    def balance_said(self) -> int:
        """What the next event says that a wallet holds, where that is the first of its fields."""
        text = self._texts[self.taken]
        return int(text[_BALANCE : text.index(",", _BALANCE)])

    @property
    def first(self) -> str:
        """The text of the first event, without what every event begins with."""
        return self._texts[0][_HEAD:]

    @property
    def last(self) -> str:
        """The text of the last event."""
        return self._texts[-1]

    def end(self) -> None:
        """See that no event is left, and that all were well enveloped and in order."""
        times = self.times
        if (
            self.taken != len(self._rows)
            or not all(map(lt, times, times[1:]))
            or self.position > fields.NUMBER_MAX
            or not well_enveloped(self.stream, times, self._salts)
        ):
            raise Odd

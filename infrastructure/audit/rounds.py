"""A round in the audit: what its events add up to, and the round derived again when it has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

import orjson

from domain.replay import Check, Faultless, Paid, Record, Stored, read_closely, read_fast, replay
from domain.replay import kinds as k
from domain.replay.exact import units
from infrastructure.audit.repeats import place
from infrastructure.audit.results import Figures, PartResult, Span, StoredRow
from infrastructure.checking.exact import MINOR

_RULESET: Final = "ruleset"
_JACKPOT: Final = "jackpot"
PAYING_SECONDS_MAX: Final = 60.0
"""A round of thousands of seats is settled in several steps, one right behind the other."""
_PAYING: Final = frozenset((k.Settled, k.JackpotHit, k.StakeRefunded))
_AT_THE_END: Final = frozenset(
    ("deck_seed_revealed", "finished", "nothing_on_game", "refund_order", "settlement_order")
)
_OF_EACH_SEAT: Final = ("jackpot.seat_", "refunded.seat_", "reversed.seat_", "settled.seat_")
Belongs: TypeAlias = tuple[str, str]
"""Account class and currency."""


class Round:
    """The events of a round as they come, and what they add up to.

    `rows` are all that were kept in its stream, `events` what they say: those that could be read as records,
    the others as bytes. `figures` and `house` (exact) are what the round adds to those of its house; `opened`
    is None where its first event is not there. `on_game` is in minor units.
    """

    __slots__ = (
        "antes",
        "belongs",
        "closed",
        "events",
        "figures",
        "house",
        "on_game",
        "opened",
        "rows",
        "void",
    )

    def __init__(self) -> None:
        self.rows: list[StoredRow] = []
        self.events: list[Stored] = []
        self.figures = Figures(1)
        self.house = 0
        self.on_game = 0
        self.opened: Record[k.RoundOpened] | None = None
        self.belongs: Belongs | None = None
        self.antes = 0  # those not refunded
        self.closed = self.void = False

    @classmethod
    def of(cls, rows: Iterable[StoredRow]) -> Round:
        """The round of these rows."""
        made = cls()
        for row in rows:
            event = read_fast(row[3]) or read_closely(row[3])
            made.take(row, event if isinstance(event, Record) else None)
        return made

    def take(self, row: StoredRow, record: Record[Any] | None) -> int | None:
        """Take the next event; None where it cannot be read.

        Return what it adds to its player's wallet, in minor units; None where it has to do with none.
        """
        self.rows.append(row)
        if record is None:
            self.events.append(row[3])
            return None
        self.events.append(record)
        take = _TAKE.get(type(record.data))
        return None if take is None else take(self, record)

    @property
    def ended(self) -> bool:
        """Whether these are all events of a round that has ended, if nobody tampered with them."""
        return self.opened is not None and (self.closed or (self.void and self.antes == 0))

    @property
    def house_key(self) -> tuple[str, str, str]:
        """Account class, currency and rule set of a round whose beginning is there."""
        assert self.opened is not None  # noqa: S101 - says so
        opened = self.opened.data
        return opened.account_class, opened.currency, opened.ruleset.id


def finish(result: PartResult, round_: Round, ruleset: bytes) -> None:
    """Derive a round that has ended again; what it came to, and what is wrong with it, is added."""
    opened = round_.opened
    assert opened is not None  # noqa: S101 - it has ended
    report = replay(round_.events, ruleset, only_failures=True)
    _tell(result, round_, report.checks)
    result.places += place(opened.stream, opened.position)
    _pin(result, opened.data, opened.position)
    _add(result, opened.data, round_.figures, round_.house)


class Table:
    """What faultless rounds came to whose first events say the same: as many as a table plays in a day."""

    __slots__ = ("_house", "_opened", "_paid", "_places", "_positions")

    def __init__(self, opened: k.RoundOpened) -> None:
        self._opened = opened
        self._positions: list[int] = []
        self._places: list[bytes] = []
        self._paid: list[Paid] = []
        self._house = 0

    def add(self, told: Faultless, first: StoredRow) -> None:
        """Add a round; `first` is its first event."""
        position = first[0]
        self._positions.append(position)
        self._places.append(place(first[1], position))
        self._paid.append(told.paid)
        for bet in told.bets:
            self._house -= _put_in(bet.data)

    def add_to(self, result: PartResult) -> None:
        """Add them all to what a partition came to."""
        hands, staked, returned, won = map(sum, zip(*self._paid, strict=True))
        figures = Figures(len(self._paid), 0, hands, staked, returned, won)
        result.places += b"".join(self._places)
        for position in (min(self._positions), max(self._positions)):
            _pin(result, self._opened, position)
        _add(result, self._opened, figures, self._house + (staked - returned - won) * MINOR)


def _pin(result: PartResult, opened: k.RoundOpened, position: int) -> None:
    ref, jackpot = opened.ruleset, opened.jackpot
    pin(result, (_RULESET, ref.id, ref.version, ref.sha256), position)
    if jackpot is not None:
        pin(result, (_JACKPOT, jackpot.id, jackpot.version, jackpot.sha256), position)


def _add(result: PartResult, opened: k.RoundOpened, figures: Figures, house: int) -> None:
    key = opened.account_class, opened.currency, opened.ruleset.id
    known = result.figures.get(key)
    if known is None:
        result.figures[key], result.house[key] = figures, house
    else:
        known.add(figures)
        result.house[key] += house


def pin(result: PartResult, key: tuple[str, str, int, str], position: int) -> None:
    """Note that a round relied on rules or parameters."""
    span = result.pinned.get(key)
    if span is None:
        result.pinned[key] = Span(position, position)
    elif position > span.last:
        result.pinned[key] = Span(span.first, position)
    elif position < span.first:
        result.pinned[key] = Span(position, span.last)


def look(result: PartResult, round_: Round, ruleset: bytes, until: str) -> None:
    """Derive a round that has not ended as far as it has come; what is wrong with that is added.

    `until` is when the last event that is audited was recorded. Without the seed no card can be derived: a
    round that pays and is never closed could show any, so that one which has paid has to end soon.
    """
    paid = any(isinstance(event, Record) and type(event.data) in _PAYING for event in round_.events)
    report = replay(round_.events, ruleset, only_failures=True)
    _tell(result, round_, [check for check in report.checks if not _is_to_come(check, paid=paid)])
    last = round_.events[-1]
    if paid and isinstance(last, Record) and _seconds(last.recorded_at, until) > PAYING_SECONDS_MAX:
        result.differs(round_.rows[-1][0], "round", "the end of a round that has paid", "none")


def _is_to_come(check: Check, *, paid: bool) -> bool:
    """Whether a check fails only because the round has not ended."""
    if check.check == "dealer_revealed":
        return not paid
    return check.check in _AT_THE_END or (check.actual is None and check.check.startswith(_OF_EACH_SEAT))


def _seconds(began: str, ended: str) -> float:
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()
    except (ValueError, TypeError):
        return 0.0  # which is a finding of its own


def _tell(result: PartResult, round_: Round, checks: Sequence[Check]) -> None:
    """Every failed check, at the first event that it names, else at the round's first."""
    places = {version: position for position, _, version, _ in round_.rows}
    first = round_.rows[0][0]
    for check in checks:
        version = None
        if isinstance(check.actual, list) and check.actual and isinstance(check.actual[0], dict):
            version = check.actual[0].get("version")
        position = places.get(version, first) if isinstance(version, int) else first
        result.differs(position, f"replay.{check.check}", _json(check.expected), _json(check.actual))


def _json(value: object) -> str:
    return orjson.dumps(value, default=str).decode()


# ── What each event does: to the round, and to its player's wallet ──────────────────────────────────────────
def _opened(round_: Round, record: Record[k.RoundOpened]) -> None:
    if round_.opened is None and len(round_.events) == 1:
        round_.opened = record
        round_.belongs = record.data.account_class, record.data.currency


def _ante(round_: Round, record: Record[k.AntePlaced]) -> int:
    round_.antes += 1
    round_.on_game += record.data.amount
    return -record.data.amount


def _side_bet(round_: Round, record: Record[k.SideBetPlaced]) -> int:
    round_.house -= _put_in(record.data)
    round_.on_game += record.data.amount
    return -record.data.amount


def _put_in(bet: k.SideBetPlaced) -> int:
    """What the house puts into the jackpot of a side bet, exact."""
    return 0 if bet.contribution is None else units(bet.contribution) + units(bet.diversion or "0")


def _raised(round_: Round, record: Record[k.Raised]) -> int:
    round_.on_game += record.data.amount
    return -record.data.amount


def _exchanged(round_: Round, record: Record[k.CardExchanged]) -> int:
    round_.on_game += record.data.fee
    return -record.data.fee


def _settled(round_: Round, record: Record[k.Settled]) -> int:
    staked = returned = won = 0
    for bet in record.data.bets:
        staked += bet.stake
        returned += bet.returned
        if bet.bet != _JACKPOT:  # its win is JackpotHit's
            won += bet.won
    figures = round_.figures
    figures.hands += 1
    figures.staked += staked
    figures.returned += returned
    figures.won += won
    round_.on_game -= staked
    round_.house += (staked - returned - won) * MINOR
    return returned + won


def _hit(round_: Round, record: Record[k.JackpotHit]) -> int:
    data = record.data
    round_.figures.jackpot_won += data.award
    diverted = units(data.restart_from_diversion or "0")
    round_.house += diverted - units(data.restart or "0") - units(data.from_house)
    return data.award


def _closed(round_: Round, _: Record[k.RoundClosed]) -> None:
    round_.closed = True


def _voided(round_: Round, _: Record[k.RoundVoided]) -> None:
    round_.void = True
    round_.figures.void = 1


def _reversed(round_: Round, record: Record[k.ContributionReversed]) -> None:
    data = record.data
    pools = units(data.from_meter) + units(data.from_overflow or "0") + units(data.from_diversion or "0")
    round_.house += pools


def _refunded(round_: Round, record: Record[k.StakeRefunded]) -> int:
    round_.antes -= 1
    round_.on_game -= record.data.amount
    round_.figures.refunded += record.data.amount
    return record.data.amount


_TAKE: Final[dict[type, Callable[[Round, Record[Any]], int | None]]] = {
    k.RoundOpened: _opened,
    k.AntePlaced: _ante,
    k.SideBetPlaced: _side_bet,
    k.Raised: _raised,
    k.CardExchanged: _exchanged,
    k.Settled: _settled,
    k.JackpotHit: _hit,
    k.RoundClosed: _closed,
    k.RoundVoided: _voided,
    k.ContributionReversed: _reversed,
    k.StakeRefunded: _refunded,
}

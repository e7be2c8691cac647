"""Players' sessions at tables: from sitting down, or a first ante, to leaving or half an hour of nothing.

Rounds, stakes and wins count when the hand is settled; a void hand's round counts as void. A session with a
hand under way does not time out. That one timed out follows from the events only when the player comes back
to the table, and is written then; until then a reader takes it from `last_us` (`ending`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from infrastructure.projections.kinds import Column, Happened, Key, Out, Poison, Row, Shelf, Table
from infrastructure.projections.round_facts import RoundFacts

IDLE_US_MAX: Final = 30 * 60 * 1_000_000
"""A session in which nothing has happened for as long as this has ended."""

SESSIONS: Final = Table(
    "sessions",
    (
        Column("began_position", "bigint"),
        Column("began_us", "bigint"),
        Column("last_us", "bigint"),
        Column("ended_us", "bigint"),
        Column("rounds", "bigint"),
        Column("rounds_won", "bigint"),
        Column("rounds_void", "bigint"),
        Column("stakes", "bigint"),
        Column("returned", "bigint"),
        Column("game_wins", "bigint"),
        Column("jackpot_wins", "bigint"),
        Column("hands_open", "integer"),
        Column("player", "text"),
        Column("table_id", "text"),
        Column("ended", "text"),
        Column("session_id", "text"),
    ),
    key=("player", "table_id", "began_position"),
    mode="replace",
)
"""`ended` is ``left``, ``timeout`` or null, with `ended_us`; `last_us` is of the session's latest event. A
round is won where all the player's hands in it together brought more than they cost. `session_id` is the game
server's, the first it named. Amounts in minor units."""

SESSIONS_MAX: Final = 20_000
"""How many current sessions are kept between batches."""
_ASKED_MAX: Final = 2_000


@dataclass(slots=True)
class Session:
    """A session as it is being counted: the columns of its row."""

    player: str
    table_id: str
    began_position: int
    began_us: int
    last_us: int
    session_id: str | None = None
    ended: str | None = None
    ended_us: int | None = None
    hands_open: int = 0
    rounds: int = 0
    rounds_won: int = 0
    rounds_void: int = 0
    stakes: int = 0
    returned: int = 0
    game_wins: int = 0
    jackpot_wins: int = 0

    @property
    def key(self) -> Key:
        """The key of its row."""
        return self.player, self.table_id, self.began_position


_COLUMNS: Final = tuple(column.name for column in SESSIONS.columns)
_row: Final[Callable[[Session], Row]] = attrgetter(*_COLUMNS)


def _from_row(row: Row) -> Session:
    return Session(**dict(zip(_COLUMNS, row, strict=True)))


def ending(row: Row, now_us: int) -> tuple[str, int] | None:
    """How a session of the table ended and when, as far as can be told at `now_us`; None while it goes on."""
    session = _from_row(row)
    if session.ended is not None and session.ended_us is not None:
        return session.ended, session.ended_us
    if session.hands_open == 0 and now_us - session.last_us >= IDLE_US_MAX:
        return "timeout", session.last_us + IDLE_US_MAX
    return None


class Sessions:
    """The projection. It keeps each player's latest session at each table.

    `sessions_max` bounds how many of them it keeps between batches.
    """

    name = "sessions"
    version = 1
    tables = (SESSIONS,)
    types: frozenset[str] | None = frozenset(
        ("PlayerJoined", "PlayerLeft", "AntePlaced", "Settled", "StakeRefunded")
    )
    rounds = True

    def __init__(self, sessions_max: int = SESSIONS_MAX) -> None:
        self._sessions_max = sessions_max
        self._latest: dict[tuple[str, str], Session | None] = {}
        self._changed: dict[Key, Session] = {}
        self._shelf: Shelf | None = None

    def restore(self, shelf: Shelf, position: int) -> None:  # noqa: ARG002 - sessions are read as they are needed
        """Forget everything."""
        self._latest.clear()
        self._changed.clear()

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:
        """Read the sessions of those who come up in the batch, where the batch says at which table."""
        self._changed.clear()
        if len(self._latest) > self._sessions_max:
            self._latest.clear()
        self._shelf = shelf
        tables: dict[str, str] = {}
        wanted = set()
        for each in batch:
            type_, data = each[4], each[5]
            if type_ == "RoundOpened":
                tables[each[2]] = data["table_id"]
            elif type_ == "AntePlaced":
                if each[2] in tables:
                    wanted.add((data["player"], tables[each[2]]))
            elif type_ in ("PlayerJoined", "PlayerLeft"):
                wanted.add((data["player"], data["table_id"]))
        missing = sorted(wanted - self._latest.keys())
        for start in range(0, len(missing), _ASKED_MAX):
            self._read(missing[start : start + _ASKED_MAX])

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:  # noqa: ARG002 - put at the end
        """Take in an event of a session. Raises Poison for the end of a hand that no session has."""
        type_, data = happened.type, happened.data
        where = data["player"], data["table_id"] if facts is None else facts.cell[2]
        if where not in self._latest:
            self._read([where])
        session = self._current(where, happened.at_us)
        if session is None:
            if type_ == "PlayerLeft":
                return
            if facts is not None and type_ != "AntePlaced":
                raise Poison(happened.position, f"{type_} ends a hand of a player without a session")
            session = self._latest[where] = Session(*where, happened.position, happened.at_us, happened.at_us)
        self._changed[session.key] = session
        session.last_us = happened.at_us
        if type_ == "PlayerLeft":
            session.ended, session.ended_us = "left", happened.at_us
        elif facts is None or type_ == "AntePlaced":
            session.session_id = session.session_id or data.get("session_id")
            session.hands_open += facts is not None
        else:
            _end_hand(session, data, facts)

    def finish(self, last: Happened, out: Out) -> None:  # noqa: ARG002 - what is put depends on no time
        """Put the sessions that changed, each once."""
        for session in self._changed.values():
            out.put("sessions", _row(session))
        self._changed.clear()

    def _current(self, where: tuple[str, str], at_us: int) -> Session | None:
        """The session that goes on at this moment. One that has been idle for too long ends here."""
        session = self._latest[where]
        if session is None or session.ended is not None:
            return None
        if session.hands_open == 0 and at_us - session.last_us >= IDLE_US_MAX:
            session.ended, session.ended_us = "timeout", session.last_us + IDLE_US_MAX
            self._changed[session.key] = session
            return None
        return session

    def _read(self, wanted: Sequence[tuple[str, str]]) -> None:
        """Read the latest sessions of players at tables.

        Most are known by then or read before the batch: this is asked within one where a round goes on from
        an earlier batch, and nobody has seen its player since we began.
        """
        found = self._shelf.latest(SESSIONS.name, wanted) if self._shelf is not None else {}
        for where in wanted:
            row = found.get(where)
            self._latest[where] = None if row is None else _from_row(row)


def _end_hand(session: Session, data: dict[str, Any], facts: RoundFacts) -> None:
    """Count a hand that was settled or refunded, and the round after the player's last hand in it."""
    session.hands_open -= 1
    gain = 0
    if facts.void_cause is None:
        gain = _count_bets(session, data["bets"])
    numbers = facts.seats_of[session.player]
    if len(numbers) > 1:
        seats = [facts.seats[number] for number in numbers]
        if any(seat.ended_us is None for seat in seats):
            return
        gain = sum(_gain(seat.settled["bets"]) for seat in seats if seat.settled is not None)
    if facts.void_cause is not None:
        session.rounds_void += 1
    else:
        session.rounds += 1
        session.rounds_won += gain > 0


def _count_bets(session: Session, bets: Sequence[dict[str, Any]]) -> int:
    """Add what the bets of a settled hand did, and return what they brought more than they cost."""
    stakes = returned = game = jackpot = 0
    for bet in bets:
        stakes += bet["stake"]
        returned += bet["returned"]
        if bet["bet"] == "jackpot":
            jackpot += bet["won"]
        else:
            game += bet["won"]
    session.stakes += stakes
    session.returned += returned
    session.game_wins += game
    session.jackpot_wins += jackpot
    return returned + game + jackpot - stakes


def _gain(bets: Sequence[dict[str, Any]]) -> int:
    return sum(bet["returned"] + bet["won"] - bet["stake"] for bet in bets)

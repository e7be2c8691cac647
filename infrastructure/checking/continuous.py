"""The watch while the service runs: incremental, of bounded cost, and never in the way.

Each look follows the events since the last one, adds their legs to what all accounts held then, and compares
in one snapshot: with the writer's tables, with the projected trial balance, and samples of wallets and round
records. A little of the whole ledger is read again each time as well, so that in the end every event is.

What is compared with goes on from look to look: a balance that was changed past the ledger stays an alarm
until it is put right.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import orjson
import psycopg
import structlog

from infrastructure.checking import alarms, sums
from infrastructure.checking.envelopes import Envelopes, Row, type_of
from infrastructure.checking.exact import text as exact_text
from infrastructure.checking.findings import Finding
from infrastructure.checking.legs import MOVING, Legs, legs
from infrastructure.checking.places import Places
from infrastructure.checking.posted import Posted, posted_otherwise
from infrastructure.checking.reading import PAGE, Ledger
from infrastructure.checking.samples import Samples
from infrastructure.checking.sums import Sums
from infrastructure.tireless import Tireless

LOOK_SECONDS_MIN: Final = 2.0
LOOK_SHARE: Final = 20
"""A pause is so many times as long as the look before it: the watch takes a twentieth of one processor."""
LOOK_SECONDS_MAX: Final = 60.0
SUSPECTS_MAX: Final = 100
RECONNECT_SECONDS: Final = 2.0
AGAIN: Final = 2_000
"""How many old events are read again in each look."""

_POSITIONS: Final = """
    SELECT name, position FROM {read}.projections
    WHERE live AND name IN ('trial_balance', 'postings')"""

log = structlog.get_logger(__name__)


class Watch:
    """What the looks at one ledger have in common. Not thread safe; `position` is how far it has followed.

    `suspects` are positions at which something was wrong with an event: they are read again in every look.
    """

    def __init__(self, ledger: Ledger, suspects: Iterable[int] = ()) -> None:
        self._ledger = ledger
        self._places = Places(ledger)
        self._samples = Samples()
        self._again = Envelopes()
        self._sums: Sums = Counter()
        self._at_projected: Sums | None = None
        self._moved: dict[str, int] = {}
        self._suspects = set(suspects)
        self._findings: list[Finding] = []
        self._horizon = 0
        self.position = -1

    def look(self) -> list[Finding]:
        """Look once; return what is wrong now. Raises psycopg.Error."""
        self._findings = []
        self._moved.clear()
        began_at = self.position
        if began_at >= 0:
            self._catch_up()
        connection = self._ledger.connection
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            self._compare(began_at)
        finally:
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")
        return self._findings

    def _catch_up(self) -> None:
        """Follow until the head is near: what is read in the snapshot is bounded."""
        while (head := self._ledger.head()[0]) - self.position > PAGE:
            if not self._take_page(head, None):
                return

    # ── In one snapshot ─────────────────────────────────────────────────────────────────────────────────────
    def _compare(self, began_at: int) -> None:
        ledger = self._ledger
        head, _ = ledger.head()
        ((horizon,),) = ledger.rows("SELECT coalesce(max(last_position), 0) FROM {schema}.horizon")
        projected: dict[str, int] = dict(ledger.rows(_POSITIONS))
        balances_at, postings_at = (projected.get(name, -1) for name in ("trial_balance", "postings"))
        kept = sums.kept(ledger)
        if self._horizon < horizon:
            began_at = -1  # of what was to be followed, some is archived meanwhile: it begins anew
        self._horizon = horizon
        if began_at < 0:
            self._sums, self.position = Counter(kept), head
            self._again.begin(max(horizon, random.randrange(head + 1)))  # noqa: S311 - no secret
        self._at_projected = None
        while self.position < head and self._take_page(head, balances_at):
            pass
        if self.position < head:
            self._differs("head", self.position + 1, f"the head says {head}, there is no such event")
        if self.position == balances_at:
            self._at_projected = self._sums
        self._compare_sums(kept, began_at + 1)
        self._compare_projected(balances_at)
        if postings_at >= (began_at if began_at >= 0 else head):  # what they miss since, is in `_moved`
            moved = self._moved
            self._findings += self._samples.wallets(ledger, lambda player: moved.get(player, 0) > postings_at)
        self._findings += self._samples.rounds(ledger)
        self._look_again(head, horizon, postings_at)

    def _compare_sums(self, kept: Sums, since: int) -> None:
        for account_class, currency, amount in sums.unbalanced(kept):
            detail = f"{account_class} {currency} adds up to {exact_text(amount)} instead of zero"
            self._differs("unbalanced", since, detail)
        if differ := sums.unlike(self._sums, kept):
            self._differs("books", since, f"these do not hold what they should: {sums.named(differ)}")
            self._findings += self._samples.wrong_wallets(self._ledger, self._moved.__contains__)

    def _compare_projected(self, position: int) -> None:
        if self._at_projected is None:
            return
        if differ := sums.unlike(self._at_projected, sums.projected(self._ledger)):
            self._differs("trial_balance", position, f"these are projected otherwise: {sums.named(differ)}")

    def _look_again(self, head: int, horizon: int, postings_at: int) -> None:
        """Read some old events again, and those that something was wrong with."""
        again = self._again
        if again.position >= head:
            again.begin(horizon)
        found = self._read_again(again, self._ledger.events(again.position, head, AGAIN), postings_at)
        self._suspects.update(finding.position for finding in found)
        for position in sorted(self._suspects)[:SUSPECTS_MAX]:
            findings = self._verify(position, head, horizon, postings_at)
            if not findings:
                self._suspects.remove(position)
            self._findings += findings

    def _verify(self, position: int, head: int, horizon: int, postings_at: int) -> list[Finding]:
        """What is wrong with one event, or with how it follows the one before."""
        if not horizon < position <= head:
            return []
        before = max(position - 2, horizon)
        envelopes = Envelopes()
        envelopes.begin(before)
        rows = self._ledger.events(before, position + 1)
        if not rows:
            return [Finding("position_gap", position, f"position {position} is missing")]
        found = self._read_again(envelopes, rows, postings_at)
        return [finding for finding in found if finding.position == position]

    def _read_again(self, envelopes: Envelopes, rows: list[Row], postings_at: int) -> list[Finding]:
        """What is wrong with events, with how they follow each other, and with what is posted of them."""
        posted: list[Posted] = []
        for row in rows:
            event = envelopes.read(row)
            moved = None if event is None else envelopes.check(_money, event)
            if event is not None and moved is not None and moved.player and row[0] <= postings_at:
                after = event["data"].get("balance_after")
                posted.append((moved.player, row[0], moved.wallet, moved.on_game, after))
        return envelopes.take_findings() + posted_otherwise(self._ledger, posted)

    # ── Events ──────────────────────────────────────────────────────────────────────────────────────────────
    def _take_page(self, head: int, balances_at: int | None) -> bool:
        """Follow a page of events up to the head; False where there is none.

        All that is looked at here are the positions and the money: the rest is read again in time.
        """
        page = self._ledger.events(self.position, head)
        moving: list[tuple[int, str, Legs]] = []
        expected = self.position + 1
        for position, _, stream, data in page:
            if position != expected:
                self._suspects.add(expected)
            expected = position + 1
            if type_of(data) not in MOVING:
                continue
            try:
                moved = _money(orjson.loads(data))
            except (KeyError, TypeError, ValueError, AttributeError):
                self._suspects.add(position)
            else:
                if moved is not None:
                    moving.append((position, stream, moved))
        self._move(moving, balances_at)
        if page:
            self.position = page[-1][0]
        return bool(page)

    def _move(self, moving: list[tuple[int, str, Legs]], balances_at: int | None) -> None:
        """Add the legs of events to the sums; keep those as of the position of the projected balances."""
        places = self._places.of({stream for _, stream, _ in moving})
        for position, stream, moved in moving:
            if balances_at is not None and self.position <= balances_at < position and not self._at_projected:
                self._at_projected = Counter(self._sums)
            if moved.player:
                self._moved[moved.player] = position
            if stream in places:
                sums.add(self._sums, moved, *places[stream])
            else:
                self._suspects.add(position)

    def _differs(self, name: str, position: int, detail: str) -> None:
        self._findings.append(Finding(name, position, detail))


def _money(event: dict[str, Any]) -> Legs | None:
    """An event's legs. Raises ValueError where they do not add up to zero."""
    moved = legs(event["type"], event["data"])
    if moved is not None and moved.left:
        raise ValueError("the legs do not add up to zero")
    return moved


class Checker(Tireless):
    """A thread that looks for as long as it lives, and waits while another process does.

    `looks` and `alarms_raised` count what it has done.
    """

    def __init__(self, dsn: str, schema: str, *, look_seconds_min: float = LOOK_SECONDS_MIN) -> None:
        super().__init__("checker", RECONNECT_SECONDS)
        self._dsn = dsn
        self._schema = schema
        self._look_seconds_min = look_seconds_min
        self._known: list[str] = []
        self.looks = 0
        self.alarms_raised = 0

    def _live(self) -> None:
        with psycopg.connect(
            self._dsn,
            autocommit=True,
            connect_timeout=5,
            options="-c statement_timeout=30000 -c jit=off",
            application_name="stud-ledger checker",
        ) as connection:
            self._watch(connection)

    def _watch(self, connection: psycopg.Connection) -> None:
        watch = Watch(Ledger(connection, self._schema), alarms.positions(connection, self._schema))
        while not self._stop.is_set():
            if not self._acting:
                (self._acting,) = connection.execute(
                    "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))",
                    [f"stud-ledger checker {self._schema}"],
                ).fetchone() or (False,)
            began = time.monotonic()
            if self._acting:
                self._tell(alarms.tell(connection, self._schema, watch.look()))
                self.looks += 1
            pause = LOOK_SHARE * (time.monotonic() - began)
            self._stop.wait(min(max(pause, self._look_seconds_min), LOOK_SECONDS_MAX))

    def _tell(self, names: list[str]) -> None:
        for name in names:
            if name not in self._known:
                self.alarms_raised += 1
                log.error("ledger_alarm", name=name)
        self._known = names

"""Jackpots between the store's rows and the books."""

from __future__ import annotations

import orjson

from domain import commands as c
from domain.jackpots import Jackpot, Scheduled
from infrastructure.ledger.bookkeeping import jackpot_from, jackpot_row
from infrastructure.ledger.store import JackpotRow
from tests.unit.infrastructure.ledgers import beside, furnished, refused, stake
from tests.unit.infrastructure.rebuilding import Rebuilt

MOST = 9 * 10**15 * 10_000
BEFORE = b"""{"currency":"USD","account_class":"real","contribution":"0.70","share":7000,"reset":1000,
"parameters_version":1,"sha256":"00","version":1,"hits":3,"moved_at":17}"""


def test_a_jackpot_comes_back_as_it_was() -> None:
    """With every pool as full as can be, which 64 bits do not hold, and with parameters that wait."""
    pot = Jackpot(
        "pot",
        "USD",
        "test",
        "0.70",
        7_000,
        1_000,
        2,
        "00",
        MOST,
        enabled=False,
        version=9,
        hits=3,
        moved_at=17,
        ceiling=9 * 10**15,
        diversion="0.05",
        overflow=MOST - 1,
        diverted=MOST,
        unsettled=4,
        retired=True,
        scheduled=Scheduled(3, "11", "0.60", 5, 900, "0.1"),
    )
    row = jackpot_row(pot, 20)
    assert row == JackpotRow("pot", 20, MOST, enabled=False, state=row.state)
    assert jackpot_from(row) == pot
    pot.scheduled = None
    assert jackpot_from(jackpot_row(pot, 21)) == pot


def test_a_row_from_before_reads_as_a_jackpot_without_the_rest() -> None:
    """No ceiling, empty pools, nothing that waits: what such a jackpot always was."""
    pot = jackpot_from(JackpotRow("pot", 17, 10_005, enabled=True, state=BEFORE))
    assert (pot.overflow, pot.diverted, pot.unsettled) == (0, 0, 0)
    assert (pot.ceiling, pot.diversion, pot.scheduled, pot.retired) == (None, None, None, False)
    assert (pot.meter, pot.hits, pot.moved_at) == (10_005, 3, 17)


def test_pools_are_text_in_the_row() -> None:
    """Any JSON reader reads them exactly."""
    pot = jackpot_from(JackpotRow("pot", 17, 10_005, enabled=True, state=BEFORE))
    pot.overflow = MOST
    state = orjson.loads(jackpot_row(pot, 18).state)
    assert (state["overflow"], state["diverted"]) == (str(MOST), "0")


def test_processes_share_the_pools_and_what_is_counted() -> None:
    """What one writer put into the pools, disabled, enabled and counted, the next has before it decides."""
    one = furnished(players=5)
    two = beside(one)
    one.do(
        c.OpenJackpot("full", "USD", 1_000, "0.70", ceiling=1_100, diversion="0.30"),
        c.OpenTable("full", "pot-house", "USD", 100, 10_000, "rng", jackpot_id="full"),
    )
    rebuilt = Rebuilt()
    for number, process in zip((0, 1, 2, 4), (one, two, one, two), strict=True):
        process.do(c.OpenRound(f"r{number}", "full", (stake(1, number, jackpot=100),), deal=True))
        process.do(c.Decide(f"r{number}", 1, "fold") if number == 4 else c.EnableJackpot("full"))
        rebuilt.read(one.ledger)
        rebuilt.check(process.books, one.ledger)
    (disabled,) = two.do(c.DisableJackpot("full"))
    assert (disabled["overflow_exact"], disabled["diversion_exact"]) == ("180", "120")
    more = c.OpenRound("late", "full", (stake(1, 4, jackpot=100),))
    assert [refused(outcome) for outcome in one.ask(more)] == ["jackpot_disabled"]
    one.do(c.VoidRound("r0", "malfunction"), c.VoidRound("r1", "malfunction"))
    rebuilt.read(one.ledger)
    rebuilt.check(one.books, one.ledger)
    rebuilt.check_rows(one.ledger)
    assert one.books.work.jackpots["full"].unsettled == 1

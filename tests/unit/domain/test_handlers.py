"""Which command is decided by what, what it reads first, and how events are numbered."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as ev
from domain.handlers import HANDLERS, Reads, reads
from domain.rejections import CODES, Rejection
from domain.work import Work
from tests.unit.domain.playing import NOON, Box, Ledger, plain_house

STAKES = (c.SeatStake(1, "p", 100), c.SeatStake(2, "q", 100))


def test_every_command_has_a_handler() -> None:
    """No command can be sent that nothing decides."""
    assert set(HANDLERS) == set(c.Command.__args__)


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (c.StartLedger(demo=False), Reads()),
        (c.PublishRuleset({}), Reads()),
        (c.OpenJackpot("j", "USD", 1, "1"), Reads()),
        (c.OpenTable("t", "r", "USD", 1, 2, "rng"), Reads()),
        (c.CloseTable("t"), Reads()),
        (c.ReopenTable("t"), Reads()),
        (c.ActivateRuleset("t", "r"), Reads()),
        (c.OpenPlayer("p", "x", "USD"), Reads(("p",))),
        (c.JoinTable("t", "p"), Reads(("p",))),
        (c.LeaveTable("t", "p"), Reads(("p",))),
        (c.Deposit("p", 1, "ref", "tx"), Reads(("p",), None, ("p", "in", "ref"))),
        (c.Withdraw("p", 1, "ref", "tx"), Reads(("p",), None, ("p", "out", "ref"))),
        (c.OpenRound("r", "t", STAKES), Reads(("p", "q"))),
        (c.PlaceAntes("r", STAKES), Reads(("p", "q"), "r")),
        (c.DealCards("r"), Reads((), "r")),
        (c.Decide("r", 1, "fold"), Reads((), "r")),
        (c.RevealDealer("r", ()), Reads((), "r")),
        (c.VoidRound("r", "malfunction"), Reads((), "r")),
        (c.TimeOutRound("r"), Reads((), "r")),
        (c.ContinueRound("r"), Reads((), "r")),
    ],
)
def test_what_a_command_reads(command: c.Command, wanted: Reads) -> None:
    """The players, the round and the transfer it names, and no round that it is about to make."""
    assert reads(command) == wanted


def test_a_ledger_starts_once() -> None:
    """The first event says whether it is a demonstration; again changes nothing."""
    work = Work(bytes, "build")
    assert HANDLERS[c.StartLedger](c.StartLedger(demo=True), work) == {}
    (emitted,) = work.emitted
    assert (emitted.position, emitted.stream, emitted.version) == (1, "ledger-0", 1)
    assert emitted.event == ev.LedgerStarted(demo=True)
    HANDLERS[c.StartLedger](c.StartLedger(demo=False), work)
    assert work.emitted == [emitted]


def test_positions_have_no_gap_and_time_only_goes_forward() -> None:
    """Events of one command are a microsecond apart; a clock that stands or goes back does not show (G4)."""
    ledger = Ledger()
    ledger.table(plain_house())
    ledger.play("Ad Kd 3h 3c 2s", {1: Box("9h 9d 7c 6h 5h")})
    ledger.now_us = NOON - 5_000_000
    ledger.open(ledger.stake(1))
    ledger.now_us = NOON + 5_000_000
    ledger.ask(c.CloseTable("t"))

    assert [e.position for e in ledger.events] == list(range(1, len(ledger.events) + 1))
    assert [e.recorded_at_us for e in ledger.events[:-1]] == list(range(NOON, NOON + len(ledger.events) - 1))
    assert ledger.events[-1].recorded_at_us == NOON + 5_000_000
    versions: dict[str, int] = {}
    for emitted in ledger.events:
        versions[emitted.stream] = versions.get(emitted.stream, 0) + 1
        assert emitted.version == versions[emitted.stream]


def test_the_next_event_of_a_stream_says_what_was_shown() -> None:
    """The hash of the last answer stands on the next event of that stream, and on that one only."""
    ledger = Ledger()
    ledger.table(plain_house())
    round_id = ledger.open(ledger.stake(1))
    ledger.work.shown[f"round-{round_id}"] = "ab" * 32
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    assert [e.meta.get("shown") for e in ledger.last] == ["ab" * 32, None]
    assert ledger.last[1].meta["actor"] == "tests"
    assert ledger.work.shown == {}


def test_what_a_batch_has_touched_is_known() -> None:
    """Wallets, tables, jackpots and rounds that changed are named, so that they can be written."""
    ledger = Ledger()
    ledger.jackpot(1_000)
    ledger.table("us-casino")
    work = ledger.work
    assert (work.touched_jackpots, work.touched_tables) == ({"pot"}, {"t"})
    ledger.fund([ledger.stake(1)])
    for touched in (work.touched_jackpots, work.touched_tables, work.touched_wallets, work.touched_rounds):
        touched.clear()
    round_id = ledger.open(ledger.stake(1, jackpot=100))
    assert work.touched_wallets == {"pseudonym-player-1"}
    assert (work.touched_jackpots, work.touched_tables, work.touched_rounds) == ({"pot"}, {"t"}, {round_id})
    work.touched_tables.clear()
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    assert work.touched_tables == {"t"}


def test_rules_are_compiled_once_for_each_version_and_table() -> None:
    """The same table's rules are the same object; another limit makes another."""
    ledger = Ledger()
    ledger.table(plain_house())
    ledger.table(plain_house(), "u", max_ante=200)
    one, two = (ledger.work.round(ledger.open(table_id=name)) for name in ("t", "u"))
    assert ledger.work.rules_of(one) is ledger.work.rules_of(one)
    assert ledger.work.rules_of(one) is not ledger.work.rules_of(two)


def test_a_rejection_has_a_code_of_the_contract() -> None:
    """Code, one sentence, and what a program may want to know."""
    rejection = Rejection("seat_taken", "Seat 1 is taken.", seat=1)
    assert (rejection.code, rejection.detail, rejection.extra) == (
        "seat_taken",
        "Seat 1 is taken.",
        {"seat": 1},
    )
    assert rejection.code in CODES
    assert rejection.args == ("seat_taken", "Seat 1 is taken.")

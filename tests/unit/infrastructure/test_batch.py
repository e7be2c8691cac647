"""One batch: what is read again, what is decided, what is written, and what stays in memory."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.handlers import HANDLERS
from domain.rejections import Rejection
from domain.work import Work
from infrastructure.ledger.memory import MemoryLedger
from infrastructure.ledger.store import StoreLost, StoreRefused
from infrastructure.ledger.stored_form import decode
from infrastructure.ledger.submission import Result, Reused
from tests.unit.domain.playing import cards, jackpot_bet, plain_house
from tests.unit.infrastructure.ledgers import (
    AWARDS,
    Process,
    beside,
    deposit,
    events,
    furnished,
    refused,
    stake,
    submission,
    told,
)
from tests.unit.infrastructure.rebuilding import Rebuilt

ROYAL = cards("As Ks Qs Js Ts")


@pytest.fixture
def process() -> Process:
    """Return a process on a furnished ledger."""
    return furnished()


# ── Once ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_one_id_twice_in_a_batch_acts_once(process: Process) -> None:
    """The second is answered with the first one's bytes, another body under the id is refused (G3)."""
    one, other = (submission(deposit(1, amount, "r"), "key") for amount in (100, 999))
    first, second, third = process.run([one, one, other])
    assert isinstance(first, Result)
    assert (first.replayed, second) == (False, first._replace(replayed=True))
    assert isinstance(third, Reused)
    assert len(events(process.ledger, ev.Deposited)) == 9


def test_a_key_of_another_client_is_another_command(process: Process) -> None:
    """Keys belong to the client that chose them."""
    mine, theirs = (submission(deposit(1, 100, name), "key", client=name) for name in ("a", "b"))
    assert [told(outcome)["balance"] for outcome in process.run([mine, theirs])] == [1_000_100, 1_000_200]


def test_a_rejection_is_remembered(process: Process) -> None:
    """Money that arrives later does not change the answer, in any process: a new try is a new key."""
    sent = submission(c.Withdraw("player-1", 2_000_000, "out", "t"), "key")
    (first,) = process.run([sent])
    process.do(deposit(1, 5_000_000, "more"))
    for asked in (process, beside(process)):
        (again,) = asked.run([sent])
        assert isinstance(first, Result)
        assert again == first._replace(replayed=True)
    assert refused(first) == "insufficient_funds"


def test_a_batch_of_repeats_writes_nothing(process: Process) -> None:
    """What is known is answered and the transaction ends without effect; the books go on as they were."""
    sent = submission(deposit(1, 100, "r"), "key")
    process.run([sent])
    at, wallets = process.ledger.position, dict(process.books.work.wallets)
    process.run([sent, sent])
    assert (process.ledger.position, process.books.known_position) == (at, at)
    assert process.books.work.wallets == wallets


def test_a_repeat_alone_takes_note_of_what_others_wrote(process: Process) -> None:
    """Books that were refreshed for a repeat count as refreshed for the next batch."""
    sent = submission(deposit(1, 100, "r"), "key")
    process.run([sent])
    beside(process).do(deposit(1, 50, "elsewhere"))
    process.run([sent])
    assert process.books.known_position == process.ledger.position
    assert process.do(deposit(1, 7, "here")) == [{"transaction_id": "t-here", "balance": 1_000_157}]


def test_a_command_that_changes_nothing_is_remembered_too(process: Process) -> None:
    """Closing a closed table is accepted, writes no event, and its repeat is a repeat."""
    process.do(c.CloseTable("pots"))
    at = process.ledger.position
    sent = submission(c.CloseTable("pots"), "again")
    (first,), (second,) = process.run([sent]), process.run([sent])
    assert isinstance(first, Result)
    assert told(first)["open"] is False
    assert second == first._replace(replayed=True)
    assert process.ledger.position == at


def test_a_reference_is_used_once_within_a_batch_and_after(process: Process) -> None:
    """The same amount under it gets the first answer, another amount is refused; out is not in."""
    first, same, other = process.ask(*(deposit(1, amount, "ref") for amount in (100, 100, 200)))
    assert told(first) == told(same) == {"transaction_id": "t-ref", "balance": 1_000_100}
    assert refused(other) == "reference_already_used"
    later = beside(process).ask(deposit(1, 100, "ref"), deposit(1, 101, "ref"))
    assert (told(later[0]), refused(later[1])) == (told(first), "reference_already_used")
    assert told(process.ask(c.Withdraw("player-1", 5, "ref", "t-out"))[0])["balance"] == 1_000_095


# ── What another process wrote ──────────────────────────────────────────────────────────────────────────────
def test_a_round_goes_on_in_any_process(process: Process) -> None:
    """Opened here, staked there, dealt here, decided there: each reads on where the other left off."""
    other = beside(process)
    process.do(c.OpenRound("r1", "pots"))
    other.do(c.PlaceAntes("r1", (stake(1), stake(2))))
    (dealt,) = process.do(c.DealCards("r1"))
    (raised,) = other.do(c.Decide("r1", 2, "raise"))
    assert raised["seats"][1]["cards"] == dealt["seats"][1]["cards"]
    (closed,) = process.do(c.Decide("r1", 1, "fold"))
    assert closed["phase"] == "closed"
    assert refused(other.ask(c.Decide("r1", 1, "raise"))[0]) == "already_decided"
    truth = Rebuilt()
    truth.read(process.ledger)
    truth.check_rows(process.ledger)


def test_the_next_event_says_what_was_shown_wherever_it_is_written(process: Process) -> None:
    """`meta.shown` is the salted hash of the answer before, also when another process gave that answer."""
    opening = submission(c.OpenRound("r1", "pots", (stake(1),), deal=True), "key")
    (opened,) = process.run([opening])
    beside(process).do(c.Decide("r1", 1, "raise"))
    metas = [decode(row.data).meta for row in process.ledger.streams["round-r1"]]
    assert isinstance(opened, Result)
    salt = process.ledger.commands[opening.id].salt
    assert salt is not None
    assert len(salt) == 8
    expected = urlsafe_b64encode(hashlib.sha256(salt + opened.body).digest()).decode().rstrip("=")
    assert [meta["shown"] for meta in metas if "shown" in meta] == [expected]
    assert {meta["actor"] for meta in metas} == {"tester"}


def test_a_table_is_as_the_other_process_left_it(process: Process) -> None:
    """A round that another process opened at a table of one round at a time stands in the way."""
    beside(process).do(c.OpenRound("r1", "slow", (stake(1),)))
    assert refused(process.ask(c.OpenRound("r2", "slow"))[0]) == "round_open"


def test_a_ledger_that_has_gone_back_is_not_believed(process: Process) -> None:
    """A database behind what was read from it is another one: the writer has to begin anew."""
    process.do(deposit(1, 100, "r"))
    process.store._ledger = MemoryLedger()
    with pytest.raises(StoreLost, match="the ledger is at 0 and was at"):
        process.ask(deposit(1, 100, "s"))
    assert not process.store._ledger.lock.locked()
    assert refused(process.ask(deposit(1, 100, "s"))[0]) == "player_not_found"


def test_hands_that_share_a_meter_late_are_all_paid() -> None:
    """The first to win the meter may come after a big round's first command: all winners are read then."""
    house = plain_house(
        id="crowd",
        seating={"seats": 90, "shared_player_hand": True},
        deal={"player_cards": "up"},
        play={"show_hands": "all"},
        side_bets=[jackpot_bet(AWARDS)],
    )
    first = Process(settle_seats_max=20)
    first.do(c.PublishRuleset(house), c.OpenJackpot("big", "USD", 1_000_000, "0.70"))
    first.do(c.OpenTable("t", "crowd", "USD", 100, 1_000, "table", "big"))
    first.do(*(c.OpenPlayer(f"player-{n}", f"p{n}", "USD") for n in range(1, 91)))
    first.do(*(deposit(n, 10_000, f"first-{n}") for n in range(1, 91)))
    bets = [stake(n, **({"jackpot": 100} if n > 45 else {})) for n in range(1, 91)]
    first.do(c.OpenRound("r", "t", tuple(bets)), c.DealCards("r", None, ROYAL, ("2d",)))
    first.do(*(c.Decide("r", n, "raise") for n in range(1, 91)))
    command: c.Command = c.RevealDealer("r", cards("3d 4d 5d 7h"))
    phases = []
    for _ in range(5):
        phases.append(beside(first).do(command)[0]["phase"])
        command = c.ContinueRound("r")
    assert phases == ["revealed"] * 4 + ["closed"]
    hits = events(first.ledger, ev.JackpotHit)
    assert [hit.seat for hit in hits] == list(range(46, 91))
    assert {hit.award for hit in hits} == {(1_000_000 + 45 * 70) // 45}
    truth = Rebuilt()
    truth.read(first.ledger)
    truth.check_rows(first.ledger)


# ── What fails ──────────────────────────────────────────────────────────────────────────────────────────────
def test_a_rejection_after_an_event_is_a_defect(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler that emits and then rejects would half happen: the batch fails and nothing of it does."""

    def broken(_: c.CloseTable, work: Work) -> dict[str, Any]:
        work.emit("table-pots", work.tables["pots"].version + 1, ev.TableClosed("pots"))
        raise Rejection("table_closed", "No.")

    at = process.ledger.position
    monkeypatch.setitem(HANDLERS, c.CloseTable, broken)
    with pytest.raises(RuntimeError, match="CloseTable was rejected after it had emitted"):
        process.ask(c.CloseTable("pots"))
    assert process.ledger.position == at
    monkeypatch.undo()
    assert process.do(c.CloseTable("pots"))[0]["open"] is False


def test_what_the_store_refuses_leaves_no_trace(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """A balance below zero is refused by the last guard (G2); the next batch starts from what is there."""

    def broken(command: c.Withdraw, work: Work) -> dict[str, Any]:
        wallet = work.wallet_of(command.player_id)
        wallet.version += 1
        gone = ev.Withdrawn(wallet.player, command.amount, command.reference, "t", 0)
        work.emit(f"wallet-{wallet.player}", wallet.version, gone)
        return {}

    before = dict(process.ledger.wallets)
    monkeypatch.setitem(HANDLERS, c.Withdraw, broken)
    with pytest.raises(StoreRefused, match="out of range"):
        process.ask(deposit(1, 5, "beside"), c.Withdraw("player-1", 10**9, "out", "t"))
    assert process.ledger.wallets == before
    assert process.do(deposit(1, 5, "beside"))[0]["balance"] == 1_000_005

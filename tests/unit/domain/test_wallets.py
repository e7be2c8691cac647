"""The cashier: wallets, deposits and withdrawals, each reference once."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as ev
from tests.unit.domain.playing import Ledger, plain_house

MAX = 10**12


def with_player(funds: int = 1_000) -> Ledger:
    """Return a ledger with a player of some means."""
    ledger = Ledger()
    ledger.player("p", funds)
    return ledger


def test_a_wallet_opens_empty() -> None:
    """Under its pseudonym, in one currency."""
    ledger = Ledger()
    answer = ledger.ask(c.OpenPlayer("p", "pseudonym", "EUR", "test"))
    assert answer == {
        "player_id": "p",
        "currency": "EUR",
        "account_class": "test",
        "balance": 0,
        "on_game": 0,
    }
    (emitted,) = ledger.last
    assert (emitted.stream, emitted.version) == ("wallet-pseudonym", 1)
    assert emitted.event == ev.WalletOpened("pseudonym", "EUR", "test")


def test_a_player_opens_once_and_in_a_known_currency() -> None:
    """The same id again and an unknown currency are refused."""
    ledger = with_player()
    ledger.refused(c.OpenPlayer("p", "other", "USD"), "player_exists")
    ledger.refused(c.OpenPlayer("q", "other", "XXX"), "validation_failed")


def test_money_in_and_out() -> None:
    """The wallet and the cashier move by the same amount."""
    ledger = with_player(1_000)
    answer = ledger.ask(c.Deposit("p", 500, "in-1", "tx-1"))
    assert answer == {"transaction_id": "tx-1", "balance": 1_500}
    assert [e.event for e in ledger.last] == [ev.Deposited("pseudonym-p", 500, "in-1", "tx-1", 1_500)]
    answer = ledger.ask(c.Withdraw("p", 1_500, "out-1", "tx-2"))
    assert answer == {"transaction_id": "tx-2", "balance": 0}
    assert [e.event for e in ledger.last] == [ev.Withdrawn("pseudonym-p", 1_500, "out-1", "tx-2", 0)]
    assert ledger.last[0].version == 4
    assert ledger.work.accounts == {("cashier:real", "USD"): 0}


@pytest.mark.parametrize("kind", [c.Deposit, c.Withdraw])
def test_a_reference_acts_once(kind: type[c.Deposit | c.Withdraw]) -> None:
    """The same amount again gets the first answer, whatever the balance is now; another is refused."""
    ledger = with_player()
    first = ledger.ask(kind("p", 100, "ref", "tx-1"))
    ledger.ask(c.Deposit("p", 7, "between", "tx"))
    assert ledger.ask(kind("p", 100, "ref", "tx-2")) == first
    assert ledger.last == []
    assert ledger.refused(kind("p", 101, "ref", "tx-3"), "reference_already_used").extra == {"amount": 100}


def test_references_are_apart_by_player_and_direction() -> None:
    """The same text in the other direction, or for another player, is another reference."""
    ledger = with_player()
    ledger.player("q", 1_000)
    ledger.ask(c.Deposit("p", 100, "ref", "a"))
    ledger.ask(c.Withdraw("p", 100, "ref", "b"))
    ledger.ask(c.Deposit("q", 200, "ref", "c"))
    assert (ledger.wallet("p"), ledger.wallet("q")) == ((1_000, 0), (1_200, 0))
    assert set(ledger.work.new_transfers) == set(ledger.work.transfers)


@pytest.mark.parametrize("kind", [c.Deposit, c.Withdraw])
@pytest.mark.parametrize("amount", [0, -1, MAX + 1])
def test_amounts_out_of_range(kind: type[c.Deposit | c.Withdraw], amount: int) -> None:
    """One amount is 1 to 10¹²."""
    ledger = with_player()
    ledger.refused(kind("p", amount, "ref", "tx"), "amount_out_of_range")
    ledger.refused(kind("nobody", amount, "ref", "tx"), "player_not_found")


def test_amounts_at_the_bounds() -> None:
    """1 and 10¹² are taken, in and out."""
    ledger = with_player()
    ledger.ask(c.Deposit("p", MAX, "a", "tx"))
    ledger.ask(c.Deposit("p", 1, "b", "tx"))
    ledger.ask(c.Withdraw("p", MAX, "a", "tx"))
    ledger.ask(c.Withdraw("p", 1, "b", "tx"))
    assert ledger.wallet("p") == (1_000, 0)


def test_more_than_there_is_cannot_be_withdrawn() -> None:
    """Money on game is not there; all that is there can go."""
    ledger = with_player()
    ledger.table(plain_house())
    ledger.ask(c.OpenRound("r", "t", (ledger.stake(1, 400, "p"),)))
    refusal = ledger.refused(c.Withdraw("p", 601, "ref", "tx"), "insufficient_funds")
    assert refusal.extra == {"needed": 601, "balance": 600}
    ledger.ask(c.Withdraw("p", 600, "ref", "tx"))
    assert ledger.wallet("p") == (0, 400)


def test_a_wallet_has_a_bound() -> None:
    """A deposit may not leave less than a round's largest win below 9·10¹⁵, money on game counted."""
    ledger = with_player()
    wallet = ledger.work.wallet_of("p")
    wallet.balance, wallet.on_game = 8 * 10**15 - 100, 50
    ledger.refused(c.Deposit("p", 51, "ref", "tx"), "amount_out_of_range")
    ledger.ask(c.Deposit("p", 50, "ref", "tx"))

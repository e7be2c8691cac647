"""The cashier: wallets are opened, money comes in and goes out, each reference once."""

from __future__ import annotations

from typing import Any

from domain import events as ev
from domain.betting import HEADROOM
from domain.commands import Deposit, OpenPlayer, Withdraw
from domain.money import AMOUNT_MAX, BALANCE_MAX, UnknownCurrency, exponent
from domain.rejections import Rejection
from domain.work import Transfer, Wallet, Work


def open_player(command: OpenPlayer, work: Work) -> dict[str, Any]:
    """Open a wallet under a new pseudonym. Rejects with player_exists, validation_failed."""
    if command.player_id in work.players:
        raise Rejection("player_exists", f"Player {command.player_id} exists already.")
    require_currency(command.currency)
    wallet = Wallet(command.player, command.player_id, command.currency, command.account_class)
    work.wallets[wallet.player] = wallet
    work.players[command.player_id] = wallet.player
    _emit(work, wallet, ev.WalletOpened(wallet.player, wallet.currency, wallet.account_class))
    return wallet_answer(wallet)


def wallet_answer(wallet: Wallet) -> dict[str, Any]:
    """A wallet as the HTTP contract shows it."""
    return {
        "player_id": wallet.player_id,
        "currency": wallet.currency,
        "account_class": wallet.account_class,
        "balance": wallet.balance,
        "on_game": wallet.on_game,
    }


def deposit(command: Deposit, work: Work) -> dict[str, Any]:
    """Credit a wallet. The same reference and amount again gets the first answer.

    Rejects with player_not_found, amount_out_of_range, reference_already_used.
    """
    wallet = work.wallet_of(command.player_id)
    _check_amount(command.amount)
    key = (wallet.player, "in", command.reference)
    known = _known(work, key, command.amount)
    if known is not None:
        return known
    if wallet.balance + wallet.on_game + command.amount > BALANCE_MAX - HEADROOM:
        raise Rejection("amount_out_of_range", "The wallet cannot hold that much.")
    after = wallet.balance + command.amount
    event = ev.Deposited(wallet.player, command.amount, command.reference, command.transaction_id, after)
    return _transfer(work, wallet, key, event)


def withdraw(command: Withdraw, work: Work) -> dict[str, Any]:
    """Debit a wallet. The same reference and amount again gets the first answer.

    Rejects with player_not_found, amount_out_of_range, insufficient_funds, reference_already_used.
    """
    wallet = work.wallet_of(command.player_id)
    _check_amount(command.amount)
    key = (wallet.player, "out", command.reference)
    known = _known(work, key, command.amount)
    if known is not None:
        return known
    if wallet.balance < command.amount:
        detail = f"The withdrawal is {command.amount}, the balance is {wallet.balance}."
        raise Rejection("insufficient_funds", detail, needed=command.amount, balance=wallet.balance)
    after = wallet.balance - command.amount
    event = ev.Withdrawn(wallet.player, command.amount, command.reference, command.transaction_id, after)
    return _transfer(work, wallet, key, event)


def require_currency(currency: str) -> None:
    """Reject a currency the ledger has no exponent for with validation_failed."""
    try:
        exponent(currency)
    except UnknownCurrency:
        raise Rejection("validation_failed", f"{currency} is not a currency this ledger knows.") from None


def _check_amount(amount: int) -> None:
    if not 1 <= amount <= AMOUNT_MAX:
        raise Rejection("amount_out_of_range", f"One amount is 1 to {AMOUNT_MAX} minor units.")


def _known(work: Work, key: tuple[str, str, str], amount: int) -> dict[str, Any] | None:
    known = work.transfers.get(key)
    if known is None:
        return None
    if known.amount != amount:
        raise Rejection(
            "reference_already_used", "That reference was used for another amount.", amount=known.amount
        )
    return known.answer


def _transfer(
    work: Work, wallet: Wallet, key: tuple[str, str, str], event: ev.Deposited | ev.Withdrawn
) -> dict[str, Any]:
    _emit(work, wallet, event)
    answer: dict[str, Any] = {"transaction_id": event.transaction_id, "balance": wallet.balance}
    if work.checkpoint is not None:
        answer["checkpoint"] = work.checkpoint
    work.transfers[key] = work.new_transfers[key] = Transfer(event.amount, answer)
    return answer


def _emit(work: Work, wallet: Wallet, event: ev.Event) -> None:
    wallet.version += 1
    work.touched_wallets.add(wallet.player)
    work.emit(f"wallet-{wallet.player}", wallet.version, event)

"""A player's money comes in and goes out."""

from __future__ import annotations

from dataclasses import dataclass

from domain.events.words import AccountClass


@dataclass(frozen=True, slots=True)
class WalletOpened:
    """A player's wallet exists, empty, in one currency. `player` is a random pseudonym."""

    player: str
    currency: str
    account_class: AccountClass


@dataclass(frozen=True, slots=True)
class Deposited:
    """Money came in through the cashier.

    `reference` is the cashier's own and unique per player and direction.
    """

    player: str
    amount: int
    reference: str
    transaction_id: str
    balance_after: int


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Money went out through the cashier."""

    player: str
    amount: int
    reference: str
    transaction_id: str
    balance_after: int

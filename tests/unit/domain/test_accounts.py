"""The ledger's accounts by their full names."""

from __future__ import annotations

import pytest

from domain.accounts import JACKPOTS, account_name
from domain.events import AccountClass
from domain.postings import CASHIER, DIVERSION, HOUSE, JACKPOT, ON_GAME, OVERFLOW, WALLET


@pytest.mark.parametrize(
    ("kind", "owner", "name"),
    [
        (WALLET, "p1", "wallet:real"),
        (ON_GAME, "p1", "on_game:real"),
        (HOUSE, "", "house:real:nordic"),
        (CASHIER, "", "cashier:real"),
        (JACKPOT, "pot", "jackpot:real:pot"),
        (OVERFLOW, "pot", "jackpot_overflow:real:pot"),
        (DIVERSION, "pot", "jackpot_diversion:real:pot"),
    ],
)
def test_every_kind_of_account_has_a_name(kind: str, owner: str, name: str) -> None:
    """Players are summed up, the house is told apart by game, a jackpot's pools by the jackpot."""
    assert account_name(kind, owner, account_class="real", game="nordic") == name


@pytest.mark.parametrize("account_class", ["real", "test"])
def test_test_money_has_its_own_accounts(account_class: AccountClass) -> None:
    """The class is in every name (A.2.5)."""
    for kind in (WALLET, ON_GAME, HOUSE, CASHIER, JACKPOT, OVERFLOW, DIVERSION):
        assert account_name(kind, "x", account_class=account_class).split(":")[1] == account_class


def test_what_the_house_moves_outside_a_round_is_listed_under_jackpots() -> None:
    """No rule set can have that id beside it: `jackpots` is the default of the game."""
    assert account_name(HOUSE, "", account_class="real") == f"house:real:{JACKPOTS}" == "house:real:jackpots"

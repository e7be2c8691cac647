"""The trial balance and the operator's liability, now or as they were."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from api import openapi
from api.paging import Fresh, answer
from api.reports.shapes import REPORT_SCOPES, Caller, ReportAnswer, exact, report
from api.shapes import Answer
from api.times import Moment, Position, asked, then
from infrastructure.point_in_time import AccountThen
from infrastructure.reading import Reading

router = APIRouter(tags=["reports"])

LIABILITIES: Final = {
    "wallet": "wallets",
    "on_game": "on_game",
    "jackpot": "jackpots",
    "jackpot_overflow": "jackpots_overflow",
    "jackpot_diversion": "jackpots_diversion",
}
"""What an operator owes, by the kind of account (GLI-19 2.9.2): each a line of its own."""


class AccountItem(Answer):
    """An account and its balance, decimal text of minor units."""

    account: str
    currency: str
    balance: str


class TrialBalanceAnswer(ReportAnswer):
    """All accounts as of a position. `sums` has each currency's total, which is zero (G1)."""

    position: int
    sums: dict[str, str]
    items: list[AccountItem]


class LiabilityItem(Answer):
    """What the operator owes in one currency to one class of account, decimal text of minor units."""

    currency: str
    account_class: str
    wallets: str
    on_game: str
    pending_withdrawals: str
    jackpots: str
    jackpots_overflow: str
    jackpots_diversion: str
    total: str


class LiabilityAnswer(ReportAnswer):
    """The operator's liability as of a position."""

    position: int
    items: list[LiabilityItem]


_ABOUT: Final[dict[str, Any]] = {
    "position": 4711,
    "generated_at": "2026-11-30T06:00:00.000000Z",
    "no_activity": False,
}
_ACCOUNTS: Final = [
    {"account": "cashier:real", "currency": "USD", "balance": "-50000"},
    {"account": "house:real:us-casino", "currency": "USD", "balance": "1000"},
    {"account": "wallet:real", "currency": "USD", "balance": "49000"},
]
_LIABILITY: Final = {
    "currency": "USD",
    "account_class": "real",
    "wallets": "49000",
    "on_game": "0",
    "pending_withdrawals": "0",
    "jackpots": "1000070.5",
    "jackpots_overflow": "0",
    "jackpots_diversion": "0",
    "total": "1049070.5",
}


@router.get(
    "/v1/trial-balance",
    summary="The trial balance",
    response_model=TrialBalanceAnswer,
    dependencies=[REPORT_SCOPES],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read(
        {"title": "Trial balance", **_ABOUT, "sums": {"USD": "0"}, "items": _ACCOUNTS}
    ),
)
async def read_trial_balance(
    _: Caller, reading: Fresh, at: Moment = None, position: Position = None
) -> Response:
    """Every account as of now, or of a moment or a position. The sum of each currency is zero."""
    as_of, accounts = await _accounts(reading, at, position)
    sums: dict[str, int] = {}
    for account in accounts:
        sums[account.currency] = sums.get(account.currency, 0) + account.balance
    items = [
        {"account": each.account, "currency": each.currency, "balance": exact(each.balance)}
        for each in accounts
    ]
    totals = {currency: exact(total) for currency, total in sums.items()}
    return answer(report("Trial balance", items, position=as_of, sums=totals))


@router.get(
    "/v1/reports/liability",
    summary="What the operator owes",
    response_model=LiabilityAnswer,
    dependencies=[REPORT_SCOPES],
    responses=openapi.problems("validation_failed"),
    openapi_extra=openapi.read({"title": "Operator liability", **_ABOUT, "items": [_LIABILITY]}),
)
async def read_liability(_: Caller, reading: Fresh, at: Moment = None, position: Position = None) -> Response:
    """Wallets, funds on game and jackpot pools, each a line of its own, by currency and class of account.

    Withdrawals are paid when they are booked: none is ever pending.
    """
    as_of, accounts = await _accounts(reading, at, position)
    lines: dict[tuple[str, str], dict[str, int]] = {}
    for name, currency, balance in accounts:
        kind, account_class, *_owner = name.split(":", 2)
        line = LIABILITIES.get(kind)
        if line is not None:
            sums = lines.setdefault((currency, account_class), dict.fromkeys(LIABILITIES.values(), 0))
            sums[line] += balance
    items = [_liability(*key, sums) for key, sums in sorted(lines.items())]
    return answer(report("Operator liability", items, position=as_of))


async def _accounts(
    reading: Reading, at: datetime | None, position: int | None
) -> tuple[int, list[AccountThen]]:
    """The position that was meant, now where none was named, and the accounts as of it."""
    named = await then(reading, at, position)
    as_of = await reading.position() if named is None else named
    return as_of, await asked(reading.then.trial_balance, as_of)


def _liability(currency: str, account_class: str, sums: dict[str, int]) -> dict[str, str]:
    lines = {name: exact(amount) for name, amount in sums.items()}
    return {
        "currency": currency,
        "account_class": account_class,
        **lines,
        "pending_withdrawals": "0",
        "total": exact(sum(sums.values())),
    }

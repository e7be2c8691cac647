"""What all accounts hold together, at one position: read from the tables, or moved on by events.

The books are added up by account class and currency, jackpots one by one. Three ways lead to the same sums:
the tables that the writer keeps, the trial balance that is projected, and any of these moved on by the legs
of the events since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import orjson

from infrastructure.checking.exact import MINOR
from infrastructure.checking.legs import DIVERTED, METER, ON_GAME, OVERFLOW, WALLET, Legs
from infrastructure.checking.reading import Ledger

Account = tuple[str, str, str, str]
"""Kind, class, currency, and a jackpot's id or nothing."""
Sums = Counter[Account]

_PROJECTED = {"jackpot": METER, "jackpot_overflow": OVERFLOW, "jackpot_diversion": DIVERTED}


def kept(ledger: Ledger) -> Sums:
    """Add up the writer's tables; in a snapshot."""
    sums: Sums = Counter()
    for account_class, currency, balance, on_game in ledger.rows(
        "SELECT account_class, currency, sum(balance), sum(on_game) FROM {schema}.wallets GROUP BY 1, 2"
    ):
        sums[WALLET, account_class, currency, ""] = int(balance) * MINOR
        sums[ON_GAME, account_class, currency, ""] = int(on_game) * MINOR
    for account, currency, balance in ledger.rows("SELECT account, currency, balance FROM {schema}.accounts"):
        kind, _, account_class = account.partition(":")
        sums[kind, account_class, currency, ""] += int(balance)
    for jackpot_id, meter, state in ledger.rows("SELECT jackpot_id, meter, state FROM {schema}.jackpots"):
        known = orjson.loads(state)
        of = (known["account_class"], known["currency"], jackpot_id)
        sums[(METER, *of)] = int(meter)
        for pool in (OVERFLOW, DIVERTED):
            sums[(pool, *of)] = int(known.get(pool, 0))
    return sums


def projected(ledger: Ledger) -> Sums:
    """Add up the projected trial balance, whatever game its accounts are of; in a snapshot."""
    sums: Sums = Counter()
    for account, currency, balance in ledger.rows(
        "SELECT account, currency, balance FROM {read}.trial_balance_now"
    ):
        kind, account_class, *owner = account.split(":", 2)
        if kind in _PROJECTED:
            sums[_PROJECTED[kind], account_class, currency, owner[0]] += int(balance)
        else:
            sums[kind, account_class, currency, ""] += int(balance)
    return sums


def add(sums: Sums, legs: Legs, account_class: str, currency: str) -> None:
    """Move sums on by an event's legs."""
    if legs.wallet:
        sums[WALLET, account_class, currency, ""] += legs.wallet * MINOR
    if legs.on_game:
        sums[ON_GAME, account_class, currency, ""] += legs.on_game * MINOR
    for kind, owner, amount in legs.others:
        sums[kind, account_class, currency, owner] += amount


def unlike(left: Sums, right: Sums) -> list[Account]:
    """Return the accounts that do not hold the same, in order."""
    return sorted(account for account in left.keys() | right.keys() if left[account] != right[account])


def unbalanced(sums: Sums) -> list[tuple[str, str, int]]:
    """Return class, currency and amount where all accounts together are not zero."""
    whole: Counter[tuple[str, str]] = Counter()
    for (_, account_class, currency, _), amount in sums.items():
        whole[account_class, currency] += amount
    return sorted((*key, amount) for key, amount in whole.items() if amount)


def named(accounts: Iterable[Account]) -> str:
    """Return accounts as a person reads them."""
    return ", ".join(
        ":".join(part for part in (kind, class_, owner) if part) + f" {currency}"
        for kind, class_, currency, owner in accounts
    )

"""What events outside rounds do: the cashier's, the tables', the jackpots'."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final

import orjson

from infrastructure.checking.books import DIVERSION, METER, OVERFLOW, Books
from infrastructure.checking.exact import MINOR, exact, share
from infrastructure.checking.records import RECORDED
from infrastructure.checking.registers import REGISTERED, two_people
from infrastructure.checking.state import Jackpot, Parameters, Table

Data = dict[str, Any]
Handler = Callable[[Books, str, Data], None]

_POOLS: Final = {"meter": METER, "overflow": OVERFLOW, "diversion": DIVERSION}


# ── The cashier ─────────────────────────────────────────────────────────────────────────────────────────────
def _wallet_opened(books: Books, name: str, data: Data) -> None:
    if data["player"] != name or books.wallets.get(name) is not None:
        books.differs("wallet", f"the wallet of {name} is opened twice, or in another's stream")
        return
    books.open_wallet(name, data["currency"], data["account_class"])


def _deposited(books: Books, name: str, data: Data) -> None:
    _transferred(books, name, data, "in", data["amount"])


def _withdrawn(books: Books, name: str, data: Data) -> None:
    _transferred(books, name, data, "out", -data["amount"])


def _transferred(books: Books, name: str, data: Data, direction: str, amount: int) -> None:
    if data["player"] != name:
        books.differs("wallet", f"money of {data['player']} moves in the stream of {name}")
    wallet = books.move(data["player"], amount, 0, data["balance_after"])
    books.book(f"cashier:{wallet.account_class}", wallet.currency, -amount * MINOR)
    books.transfer_count += 1
    books.transfers.append((data["player"], direction, data["reference"], abs(amount), books.position))


# ── Jackpots ────────────────────────────────────────────────────────────────────────────────────────────────
def _parameters(data: Data) -> Parameters:
    return Parameters(
        data["parameters_version"],
        share(data["contribution"]),
        data["reset"],
        data.get("ceiling"),
        share(data["diversion"]) if "diversion" in data else 0,
    )


def _jackpot_opened(books: Books, name: str, data: Data) -> None:
    if data["jackpot_id"] != name or name in books.jackpots:
        books.differs("jackpot", f"the jackpot {name} is opened twice, or in another's stream")
        return
    books.jackpots[name] = Jackpot(data["currency"], data["account_class"], _parameters(data))
    books.pool(name, METER, data["reset"] * MINOR)
    _house(books, name, -data["reset"] * MINOR)


def _house(books: Books, jackpot_id: str, amount: int) -> None:
    jackpot = books.jackpots[jackpot_id]
    books.book(f"house:{jackpot.account_class}", jackpot.currency, amount)


def _of_jackpot(change: Callable[[Books, str, Jackpot, Data], None]) -> Handler:
    def changed(books: Books, name: str, data: Data) -> None:
        jackpot = books.jackpot(name)
        if jackpot is None:
            return
        if data["jackpot_id"] != name:
            books.differs("jackpot", f"{data['jackpot_id']} changes in the stream of {name}")
        jackpot.touched_at = books.position
        two_people(books, data)
        change(books, name, jackpot, data)

    return changed


def _scheduled(_: Books, __: str, jackpot: Jackpot, data: Data) -> None:
    jackpot.scheduled = _parameters(data)


def _activated(books: Books, name: str, jackpot: Jackpot, data: Data) -> None:
    waiting = jackpot.scheduled
    if waiting is None or waiting.version != data["parameters_version"]:
        books.differs("jackpot", f"parameters {data['parameters_version']} of {name} were not waiting")
    else:
        jackpot.parameters, jackpot.scheduled = waiting, None
    top_up = exact(data["top_up"]) if "top_up" in data else 0
    books.meter_is(name, exact(data["meter_before"]), "before")
    if top_up:
        books.pool(name, METER, top_up)
        _house(books, name, -top_up)
    books.meter_is(name, exact(data["meter_after"]), "after")


def _disabled(_: Books, __: str, jackpot: Jackpot, ___: Data) -> None:
    jackpot.enabled = False


def _enabled(_: Books, __: str, jackpot: Jackpot, ___: Data) -> None:
    jackpot.enabled = True


def _retired(_: Books, __: str, jackpot: Jackpot, ___: Data) -> None:
    jackpot.retired, jackpot.enabled = True, False


def _moved(books: Books, name: str, jackpot: Jackpot, data: Data) -> None:
    to, target = data["to"], books.jackpot(data["to"])
    amount, overflow, diversion = (exact(data[each]) for each in ("amount", "overflow", "diversion"))
    above = exact(data["above_ceiling"]) if "above_ceiling" in data else 0
    held = (jackpot.meter, jackpot.overflow, jackpot.diverted)
    if held != (amount, overflow, diversion):
        books.differs("jackpot", f"{name} held {held}, what is transferred is {amount, overflow, diversion}")
    if target is None:
        return
    if (target.currency, target.account_class) != (jackpot.currency, jackpot.account_class):
        books.differs("account_class", f"{name} and {to} do not hold the same money")
    books.meter_is(to, exact(data["to_meter_before"]), "before")
    for pool, out, into in (
        (METER, amount, amount - above),
        (OVERFLOW, overflow, overflow + above),
        (DIVERSION, diversion, diversion),
    ):
        if out or into or pool == METER:
            books.pool(name, pool, -out)
            books.pool(to, pool, into)
    books.meter_is(to, exact(data["to_meter_after"]), "after")


def _adjusted(books: Books, name: str, jackpot: Jackpot, data: Data) -> None:
    pool, amount = _POOLS[data["pool"]], exact(data["amount"])
    before = getattr(jackpot, pool)
    if (exact(data["before"]), exact(data["after"])) != (before, before + amount):
        books.differs("jackpot", f"the {data['pool']} of {name} was {before}, the event says otherwise")
    books.pool(name, pool, amount)
    _house(books, name, -amount)


# ── Tables and rule sets ────────────────────────────────────────────────────────────────────────────────────
def _ruleset(data: Data) -> list[Any]:
    ref = data["ruleset"]
    return [ref["id"], ref["version"], ref["sha256"]]


def _table_opened(books: Books, name: str, data: Data) -> None:
    if data["table_id"] != name or name in books.tables:
        books.differs("table", f"the table {name} is opened twice, or in another's stream")
    books.tables[name] = Table(_ruleset(data), data["parallel_rounds"], books.position)


def _of_table(change: Callable[[Table, Data], None]) -> Handler:
    def changed(books: Books, name: str, data: Data) -> None:
        table = books.tables.get(name)
        if table is None or data["table_id"] != name:
            books.differs("table", f"the table {data['table_id']} changes in the stream of {name}")
            return
        table.touched_at = books.position
        change(table, data)

    return changed


def _set_ruleset(table: Table, data: Data) -> None:
    table.ruleset = _ruleset(data)


def _set_open(value: bool) -> Callable[[Table, Data], None]:  # noqa: FBT001 - it is the value
    def change(table: Table, _: Data) -> None:
        table.open = value

    return change


def _joined(table: Table, data: Data) -> None:
    table.places[data["player"]] = data.get("seat")


def _left(table: Table, data: Data) -> None:
    table.places.pop(data["player"], None)


def _ruleset_published(books: Books, name: str, data: Data) -> None:
    content = orjson.dumps(data["content"], option=orjson.OPT_SORT_KEYS)
    sha256 = hashlib.sha256(content).hexdigest()
    if (sha256, name) != (data["sha256"], data["ruleset_id"]):
        books.differs("ruleset", f"the content of {name} has the SHA-256 {sha256}, the event says another")
    books.rulesets[name, data["ruleset_version"]] = books.position, data["sha256"]


BESIDE_ROUNDS: Final[dict[str, tuple[str, Handler]]] = {
    "WalletOpened": ("wallet", _wallet_opened),
    "Deposited": ("wallet", _deposited),
    "Withdrawn": ("wallet", _withdrawn),
    "JackpotOpened": ("jackpot", _jackpot_opened),
    "JackpotParametersScheduled": ("jackpot", _of_jackpot(_scheduled)),
    "JackpotParametersActivated": ("jackpot", _of_jackpot(_activated)),
    "JackpotDisabled": ("jackpot", _of_jackpot(_disabled)),
    "JackpotEnabled": ("jackpot", _of_jackpot(_enabled)),
    "JackpotTransferred": ("jackpot", _of_jackpot(_moved)),
    "JackpotRetired": ("jackpot", _of_jackpot(_retired)),
    "JackpotAdjusted": ("jackpot", _of_jackpot(_adjusted)),
    "TableOpened": ("table", _table_opened),
    "TableClosed": ("table", _of_table(_set_open(value=False))),
    "TableReopened": ("table", _of_table(_set_open(value=True))),
    "RulesetActivated": ("table", _of_table(_set_ruleset)),
    "PlayerJoined": ("table", _of_table(_joined)),
    "PlayerLeft": ("table", _of_table(_left)),
    "RulesetPublished": ("ruleset", _ruleset_published),
    **REGISTERED,
    **RECORDED,
}
"""What to do with each type of event outside rounds, and which kind of stream it is in."""

WITHOUT_MONEY: Final = {
    "LedgerStarted": "ledger",
    "ClockWentBackwards": "ledger",
}
"""Types that change no account and none of these tables, by their kind of stream."""

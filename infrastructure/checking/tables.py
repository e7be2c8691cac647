"""The ledger's tables compared with what its events come to: the same head for both."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Final

import orjson

from infrastructure.checking.books import Books
from infrastructure.checking.exact import text as exact_text
from infrastructure.checking.fold import Fold
from infrastructure.checking.reading import Ledger
from infrastructure.checking.state import Jackpot

_MISSING_SHOWN_MAX: Final = 10
_POOLS: Final = frozenset(("overflow", "diverted"))
"""Kept as text: what they hold may be more than JSON's integers."""
_UNTIL_IT_CHANGES: Final = {"overflow": 0, "diverted": 0, "unsettled": 0, "retired": False}
"""What a jackpot is that was kept before it could have these, and has not changed since."""


def compare(ledger: Ledger, fold: Fold) -> None:
    """Compare every table with the fold, inside a transaction that sees the ledger where the fold is."""
    books = fold.books
    _head(ledger, fold)
    _transfers_left(ledger, books)
    for table in (_wallets, _accounts, _jackpots, _tables, _rulesets, _open_rounds, _registers):
        table(ledger, books)


def compare_page(ledger: Ledger, books: Books) -> None:
    """Compare what was folded since the last time with what never changes of it."""
    _transfers(ledger, books)
    _begun_twice(ledger, books)


def _transfers(ledger: Ledger, books: Books) -> None:
    folded, books.transfers = books.transfers, []
    if not folded:
        return
    players, directions, references, _, _ = map(list, zip(*folded, strict=True))
    found = ledger.rows(
        "SELECT t.player, t.direction, t.reference, t.amount"
        " FROM unnest(%s::text[], %s::text[], %s::text[]) AS w (player, direction, reference)"
        " JOIN {schema}.transfers AS t USING (player, direction, reference)",
        players,
        directions,
        references,
    )
    rows = {(player, direction, reference): amount for player, direction, reference, amount in found}
    for player, direction, reference, amount, position in folded:
        kept = rows.get((player, direction, reference))
        if kept != amount:
            books.findings.add(
                "transfers", position, f"{player} moved {amount} {direction}, the table says {kept}"
            )


def _begun_twice(ledger: Ledger, books: Books) -> None:
    """Find rounds that begin twice, in two partitions: within one, the database does not allow it."""
    opened, books.opened = books.opened, []
    ((partitions,),) = ledger.rows(
        "SELECT count(*) FROM {schema}.partitions()"
        " WHERE first_position <= (SELECT position FROM {schema}.head)"
    )
    if not opened or partitions <= 1:
        return
    twice = ledger.rows(
        "SELECT stream, max(position) FROM {schema}.events WHERE stream = ANY (%s) AND version = 1"
        " GROUP BY stream HAVING count(*) > 1",
        [f"round-{round_id}" for round_id in opened],
    )
    for stream, position in twice:
        books.findings.add("version_gap", position, f"{stream} begins twice")


def _head(ledger: Ledger, fold: Fold) -> None:
    position, recorded_at_us = ledger.head()
    if recorded_at_us != fold.recorded_at_us:
        fold.books.findings.add("head", position, "the head's time is not that of the last event")
    ((beyond,),) = ledger.rows("SELECT min(position) FROM {schema}.events WHERE position > %s", position)
    if beyond is not None:
        fold.books.findings.add("head", beyond, f"event {beyond} is beyond the head, which says {position}")


def _transfers_left(ledger: Ledger, books: Books) -> None:
    ((count,),) = ledger.rows("SELECT count(*) FROM {schema}.transfers")
    if count != books.transfer_count:
        books.findings.add(
            "transfers", books.position, f"{count} transfers are kept, {books.transfer_count} happened"
        )


def _wallets(ledger: Ledger, books: Books) -> None:
    known = 0
    rows = ledger.stream(
        "SELECT player, currency, account_class, version, balance, on_game, unfinished FROM {schema}.wallets"
    )
    for player, currency, account_class, version, balance, on_game, unfinished in rows:
        wallet = books.wallets.peek(player)
        if wallet is None:
            books.findings.add("wallets", books.position, f"no event opened the wallet {player}")
            continue
        known += 1
        kept = (currency, account_class, version, balance, on_game)
        due = (
            wallet.currency,
            wallet.account_class,
            wallet.version,
            wallet.balance,
            wallet.on_game,
        )
        if kept != due:
            books.findings.add("wallets", wallet.moved_at, f"{player} has {kept}, its events say {due}")
        elif (unfinished != "{}" or wallet.unfinished) and _json(unfinished) != wallet.unfinished:
            books.findings.add("wallets", wallet.moved_at, f"{player} has other unfinished rounds")
    if known != books.wallets.count:
        moved_at = {player: wallet.moved_at for player, wallet in _missing(ledger, books)}
        for player, position in moved_at.items():
            books.findings.add("wallets", position, f"the wallet {player} is not kept")


def _missing(ledger: Ledger, books: Books) -> Iterator[tuple[str, Any]]:
    """Yield some wallets that events opened and that have no row."""
    found = 0
    for player, wallet in books.wallets.items():
        if not ledger.rows("SELECT FROM {schema}.wallets WHERE player = %s", player):
            yield player, wallet
            found += 1
            if found == _MISSING_SHOWN_MAX:
                return


def _accounts(ledger: Ledger, books: Books) -> None:
    kept = {
        (account, currency): int(balance)
        for account, currency, balance in ledger.rows(
            "SELECT account, currency, balance FROM {schema}.accounts"
        )
    }
    for key in sorted(kept.keys() | books.accounts.keys()):
        held, due = kept.get(key, 0), books.accounts.get(key, 0)
        if held != due:
            books.findings.add(
                "accounts",
                books.booked_at.get(key, books.position),
                f"{' '.join(key)} holds {exact_text(held)}, its events say {exact_text(due)}",
            )


def _jackpots(ledger: Ledger, books: Books) -> None:
    kept = {
        jackpot_id: {"meter": int(meter), "enabled": enabled, **_json(state)}
        for jackpot_id, meter, enabled, state in ledger.rows(
            "SELECT jackpot_id, meter, enabled, state FROM {schema}.jackpots"
        )
    }
    for jackpot_id in sorted(kept.keys() | books.jackpots.keys()):
        row, jackpot = kept.get(jackpot_id), books.jackpots.get(jackpot_id)
        if row is None or jackpot is None:
            which = "is not kept" if row is None else "was opened by no event"
            at = books.position if jackpot is None else jackpot.touched_at
            books.findings.add("jackpots", at, f"the jackpot {jackpot_id} {which}")
            continue
        for name, due in _jackpot(jackpot).items():
            held = row.get(name, _UNTIL_IT_CHANGES.get(name))
            if (int(held) if isinstance(held, str) and name in _POOLS else held) != due:
                books.findings.add(
                    "jackpots", jackpot.touched_at, f"{name} of {jackpot_id} is {held}, its events say {due}"
                )


def _jackpot(jackpot: Jackpot) -> dict[str, Any]:
    """What a jackpot's row has to say."""
    return {
        "currency": jackpot.currency,
        "account_class": jackpot.account_class,
        "parameters_version": jackpot.parameters.version,
        "share": jackpot.parameters.share,
        "reset": jackpot.parameters.reset,
        "ceiling": jackpot.parameters.ceiling,
        "meter": jackpot.meter,
        "overflow": jackpot.overflow,
        "diverted": jackpot.diverted,
        "moved_at": jackpot.moved_at,
        "hits": jackpot.hits,
        "unsettled": jackpot.unsettled,
        "enabled": jackpot.enabled,
        "retired": jackpot.retired,
    }


def _tables(ledger: Ledger, books: Books) -> None:
    kept = {
        table_id: _json(state)
        for table_id, state in ledger.rows("SELECT table_id, state FROM {schema}.tables")
    }
    for table_id in sorted(kept.keys() | books.tables.keys()):
        row, table = kept.get(table_id), books.tables.get(table_id)
        if row is None or table is None:
            which = "is not kept" if row is None else "was opened by no event"
            at = books.position if table is None else table.touched_at
            books.findings.add("tables", at, f"the table {table_id} {which}")
            continue
        ruleset = row.get("ruleset", {})
        held = {
            "ruleset": [ruleset.get(name) for name in ("id", "version", "sha256")],
            **{name: row.get(name) for name in ("open", "places", "open_round")},
        }
        due = {name: getattr(table, name) for name in held}
        if held != due:
            books.findings.add("tables", table.touched_at, f"{table_id} is {held}, its events say {due}")


def _rulesets(ledger: Ledger, books: Books) -> None:
    kept = {
        (ruleset_id, version): (position, sha256, hashlib.sha256(content).hexdigest())
        for ruleset_id, version, position, sha256, content in ledger.rows(
            "SELECT ruleset_id, version, position, sha256, content FROM {schema}.rulesets"
        )
    }
    for key in sorted(kept.keys() | books.rulesets.keys()):
        position, due = books.rulesets.get(key, (books.position, None))
        row = kept.get(key)
        if row is None or row[1:] != (due, due):
            books.findings.add("rulesets", position, f"{key[0]} version {key[1]} is not kept as published")


def _open_rounds(ledger: Ledger, books: Books) -> None:
    known = 0
    rows = ledger.stream("SELECT round_id, table_id, unsettled FROM {schema}.open_rounds")
    for round_id, table_id, unsettled in rows:
        round_ = books.rounds.peek(round_id)
        if round_ is None:
            books.findings.add("open_rounds", books.position, f"the round {round_id} is kept and not open")
            continue
        known += 1
        goes_on = round_.void or 0 < round_.settled < len(round_.seats)
        if round_.table != table_id or (goes_on and not unsettled):
            books.findings.add("open_rounds", round_.moved_at, f"the round {round_id} is not kept as it is")
    if known != books.rounds.count:
        for round_id, round_ in books.rounds.items():
            if not ledger.rows("SELECT FROM {schema}.open_rounds WHERE round_id = %s", round_id):
                books.findings.add("open_rounds", round_.moved_at, f"the round {round_id} is not kept")
                return


def _registers(ledger: Ledger, books: Books) -> None:
    known = 0
    for name, state in ledger.stream("SELECT name, state FROM {schema}.registers"):
        register = books.registers.peek(name)
        if register is None:
            books.findings.add("registers", books.position, f"no event is behind the register {name}")
            continue
        known += 1
        row = _json(state)
        if any(row.get(key) != due for key, due in register.items() if key != "at"):
            books.findings.add("registers", register["at"], f"{name} is not kept as its events say")
    for name, register in books.registers.items():
        if known == books.registers.count:
            return
        if not ledger.rows("SELECT FROM {schema}.registers WHERE name = %s", name):
            books.findings.add("registers", register["at"], f"{name} is not kept")
            known += 1


def _json(text: str | bytes) -> dict[str, Any]:
    """A JSON object; empty for what is none."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}

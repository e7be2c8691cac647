"""Between the rows of the store and the books the domain works on."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any, Final

import orjson

from domain import events as ev
from domain.jackpots import Jackpot, Scheduled
from domain.rulesets.schema import RuleSet
from domain.work import PublishedRuleset, Table, Wallet
from infrastructure.ledger.store import JackpotRow, RulesetRow, TableRow, WalletRow

_JACKPOT_STATE: Final = [f.name for f in fields(Jackpot) if f.name not in ("jackpot_id", "meter", "enabled")]
_POOLS: Final = ("overflow", "diverted")
"""Written as text: 9e15 minor units in 1/10000 do not fit the 64 bits that a JSON reader holds exactly."""
_NOTHING_UNFINISHED = "{}"


def wallet_from(row: WalletRow) -> Wallet:
    """A wallet as the store holds it."""
    return Wallet(
        row.player,
        row.player_id,
        row.currency,
        "test" if row.account_class == "test" else "real",
        row.version,
        row.balance,
        row.on_game,
        {} if row.unfinished == _NOTHING_UNFINISHED else orjson.loads(row.unfinished),
    )


def wallet_row(wallet: Wallet) -> WalletRow:
    """A wallet as the store is to hold it."""
    return WalletRow(
        wallet.player,
        wallet.player_id,
        wallet.currency,
        wallet.account_class,
        wallet.version,
        wallet.balance,
        wallet.on_game,
        orjson.dumps(wallet.unfinished).decode() if wallet.unfinished else _NOTHING_UNFINISHED,
    )


def jackpot_from(row: JackpotRow) -> Jackpot:
    """A jackpot as the store holds it; the pools in 1/10000 minor units."""
    state: dict[str, Any] = orjson.loads(row.state)
    for pool in _POOLS:
        state[pool] = int(state.get(pool, 0))
    if (scheduled := state.get("scheduled")) is not None:
        state["scheduled"] = Scheduled(**scheduled)
    return Jackpot(jackpot_id=row.jackpot_id, meter=row.meter, enabled=row.enabled, **state)


def jackpot_row(jackpot: Jackpot, position: int) -> JackpotRow:
    """A jackpot as the store is to hold it."""
    state = {name: getattr(jackpot, name) for name in _JACKPOT_STATE}
    for pool in _POOLS:
        state[pool] = str(state[pool])
    return JackpotRow(jackpot.jackpot_id, position, jackpot.meter, jackpot.enabled, orjson.dumps(state))


def table_from(row: TableRow) -> Table:
    """A table as the store holds it."""
    state: dict[str, Any] = orjson.loads(row.state)
    state["ruleset"] = ev.RulesetRef(**state["ruleset"])
    state["parameters"] = ev.TableParameters(**state["parameters"])
    return Table(**state)


def table_row(table: Table, position: int) -> TableRow:
    """A table as the store is to hold it."""
    return TableRow(table.table_id, position, orjson.dumps(asdict(table)))


def ruleset_from(row: RulesetRow) -> PublishedRuleset:
    """A published rule set as the store holds it."""
    document: dict[str, Any] = orjson.loads(row.content)
    return PublishedRuleset(
        ev.RulesetRef(row.ruleset_id, row.version, row.sha256), RuleSet.from_document(document), document
    )


def ruleset_row(published: PublishedRuleset, position: int) -> RulesetRow:
    """A published rule set as the store is to hold it."""
    ref = published.ref
    content = orjson.dumps(published.document, option=orjson.OPT_SORT_KEYS)
    return RulesetRow(ref.id, ref.version, position, ref.sha256, content)

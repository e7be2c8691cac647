"""What a newcomer finds on a demonstration's ledger: a table for every house, and players with money.

Each command has a fixed key: however often and in however many processes this runs, it happens once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from api.composition import Service
from domain.commands import Deposit, OpenJackpot, OpenPlayer, OpenTable
from domain.rulesets.schema import RuleSet
from infrastructure import bootstrap, ids
from infrastructure.ledger.submission import own_submission

FIRST_CURRENCY: Final = "USD"
FUNDS: Final = 1_000_000
RESET: Final = 1_000_000
MIN_ANTE: Final = 100
MAX_ANTE: Final = 10_000
BONUS_STAKE: Final = 1_000
RAISE_WIN_CAP: Final = 1_000_000
DECISION_SECONDS: Final = 300
"""Somebody who walks away in the middle of a hand finds the table free again."""


Furniture = OpenPlayer | Deposit | OpenJackpot | OpenTable


def player_of(currency: str) -> str:
    """The demonstration's player who has a wallet in that currency."""
    return "demo" if currency == FIRST_CURRENCY else f"demo-{currency.lower()}"


def currency_of(house: RuleSet) -> str:
    """What a house's demonstration table plays in: the first player's currency where the house takes it."""
    return FIRST_CURRENCY if FIRST_CURRENCY in house.currencies else house.currencies[0]


async def furnish(service: Service) -> None:
    """Open the demonstration's players, jackpots and tables where they are not there yet.

    Nothing is brought to a ledger that is halted: it would not take it.
    """
    if (await service.reading.registers.log()).halted is not None:
        return
    houses = [RuleSet.from_document(document) for document in bootstrap.shipped_documents()]
    currencies = sorted({FIRST_CURRENCY, *map(currency_of, houses)})
    stages: tuple[Sequence[Furniture], ...] = (
        [OpenPlayer(player_of(currency), ids.pseudonym(), currency) for currency in currencies],
        [Deposit(player_of(c), FUNDS, "demo-funds", ids.transaction_id()) for c in currencies],
        [_jackpot(house) for house in houses if house.side_bet("jackpot") is not None],
        [_table(house) for house in houses],
    )
    for commands in stages:
        await _submit(service, commands)


def _jackpot(house: RuleSet) -> OpenJackpot:
    return OpenJackpot(f"demo-jackpot-{house.id}", currency_of(house), RESET, "0.70")


def _table(house: RuleSet) -> OpenTable:
    own: dict[str, Any] = {}
    if house.side_bet("jackpot") is not None:
        own["jackpot_id"] = f"demo-jackpot-{house.id}"
    if house.side_bet("bonus") is not None:
        own["bonus_stake"] = BONUS_STAKE
    if house.raise_cap is not None and house.raise_cap.amount is None:
        own["raise_win_cap"] = RAISE_WIN_CAP
    return OpenTable(
        table_id=f"demo-{house.id}",
        ruleset=house.id,
        currency=currency_of(house),
        min_ante=MIN_ANTE,
        max_ante=MAX_ANTE,
        deal_source="rng",
        parallel_rounds=True,
        decision_seconds=DECISION_SECONDS,
        **own,
    )


async def _submit(service: Service, commands: Sequence[Furniture]) -> None:
    await asyncio.gather(*(service.submit(own_submission(command, _key(command))) for command in commands))


def _key(command: Furniture) -> str:
    match command:
        case OpenPlayer() | Deposit():
            name = command.player_id
        case OpenJackpot():
            name = command.jackpot_id
        case OpenTable():
            name = command.table_id
    return f"demo:{type(command).__name__}:{name}"

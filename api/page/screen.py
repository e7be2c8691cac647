"""Putting the page together: what is read of the ledger for it, and the template filled in."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final

from api.demo import player_of
from api.page import forms, model
from api.page import house as houses
from api.page.amounts import exact, money, plain
from api.page.desk import DemoRound, Desk
from api.page.house import House
from api.page.refusals import Told
from api.page.rendering import render
from domain.jackpots import Jackpot
from domain.money import exact_text
from domain.work import Wallet

KEY_BYTES: Final = 18
USUAL_ANTES: Final = 5
LOW_ANTES: Final = 10
TOP_UP_ANTES: Final = 200


def top_up(house: House) -> int:
    """The play money that the page puts into an empty wallet, minor units."""
    return house.limits.min_ante * TOP_UP_ANTES


async def table_page(
    desk: Desk,
    house: House,
    *,
    round_: DemoRound | None = None,
    error: Told | None = None,
    typed: Mapping[str, str] | None = None,
) -> str:
    """The page of a table, with a round on it or none; `typed` is what a refused form had.

    Raises ReadingUnavailable.
    """
    currency, player_id = house.currency, player_of(house.currency)
    tables = await desk.tables()
    wallet = await desk.wallet(currency)
    jackpot = await desk.jackpot(house)
    play = None if round_ is None else model.lay_out(house, round_.view, round_.events, player_id)
    if typed is None:
        typed = {} if round_ is None else forms.typed_from(house, round_.view, player_id)
    flagged, others = houses.readings(house)
    return render(
        "table.html",
        house=house,
        houses=[table.house for table in tables],
        play=play,
        last_position=None if round_ is None else round_.last_position,
        balance=money(wallet.balance, currency) if wallet is not None else "no wallet",
        on_game=money(wallet.on_game, currency) if wallet is not None and wallet.on_game else "",
        meter=exact(exact_text(jackpot.meter), currency) if jackpot is not None else "",
        error=error,
        typed=typed or {"ante-1": plain(_usual_ante(house), currency)},
        key=secrets.token_urlsafe(KEY_BYTES),
        jackpot_words=_jackpot_words(jackpot, currency),
        side_bets=[
            bet for bet in forms.side_bet_fields(house) if bet.kind != "jackpot" or _takes_bets(jackpot)
        ],
        top_up_words=_top_up_words(house, wallet),
        pay_tables=houses.pay_tables(house),
        facts=houses.facts(house),
        flagged=flagged,
        others=others,
    )


def _usual_ante(house: House) -> int:
    """What the ante's field has when nobody has typed there yet."""
    return min(house.limits.min_ante * USUAL_ANTES, house.limits.max_ante)


def _takes_bets(jackpot: Jackpot | None) -> bool:
    return jackpot is not None and jackpot.enabled


def _jackpot_words(jackpot: Jackpot | None, currency: str) -> str:
    """What is particular to the table's jackpot now; empty where nothing is."""
    if jackpot is None:
        return ""
    if jackpot.retired:
        return "The jackpot of this table has been retired: it takes no bets any more."
    said = []
    if not jackpot.enabled:
        said.append(
            "The jackpot takes no bets for now. It keeps what it holds, and bets placed before count."
        )
    if jackpot.ceiling is not None:
        said.append(
            f"The jackpot grows up to {money(jackpot.ceiling, currency)}. What goes beyond that is not lost: "
            "it waits for the next one, which starts when this one has been won."
        )
    return " ".join(said)


def _top_up_words(house: House, wallet: Wallet | None) -> str:
    """What the button that fills an empty wallet says; empty where there is no need of it."""
    if wallet is None or wallet.balance >= house.limits.min_ante * LOW_ANTES:
        return ""
    return f"Put {money(top_up(house), house.currency)} of play money into the wallet"

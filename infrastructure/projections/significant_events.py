"""Significant events (GLI-19 2.9; NJ 13:69O-1.9): what an operator or a regulator wants to be told of.

Every type of event that is not known as routine is listed, so that a new one cannot go unnoticed: what it is
called here follows from its name. Of hands, those with a large wager or win are, each for itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from domain.events import EVENT_CLASSES
from domain.money import exponent
from infrastructure.projections.kinds import Column, Happened, Out, Shelf, Table
from infrastructure.projections.performance import EXPIRED
from infrastructure.projections.round_facts import RoundFacts

SIGNIFICANT_EVENTS: Final = Table(
    "significant_events",
    (
        Column("position", "bigint"),
        Column("at_us", "bigint"),
        Column("kind", "text"),
        Column("subject", "text"),
        Column("account_class", "text"),
        Column("actor", "text"),
        Column("detail", "jsonb"),
    ),
    key=("position", "kind"),
    mode="insert",
    indexes=(("at_us",),),
)
"""`kind` is the event's type in lower case with underscores, or ``large_wager``, ``large_win``. `subject` is
the stream it is in (``round-…``, ``table-…``, ``jackpot-…``, ``ruleset-…``, ``person-…``, ``approval-…``,
``ledger-…``). `account_class` is that of a round, else null. `detail` is the event's data, without documents
and seeds; for a large wager or win the seat, the player, the amount in minor units and the currency."""

LARGE_UNITS: Final = 10_000
"""A hand's wager, or its win without the jackpot, is large from this many whole units of its currency on."""

ROUTINE: Final = frozenset(
    """WalletOpened Deposited Withdrawn PlayerJoined PlayerLeft RoundOpened AntePlaced SideBetPlaced Dealt
    BettingClosed CardExchanged Folded Raised DealerQualified RoundClosed StakeRefunded
    ContributionReversed""".split()
)
"""Types that are not listed. ``Settled`` is looked at for its amounts."""

_LEFT_OUT: Final = frozenset(("content", "deck_seed"))
_WORD: Final = re.compile(r"(?<!^)(?=[A-Z])")


class SignificantEvents:
    """The projection."""

    name = "significant_events"
    version = 1
    tables = (SIGNIFICANT_EVENTS,)
    types: frozenset[str] | None = frozenset(cls.__name__ for cls in EVENT_CLASSES) - ROUTINE
    rounds = True

    def restore(self, shelf: Shelf, position: int) -> None:
        """Nothing is remembered."""

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:
        """Nothing is to be read."""

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:
        """Put an event, if it is significant."""
        if happened.type == "Settled":
            if facts is not None:
                _put_large(happened, facts, out)
        elif happened.type != "RoundVoided" or happened.data["cause"] != EXPIRED:
            detail = {name: value for name, value in happened.data.items() if name not in _LEFT_OUT}
            _put(happened, kind_of(happened.type), facts, detail, out)

    def finish(self, last: Happened, out: Out) -> None:
        """Nothing is left over."""


def kind_of(type_: str) -> str:
    """What an event type is called in the list: ``TableClosed`` is ``table_closed``."""
    return _WORD.sub("_", type_).lower()


def _put_large(happened: Happened, facts: RoundFacts, out: Out) -> None:
    threshold = LARGE_UNITS * 10 ** exponent(facts.currency)
    data = happened.data
    wagered = won = 0
    for bet in data["bets"]:
        wagered += bet["stake"]
        if bet["bet"] != "jackpot":
            won += bet["won"]
    for kind, amount in (("large_wager", wagered), ("large_win", won)):
        if amount >= threshold:
            told = {"seat": data["seat"], "player": data["player"]}
            _put(happened, kind, facts, {**told, "amount": amount, "currency": facts.currency}, out)


def _put(happened: Happened, kind: str, facts: RoundFacts | None, detail: dict[str, Any], out: Out) -> None:
    account_class = None if facts is None else facts.account_class
    position, at_us, stream, _, _, _, meta = happened
    out.put("significant_events", (position, at_us, kind, stream, account_class, meta["actor"], detail))

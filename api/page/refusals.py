"""What the ledger has refused, told to a person: in whole units of money, and with what to do now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from api.page.amounts import money
from api.page.house import House
from api.page.words import word
from api.problems import KINDS, Problem

_NOTHING: Final = "Nothing of it happened: press the button again."
_TROUBLES: Final = {
    "idempotency_key_reused": (
        "This form was used already.",
        "It was sent before, with another choice, and that one counts. What is below is how it stands.",
    ),
    "ledger_read_only": (
        "The ledger takes no bets for now.",
        "It is being looked into. Nothing was taken, and what is below is how it stands.",
    ),
    "overloaded": ("The ledger is busy.", "Nothing was taken: press the button again in a moment."),
}
_WORDS: Final = {
    "insufficient_funds": "This needs {needed}, and the wallet holds {balance}. Nothing was taken.",
    "ante_out_of_limits": "This table takes {low} to {high}. Your bets stand as you typed them.",
    "side_bet_stake": "{bet} takes {low} to {high} at this table. Your bets stand as you typed them.",
    "jackpot_disabled": "The jackpot takes no bets for now: play without it. Nothing was taken.",
    "already_decided": "This hand was decided before, perhaps in another window. It stands as shown below.",
    "wrong_phase": "The round has gone on since this page was made. It stands as shown below.",
    "round_open": "Somebody is playing the table's one round now: try again when it has ended.",
    "round_unfinished": "A round of yours at this table has not ended: play it to its end first.",
}


class Told(NamedTuple):
    """An error on the page, and the status it is answered with."""

    title: str
    detail: str
    status: int


def refusal(body: Mapping[str, Any], house: House) -> Told:
    """What the ledger remembers of a rejected command (code, detail and figures), in words."""
    code = body["code"]
    kind = KINDS[code]
    return Told(f"{kind.title}.", _detail(code, body, house), kind.status)


def trouble(problem: Problem) -> Told:
    """A command that the ledger could not take, in words."""
    title, detail = _TROUBLES.get(problem.code, (f"{KINDS[problem.code].title}.", _NOTHING))
    return Told(title, detail, problem.status)


def _detail(code: str, body: Mapping[str, Any], house: House) -> str:
    words = _WORDS.get(code)
    if words is None:
        return str(body["detail"])
    low, high = ("min_ante", "max_ante") if code == "ante_out_of_limits" else ("min_side_bet", "max_side_bet")
    return words.format(
        needed=money(body.get("needed", 0), house.currency),
        balance=money(body.get("balance", 0), house.currency),
        low=money(getattr(house.limits, low), house.currency),
        high=money(getattr(house.limits, high), house.currency),
        bet=word(house.names, body.get("side_bet", "ante")),
    )

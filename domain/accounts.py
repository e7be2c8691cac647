"""The ledger's accounts by their full names, as a trial balance lists them.

==========================================  ==================================================================
``wallet:{class}`` ``on_game:{class}``      what players hold, and have on unfinished rounds, in total; each
                                            player's own is in the postings
``house:{class}:{game}``                    the operator's, by game: a rule set's id, or ``jackpots`` for what
                                            it moves to and from a jackpot outside a round
``cashier:{class}``                         the world outside: what came in (negative) and went out
``jackpot:{class}:{id}``                    a jackpot's meter, as it is shown
``jackpot_overflow:{class}:{id}``           what was contributed while the meter stood at its ceiling
``jackpot_diversion:{class}:{id}``          what was put aside for its next restart
==========================================  ==================================================================

``class`` is ``real`` or ``test``: test accounts have their own everywhere, so that no report has to take them
out (A.2.5). Every account is in one currency; the same name in two currencies is two accounts.
"""

from __future__ import annotations

from typing import Final

from domain.events import AccountClass
from domain.postings import CASHIER, HOUSE, ON_GAME, WALLET

JACKPOTS: Final = "jackpots"
"""The game that the house's own movements with a jackpot are listed under."""


def account_name(kind: str, owner: str, *, account_class: AccountClass, game: str = JACKPOTS) -> str:
    """The full name of the account that a leg is on.

    `kind` and `owner` are the leg's (see `domain.postings.legs`); `game` is the rule-set id of the round
    that the event belongs to, or `JACKPOTS`, and counts for the house only.

    >>> account_name("house", "", account_class="real", game="nordic")
    'house:real:nordic'
    >>> account_name("jackpot_overflow", "pot", account_class="test")
    'jackpot_overflow:test:pot'
    """
    if kind == HOUSE:
        return f"{kind}:{account_class}:{game}"
    if kind in (WALLET, ON_GAME, CASHIER):
        return f"{kind}:{account_class}"
    return f"{kind}:{account_class}:{owner}"

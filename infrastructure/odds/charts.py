"""The strategy chart of any rule set, from the same tables as its figures."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from domain.odds.chart import Chart
from domain.odds.hand_kinds import Kinds, kinds_of
from domain.odds.hands_table import hands_table
from domain.odds.house import TableSettings, rules_for
from domain.odds.one_card_chart import best_decisions, one_card_chart
from domain.odds.pair_chart import two_card_chart
from domain.odds.payoffs import OddsError, Payoffs
from domain.rules import Rules
from domain.rulesets.schema import RuleSet
from infrastructure.odds.computing import basis_of, exchange_values_of
from infrastructure.odds.shelf import Shelf

_PAIR: Final = 2


def chart_of(
    ruleset: RuleSet, currency: str, ante: int, settings: TableSettings, shelf: Shelf | None
) -> Chart:
    """Return the best decisions of a house at ``ante`` minor units of ``currency``.

    Takes and raises what `infrastructure.odds.computing.odds_of` does.
    """
    rules = rules_for(ruleset, currency, settings)
    return chart_for(rules, Payoffs.from_rules(rules, ante), shelf)


def chart_for(rules: Rules, payoffs: Payoffs, shelf: Shelf | None) -> Chart:
    """Return the best decisions under ``payoffs``. Raises ``OddsError`` for a game that is not counted."""
    table, kinds, up_cards = hands_table(), _kinds(), len(rules.up_indices)
    if payoffs.fee is not None and up_cards == 1:
        best = exchange_values_of(rules.qualify, payoffs, shelf).decisions
        return one_card_chart(kinds, table.weights, best, exchange=True)
    if payoffs.fee is None and up_cards == 1:
        best = best_decisions(basis_of(rules.qualify, shelf), payoffs)
        return one_card_chart(kinds, table.weights, best, exchange=False)
    if payoffs.fee is None and up_cards == _PAIR:
        return two_card_chart(table, kinds, rules.qualify, payoffs)
    raise OddsError(f"a game with {up_cards} up-cards and these decisions has no chart")


@lru_cache(maxsize=1)
def _kinds() -> Kinds:
    return kinds_of(hands_table())

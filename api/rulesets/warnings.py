"""What is told of a rule set whose exact odds favour the player. It is no error: a house may want it so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from api.page.amounts import money
from api.rulesets.choosing import terms_document
from domain.work import PublishedRuleset
from infrastructure.odds.store import Odds


def warnings_of(published: PublishedRuleset, favouring: Iterable[Odds]) -> list[dict[str, Any]]:
    """Return a warning for each bet of a version at which the player wins in the long run.

    `favouring` has the odds that favour the player, of whichever rule sets.
    """
    ref, names = published.ref, published.ruleset.names
    warnings = []
    for odds in favouring:
        if (odds.terms.ruleset_id, odds.terms.version) != (ref.id, ref.version):
            continue
        for bet in odds.figures["favours_player"]:
            name = "The game" if bet == "main" else next(word for what, word in names.items() if what == bet)
            ante = money(odds.terms.ante, odds.terms.currency)
            text = f"{name} favours the player at an ante of {ante}, by exact odds."
            warnings.append(
                {"code": "favours_player", "bet": bet, **terms_document(odds.terms), "text": text}
            )
    return warnings

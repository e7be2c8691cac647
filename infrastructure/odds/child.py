"""What the process does that computes odds: figures and charts of one version of a rule set.

It is imported by its parent, too, who does not compute: what computes is imported when that begins.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from domain.odds.document import document
from domain.odds.payoffs import OddsError, Payoffs
from domain.rules import RulesError
from domain.rulesets.schema import RuleSet
from infrastructure.odds.store import Terms

MEMORY_BYTES_MAX: Final = 3 * 2**30
"""What it may take for itself; it needs two thirds at most."""

Made = list[tuple[Terms, dict[str, Any], dict[str, Any]]]
"""Terms, the JSON documents of their figures and of their chart."""


class Task(NamedTuple):
    """A published version's document, what its odds are wanted for, and the folder of the shelf."""

    document: dict[str, Any]
    terms: Sequence[Terms]
    folder: Path


def compute(task: Task, _tell: Callable[[int], None]) -> Made:
    """Compute what is wanted; a game that cannot be computed is told as such.

    Bounds this process's memory for good: it is to be one of its own.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    # Only now: it takes a second and a hundred megabytes, which the parent is spared.
    from infrastructure.odds.charts import chart_of  # noqa: PLC0415
    from infrastructure.odds.computing import odds_of, with_other_hands  # noqa: PLC0415
    from infrastructure.odds.shelf import Shelf  # noqa: PLC0415

    ruleset, shelf = RuleSet.from_document(task.document), Shelf(task.folder)
    made: Made = []
    charts: dict[Payoffs, dict[str, Any]] = {}
    for terms in task.terms:
        asked = (ruleset, terms.currency, terms.ante, terms.settings, shelf)
        try:
            odds = with_other_hands(odds_of(*asked), shelf)
            stakes = replace(odds.payoffs, unit=1)  # stakes of the same proportions have the same chart
            if stakes not in charts:
                charts[stakes] = chart_of(*asked).document()
            figures = document(odds)
            figures["ruleset"] = {**figures["ruleset"], "version": terms.version}
            made.append((terms, figures, charts[stakes]))
        except (OddsError, RulesError) as problem:
            made.append((terms, {"unsupported": f"{problem}"}, {}))
    return made

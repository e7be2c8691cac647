"""What decisions were worth, and what a version should return: the part of reports that exact odds tell.

All of it is about the main bet: ante, raise and exchange fee. Exact numbers are told as numerator,
denominator and decimals.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from psycopg.rows import DictRow

from api.shapes import Answer
from domain.odds import document
from infrastructure.odds.theory import Expected, expected
from infrastructure.projections.judging import DENOMINATOR, UNJUDGED
from infrastructure.reading import Reading


class Exact(Answer):
    """An exact number: numerator and denominator in decimal, and the quotient to 15 digits."""

    num: str
    den: str
    dec: str


class Theoretical(Answer):
    """What comes back of a unit of antes, and of all that is wagered, by the best decisions and no cap."""

    per_ante: Exact
    per_total_wagered: Exact


class Decided(Answer):
    """Hands with exact odds, and what their decisions came to. Amounts in minor units.

    `net` is what the main bet won or lost. `expected` is what was expected of the hands given their cards and
    what was decided: `net` without what came after. `worth` is what they were worth as dealt, under the
    table's cap, and `cap_cost` how much that cap took. `cost` is what players' decisions fell short of the
    best ones by, `forced_cost` those of the clock or an operator. `returned_per_ante` is what came back of a
    unit of the antes, `adjusted_per_ante` the same of `expected`: the return adjusted for luck. `unjudged`
    counts hands without odds, by reason.
    """

    hands: int
    forced_hands: int
    mistaken_hands: int
    unjudged: dict[str, int]
    antes: int
    net: int
    expected: Exact
    worth: Exact
    cost: Exact
    forced_cost: Exact
    cap_cost: Exact
    returned_per_ante: Exact | None = None
    adjusted_per_ante: Exact | None = None


def _example(num: int, den: int) -> dict[str, str]:
    return document.exact(Fraction(num, den))


EXAMPLE_OF_THEORY: Final[dict[str, Any]] = {
    "per_ante": _example(94_776, 100_000),
    "per_total_wagered": _example(97_443, 100_000),
}
EXAMPLE: Final[dict[str, Any]] = {
    "hands": 1200,
    "forced_hands": 2,
    "mistaken_hands": 60,
    "unjudged": {},
    "antes": 1_200_000,
    "net": -40_000,
    "expected": _example(-135_001, 2),
    "worth": _example(-130_001, 2),
    "cost": _example(2_250, 1),
    "forced_cost": _example(250, 1),
    "cap_cost": _example(0, 1),
    "returned_per_ante": _example(29, 30),
    "adjusted_per_ante": _example(2_264_999, 2_400_000),
}


async def theories(reading: Reading) -> dict[tuple[str, int], Expected]:
    """What the versions should return of which that is known, by rule set and version."""
    figures: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for terms, document_ in await reading.odds.of_all():
        figures.setdefault((terms.ruleset_id, terms.version), []).append(document_)
    found = {version: expected(documents) for version, documents in figures.items()}
    return {version: theory for version, theory in found.items() if theory is not None}


def theoretical(theory: Expected | None) -> dict[str, Any] | None:
    """What a version should return, or None where that is not known (yet)."""
    if theory is None:
        return None
    return {
        "per_ante": document.exact(1 + theory.per_ante),
        "per_total_wagered": document.exact(1 + theory.per_total_wagered),
    }


def decided(row: DictRow | None) -> dict[str, Any] | None:
    """What the decisions of a cell's hands were worth, or None where no round has closed."""
    if row is None:
        return None
    antes, net = row["antes"], row["net"]
    told: dict[str, Any] = {name: row[name] for name in ("hands", "forced_hands", "mistaken_hands")}
    reasons = {reason: row[f"unjudged_{reason}"] for reason in UNJUDGED}
    told |= {"unjudged": {reason: count for reason, count in reasons.items() if count}}
    told |= {"antes": antes, "net": net}
    for name in ("expected", "worth", "cost", "forced_cost"):
        told[name] = document.exact(amount(row, name))
    told["cap_cost"] = document.exact(amount(row, "uncapped") - amount(row, "worth"))
    if antes:
        told["returned_per_ante"] = document.exact(1 + Fraction(net, antes))
        told["adjusted_per_ante"] = document.exact(1 + amount(row, "expected") / antes)
    return told


def amount(row: DictRow, name: str) -> Fraction:
    """An exact amount of a row, in minor units."""
    return Fraction(int(row[name]), DENOMINATOR)

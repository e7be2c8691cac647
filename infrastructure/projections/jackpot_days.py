"""The roll-forward of jackpots: what went into and out of each pool, by UTC date.

The closing amount of a day is its opening amount and all that moved in it, and the opening of the next: the
amounts themselves follow from the rows, which hold movements only (ES asks for exactly this).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Final

from domain.money import EXACT, parse_exact
from domain.postings import DIVERSION, JACKPOT, OVERFLOW
from infrastructure.projections.kinds import Column, Happened, Out, Poison, Shelf, Table
from infrastructure.projections.movements import MONEY, movement
from infrastructure.projections.round_facts import RoundFacts

METER_POOL: Final = (
    "seeds",
    "restarts",
    "top_ups",
    "contributions",
    "reversed",
    "awards",
    "from_overflow",
    "transferred_in",
    "transferred_out",
    "adjusted",
)
OVERFLOW_POOL: Final = (
    "overflow_contributions",
    "overflow_reversed",
    "overflow_released",
    "overflow_transferred_in",
    "overflow_transferred_out",
    "overflow_adjusted",
)
DIVERSION_POOL: Final = (
    "diversion_contributions",
    "diversion_reversed",
    "diversion_restarts",
    "diversion_transferred_in",
    "diversion_transferred_out",
    "diversion_adjusted",
)
OUTGOING: Final = frozenset(
    "reversed awards transferred_out overflow_reversed overflow_released overflow_transferred_out"
    " diversion_reversed diversion_restarts diversion_transferred_out".split()
)
"""Figures that are taken out of their pool; the others are put in (`…adjusted` are signed)."""

MEMO: Final = ("hits", "paid", "paid_by_house", "reversed_by_house")
"""Figures that are on no pool."""

JACKPOT_DAYS: Final = Table(
    "jackpot_days",
    (
        Column("jackpot_id", "text"),
        Column("day", "text"),
        *(Column(name, "numeric(24,0)") for name in (*METER_POOL, *OVERFLOW_POOL, *DIVERSION_POOL, *MEMO)),
        Column("meter_net", "numeric(24,0)"),
        Column("overflow_net", "numeric(24,0)"),
        Column("diversion_net", "numeric(24,0)"),
    ),
    key=("jackpot_id", "day"),
    mode="add",
)
"""Amounts in 1/10000 minor units, positive but for the adjustments and the nets. On the meter: `seeds` (the
opening reset), `restarts` (after it was won: `diversion_restarts` of them by the diversion pool, the rest by
the house), `top_ups` (a new reset above the old one), `contributions` less `reversed` ones, `awards` (what
hits took from it), `from_overflow` (`overflow_released`), transfers. Beside it: how many `hits`, what they
`paid` in all, how much of it the house paid; and what it bore of reversals. `…_net` are the sums of the legs
on the three accounts, and of the figures on each pool."""

_PLACES: Final = {column.name: place for place, column in enumerate(JACKPOT_DAYS.columns[2:])}
_NETS: Final = {JACKPOT: "meter_net", OVERFLOW: "overflow_net", DIVERSION: "diversion_net"}
_SIGNED: Final = {
    name: (net, -1 if name in OUTGOING else 1)
    for net, names in (
        ("meter_net", METER_POOL),
        ("overflow_net", OVERFLOW_POOL),
        ("diversion_net", DIVERSION_POOL),
    )
    for name in names
}
"""The pool that a figure is on, and whether it adds to it."""
_DAY_US: Final = 86_400_000_000
_Figures = dict[str, dict[str, int]]
"""Figures by the jackpot they are of."""


class JackpotDays:
    """The projection: figures are summed in memory through a batch and added to the tables at its end."""

    name = "jackpot_days"
    version = 1
    tables = (JACKPOT_DAYS,)
    types: frozenset[str] | None = frozenset(
        name for name in MONEY if name.startswith(("Jackpot", "SideBet", "Contribution"))
    )
    rounds = True

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str], list[int]] = {}

    def restore(self, shelf: Shelf, position: int) -> None:  # noqa: ARG002 - nothing is carried over
        """Forget what was not put."""
        self._sums.clear()

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:  # noqa: ARG002 - the same
        """Forget what was not put."""
        self._sums.clear()

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:  # noqa: ARG002 - put at the end
        """Count an event. Raises Poison where its figures are not its legs on the pools."""
        data = happened.data
        if happened.type == "SideBetPlaced" and "contribution" not in data:
            return
        count = _COUNT.get(happened.type)
        figures = {} if count is None else count(data)
        moved = movement(happened) if facts is None else facts.moved
        for account, owner, amount in () if moved is None else moved.others:
            if account in _NETS:
                nets = figures.setdefault(owner, {})
                nets[_NETS[account]] = nets.get(_NETS[account], 0) + amount
        day = utc_date(happened.at_us)
        for jackpot_id, counted in figures.items():
            told = dict.fromkeys(_NETS.values(), 0)
            for name, amount in counted.items():
                if name in _SIGNED:
                    net, sign = _SIGNED[name]
                    told[net] += sign * amount
            if any(amount != counted.get(net, 0) for net, amount in told.items()):
                raise Poison(happened.position, f"{happened.type} moves jackpot {jackpot_id} unaccountably")
            sums = self._sums.setdefault((jackpot_id, day), [0] * len(_PLACES))
            for name, amount in counted.items():
                sums[_PLACES[name]] += amount

    def finish(self, last: Happened, out: Out) -> None:  # noqa: ARG002 - what is put depends on no time
        """Put the sums."""
        for key, sums in self._sums.items():
            out.put("jackpot_days", (*key, *sums))
        self._sums.clear()


def utc_date(at_us: int) -> str:
    """The ISO date, UTC, of microseconds since the epoch."""
    return _date(at_us // _DAY_US)


@lru_cache(maxsize=64)
def _date(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()


def _exact(data: dict[str, Any], field: str) -> int:
    text = data.get(field)
    return 0 if text is None else parse_exact(text)


def _opened(data: dict[str, Any]) -> _Figures:
    return {data["jackpot_id"]: {"seeds": data["reset"] * EXACT}}


def _side_bet_placed(data: dict[str, Any]) -> _Figures:
    overflow = _exact(data, "overflow")
    figures = {"contributions": parse_exact(data["contribution"]) - overflow}
    if overflow:
        figures["overflow_contributions"] = overflow
    if "diversion" in data:
        figures["diversion_contributions"] = _exact(data, "diversion")
    return {data["jackpot_id"]: figures}


def _hit(data: dict[str, Any]) -> _Figures:
    released, diverted = _exact(data, "from_overflow"), _exact(data, "restart_from_diversion")
    return {
        data["jackpot_id"]: {
            "hits": 1,
            "paid": data["award"] * EXACT,
            "paid_by_house": _exact(data, "from_house"),
            "awards": _exact(data, "from_meter"),
            "restarts": _exact(data, "restart"),
            "from_overflow": released,
            "overflow_released": released,
            "diversion_restarts": diverted,
        }
    }


def _reversed(data: dict[str, Any]) -> _Figures:
    return {
        data["jackpot_id"]: {
            "reversed": _exact(data, "from_meter"),
            "overflow_reversed": _exact(data, "from_overflow"),
            "diversion_reversed": _exact(data, "from_diversion"),
            "reversed_by_house": _exact(data, "from_house"),
        }
    }


def _activated(data: dict[str, Any]) -> _Figures:
    return {data["jackpot_id"]: {"top_ups": _exact(data, "top_up")}}


def _transferred(data: dict[str, Any]) -> _Figures:
    amount, overflow, diversion = (_exact(data, field) for field in ("amount", "overflow", "diversion"))
    above = _exact(data, "above_ceiling")
    return {
        data["jackpot_id"]: {
            "transferred_out": amount,
            "overflow_transferred_out": overflow,
            "diversion_transferred_out": diversion,
        },
        data["to"]: {
            "transferred_in": amount - above,
            "overflow_transferred_in": overflow + above,
            "diversion_transferred_in": diversion,
        },
    }


def _adjusted(data: dict[str, Any]) -> _Figures:
    figure = {"meter": "adjusted", "overflow": "overflow_adjusted", "diversion": "diversion_adjusted"}
    return {data["jackpot_id"]: {figure[data["pool"]]: _exact(data, "amount")}}


_COUNT: Final[dict[str, Callable[[dict[str, Any]], _Figures]]] = {
    "JackpotOpened": _opened,
    "SideBetPlaced": _side_bet_placed,
    "JackpotHit": _hit,
    "ContributionReversed": _reversed,
    "JackpotParametersActivated": _activated,
    "JackpotTransferred": _transferred,
    "JackpotAdjusted": _adjusted,
}

"""What an audit tells: what was checked and what was not, totals, and each exception with its position."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import orjson

from infrastructure.audit.results import Figures, Finding, House

FORMAT: Final = "stud-ledger/audit/1"
TEXT_CHARACTERS_MAX: Final = 300
"""How much of an expected or found value is told: an event may be edited to say anything at any length."""

Verdict = Literal["pass", "fail"]
Result = Literal["pass", "fail", "not_checked"]


class Check(NamedTuple):
    """One thing that was looked at. `counted` of `unit` were; `note` says what else there is to know."""

    check: str
    result: Result
    counted: int | None = None
    unit: str = ""
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """The check without what there is nothing to say of."""
        told: dict[str, Any] = {"check": self.check, "result": self.result}
        if self.counted is not None:
            told |= {"counted": self.counted, "unit": self.unit}
        return told | ({"note": self.note} if self.note else {})


@dataclass(frozen=True, slots=True)
class Scope:
    """What was audited. `began` and `ended` are when the first and the last event were recorded, RFC 3339."""

    source: Literal["database", "archive"]
    from_position: int
    to_position: int
    began: str
    ended: str


@dataclass(slots=True)
class Totals:
    """What was played and where the money is.

    `figures` and `accounts` as in `infrastructure.audit.results.Outcome`, `pots` too (exact).
    """

    events: int
    rounds: int
    open_rounds: int
    wallets: int
    figures: Mapping[House, Figures]
    accounts: Mapping[tuple[str, str], int]
    pots: Mapping[str, tuple[int, int, int]]


@dataclass(slots=True)
class Report:
    """The whole of it. `exceptions` are the first `found` ones in the order of positions.

    `log` says of the evidence log what was verified: origin, size, root, who signed.
    """

    run_id: str
    scope: Scope
    totals: Totals
    checks: Sequence[Check]
    exceptions: Sequence[Finding]
    found: int
    made_at: str
    seconds: float
    software: str
    log: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Whether everything that was checked is as it has to be."""
        return "fail" if self.found else "pass"

    def as_json(self) -> dict[str, Any]:
        """The report as it is shown, kept and hashed."""
        return {
            "format": FORMAT,
            "run_id": self.run_id,
            "verdict": self.verdict,
            "source": self.scope.source,
            "from_position": self.scope.from_position,
            "to_position": self.scope.to_position,
            "first_recorded_at": self.scope.began,
            "last_recorded_at": self.scope.ended,
            "made_at": self.made_at,
            "seconds": round(self.seconds, 3),
            "software": self.software,
            "events": self.totals.events,
            "rounds": self.totals.rounds,
            "open_rounds": self.totals.open_rounds,
            "wallets": self.totals.wallets,
            "checks": [check.as_json() for check in self.checks],
            "houses": [_house(*each) for each in sorted(self.totals.figures.items())],
            "accounts": [
                {"account": account, "currency": currency, "balance_exact": exact_text(amount)}
                for (account, currency), amount in sorted(self.totals.accounts.items())
            ],
            "jackpots": [_pot(*each) for each in sorted(self.totals.pots.items())],
            "log": dict(self.log),
            "exceptions_found": self.found,
            "exceptions": [told(finding) for finding in self.exceptions],
        }


def encoded(report: Mapping[str, Any]) -> bytes:
    """A report's bytes, canonical JSON (RFC 8785)."""
    return orjson.dumps(report, option=orjson.OPT_SORT_KEYS)


def sha256(stored: bytes) -> str:
    """What the ledger records of a report: the SHA-256 of its bytes, in hex."""
    return hashlib.sha256(stored).hexdigest()


def exact_text(amount: int) -> str:
    """Decimal text of ten-thousandths of a minor unit."""
    whole, rest = divmod(abs(amount), 10_000)
    decimals = f".{rest:04d}".rstrip("0") if rest else ""
    return f"{'-' if amount < 0 else ''}{whole}{decimals}"


def told(finding: Finding) -> dict[str, Any]:
    """An exception as it is shown."""
    return {
        "position": finding.position,
        "what": finding.what,
        "expected": _short(finding.expected),
        "found": _short(finding.found),
    }


def result_of(findings: Iterable[Finding], *prefixes: str) -> Result:
    """Whether any of the exceptions is of these kinds."""
    return "fail" if any(each.what.startswith(prefixes) for each in findings) else "pass"


def _short(text: str) -> str:
    return text if len(text) <= TEXT_CHARACTERS_MAX else text[: TEXT_CHARACTERS_MAX - 1] + "…"


def _house(house: House, figures: Figures) -> dict[str, Any]:
    account_class, currency, game = house
    values = {name: getattr(figures, name) for name in Figures.__slots__}
    return {"account_class": account_class, "currency": currency, "game": game, **values}


def _pot(jackpot: str, pools: tuple[int, int, int]) -> dict[str, Any]:
    names = ("meter_exact", "overflow_exact", "diversion_exact")
    return {"jackpot_id": jackpot, **dict(zip(names, map(exact_text, pools), strict=True))}

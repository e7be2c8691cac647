"""An audit's report as a page: one file that needs nothing from anywhere, no scripts, every value escaped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from domain.money import EXPONENTS

_ENVIRONMENT: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_NAMES: Final = {
    "events": "Events",
    "rounds": "Rounds derived again",
    "wallets": "Wallets",
    "jackpots": "Jackpots",
    "log": "Evidence log",
    "log_root": "Evidence log: roots",
    "log_signatures": "Evidence log: signatures",
    "log_files": "Evidence log: files",
    "earlier_log": "Earlier evidence log",
    "tables": "Tables and balances",
    "projections": "Projections against a rebuild",
    "archive": "Archive: files, chain, signatures",
}
_RESULTS: Final = {"pass": "as it has to be", "fail": "exceptions", "not_checked": "not checked"}
_MINUS: Final = "\u2212"
_THIN_SPACE: Final = "\u202f"
_FIGURES: Final = ("staked", "returned", "won", "jackpot_won", "refunded")


def html(report: Mapping[str, Any]) -> str:
    """The page of a report as `infrastructure.audit.report.Report.as_json` has it."""
    return _ENVIRONMENT.get_template("report.html").render(
        report=report, names=_NAMES, results=_RESULTS, figures=_FIGURES
    )


def _amount(minor: int, currency: str) -> str:
    """An amount of minor units for a reader."""
    exponent = EXPONENTS.get(currency, 2)
    digits = f"{abs(minor):0{exponent + 1}d}"
    whole, part = (digits[:-exponent], digits[-exponent:]) if exponent else (digits, "")
    grouped = f"{int(whole):,}".replace(",", _THIN_SPACE)
    return f"{_MINUS if minor < 0 else ''}{grouped}{'.' if part else ''}{part}"


def _exact(text: str, currency: str) -> str:
    """An exact amount of minor units, as decimal text, for a reader: in units of the currency."""
    whole, _, fraction = text.removeprefix("-").partition(".")
    shown = _amount(int(whole), currency) + fraction
    return _MINUS + shown if text.startswith("-") else shown


def _number(value: int) -> str:
    return f"{value:,}".replace(",", _THIN_SPACE)


def _moment(text: str) -> str:
    """A moment of RFC 3339 in UTC for a reader, to the second."""
    return f"{text[:10]} {text[11:19]} UTC" if text else "none"


_ENVIRONMENT.filters |= {"amount": _amount, "exact": _exact, "number": _number, "moment": _moment}

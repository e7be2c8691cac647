"""A house's odds as tables for people: every return with what it is a share of, rounded and exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import Any, Final, NamedTuple

from api.page.amounts import money
from api.page.card_words import CATEGORY_NAMES
from api.page.words import Names, word

_PERCENT: Final = Decimal("0.0001")
_HUNDREDTH: Final = Decimal("0.01")
_METER_STEP: Final = 1_000_000
_TINY: Final = Decimal("0.000001")
_RARE: Final = Decimal("0.001")
_OF: Final = {"ante": "the ante", "total_wagered": "everything wagered", "side_bet": "the stake"}
_EVENTS: Final = {
    "exchange": "You buy a card",
    "fold": "You fold",
    "dealer_not_qualified": "You raise, and the dealer does not qualify",
    "win": "You raise and win",
    "tie": "You raise and tie",
    "lose": "You raise and lose",
}


class Table(NamedTuple):
    """A table: its title, column heads, rows of as many cells, and sentences below it."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: Sequence[str]


def tables_of(figures: Mapping[str, Any], names: Names) -> list[Table]:
    """Return everything that a document of odds has, for people. `names` are the house's own words."""
    return [_returns(figures, names), _events(figures), _hands(figures, names)]


def _returns(figures: Mapping[str, Any], names: Names) -> Table:
    main = [_return("The game", each) for each in figures["returns"].values()]
    bets = [row for bet in figures["side_bets"] for row in _bet_rows(bet, names)]
    wager, deviation = figures["average_wager"]["dec"], figures["standard_deviation"]["dec"]
    notes = [
        f"On average {_rounded(wager)} antes are wagered in a round.",
        f"A round's result has a standard deviation of {_rounded(deviation)} antes.",
        *(note for bet in figures["side_bets"] for note in _bet_notes(bet, names, figures["currency"])),
    ]
    heads = ("", "is a share of", "comes back", "the house keeps", "which is exactly")
    return Table("Returns", heads, [*main, *bets], notes)


def _return(name: str, rate: Mapping[str, Any]) -> tuple[str, ...]:
    edge = rate["house_edge"]
    kept = percent(edge["dec"])
    return name, _OF[rate["denominator"]], percent(rate["returned"]["dec"]), kept, _fraction(edge)


def _bet_rows(bet: Mapping[str, Any], names: Names) -> Iterable[tuple[str, ...]]:
    return [_return(word(names, bet["kind"]), rate) for rate in (bet.get("returns") or {}).values()]


def _bet_notes(bet: Mapping[str, Any], names: Names, currency: str) -> Iterable[str]:
    """What a side bet has instead of one return, or beside it."""
    name = word(names, bet["kind"])
    if "slope" in bet:
        even = bet["break_even_meter"]
        told = "" if even is None else f", and everything at a meter of {_amount(even['dec'], currency)}"
        more = percent(str(Decimal(bet["slope"]["dec"]) * _METER_STEP))
        yield (
            f"{name}: {percent(bet['fixed_share']['dec'])} of the stake come back as fixed awards, and "
            f"another {more} for every {money(_METER_STEP, currency)} in the meter{told}."
        )
    elif "fair_stake" in bet:
        fair = _amount(bet["fair_stake"]["dec"], currency)
        yield f"{name}: its awards are worth {fair} a bet on average; a stake of that would come back whole."


def _events(figures: Mapping[str, Any]) -> Table:
    chances = figures["probabilities"]
    rows = [
        (words, percent(chances[name]["dec"]), _one_in(chances[name]["dec"]), _fraction(chances[name]))
        for name, words in _EVENTS.items()
        if chances[name]["num"] != "0"
    ]
    return Table("What happens", ("", "how often", "one round in", "which is exactly"), rows, ())


def _hands(figures: Mapping[str, Any], names: Names) -> Table:
    currency = figures["currency"]
    rows = [
        (
            CATEGORY_NAMES[each["category"]],
            f"{each['raise_pays']} to 1",
            money(each["raise_wins"], currency),
            percent(each["dealt"]["dec"]),
            percent(each["win"]["dec"]),
            _one_in(each["win"]["dec"]),
        )
        for each in figures["categories"]
    ]
    won = f"{word(names, 'raise')} of {money(figures['raise'], currency)} wins"
    heads = ("Final hand", "pays", won, "you hold it", "and win with it", "one round in")
    return Table("By hand", heads, rows, ())


def percent(decimal: str) -> str:
    """Write a share in per cent: to four decimals, or to three digits where it is less than a hundredth.

    >>> percent("0.947756940076706"), percent("-0.01"), percent("0.0000153907716932927"), percent("0")
    ('94.7757 %', '-1.0000 %', '0.00154 %', '0.0000 %')
    """
    share = Decimal(decimal) * 100
    if share and abs(share) < _HUNDREDTH:
        return f"{share:.3g} %" if abs(share) >= _TINY else f"{share:.2e} %"
    return f"{share.quantize(_PERCENT)} %"


def _one_in(decimal: str) -> str:
    chance = Decimal(decimal)
    return "never" if not chance else f"{1 / chance:,.2f}" if chance > _RARE else f"{1 / chance:,.0f}"


def _fraction(number: Mapping[str, str]) -> str:
    """Write an exact number as a fraction, its digits in groups."""
    numerator, denominator = int(number["num"]), int(number["den"])
    return f"{numerator:,} / {denominator:,}".replace(",", "\N{NO-BREAK SPACE}")


def _rounded(decimal: str) -> str:
    return f"{Decimal(decimal).quantize(_PERCENT)}"


def _amount(decimal: str, currency: str) -> str:
    return money(int(Decimal(decimal).to_integral_value(ROUND_FLOOR)), currency)

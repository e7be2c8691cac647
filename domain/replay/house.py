"""A house's rules as the replay reads them: from the bytes that are hashed, and from nothing else.

Nothing of the writer's reading is used (`domain.rulesets` validates, `domain.rules` compiles). Amounts
become minor units here. Reading is done once for each rule set and currency and remembered, within a bound.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

import orjson

from domain.replay.parts import SideBetKind
from domain.replay.ranking import ACE_KING, CATEGORIES

DOCUMENT_BYTES_MAX: Final = 262_144
_REMEMBERED_MAX: Final = 64

_ZERO_DIGITS: Final = (
    "BIF",
    "CLP",
    "DJF",
    "GNF",
    "ISK",
    "JPY",
    "KMF",
    "KRW",
    "PYG",
    "RWF",
    "UGX",
    "UYI",
    "VND",
    "VUV",
    "XAF",
    "XOF",
    "XPF",
)
# ISO 4217, list one; all other currencies have two digits.
_EXPONENTS: Final[dict[str, int]] = {
    **dict.fromkeys(_ZERO_DIGITS, 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}

_UNITS: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,4})?")

_Value = TypeVar("_Value")


class UnusableRulesError(ValueError):
    """A document that cannot be taken for a house's rules."""


@dataclass(frozen=True, slots=True)
class Award:
    """What a category pays: a percentage of the meter, or a fixed amount.

    `house_pays` leaves the meter alone.
    """

    percent: int | None
    fixed: int
    house_pays: bool


@dataclass(frozen=True, slots=True)
class SideBet:
    """A bet beside the ante.

    `stake` is its fixed amount; None where the player chooses or, with `table_stake`, the table does.
    """

    kind: SideBetKind
    stake: int | None
    table_stake: bool
    stake_returned: bool
    survives_fold: bool
    needs_dealer_to_qualify: bool
    pays: Mapping[str, int]
    awards: Mapping[str, Award]


@dataclass(frozen=True, slots=True)
class House:
    """The rules of one house in one currency.

    Amounts in minor units. `cap` without an amount takes the table's.
    """

    id: str
    currencies: frozenset[str]
    max_ante: int | None
    seats: int
    hands_per_player: int
    shared: bool
    round_robin: bool
    up_indices: tuple[int, ...]
    raise_multiple: int
    decisions_in_seat_order: bool
    timeout_folds: bool
    reveal_if_all_fold: bool
    show_hands: str
    qualify: str
    raise_pays: Mapping[str, int]
    capped: bool
    cap_per_player: bool
    cap_amount: int | None
    side_bets: Mapping[str, SideBet]
    exchange_fee_antes: int | None
    forfeits: frozenset[str]
    misdeal_causes: frozenset[str]


def canonical(document: object) -> bytes | None:
    """The bytes that are hashed, or None if the document has no such form.

    Sorted keys, no spaces: RFC 8785 for documents of texts and whole numbers.
    """
    try:
        encoded = orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER)
    except (orjson.JSONEncodeError, RecursionError):
        return None
    return encoded if len(encoded) <= DOCUMENT_BYTES_MAX else None


def sha256(encoded: bytes) -> str:
    """The SHA-256 of bytes in hexadecimal."""
    return hashlib.sha256(encoded).hexdigest()


def house(encoded: bytes, currency: str) -> House | None:
    """The house whose canonical document this is, with amounts in the minor units of a currency.

    None if it cannot be read.
    """
    return _read(encoded, _EXPONENTS.get(currency, 2))


@lru_cache(maxsize=_REMEMBERED_MAX)
def _read(encoded: bytes, exponent: int) -> House | None:
    try:
        return _house(_typed(orjson.loads(encoded), dict), exponent)
    except UnusableRulesError:
        return None


def _house(rules: Mapping[str, Any], exponent: int) -> House:
    seating, deal, play = (_part(rules, name, dict) for name in ("seating", "deal", "play"))
    cap = _part(rules, "raise_cap", dict, {})
    exchange = _part(rules, "exchange", dict, {})
    side_bets = [_side_bet(_typed(bet, dict), exponent) for bet in _part(rules, "side_bets", list, [])]
    return House(
        id=_part(rules, "id", str),
        currencies=_texts(rules, "currencies"),
        max_ante=_minor_or_none(rules, "max_ante", exponent),
        seats=_part(seating, "seats", int),
        hands_per_player=_part(seating, "hands_per_player", int, 1),
        shared=_part(seating, "shared_player_hand", bool, default=False),
        round_robin=_choice(deal, "pattern", "round_robin", "block") == "round_robin",
        up_indices=_up_indices(deal),
        raise_multiple=_part(play, "raise_multiple", int, 2),
        decisions_in_seat_order=_choice(play, "decision_order", "any", "seat", default="any") == "seat",
        timeout_folds=_choice(play, "on_timeout", "fold", "void", default="fold") == "fold",
        reveal_if_all_fold=_part(play, "reveal_if_all_fold", bool, default=True),
        show_hands=_choice(
            play, "show_hands", "all", "called", "jackpot_when_not_qualified", default="called"
        ),
        qualify=_choice(rules, "qualify", ACE_KING, *CATEGORIES, default=ACE_KING),
        raise_pays=_odds(_part(rules, "raise_pays", dict), frozenset(CATEGORIES)),
        capped="raise_cap" in rules,
        cap_per_player=_choice(cap, "scope", "raise_per_hand", "aggregate", default="raise_per_hand")
        == "aggregate",
        cap_amount=_minor_or_none(cap, "amount", exponent),
        side_bets={bet.kind: bet for bet in side_bets},
        exchange_fee_antes=_part(exchange, "fee_antes", int, 1) if "exchange" in rules else None,
        forfeits=_texts(exchange, "forfeits"),
        misdeal_causes=_texts(rules, "misdeal_causes"),
    )


def _side_bet(bet: Mapping[str, Any], exponent: int) -> SideBet:
    stake = _part(bet, "stake", str)
    return SideBet(
        kind=cast("SideBetKind", _choice(bet, "kind", "jackpot", "five_plus_one", "bonus")),
        stake=None if stake in {"free", "table"} else _minor(stake, exponent),
        table_stake=stake == "table",
        stake_returned=_choice(bet, "basis", "to_1", "for_1") == "to_1",
        survives_fold=_part(bet, "survives_fold", bool, default=True),
        needs_dealer_to_qualify=_part(bet, "needs_dealer_to_qualify", bool, default=False),
        pays=_odds(_part(bet, "pays", dict, {}), frozenset()),
        awards={
            _typed(category, str): _award(_typed(award, dict), exponent)
            for category, award in _part(bet, "awards", dict, {}).items()
        },
    )


def _award(award: Mapping[str, Any], exponent: int) -> Award:
    percent = _part(award, "percent", int) if "percent" in award else None
    fixed = _minor_or_none(award, "fixed", exponent)
    if (percent is None) == (fixed is None):
        raise UnusableRulesError
    return Award(percent, fixed or 0, _choice(award, "funding", "meter", "house", default="meter") == "house")


def _up_indices(deal: Mapping[str, Any]) -> tuple[int, ...]:
    indices = tuple(_typed(index, int) for index in _part(deal, "dealer_up_indices", list))
    if not indices or not set(indices) <= set(range(5)):
        raise UnusableRulesError
    return indices


def _odds(table: Mapping[str, Any], required: frozenset[str]) -> dict[str, int]:
    if not required <= table.keys():
        raise UnusableRulesError
    return {category: _typed(odds, int) for category, odds in table.items()}


def _texts(part: Mapping[str, Any], name: str) -> frozenset[str]:
    return frozenset(_typed(text, str) for text in _part(part, name, list, []))


def _choice(part: Mapping[str, Any], name: str, *allowed: str, default: str | None = None) -> str:
    chosen = _part(part, name, str, default)
    if chosen not in allowed:
        raise UnusableRulesError
    return chosen


def _minor_or_none(part: Mapping[str, Any], name: str, exponent: int) -> int | None:
    return _minor(_part(part, name, str), exponent) if name in part else None


def _minor(amount: str, exponent: int) -> int:
    """Whole currency units in text → minor units, exactly."""
    if _UNITS.fullmatch(amount) is None:
        raise UnusableRulesError
    whole, _, decimals = amount.partition(".")
    digits, beyond = decimals[:exponent], decimals[exponent:]
    if beyond.strip("0"):
        raise UnusableRulesError
    return int(whole + digits.ljust(exponent, "0"))


def _part(part: Mapping[str, Any], name: str, kind: type[_Value], default: _Value | None = None) -> _Value:
    return _typed(part.get(name, default), kind)


def _typed(value: object, kind: type[_Value]) -> _Value:
    # Not isinstance: a bool must not pass for a number.
    if type(value) is not kind:
        raise UnusableRulesError
    return value

"""The values and the objects that a round's events are made of, as a parser written in C reads them.

`domain.replay.kinds` has the events. Types and bounds are in the annotations; what they cannot say, as that a
text is a name, is asked by ``__post_init__`` of the class that has the field.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from domain.cards import DECK
from domain.replay import fields as f

if TYPE_CHECKING:
    Card: TypeAlias = str
else:
    Card = Literal[DECK]

_REMEMBERED: Final = 65_536
_HEX: Final = b"0123456789abcdef"

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
Text: TypeAlias = Annotated[str, Meta(max_length=f.TEXT_MAX)]
Digest: TypeAlias = Annotated[str, Meta(min_length=64, max_length=64)]
DeckSeed: TypeAlias = Annotated[str, Meta(min_length=96, max_length=96)]
Exact: TypeAlias = Annotated[str, Meta(max_length=21)]
Amount: TypeAlias = Annotated[int, Meta(ge=0, le=f.AMOUNT_MAX)]
Positive: TypeAlias = Annotated[int, Meta(ge=1, le=f.AMOUNT_MAX)]
Balance: TypeAlias = Annotated[int, Meta(ge=0, le=f.BALANCE_MAX)]
Number: TypeAlias = Annotated[int, Meta(ge=0, le=f.NUMBER_MAX)]
Position: TypeAlias = Annotated[int, Meta(ge=1, le=f.NUMBER_MAX)]
SeatNumber: TypeAlias = Annotated[int, Meta(ge=1, le=f.SEATS_MAX)]
Index: TypeAlias = Annotated[int, Meta(ge=0, le=len(DECK) - 1)]
Indices: TypeAlias = Annotated[tuple[Index, ...], Meta(min_length=1, max_length=f.HAND)]
Cards: TypeAlias = Annotated[tuple[Card, ...], Meta(min_length=1, max_length=f.HAND)]
Bet: TypeAlias = Literal["ante", "raise", "exchange_fee", "jackpot", "five_plus_one", "bonus"]
SideBetKind: TypeAlias = Literal["jackpot", "five_plus_one", "bonus"]
DecidedBy: TypeAlias = Literal["player", "timeout", "operator"]
Category: TypeAlias = Literal[
    "high_card",
    "pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
]


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An object of an event."""


# The same names come again in every round; a regular expression costs more than all the rest of an event.
is_name = lru_cache(_REMEMBERED)(f.name)
is_exact = lru_cache(_REMEMBERED)(f.exact)
is_share = lru_cache(_REMEMBERED)(f.share)
is_currency = lru_cache(_REMEMBERED)(f.currency)
is_day = lru_cache(_REMEMBERED)(f.day)


def is_hex(text: str) -> bool:
    """Whether a text, whose length is known, is hexadecimal. Five times as fast as asking for a pattern."""
    return not text.encode().translate(None, _HEX)


def are_exact(*texts: str | None) -> bool:
    """Whether these are exact amounts, or absent."""
    return all(text is None or is_exact(text) for text in texts)


class RulesetRef(Part, frozen=True, kw_only=True):
    """Which rule set."""

    id: Name
    sha256: Digest
    version: Position

    def __post_init__(self) -> None:
        if not (is_name(self.id) and is_hex(self.sha256)):
            raise ValueError


class JackpotRef(Part, frozen=True, kw_only=True):
    """Which jackpot, and its parameters as the round has them. `reset` and `ceiling` in minor units."""

    ceiling: Annotated[int, Meta(ge=1, le=f.BALANCE_MAX)] | None = None
    contribution: str
    diversion: str | None = None
    id: Name
    reset: Amount
    sha256: Digest
    version: Position

    def __post_init__(self) -> None:
        shares = is_share(self.contribution) and (self.diversion is None or is_share(self.diversion))
        if not (shares and is_name(self.id) and is_hex(self.sha256)):
            raise ValueError


class Parameters(Part, frozen=True, kw_only=True):
    """What the table set for itself; amounts in minor units."""

    bonus_stake: Positive | None = None
    cutoff_hour: Annotated[int, Meta(ge=0, le=23)]
    decision_seconds: Number | None = None
    max_ante: Positive
    max_side_bet: Positive
    min_ante: Positive
    min_side_bet: Positive
    raise_win_cap: Positive | None = None
    zone: Text


class Leg(Part, frozen=True, kw_only=True):
    """A bet as it was settled; amounts in minor units."""

    bet: Bet
    odds: Positive | None = None
    returned: Amount
    stake: Amount
    won: Balance


class Refunded(Part, frozen=True, kw_only=True):
    """A bet as it was refunded."""

    bet: Bet
    stake: Amount

"""The small shapes that bodies and paths are made of: what passes here goes through the ledger unchanged."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, Final, Literal

from fastapi import Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from domain.money import AMOUNT_MAX

ID_PATTERN: Final = r"^[A-Za-z0-9._-]{1,64}$"
SEATS_MAX: Final = 500
SEAT_NUMBER_MAX: Final = 65_535
CARDS_MAX: Final = 60
CARD_CHARACTERS_MAX: Final = 16
CLIENT_SEED_CHARACTERS_MAX: Final = 64
NOTE_CHARACTERS_MAX: Final = 2_000

AccountClass = Literal["real", "test"]
Channel = Literal["internet", "mobile", "terminal", "retail", "other"]


class Body(BaseModel):
    """A request's body: nothing is converted, nothing unknown is taken."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Answer(BaseModel):
    """An answer's shape, for the documentation: what goes out are the ledger's own bytes."""

    model_config = ConfigDict(extra="allow")


class CheckpointAnswer(Answer):
    """The evidence log's newest checkpoint when this was answered: how many events, and their tree's root.

    The root is in base64, as in the note at `/log/checkpoint`.
    """

    size: int
    root: str


def plain_text(text: str) -> str:
    """Return text that has one spelling and prints; raise ValueError for what the ledger could not keep."""
    if not unicodedata.is_normalized("NFC", text):
        raise ValueError("must be in Unicode normalization form C")
    if not text.isprintable() and any(_is_refused(character) for character in text):
        raise ValueError("must not have control characters")
    return text


def lines_of_text(text: str) -> str:
    """Return text as `plain_text` has it, of one line or several."""
    plain_text(text.replace("\n", " "))
    return text


def _is_refused(character: str) -> bool:
    point = ord(character)
    noncharacter = 0xFDD0 <= point <= 0xFDEF or point & 0xFFFE == 0xFFFE  # noqa: PLR2004 - RFC 7493 section 2.1
    return unicodedata.category(character) == "Cc" or noncharacter


def _id(description: str, example: str) -> Any:
    return Field(pattern=ID_PATTERN, description=description, examples=[example])


PlayerId = Annotated[str, _id("The operator's name for the player.", "anna")]
TableId = Annotated[str, _id("The operator's name for the table.", "table-1")]
JackpotId = Annotated[str, _id("The operator's name for the jackpot.", "jackpot-1")]
RulesetId = Annotated[str, _id("A house.", "us-casino")]
SessionId = Annotated[str, _id("The operator's session of the player.", "session-77")]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$", description="ISO 4217 code.", examples=["USD"])]
Amount = Annotated[int, Field(ge=1, le=AMOUNT_MAX, description="Minor units.", examples=[1000])]
AmountOrZero = Annotated[int, Field(ge=0, le=AMOUNT_MAX, description="Minor units.", examples=[100_000_000])]
Reference = Annotated[
    str,
    Field(
        pattern=r"^[!-~]{1,128}$",
        description="The cashier's own reference: unique per player and direction.",
        examples=["psp-2026-000417"],
    ),
]
SeatNumber = Annotated[int, Field(ge=1, le=SEAT_NUMBER_MAX, description="Counted from 1.", examples=[1])]
Card = Annotated[
    str,
    Field(
        min_length=1,
        max_length=CARD_CHARACTERS_MAX,
        description="Rank of `23456789TJQKA` and suit of `cdhs`.",
        examples=["As"],
    ),
]
Cards = Annotated[list[Card], Field(max_length=CARDS_MAX)]
SideBetKind = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,32}$")]
ClientSeed = Annotated[
    str,
    Field(
        min_length=1,
        max_length=CLIENT_SEED_CHARACTERS_MAX,
        description="The player's part in the shuffle; taken only after the commitment was answered.",
        examples=["lucky-7"],
    ),
    AfterValidator(plain_text),
]
Note = Annotated[
    str,
    Field(
        min_length=1,
        max_length=NOTE_CHARACTERS_MAX,
        description="Why, in words. Kept outside the log, which holds its salted hash.",
        examples=["The shuffler jammed."],
    ),
    AfterValidator(lines_of_text),
]

RoundPath = Annotated[
    str, Path(pattern=ID_PATTERN, description="The round.", examples=["1K1E6P6HCWMV45MKRW"])
]
PlayerPath = Annotated[str, Path(pattern=ID_PATTERN, description="The player.", examples=["anna"])]
TablePath = Annotated[str, Path(pattern=ID_PATTERN, description="The table.", examples=["table-1"])]
JackpotPath = Annotated[str, Path(pattern=ID_PATTERN, description="The jackpot.", examples=["jackpot-1"])]
RulesetPath = Annotated[str, Path(pattern=ID_PATTERN, description="The rule set.", examples=["us-casino"])]

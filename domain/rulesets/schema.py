"""What a house's rules consist of, and what makes them valid.

A rule set is data: a TOML file beside this module, read into `RuleSet`. Its canonical JSON
(`RuleSet.document`) is what is hashed, published, and handed to auditors. Amounts in it are in
whole currency units (``"2.50"``) and become minor units by the currency's ISO 4217 exponent. The
sources are named by their numbers, 000 to 004.

Two files with the same meaning can differ in form (``"2.5"`` and ``"2.50"``) and then have
different hashes: what is pinned is what was published.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from domain.canonical import document_sha256
from domain.hands import Category
from domain.money import exponent
from domain.rulesets.checks import check_amount, check_deck, check_distinct, check_pays, minor
from domain.rulesets.parts import (
    Award,
    Currency,
    Deal,
    Exchange,
    Identifier,
    MisdealCause,
    Name,
    Odds,
    Part,
    Play,
    RaiseCap,
    Reading,
    Seating,
    SideBet,
    Text,
    Units,
)

__all__ = [
    "Award",
    "Deal",
    "Exchange",
    "Play",
    "RaiseCap",
    "Reading",
    "RuleSet",
    "RulesetError",
    "Seating",
    "SideBet",
    "load",
    "minor",
    "ruleset_sha256",
]


class RulesetError(ValueError):
    """A text or document that is no valid rule set; ``problems`` has one sentence each, with its place."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("not a valid rule set: " + "; ".join(problems))
        self.problems = problems


class RuleSet(Part):
    """A house's rules, whole."""

    id: Identifier
    title: Text
    source: Literal["000", "001", "002", "003", "004"]
    currencies: tuple[Currency, ...] = Field(min_length=1, max_length=40)
    max_ante: Units | None = None
    seating: Seating
    deal: Deal
    play: Play
    qualify: Literal["ace_king"] | Category = "ace_king"
    raise_pays: dict[Category, Odds]
    raise_cap: RaiseCap | None = None
    side_bets: tuple[SideBet, ...] = Field(default=(), max_length=3)
    exchange: Exchange | None = None
    misdeal_causes: tuple[MisdealCause, ...] = ()
    void_policy: Literal["refund_all"] = "refund_all"
    rounding: Literal["down"] = "down"
    names: dict[Name, Text]
    readings: tuple[Reading, ...] = Field(default=(), max_length=40)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        check_deck(hands=self.seating.hands, exchange=self.exchange is not None)
        check_pays(self.raise_pays, complete=True)
        check_distinct([bet.kind for bet in self.side_bets], "a kind of side bet")
        self._check_cards()
        self._check_money()
        self._check_exchange()
        self._check_names()
        return self

    def _check_cards(self) -> None:
        check_distinct(self.misdeal_causes, "a cause of a misdeal")
        face_up = self.deal.player_cards == "up"
        if face_up and self.misdeal_causes:
            raise ValueError("a misdeal is declared only where player cards are dealt face down")
        if face_up != (self.play.show_hands == "all"):
            raise ValueError("show_hands is «all» where player cards are dealt face up, and only there")
        if self.seating.shared_player_hand and not face_up:
            raise ValueError("a shared player hand is dealt face up: everybody plays it")
        if self.play.show_hands == "jackpot_when_not_qualified" and self.side_bet("jackpot") is None:
            raise ValueError("show_hands speaks of a jackpot that the house does not offer")

    def _check_money(self) -> None:
        check_distinct(self.currencies, "a currency")
        for currency in self.currencies:
            exponent(currency)
        for what, units in self.amounts():
            check_amount(units, self.currencies, what)

    def _check_exchange(self) -> None:
        if self.exchange is None:
            return
        if self.seating.shared_player_hand:
            raise ValueError("a shared player hand cannot exchange: it would no longer be shared")
        check_distinct(self.exchange.forfeits, "a forfeited side bet")
        for kind in self.exchange.forfeits:
            if self.side_bet(kind) is None:
                raise ValueError(f"the exchange forfeits {kind}, which the house does not offer")

    def _check_names(self) -> None:
        needed = {"ante", "raise", "fold", *(bet.kind for bet in self.side_bets)}
        if self.exchange is not None:
            needed.add("exchange")
        if needed != set(self.names):
            raise ValueError(f"names must be given for exactly these: {', '.join(sorted(needed))}")

    def amounts(self) -> Iterator[tuple[str, str]]:
        """Every amount of the rule set in whole currency units, with what it is."""
        if self.max_ante is not None:
            yield "max_ante", self.max_ante
        if self.raise_cap is not None and self.raise_cap.amount is not None:
            yield "raise_cap", self.raise_cap.amount
        for bet in self.side_bets:
            if bet.stake not in {"free", "table"}:
                yield f"the stake of {bet.kind}", bet.stake
            for category, award in bet.awards.items():
                if award.fixed is not None:
                    yield f"the {bet.kind} award of {category}", award.fixed

    def side_bet(self, kind: str) -> SideBet | None:
        """Return the side bet of that kind, or None where the house does not offer it."""
        return next((bet for bet in self.side_bets if bet.kind == kind), None)

    def document(self) -> dict[str, Any]:
        """Return the rule set as plain JSON values without absent ones: what is hashed and published."""
        return self.model_dump(mode="json", exclude_none=True)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read a published document, or any in its form; absent fields take their defaults.

        Raises ``RulesetError``.
        """
        try:
            # By way of JSON text, where strict means what it should: arrays are tuples, strings categories.
            return cls.model_validate_json(json.dumps(document, allow_nan=False))
        except ValidationError as error:
            raise RulesetError(tuple(map(_sentence, error.errors(include_url=False)))) from None
        except (TypeError, ValueError) as error:
            raise RulesetError((f"not a JSON document: {error}",)) from None


def _sentence(error: Mapping[str, Any]) -> str:
    """Return one problem that pydantic found, with its place in the document and without the input."""
    place = ".".join(map(str, error["loc"]))
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def load(text: str) -> RuleSet:
    """Read a rule set from the text of its TOML file.

    Raises ``RulesetError`` for what is no TOML or no valid rule set.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RulesetError((f"not a TOML file: {error}",)) from None
    return RuleSet.from_document(document)


def ruleset_sha256(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 (hex) of a rule set's document."""
    return document_sha256(document)

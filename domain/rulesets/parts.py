"""The parts of a rule set, each valid by itself; `domain.rulesets.schema` puts them together.

The sources are named by their numbers, 000 to 004.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from domain.hands import CATEGORIES, Category
from domain.rulesets.checks import (
    SHARED_BETTORS_MAX,
    check_distinct,
    check_ladder,
    check_no_holes,
    check_pays,
    check_text,
)

Units = Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]{0,11})(\.[0-9]{1,3})?$")]
"""An amount in whole currency units, as text, so that no float ever comes near money."""
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=600), AfterValidator(check_text)]
Odds = Annotated[int, Field(ge=1, le=100_000)]
SideBetKind = Literal["jackpot", "five_plus_one", "bonus"]
MisdealCause = Literal["misdeal_count", "misdeal_exposed"]
Name = Literal["ante", "raise", "fold", "exchange", "jackpot", "five_plus_one", "bonus"]

WHOLE_METER = 100
"""The percentage that empties a meter; one category of a jackpot at most pays it."""


class Part(BaseModel):
    """A strict, frozen piece of a rule set: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Seating(Part):
    """Who plays.

    With a shared player hand (001) any number bets on the one hand that is dealt, and `seats` is how
    many; otherwise each seat is dealt its own hand and one player takes up to `hands_per_player` (002).
    """

    seats: int = Field(ge=1, le=SHARED_BETTORS_MAX)
    hands_per_player: int = Field(default=1, ge=1, le=3)
    shared_player_hand: bool = False

    @model_validator(mode="after")
    def _hands_per_player(self) -> Self:
        if self.shared_player_hand and self.hands_per_player > 1:
            raise ValueError("where the player hand is shared, a player has one place only")
        if self.hands_per_player > self.seats:
            raise ValueError("a player cannot have more hands than there are seats")
        return self

    @property
    def hands(self) -> int:
        """How many player hands a full table is dealt."""
        return 1 if self.shared_player_hand else self.seats


class Deal(Part):
    """How cards come out.

    ``round_robin``: one card to each seat in seat order, then one to the dealer, five times. ``block``:
    five cards to each seat in seat order, then five to the dealer. `dealer_up_indices` are places in
    the dealer's five (0 first, 4 last), in order.
    """

    pattern: Literal["round_robin", "block"]
    player_cards: Literal["up", "down"]
    dealer_up_indices: tuple[Annotated[int, Field(ge=0, le=4)], ...] = Field(min_length=1, max_length=4)

    @model_validator(mode="after")
    def _up_cards(self) -> Self:
        check_distinct(self.dealer_up_indices, "a place of a dealer's up-card")
        return self


class Play(Part):
    """What a player may do and what happens when nothing is done.

    `show_hands`: ``called`` turns up every hand that raised; ``jackpot_when_not_qualified`` (004, United
    Kingdom) does so only when the dealer qualifies and otherwise turns up the hands that play the
    jackpot; ``all`` is for cards that lie face up anyway. `reveal_if_all_fold`: whether the dealer shows
    her hand to side bets when nobody raised.
    """

    raise_multiple: int = Field(default=2, ge=1, le=10)
    decision_order: Literal["any", "seat"] = "any"
    on_timeout: Literal["fold", "void"] = "fold"
    reveal_if_all_fold: bool = True
    show_hands: Literal["all", "called", "jackpot_when_not_qualified"] = "called"
    settlement_order: Literal["seat"] = "seat"


class RaiseCap(Part):
    """The most a raise can win.

    `amount` fixes it here; absent, the table's parameter `raise_win_cap` sets it and is mandatory.
    """

    scope: Literal["raise_per_hand", "aggregate"] = "raise_per_hand"
    amount: Units | None = None


class Award(Part):
    """What a category pays: a percentage of the meter, or a fixed amount from the meter or from the house."""

    percent: int | None = Field(default=None, ge=1, le=WHOLE_METER)
    fixed: Units | None = None
    funding: Literal["meter", "house"] = "meter"

    @model_validator(mode="after")
    def _one_amount(self) -> Self:
        if (self.percent is None) == (self.fixed is None):
            raise ValueError("an award is either a percentage of the meter or a fixed amount")
        if self.percent is not None and self.funding == "house":
            raise ValueError("a percentage of the meter is paid from the meter, not by the house")
        return self


class SideBet(Part):
    """A bet beside the ante.

    ``jackpot`` pays `awards` by the player's final five cards; ``five_plus_one`` pays `pays` by the best
    five of the player's five and the dealer's first up-card; ``bonus`` pays fixed `awards` by the house.
    `basis` says whether the stake comes back on a win («to 1») or not («for 1»). `stake` fixes the stake in
    whole units; ``table`` takes it from the table's `bonus_stake`; ``free`` leaves it to the player within
    the side-bet limits.
    """

    kind: SideBetKind
    stake: Units | Literal["free", "table"]
    basis: Literal["to_1", "for_1"]
    survives_fold: bool = True
    needs_dealer_to_qualify: bool = False
    pays: dict[Category, Odds] = Field(default_factory=dict)
    awards: dict[Category, Award] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        if self.kind == "five_plus_one":
            self._check_odds_bet()
        else:
            self._check_award_bet()
        if self.stake == "table" and self.kind != "bonus":
            raise ValueError("only a bonus takes its stake from the table")
        return self

    def _check_odds_bet(self) -> None:
        if self.awards:
            raise ValueError("five_plus_one pays odds: it has no awards")
        if self.basis != "to_1":
            raise ValueError("five_plus_one pays to 1")
        check_pays(self.pays, complete=False)

    def _check_award_bet(self) -> None:
        if self.pays:
            raise ValueError(f"{self.kind} pays awards: it has no odds")
        if self.basis != "for_1":
            raise ValueError(f"{self.kind} pays for 1: its stake never comes back")
        if self.stake == "free":
            raise ValueError(f"{self.kind} needs a fixed stake: its awards do not grow with the stake")
        if self.kind == "bonus":
            self._check_bonus_awards()
        check_no_holes(self.awards)
        check_ladder(list(self._figures("percent")))
        check_ladder(list(self._figures("fixed")))
        if sum(award.percent == WHOLE_METER for award in self.awards.values()) > 1:
            raise ValueError("only one category can pay the whole meter")

    def _check_bonus_awards(self) -> None:
        if any(award.percent is not None for award in self.awards.values()):
            raise ValueError("a percentage needs a jackpot: a bonus has no meter")
        if any(award.funding != "house" for award in self.awards.values()):
            raise ValueError("a bonus is funded by the house: it has no meter")

    def _figures(self, field: Literal["percent", "fixed"]) -> Iterator[tuple[Category, Decimal]]:
        for category in CATEGORIES:
            award = self.awards.get(category)
            figure = None if award is None else getattr(award, field)
            if figure is not None:
                yield category, Decimal(figure)


class Exchange(Part):
    """The purchase of one card (003): fee in antes, one card burned for each, which side bets go with it."""

    fee_antes: int = Field(default=1, ge=1, le=10)
    burn: Literal["per_exchange"] = "per_exchange"
    forfeits: tuple[SideBetKind, ...] = ()


class Reading(Part):
    """How we read an unclear sentence; `flagged` ones are ours and are shown where players read the rules."""

    text: Text
    flagged: bool = False

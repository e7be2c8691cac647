"""What a house's rules consist of, and what makes them valid.

A rule set is data: a TOML file beside this module, read into `RuleSet`. Its canonical JSON (`RuleSet.document`) is what is hashed,
published, and handed to auditors. Amounts in it are in whole currency units (``"2.50"``) and become minor units by the currency's
ISO 4217 exponent. The sources are named by their numbers, 000 to 004.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from domain.hands import Category

Units = Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]{0,11})(\.[0-9]{1,3})?$")]
"""An amount in whole currency units, as text, so that no float ever comes near money."""
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=600)]
Odds = Annotated[int, Field(ge=1, le=100_000)]


class Part(BaseModel):
    """A strict, frozen piece of a rule set: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Seating(Part):
    """Who plays. `max_bettors` is for a shared player hand only: any number bets on the one hand that is dealt."""

    seats: int = Field(ge=1, le=5000)
    hands_per_player: int = Field(default=1, ge=1, le=3)
    shared_player_hand: bool = False


class Deal(Part):
    """How cards come out.

    ``round_robin``: one card to each seat in seat order, then one to the dealer, five times. ``block``: five cards to each seat in
    seat order, then five to the dealer. `dealer_up_indices` are places in the dealer's five (0 first, 4 last), in order.
    """

    pattern: Literal["round_robin", "block"]
    player_cards: Literal["up", "down"]
    dealer_up_indices: tuple[Annotated[int, Field(ge=0, le=4)], ...] = Field(min_length=1, max_length=4)


class Play(Part):
    """What a player may do and what happens when nothing is done."""

    raise_multiple: int = Field(default=2, ge=1, le=10)
    decision_order: Literal["any", "seat"] = "any"
    on_timeout: Literal["fold", "void"] = "fold"
    reveal_if_all_fold: bool = True
    show_hands: Literal["all", "called", "jackpot_when_not_qualified"] = "called"
    settlement_order: Literal["seat"] = "seat"


class RaiseCap(Part):
    """The most a raise can win. `amount` fixes it here; absent, the table's parameter `raise_win_cap` sets it and is mandatory."""

    scope: Literal["raise_per_hand", "aggregate"] = "raise_per_hand"
    amount: Units | None = None


class Award(Part):
    """What a jackpot category pays: a percentage of the meter, or a fixed amount from the meter or from the house."""

    percent: int | None = Field(default=None, ge=1, le=100)
    fixed: Units | None = None
    funding: Literal["meter", "house"] = "meter"


class SideBet(Part):
    """A bet beside the ante.

    ``jackpot`` pays `awards` by the player's final five cards; ``five_plus_one`` pays `pays` by the best five of the player's five and the
    dealer's first up-card; ``bonus`` pays fixed `awards` by the house. `basis` says whether the stake comes back on a win («to 1»)
    or not («for 1»). `stake` fixes the stake in whole units; ``table`` takes it from the table's `bonus_stake`; ``free`` leaves it to the
    player within the side-bet limits.
    """

    kind: Literal["jackpot", "five_plus_one", "bonus"]
    stake: Units | Literal["free", "table"]
    basis: Literal["to_1", "for_1"]
    survives_fold: bool = True
    needs_dealer_to_qualify: bool = False
    pays: dict[Category, Odds] = Field(default_factory=dict)
    awards: dict[Category, Award] = Field(default_factory=dict)


class Exchange(Part):
    """The purchase of one card (003): fee in antes, one card burned for each exchange, which side bets go with it."""

    fee_antes: int = Field(default=1, ge=1, le=10)
    burn: Literal["per_exchange"] = "per_exchange"
    forfeits: tuple[Literal["jackpot", "five_plus_one", "bonus"], ...] = ()


class Reading(Part):
    """How we read an unclear sentence; `flagged` ones are ours and are shown where a player can read the rules."""

    text: Text
    flagged: bool = False


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
    side_bets: tuple[SideBet, ...] = ()
    exchange: Exchange | None = None
    misdeal_causes: tuple[Literal["misdeal_count", "misdeal_exposed"], ...] = ()
    void_policy: Literal["refund_all"] = "refund_all"
    rounding: Literal["down"] = "down"
    names: dict[Literal["ante", "raise", "fold", "exchange", "jackpot", "five_plus_one", "bonus"], Text]
    readings: tuple[Reading, ...] = ()

    def document(self) -> dict[str, Any]:
        """The rule set as plain JSON values without absent ones: what is hashed and published."""
        return self.model_dump(mode="json", exclude_none=True)

    def side_bet(self, kind: str) -> SideBet | None:
        """The side bet of that kind, or None where the house does not offer it."""
        return next((bet for bet in self.side_bets if bet.kind == kind), None)


def minor(units: str, exponent: int) -> int:
    """Whole currency units as text → minor units; raises ValueError where the currency has no such fraction."""
    scaled = Decimal(units).scaleb(exponent)
    if scaled != scaled.to_integral_value():
        raise ValueError(f"{units} has more decimals than a currency with exponent {exponent}")
    return int(scaled)

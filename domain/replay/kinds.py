"""What each event of a round says, as typed objects for the checks.

Read from bytes, they accept nothing that `domain.replay.shapes` does not: types, bounds and names are looked
at by a parser written in C, and what that cannot say by ``__post_init__``. They may refuse more; see
`domain.replay.records` for what happens then.

Fields stand in alphabetical order, as in stored bytes. Absent ones are None, arrays are tuples. Amounts are
in minor units, *exact* ones texts of minor units.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta

from domain.replay import fields as f
from domain.replay import parts as p
from domain.replay.parts import Part, are_exact, is_currency, is_day, is_hex, is_name


class RoundOpened(Part, frozen=True, kw_only=True):
    """The first event: by which rules, from which deck."""

    account_class: Literal["real", "test"]
    build: p.Text
    currency: str
    deal_source: Literal["rng", "table"]
    deck_algorithm: p.Text | None = None
    deck_commitment: p.Digest | None = None
    gaming_day: str
    jackpot: p.JackpotRef | None = None
    parameters: p.Parameters
    rng: p.Text | None = None
    ruleset: p.RulesetRef
    table_id: p.Name

    def __post_init__(self) -> None:
        commitment = self.deck_commitment is None or is_hex(self.deck_commitment)
        names = is_name(self.table_id) and is_currency(self.currency) and is_day(self.gaming_day)
        if not (commitment and names):
            raise ValueError


class _Seated(Part, frozen=True, kw_only=True):
    """An event about a seat that names its player."""

    def __post_init__(self) -> None:
        if not is_name(self.player):  # type: ignore[attr-defined] # the classes below have it, in its place
            raise ValueError


class AntePlaced(_Seated, frozen=True, kw_only=True):
    """A seat takes part."""

    amount: p.Positive
    balance_after: p.Balance
    channel: p.Text | None = None
    client_seed: p.Text | None = None
    player: p.Name
    seat: p.SeatNumber
    session_id: p.Text | None = None


class SideBetPlaced(Part, frozen=True, kw_only=True):
    """A bet beside the ante; exact amounts of what it put into a jackpot."""

    amount: p.Positive
    balance_after: p.Balance
    bet: p.SideBetKind
    contribution: p.Exact | None = None
    diversion: p.Exact | None = None
    jackpot_id: p.Name | None = None
    overflow: p.Exact | None = None
    player: p.Name
    seat: p.SeatNumber

    def __post_init__(self) -> None:
        jackpot = self.jackpot_id is None or is_name(self.jackpot_id)
        if not (
            jackpot and is_name(self.player) and are_exact(self.contribution, self.overflow, self.diversion)
        ):
            raise ValueError


class BettingClosed(Part, frozen=True, kw_only=True):
    """No more antes."""

    seats: p.Number


class _OfCards(Part, frozen=True, kw_only=True):
    """An event that shows cards, no two alike."""

    def __post_init__(self) -> None:
        cards: tuple[str, ...] = self.cards  # type: ignore[attr-defined] # the classes below have it, in its place
        if len(set(cards)) != len(cards):
            raise ValueError


class Dealt(_OfCards, frozen=True, kw_only=True):
    """A hand, or the dealer's up-cards."""

    cards: p.Cards
    indices: p.Indices | None = None
    seat: p.SeatNumber | None = None
    to: Literal["seat", "shared", "dealer"]
    up_indices: (
        Annotated[
            tuple[Annotated[int, Meta(ge=0, le=f.HAND - 1)], ...], Meta(min_length=1, max_length=f.HAND)
        ]
        | None
    ) = None


class CardExchanged(_Seated, frozen=True, kw_only=True):
    """A card is bought."""

    balance_after: p.Balance
    burn_index: p.Index | None = None
    decided_by: p.DecidedBy
    discard: p.Card
    drawn: p.Card
    drawn_index: p.Index | None = None
    fee: p.Positive
    forfeited: Annotated[tuple[p.SideBetKind, ...], Meta(max_length=f.ARRAY_MAX)]
    player: p.Name
    seat: p.SeatNumber


class Folded(Part, frozen=True, kw_only=True):
    """A seat gives up."""

    decided_by: p.DecidedBy
    seat: p.SeatNumber


class Raised(_Seated, frozen=True, kw_only=True):
    """A seat goes on."""

    amount: p.Positive
    balance_after: p.Balance
    decided_by: p.DecidedBy
    player: p.Name
    seat: p.SeatNumber


class DealerQualified(_OfCards, frozen=True, kw_only=True):
    """The dealer's hand."""

    cards: Annotated[tuple[p.Card, ...], Meta(min_length=f.HAND, max_length=f.HAND)]
    category: p.Category
    indices: p.Indices | None = None
    qualified: bool


class Settled(_Seated, frozen=True, kw_only=True):
    """What a seat got."""

    balance_after: p.Balance
    bets: Annotated[tuple[p.Leg, ...], Meta(min_length=1, max_length=f.ARRAY_MAX)]
    category: p.Category | None = None
    player: p.Name
    result: p.Name
    seat: p.SeatNumber
    shown: bool

    def __post_init__(self) -> None:
        if not (is_name(self.player) and is_name(self.result)):
            raise ValueError


class JackpotHit(Part, frozen=True, kw_only=True):
    """An award of the jackpot; exact amounts but for `award`."""

    award: p.Balance
    balance_after: p.Balance
    category: p.Category
    from_house: p.Exact
    from_meter: p.Exact
    from_overflow: p.Exact | None = None
    jackpot_id: p.Name
    meter_after: p.Exact
    meter_before: p.Exact
    order: p.Position
    player: p.Name
    previous_position: p.Position
    restart: p.Exact | None = None
    restart_from_diversion: p.Exact | None = None
    seat: p.SeatNumber

    def __post_init__(self) -> None:
        exact = are_exact(
            self.from_house,
            self.from_meter,
            self.meter_before,
            self.meter_after,
            self.from_overflow,
            self.restart,
            self.restart_from_diversion,
        )
        if not (exact and is_name(self.player) and is_name(self.jackpot_id)):
            raise ValueError


class ContributionReversed(Part, frozen=True, kw_only=True):
    """What a void round's side bet had put into the jackpot is taken back; exact amounts."""

    amount: p.Exact
    from_diversion: p.Exact | None = None
    from_house: p.Exact
    from_meter: p.Exact
    from_overflow: p.Exact | None = None
    jackpot_id: p.Name
    meter_after: p.Exact
    meter_before: p.Exact
    player: p.Name
    previous_position: p.Position
    seat: p.SeatNumber

    def __post_init__(self) -> None:
        exact = are_exact(
            self.amount,
            self.from_house,
            self.from_meter,
            self.meter_before,
            self.meter_after,
            self.from_overflow,
            self.from_diversion,
        )
        if not (exact and is_name(self.player) and is_name(self.jackpot_id)):
            raise ValueError


class StakeRefunded(_Seated, frozen=True, kw_only=True):
    """A void round gives a seat back what it staked."""

    amount: p.Positive
    balance_after: p.Balance
    bets: Annotated[tuple[p.Refunded, ...], Meta(min_length=1, max_length=f.ARRAY_MAX)]
    player: p.Name
    seat: p.SeatNumber


class RoundClosed(Part, frozen=True, kw_only=True):
    """The end of a round that was played."""

    deck_seed: p.DeckSeed | None = None

    def __post_init__(self) -> None:
        if not (self.deck_seed is None or is_hex(self.deck_seed)):
            raise ValueError


class RoundVoided(Part, frozen=True, kw_only=True):
    """The round counts for nothing, for a cause."""

    cause: p.Name
    deck_seed: p.DeckSeed | None = None
    note_sha256: p.Digest | None = None

    def __post_init__(self) -> None:
        seed = self.deck_seed is None or is_hex(self.deck_seed)
        note = self.note_sha256 is None or is_hex(self.note_sha256)
        if not (seed and note and is_name(self.cause)):
            raise ValueError


KINDS: Final[tuple[type[Part], ...]] = (
    RoundOpened,
    AntePlaced,
    SideBetPlaced,
    BettingClosed,
    Dealt,
    CardExchanged,
    Folded,
    Raised,
    DealerQualified,
    Settled,
    JackpotHit,
    RoundClosed,
    ContributionReversed,
    StakeRefunded,
    RoundVoided,
)
"""All events of a round."""

"""What happens in a round, from its opening to its close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from domain.events.houses import RulesetRef, TableParameters
from domain.events.jackpots import JackpotRef
from domain.events.words import AccountClass, DealSource, DecidedBy


@dataclass(frozen=True, slots=True)
class RoundOpened:
    """A round exists and pins what it is played by.

    Rules, table and jackpot parameters (G7), and the deck by its commitment (G6).

    `deck_commitment`, `deck_algorithm` and `rng` are there for deal source ``rng`` only. `build` names
    the software. `gaming_day` is an ISO date: a round belongs to the day it opened.
    """

    table_id: str
    ruleset: RulesetRef
    currency: str
    account_class: AccountClass
    deal_source: DealSource
    gaming_day: str
    parameters: TableParameters
    build: str
    deck_commitment: str | None = None
    deck_algorithm: str | None = None
    rng: str | None = None
    jackpot: JackpotRef | None = None


@dataclass(frozen=True, slots=True)
class AntePlaced:
    """A seat's ante was accepted and paid."""

    seat: int
    player: str
    amount: int
    balance_after: int
    session_id: str | None = None
    channel: str | None = None
    client_seed: str | None = None


@dataclass(frozen=True, slots=True)
class SideBetPlaced:
    """A side bet was accepted and paid.

    On a jackpot side bet, `contribution` went to that jackpot at this position: to its meter, but for the
    part that would have taken it above its ceiling and went to the overflow pool (`overflow`; absent:
    nothing). `diversion` went to the diversion pool beside that (absent where the parameters have none).
    """

    seat: int
    player: str
    bet: str
    amount: int
    balance_after: int
    contribution: str | None = None
    jackpot_id: str | None = None
    overflow: str | None = None
    diversion: str | None = None


@dataclass(frozen=True, slots=True)
class BettingClosed:
    """«No more bets»: `seats` antes stand."""

    seats: int


@dataclass(frozen=True, slots=True)
class Dealt:
    """One hand, in dealing order: a seat's, the shared one, or the dealer's up-cards.

    `indices` are positions in the shuffled deck, counted from 0; absent where a physical table dealt.
    `up_indices` are the places of the up-cards within the dealer's five, counted from 0.
    """

    to: Literal["seat", "shared", "dealer"]
    cards: tuple[str, ...]
    seat: int | None = None
    indices: tuple[int, ...] | None = None
    up_indices: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class CardExchanged:
    """A seat bought one card for the fee: one card burned unseen, the next one drawn in place of `discard`.

    `forfeited` names the side bets taken with the exchange (source 003). Indices are absent where a
    physical table dealt.
    """

    seat: int
    player: str
    fee: int
    discard: str
    drawn: str
    forfeited: tuple[str, ...]
    decided_by: DecidedBy
    balance_after: int
    burn_index: int | None = None
    drawn_index: int | None = None


@dataclass(frozen=True, slots=True)
class Folded:
    """A seat gave up its ante."""

    seat: int
    decided_by: DecidedBy


@dataclass(frozen=True, slots=True)
class Raised:
    """A seat placed its raise (Bet, Call, Back Bet, Odds): the rule set's multiple of the ante."""

    seat: int
    player: str
    amount: int
    decided_by: DecidedBy
    balance_after: int


@dataclass(frozen=True, slots=True)
class DealerQualified:
    """The dealer's five cards in dealing order, their category, and whether they qualify.

    `indices` as in `Dealt`.
    """

    cards: tuple[str, ...]
    category: str
    qualified: bool
    indices: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class BetLeg:
    """What one bet did.

    `returned` is stake given back, `won` is winnings, `odds` what it was paid at («to 1» or «for 1»).
    """

    bet: str
    stake: int
    returned: int
    won: int
    odds: int | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """One seat's result, bet by bet. A jackpot win is on its bet and was paid by the seat's `JackpotHit`.

    `shown`: whether the hand was turned up at the table.
    """

    seat: int
    player: str
    result: str
    bets: tuple[BetLeg, ...]
    shown: bool
    balance_after: int
    category: str | None = None


@dataclass(frozen=True, slots=True)
class JackpotHit:
    """One seat's award, paid to the wallet here. `order` counts this jackpot's hits from 1.

    `from_meter` + `from_house` = `award`; `from_house` is a top-up where the meter did not cover a fixed
    award, or the whole of an award that the house pays. `restart` is the seed that is put in when a meter
    was won (on the last of the shares): `restart_from_diversion` of it by the diversion pool, the rest by
    the house. With it comes `from_overflow`, what the restarted meter takes of the overflow pool. Both are
    absent where they are nothing. `meter_after` = `meter_before` - `from_meter` + `restart` +
    `from_overflow`. `previous_position`: the last event before this one that moved the meter.
    """

    seat: int
    player: str
    jackpot_id: str
    category: str
    award: int
    from_meter: str
    from_house: str
    meter_before: str
    meter_after: str
    order: int
    previous_position: int
    balance_after: int
    restart: str | None = None
    restart_from_diversion: str | None = None
    from_overflow: str | None = None


@dataclass(frozen=True, slots=True)
class RoundClosed:
    """Nothing more happens in the round.

    The deck's seed material is revealed (hex), where there was a deck.
    """

    deck_seed: str | None = None


@dataclass(frozen=True, slots=True)
class ContributionReversed:
    """A void round's contribution left the pools it had gone to, as they stood.

    What a pool did not hold the house bears: `from_meter` + `from_overflow` + `from_diversion` +
    `from_house` = `amount`, all that the side bet had put in. Absent is nothing.
    """

    seat: int
    player: str
    jackpot_id: str
    amount: str
    from_meter: str
    from_house: str
    meter_before: str
    meter_after: str
    previous_position: int
    from_overflow: str | None = None
    from_diversion: str | None = None


@dataclass(frozen=True, slots=True)
class RefundedStake:
    """One stake of a void round."""

    bet: str
    stake: int


@dataclass(frozen=True, slots=True)
class StakeRefunded:
    """All of one seat's stakes came back."""

    seat: int
    player: str
    amount: int
    bets: tuple[RefundedStake, ...]
    balance_after: int


@dataclass(frozen=True, slots=True)
class RoundVoided:
    """The round was declared void.

    What was staked comes back by `StakeRefunded`. The deck's seed is revealed.

    `cause` is one of the rule set's, ``malfunction``, ``timeout`` or ``expired``; `note_sha256` is the
    salted hash of a note kept elsewhere.
    """

    cause: str
    deck_seed: str | None = None
    note_sha256: str | None = None

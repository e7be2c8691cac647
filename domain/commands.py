"""What somebody may ask of the ledger.

A command is a frozen value whose shape has been checked at the edge; whether it is *allowed* is decided by
`domain.handlers` against the state of the ledger. Identifiers that are new (round, player pseudonym,
transaction) come with the command, so that deciding needs no randomness but the deck's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from domain.events import (
    AccountClass,
    AuditSource,
    AuditVerdict,
    DealSource,
    HaltReason,
    Occasion,
)

Action = Literal["raise", "fold", "exchange"]


@dataclass(frozen=True, slots=True)
class StartLedger:
    """Write the ledger's first event."""

    demo: bool


@dataclass(frozen=True, slots=True)
class PublishRuleset:
    """Publish a rule set's document as its next version.

    The same content as the newest version changes nothing.
    """

    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class OpenPlayer:
    """Open a player's wallet; `player` is the new pseudonym."""

    player_id: str
    player: str
    currency: str
    account_class: AccountClass = "real"


@dataclass(frozen=True, slots=True)
class Deposit:
    """Credit a wallet."""

    player_id: str
    amount: int
    reference: str
    transaction_id: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Debit a wallet."""

    player_id: str
    amount: int
    reference: str
    transaction_id: str


@dataclass(frozen=True, slots=True)
class OpenJackpot:
    """Open a progressive jackpot at its reset."""

    jackpot_id: str
    currency: str
    reset: int
    contribution: str
    account_class: AccountClass = "real"
    ceiling: int | None = None
    diversion: str | None = None


@dataclass(frozen=True, slots=True)
class DisableJackpot:
    """Take no side bet on a jackpot. The note's hash as in `VoidRound`."""

    jackpot_id: str
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class EnableJackpot:
    """Take side bets on it again."""

    jackpot_id: str
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class OpenTable:
    """Open a table on the newest version of a rule set. Absent parameters take their defaults."""

    table_id: str
    ruleset: str
    currency: str
    min_ante: int
    max_ante: int
    deal_source: DealSource
    jackpot_id: str | None = None
    parallel_rounds: bool | None = None
    account_class: AccountClass = "real"
    raise_win_cap: int | None = None
    bonus_stake: int | None = None
    zone: str = "UTC"
    cutoff_hour: int = 0
    decision_seconds: int | None = None
    min_side_bet: int | None = None
    max_side_bet: int | None = None


@dataclass(frozen=True, slots=True)
class CloseTable:
    """Take no new rounds at a table."""

    table_id: str


@dataclass(frozen=True, slots=True)
class ReopenTable:
    """Take rounds again."""

    table_id: str


@dataclass(frozen=True, slots=True)
class ActivateRuleset:
    """Play a table's new rounds by a published version (absent: the newest)."""

    table_id: str
    ruleset: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class JoinTable:
    """Take a place at a table."""

    table_id: str
    player_id: str
    seat: int | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class LeaveTable:
    """Give up the place."""

    table_id: str
    player_id: str


@dataclass(frozen=True, slots=True)
class SeatStake:
    """One seat's stakes. `side_bets` maps the kind to the stake in minor units."""

    seat: int
    player_id: str
    ante: int
    side_bets: Mapping[str, int] = field(default_factory=dict)
    session_id: str | None = None
    channel: str | None = None
    client_seed: str | None = None


@dataclass(frozen=True, slots=True)
class OpenRound:
    """Open a round; with seats, place their stakes; with `deal`, close betting and deal."""

    round_id: str
    table_id: str
    seats: tuple[SeatStake, ...] = ()
    deal: bool = False


@dataclass(frozen=True, slots=True)
class PlaceAntes:
    """Place stakes in an open round; with `deal`, close betting and deal."""

    round_id: str
    seats: tuple[SeatStake, ...]
    deal: bool = False


@dataclass(frozen=True, slots=True)
class DealCards:
    """Close betting and deal.

    A physical table names the cards: `hands` by seat, or `shared`, and `dealer_up`.
    """

    round_id: str
    hands: Mapping[int, tuple[str, ...]] | None = None
    shared: tuple[str, ...] | None = None
    dealer_up: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Decide:
    """One seat's decision.

    `drawn` is a physical table's exchanged card. With `open_next`, `next_round_id` is the round to open
    after.
    """

    round_id: str
    seat: int
    action: Action
    discard: str | None = None
    drawn: str | None = None
    open_next: bool = False
    next_round_id: str | None = None


@dataclass(frozen=True, slots=True)
class RevealDealer:
    """A physical table's scanner names the dealer's other cards, in dealing order; the round is settled."""

    round_id: str
    dealer: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VoidRound:
    """Declare an unfinished round void.

    The note itself is kept outside the log; `note_sha256` is its salted hash.
    """

    round_id: str
    cause: str
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class TimeOutRound:
    """The round's clock ran out.

    Undecided seats fold or the round is void, by the rule set; an unstaked round expires.
    """

    round_id: str


@dataclass(frozen=True, slots=True)
class ContinueRound:
    """Go on settling, or refunding, a round that has more seats than one command may carry."""

    round_id: str


@dataclass(frozen=True, slots=True)
class Propose:
    """Propose an action that takes two people. `payload` says what, in the terms of its `kind`.

    The reason itself is kept outside the log; `note_sha256` is its salted hash.
    """

    approval_id: str
    kind: str
    payload: dict[str, Any]
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Approve:
    """Carry out what another has proposed.

    `payload_sha256` is of the payload as whoever approves has read it, where they say.
    """

    approval_id: str
    note_sha256: str | None = None
    payload_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Say no to what was proposed."""

    approval_id: str
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class RegisterPerson:
    """Register a person by the public half of their key.

    `approval_id` is the proposal's, should registering take two.
    """

    person_id: str
    public_key: str
    scopes: tuple[str, ...]
    approval_id: str
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class RevokePerson:
    """Take a person's credential no longer. `approval_id` is the proposal's, should that take two."""

    person_id: str
    approval_id: str
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class VerifySoftware:
    """Record what the software is. SHA-256 in hex; `postgres` is None where the server is another's.

    `trusting`: a demonstration, which accepts changed files at a start.
    """

    build: str
    code: str
    rulesets: str
    lock: str
    postgres: str | None
    occasion: Occasion
    trusting: bool = False


@dataclass(frozen=True, slots=True)
class StartLog:
    """Start the ledger's first evidence log: who signs it, as a C2SP verifier key of that name."""

    origin: str
    vkey: str


@dataclass(frozen=True, slots=True)
class HaltLog:
    """Take nothing more that could move money: the ledger is not what its log of `generation` has signed.

    `position`: the last on which they agree; `size` and `root` (base64): the last checkpoint, where known,
    with the `origin` and `vkey` of a later log that signed it.
    """

    generation: int
    reason: HaltReason
    position: int
    size: int | None = None
    root: str | None = None
    origin: str | None = None
    vkey: str | None = None


@dataclass(frozen=True, slots=True)
class StartAudit:
    """Record that an audit of some positions begins."""

    run_id: str
    source: AuditSource
    from_position: int
    to_position: int


@dataclass(frozen=True, slots=True)
class FinishAudit:
    """Record what an audit found. `report_sha256` in hex, where there is a report."""

    run_id: str
    verdict: AuditVerdict
    rounds: int
    events: int
    exceptions: int
    report_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class RecordArchive:
    """Record that a finished day (UTC, ISO date) was exported: the next one, without a gap."""

    sequence: int
    day: str
    first_position: int
    last_position: int
    manifest_sha256: str


Command = (
    StartLedger | PublishRuleset | OpenPlayer | Deposit | Withdraw | OpenJackpot
    | DisableJackpot | EnableJackpot
    | OpenTable | CloseTable | ReopenTable | ActivateRuleset | JoinTable | LeaveTable
    | OpenRound | PlaceAntes | DealCards | Decide | RevealDealer | VoidRound | TimeOutRound | ContinueRound
    | Propose | Approve | Refuse | RegisterPerson | RevokePerson
    | VerifySoftware
    | StartLog | HaltLog | StartAudit | FinishAudit | RecordArchive
)  # fmt: skip
"""Any command."""

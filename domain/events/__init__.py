"""Every event the ledger knows, in the field's words.

An event is a fact that has happened and never changes. The classes here are the *data* of an event: what is
common to all of them (position, time, stream, version, who asked for it) belongs to the envelope that the
ledger writes around them, see ``domain.envelope``. Fields that are ``None`` are absent in the stored form.
One event names at most one player, so that a player's evidence can be handed out without anybody else's.

Amounts are integers in minor units of the round's currency. Fields that can hold fractions of a minor unit
(jackpot money) are decimal strings with at most four decimals, as `domain.money.exact_text` writes them.
Cards are two characters, ``As``, ``Td``, ``2c``. Figures such as ``balance_after`` and ``meter_before`` could
be derived; they are there to be checked.

The field names are part of the stored form: they can be added to (with a schema version and an upcaster),
never renamed.
"""

from __future__ import annotations

from typing import get_args

from domain.events.approvals import (
    ActionApproved,
    ActionExpired,
    ActionProposed,
    ActionRefused,
    PersonRegistered,
    PersonRevoked,
)
from domain.events.evidence import (
    ArchiveExported,
    AuditFinished,
    AuditSource,
    AuditStarted,
    AuditVerdict,
    HaltReason,
    LogHalted,
    LogKeyRotated,
    LogStarted,
    PreviousLog,
)
from domain.events.houses import (
    PlayerJoined,
    PlayerLeft,
    RulesetActivated,
    RulesetPublished,
    RulesetRef,
    TableClosed,
    TableOpened,
    TableParameters,
    TableReopened,
)
from domain.events.jackpots import (
    JackpotAdjusted,
    JackpotDisabled,
    JackpotEnabled,
    JackpotOpened,
    JackpotParametersActivated,
    JackpotParametersScheduled,
    JackpotRef,
    JackpotRetired,
    JackpotTransferred,
    Pool,
)
from domain.events.ledger import (
    ClockWentBackwards,
    LedgerStarted,
)
from domain.events.rounds import (
    AntePlaced,
    BetLeg,
    BettingClosed,
    CardExchanged,
    ContributionReversed,
    DealerQualified,
    Dealt,
    Folded,
    JackpotHit,
    Raised,
    RefundedStake,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    Settled,
    SideBetPlaced,
    StakeRefunded,
)
from domain.events.software import Accepted, Occasion, SoftwareVerified
from domain.events.wallets import (
    Deposited,
    WalletOpened,
    Withdrawn,
)
from domain.events.words import AccountClass, DealSource, DecidedBy

__all__ = [
    "EVENT_CLASSES",
    "Accepted",
    "AccountClass",
    "ActionApproved",
    "ActionExpired",
    "ActionProposed",
    "ActionRefused",
    "AntePlaced",
    "ArchiveExported",
    "AuditFinished",
    "AuditSource",
    "AuditStarted",
    "AuditVerdict",
    "BetLeg",
    "BettingClosed",
    "CardExchanged",
    "ClockWentBackwards",
    "ContributionReversed",
    "DealSource",
    "DealerQualified",
    "Dealt",
    "DecidedBy",
    "Deposited",
    "Event",
    "Folded",
    "HaltReason",
    "JackpotAdjusted",
    "JackpotDisabled",
    "JackpotEnabled",
    "JackpotHit",
    "JackpotOpened",
    "JackpotParametersActivated",
    "JackpotParametersScheduled",
    "JackpotRef",
    "JackpotRetired",
    "JackpotTransferred",
    "LedgerStarted",
    "LogHalted",
    "LogKeyRotated",
    "LogStarted",
    "Occasion",
    "PersonRegistered",
    "PersonRevoked",
    "PlayerJoined",
    "PlayerLeft",
    "Pool",
    "PreviousLog",
    "Raised",
    "RefundedStake",
    "RoundClosed",
    "RoundOpened",
    "RoundVoided",
    "RulesetActivated",
    "RulesetPublished",
    "RulesetRef",
    "Settled",
    "SideBetPlaced",
    "SoftwareVerified",
    "StakeRefunded",
    "TableClosed",
    "TableOpened",
    "TableParameters",
    "TableReopened",
    "WalletOpened",
    "Withdrawn",
]

Event = (
    WalletOpened | Deposited | Withdrawn
    | RulesetPublished
    | JackpotOpened | JackpotParametersScheduled | JackpotParametersActivated | JackpotDisabled
    | JackpotEnabled | JackpotTransferred | JackpotRetired | JackpotAdjusted
    | TableOpened | TableClosed | TableReopened | RulesetActivated | PlayerJoined | PlayerLeft
    | RoundOpened | AntePlaced | SideBetPlaced | BettingClosed | Dealt | CardExchanged | Folded | Raised
    | DealerQualified | Settled | JackpotHit | RoundClosed | RoundVoided | StakeRefunded
    | ContributionReversed | LedgerStarted | ClockWentBackwards
    | ActionProposed | ActionApproved | ActionRefused | ActionExpired | PersonRegistered | PersonRevoked
    | SoftwareVerified
    | LogStarted | LogKeyRotated | LogHalted | AuditStarted | AuditFinished | ArchiveExported
)  # fmt: skip
"""Any event's data."""

EVENT_CLASSES: tuple[type, ...] = get_args(Event)

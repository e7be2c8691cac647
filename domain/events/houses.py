"""Rule sets are published, tables opened and changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from domain.events.words import AccountClass, DealSource


@dataclass(frozen=True, slots=True)
class RulesetPublished:
    """A version of a house's rules with its whole content; publishing never activates it (G7)."""

    ruleset_id: str
    ruleset_version: int
    sha256: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RulesetRef:
    """Which rules: id, version and the SHA-256 of the canonical content."""

    id: str
    version: int
    sha256: str


@dataclass(frozen=True, slots=True)
class TableParameters:
    """What a table sets for itself. Amounts in minor units; `decision_seconds` absent: no time-out."""

    min_ante: int
    max_ante: int
    zone: str
    cutoff_hour: int
    min_side_bet: int
    max_side_bet: int
    raise_win_cap: int | None = None
    bonus_stake: int | None = None
    decision_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class TableOpened:
    """A table exists and takes bets by one version of one rule set."""

    table_id: str
    ruleset: RulesetRef
    currency: str
    account_class: AccountClass
    deal_source: DealSource
    parallel_rounds: bool
    parameters: TableParameters
    jackpot_id: str | None = None


@dataclass(frozen=True, slots=True)
class TableClosed:
    """The table takes no new rounds."""

    table_id: str


@dataclass(frozen=True, slots=True)
class TableReopened:
    """The table takes rounds again."""

    table_id: str


@dataclass(frozen=True, slots=True)
class RulesetActivated:
    """From now on the table's new rounds play by this version; open rounds keep theirs (G7)."""

    table_id: str
    ruleset: RulesetRef


@dataclass(frozen=True, slots=True)
class PlayerJoined:
    """A player sat down (or, where no seat is named, started to play) at a table."""

    table_id: str
    player: str
    seat: int | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class PlayerLeft:
    """A player left the table."""

    table_id: str
    player: str

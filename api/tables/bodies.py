"""What is sent to and told of a table."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from api.shapes import (
    AccountClass,
    Amount,
    Answer,
    Body,
    Currency,
    JackpotId,
    PlayerId,
    RulesetId,
    SeatNumber,
    SessionId,
    TableId,
)

DECISION_SECONDS_MAX: Final = 86_400
LAST_HOUR: Final = 23


class ParametersBody(Body):
    """What a table sets for itself; what is absent takes its default."""

    raise_win_cap: Amount | None = None
    bonus_stake: Amount | None = None
    zone: Annotated[
        str,
        Field(pattern=r"^[A-Za-z0-9._+/-]{1,64}$", description="IANA time zone.", examples=["Europe/Prague"]),
    ] = "UTC"
    cutoff_hour: Annotated[int, Field(ge=0, le=LAST_HOUR, description="When the gaming day ends.")] = 0
    decision_seconds: Annotated[int, Field(ge=1, le=DECISION_SECONDS_MAX)] | None = None
    min_side_bet: Amount | None = None
    max_side_bet: Amount | None = None


class TableBody(Body):
    """A new table."""

    table_id: TableId
    ruleset: RulesetId
    currency: Currency
    min_ante: Amount
    max_ante: Amount
    deal_source: Literal["rng", "table"]
    jackpot_id: JackpotId | None = None
    parallel_rounds: bool | None = None
    account_class: AccountClass = "real"
    parameters: ParametersBody = ParametersBody()


class NothingBody(Body):
    """Nothing has to be said."""


class ActivateBody(Body):
    """The published version the table's new rounds are played by; the newest where none is named."""

    ruleset: RulesetId
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class JoinBody(Body):
    """Who takes a place, and perhaps which seat."""

    player_id: PlayerId
    seat: SeatNumber | None = None
    session_id: SessionId | None = None


class LeaveBody(Body):
    """Who gives up the place."""

    player_id: PlayerId


class TableAnswer(Answer):
    """A table."""

    table_id: str
    ruleset: dict[str, Any]
    currency: str
    min_ante: int
    max_ante: int
    deal_source: Literal["rng", "table"]
    parallel_rounds: bool
    account_class: AccountClass
    parameters: dict[str, Any]
    open: bool
    players: int
    jackpot_id: str | None = None
    open_round: str | None = None


class TablesAnswer(Answer):
    """A page of tables, by their ids."""

    items: list[TableAnswer]
    next_cursor: str | None = None


TABLE: Final[dict[str, Any]] = {
    "table_id": "table-1",
    "ruleset": {
        "id": "us-casino",
        "version": 1,
        "sha256": "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
    },
    "currency": "USD",
    "min_ante": 500,
    "max_ante": 100_000,
    "deal_source": "rng",
    "parallel_rounds": True,
    "account_class": "real",
    "parameters": {"zone": "UTC", "cutoff_hour": 0, "min_side_bet": 500, "max_side_bet": 100_000},
    "open": True,
    "players": 0,
    "jackpot_id": "jackpot-1",
}

"""How wallets are told, for the documentation."""

from __future__ import annotations

from typing import Any, Final

from api.play.answers import OPENED, ROUND_ID
from api.shapes import AccountClass, Answer, CheckpointAnswer


class WalletAnswer(Answer):
    """A player's money, minor units: `balance` may be staked or withdrawn, `on_game` lies on open rounds.

    `position` stands where it was asked for as of a moment or a position.
    """

    player_id: str
    currency: str
    account_class: AccountClass
    balance: int
    on_game: int
    position: int | None = None


class TransferAnswer(Answer):
    """A transfer that happened, and the balance it left."""

    transaction_id: str
    balance: int
    checkpoint: CheckpointAnswer | None = None


class PlayerRoundAnswer(Answer):
    """A round the player has staked on."""

    round_id: str
    table_id: str
    ruleset: str
    gaming_day: str
    opened_at: str


class PlayerRoundsAnswer(Answer):
    """A page of a player's rounds, the newest first."""

    items: list[PlayerRoundAnswer]
    next_cursor: str | None = None


WALLET: Final[dict[str, Any]] = {
    "player_id": "anna",
    "currency": "USD",
    "account_class": "real",
    "balance": 50_000,
    "on_game": 0,
}
TRANSFER: Final[dict[str, Any]] = {
    "transaction_id": "t0K3V9Z5M7Q1X8R2B",
    "balance": 50_000,
    "checkpoint": OPENED["checkpoint"],
}
ROUNDS: Final[dict[str, Any]] = {
    "items": [
        {
            "round_id": ROUND_ID,
            "table_id": "table-1",
            "ruleset": "us-casino",
            "gaming_day": "2026-11-29",
            "opened_at": "2026-11-29T21:24:01.123456Z",
        }
    ]
}

"""How a round is told, for the documentation."""

from __future__ import annotations

from typing import Any, Final, Literal

from api.log.documented import KEY, NOTE, ROOT
from api.shapes import Answer, CheckpointAnswer


class RulesetRefAnswer(Answer):
    """Which rules the round is played by (G7)."""

    id: str
    version: int
    sha256: str


class BetAnswer(Answer):
    """What one bet did: `returned` is stake given back, `won` is winnings."""

    bet: Literal["ante", "raise", "jackpot", "five_plus_one", "bonus", "exchange_fee"]
    stake: int
    returned: int
    won: int
    odds: int | None = None


class SeatAnswer(Answer):
    """One seat. `cards` is empty while this token may not see them."""

    seat: int
    player_id: str | None
    ante: int
    side_bets: dict[str, int]
    cards: list[str]
    category: str | None = None
    options: list[Literal["raise", "fold", "exchange"]]
    decision: Literal["raise", "fold"] | None = None
    decided_by: Literal["player", "timeout", "operator"] | None = None
    shown: bool | None = None
    result: Literal["win", "lose", "push", "dealer_not_qualified", "folded", "void"] | None = None
    bets: list[BetAnswer] | None = None
    total_returned: int | None = None
    net: int | None = None


class DealerAnswer(Answer):
    """The dealer's hand, once it is revealed."""

    cards: list[str]
    category: str
    qualified: bool


class JackpotHitAnswer(Answer):
    """An award; meters in minor units, floored, and exact as decimal text."""

    seat: int
    jackpot_id: str
    category: str
    award: int
    meter_before: int
    meter_after: int
    meter_before_exact: str
    meter_after_exact: str
    order: int


class NextRoundAnswer(Answer):
    """The round that was opened after this one."""

    round_id: str
    deck_commitment: str


class RoundAnswer(Answer):
    """A round, with only what the token may see now."""

    round_id: str
    table_id: str
    ruleset: RulesetRefAnswer
    phase: Literal["betting", "dealt", "decided", "revealed", "settled", "closed", "voided"]
    deck_commitment: str | None
    committed: Literal["before_stake", "same_command", "table"]
    up_cards: list[str]
    shared_cards: list[str] | None = None
    seats: list[SeatAnswer]
    totals: dict[str, int] | None = None
    dealer: DealerAnswer | None = None
    jackpot_hits: list[JackpotHitAnswer] | None = None
    deck_seed: str | None = None
    void_cause: str | None = None
    next_round: NextRoundAnswer | None = None
    next_cursor: str | None = None
    checkpoint: CheckpointAnswer | None = None


class EventsAnswer(Answer):
    """A page of a round's events, as they are stored; withheld ones keep their place."""

    items: list[dict[str, Any]]
    next_cursor: str | None = None


class CheckAnswer(Answer):
    """One check of a replay."""

    check: str
    result: Literal["pass", "fail", "not_applicable"]
    expected: Any = None
    actual: Any = None


class ReplayAnswer(Answer):
    """What a second derivation of the round found."""

    verdict: Literal["pass", "fail"]
    checks: list[CheckAnswer]


ROUND_ID: Final = "1K1E6P6HCWMV45MKRW"
_HASH: Final = "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea"

OPENED: Final[dict[str, Any]] = {
    "round_id": ROUND_ID,
    "table_id": "table-1",
    "ruleset": {"id": "us-casino", "version": 1, "sha256": _HASH},
    "currency": "USD",
    "gaming_day": "2026-11-29",
    "phase": "dealt",
    "deck_commitment": _HASH,
    "committed": "same_command",
    "up_cards": ["Kd"],
    "seats": [
        {
            "seat": 1,
            "player_id": "anna",
            "ante": 1000,
            "side_bets": {"jackpot": 100},
            "cards": ["As", "Ah", "7c", "4d", "2s"],
            "options": ["raise", "fold"],
            "category": "pair",
        }
    ],
    "checkpoint": {"size": 4711, "root": ROOT},
}
CLOSED: Final[dict[str, Any]] = {
    **OPENED,
    "phase": "closed",
    "seats": [
        {
            **OPENED["seats"][0],
            "options": [],
            "decision": "raise",
            "decided_by": "player",
            "shown": True,
            "result": "win",
            "bets": [
                {"bet": "ante", "stake": 1000, "returned": 1000, "won": 1000, "odds": 1},
                {"bet": "raise", "stake": 2000, "returned": 2000, "won": 2000, "odds": 1},
                {"bet": "jackpot", "stake": 100, "returned": 0, "won": 0},
            ],
            "total_returned": 6000,
            "net": 2900,
        }
    ],
    "dealer": {"cards": ["9s", "8h", "3c", "Ac", "Kd"], "category": "high_card", "qualified": True},
    "deck_seed": "00" * 48,
}
VOIDED: Final[dict[str, Any]] = {
    **OPENED,
    "phase": "voided",
    "void_cause": "malfunction",
    "deck_seed": "00" * 48,
}
BETTING: Final[dict[str, Any]] = {
    **OPENED,
    "phase": "betting",
    "committed": "before_stake",
    "up_cards": [],
    "seats": [],
}
EVENTS: Final[dict[str, Any]] = {
    "items": [
        {
            "data": {"seats": 1},
            "meta": {"actor": "operator", "command": "tY2Zk0m3S3mK8n0d", "schema": 1},
            "position": 42,
            "recorded_at": "2026-11-29T21:24:01.123456Z",
            "salt": "jxTkX87qFnpaNt7dS-olQw",
            "stream": f"round-{ROUND_ID}",
            "type": "BettingClosed",
            "version": 4,
        },
        {"position": 43, "stream": f"round-{ROUND_ID}", "version": 5, "type": "Dealt", "withheld": True},
    ]
}
REPLAYED: Final[dict[str, Any]] = {
    "verdict": "pass",
    "checks": [{"check": "deck_commitment", "result": "pass", "expected": _HASH, "actual": _HASH}],
}
EVIDENCE: Final[dict[str, Any]] = {
    "currency": {"code": "USD", "exponent": 2},
    "events": EVENTS["items"][:1],
    "format": "stud-ledger/evidence/2",
    "log": {
        "checkpoint": NOTE,
        "earlier": {"proof": [ROOT], "root": ROOT, "size": 38},
        "keys": [KEY.strip()],
        "origin": KEY.partition("+")[0],
        "proofs": [[ROOT]],
    },
    "player": None,
    "round_id": ROUND_ID,
    "ruleset": {"id": "us-casino"},
    "sha256": _HASH,
}

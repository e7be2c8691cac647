"""Samples: some wallets and some finished rounds, each held against what was projected of it.

A sample goes on where the last one ended, so that in time everything has been looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import orjson

from infrastructure.checking.findings import Finding
from infrastructure.checking.reading import Ledger

WALLETS: Final = 100
ROUNDS: Final = 10
WRONG_MAX: Final = 1_000

_WALLETS: Final = """
    SELECT w.player, w.balance, w.on_game, coalesce(p.balance, 0), coalesce(p.on_game_after, 0),
        coalesce(p.position, 0)
    FROM {{schema}}.wallets AS w LEFT JOIN LATERAL (
        SELECT balance, on_game_after, position FROM {{read}}.postings
        WHERE player = w.player ORDER BY position DESC LIMIT 1
    ) AS p ON true
    WHERE {where} LIMIT {limit}"""
_SOME_WALLETS: Final = _WALLETS.format(where="w.player > %s ORDER BY w.player", limit=WALLETS)
_THESE_WALLETS: Final = _WALLETS.format(where="w.player = ANY (%s)", limit=WRONG_MAX)
_WRONG_WALLETS: Final = _WALLETS.format(
    where="(w.balance, w.on_game) IS DISTINCT FROM (coalesce(p.balance, 0), coalesce(p.on_game_after, 0))",
    limit=WRONG_MAX,
)
_FIGURES: Final = (
    "ante",
    "raise",
    "fee",
    "side_bets",
    "returned",
    "game_win",
    "jackpot_win",
    "balance_after",
)
_STAKES: Final = {
    "AntePlaced": "ante",
    "Raised": "raise",
    "CardExchanged": "fee",
    "SideBetPlaced": "side_bets",
}
_SOME_ROUNDS: Final = """
    SELECT round_id FROM {read}.round_records WHERE round_id > %s ORDER BY round_id LIMIT %s"""
_RECORDS: Final = """
    SELECT round_id, seat, ended_position, ante, raise, fee, side_bets, returned, game_win, jackpot_win,
        balance_after
    FROM {read}.round_records WHERE round_id = ANY (%s)"""
_EVENTS: Final = "SELECT data FROM {schema}.events WHERE stream = %s ORDER BY version"


class Samples:
    """Where the samples have come to. What was wrong is looked at again each time, until it is right."""

    def __init__(self) -> None:
        self._player = ""
        self._round = ""
        self._wrong_players: list[str] = []
        self._wrong_rounds: list[str] = []

    def wallets(self, ledger: Ledger, moved_since: Callable[[str], bool]) -> list[Finding]:
        """Hold some wallets against their postings; inside a snapshot.

        `moved_since` says of whom the postings do not know the last yet.
        """
        rows = ledger.rows(_SOME_WALLETS, self._player)
        self._player = rows[-1][0] if len(rows) == WALLETS else ""
        if self._wrong_players:
            rows += ledger.rows(_THESE_WALLETS, self._wrong_players)
        return self._wrong(rows, moved_since)

    def wrong_wallets(self, ledger: Ledger, moved_since: Callable[[str], bool]) -> list[Finding]:
        """Hold all wallets against their postings: once it is known that something is wrong."""
        return self._wrong(ledger.rows(_WRONG_WALLETS), moved_since)

    def _wrong(self, rows: list[tuple[Any, ...]], moved_since: Callable[[str], bool]) -> list[Finding]:
        wrong = [row for row in rows if row[1:3] != row[3:5] and not moved_since(row[0])]
        self._wrong_players = sorted({row[0] for row in wrong})[:WRONG_MAX]
        return [
            Finding("wallets", position, f"{player} holds {balance} and {on_game}, its postings say {due}")
            for player, balance, on_game, *due, position in wrong
        ]

    def rounds(self, ledger: Ledger) -> list[Finding]:
        """Hold the records of some rounds against a fold of their events."""
        some = [round_id for (round_id,) in ledger.rows(_SOME_ROUNDS, self._round, ROUNDS)]
        self._round = some[-1] if len(some) == ROUNDS else ""
        wanted = sorted({*some, *self._wrong_rounds})
        folded = {round_id: self._fold(ledger, round_id) for round_id in wanted}
        wrong = []
        for round_id, seat, position, *recorded in ledger.rows(_RECORDS, wanted):
            figures = folded[round_id]
            due = [figures.get(seat, {}).get(name) for name in _FIGURES]
            if figures and recorded != due:  # none: it is archived, or its beginning is
                detail = f"seat {seat} of round {round_id} is recorded with {recorded}, not {due}"
                wrong.append((round_id, Finding("round_records", position, detail)))
        self._wrong_rounds = sorted({round_id for round_id, _ in wrong})[:WRONG_MAX]
        return [finding for _, finding in wrong]

    @staticmethod
    def _fold(ledger: Ledger, round_id: str) -> dict[int, dict[str, int]]:
        events = [orjson.loads(data) for (data,) in ledger.rows(_EVENTS, f"round-{round_id}")]
        whole = events and events[0]["type"] == "RoundOpened"
        return round_figures(events) if whole else {}


def round_figures(events: Iterable[dict[str, Any]]) -> dict[int, dict[str, int]]:
    """Return each seat's figures as its round's events say them, in minor units.

    None of any seat where the first events are missing: they are archived, and the rest says too little.
    """
    seats: dict[int, dict[str, int]] = {}
    for version, event in enumerate(events, 1):
        if event["version"] != version:
            return {}
        type_, data = event["type"], event["data"]
        if type_ == "AntePlaced":
            seats[data["seat"]] = dict.fromkeys(_FIGURES, 0)
        seat = seats.get(data.get("seat", 0))
        if seat is None:
            continue
        if "balance_after" in data:
            seat["balance_after"] = data["balance_after"]
        if type_ in _STAKES:
            seat[_STAKES[type_]] += data["fee" if type_ == "CardExchanged" else "amount"]
        elif type_ == "Settled":
            for bet in data["bets"]:
                seat["returned"] += bet["returned"]
                seat["jackpot_win" if bet["bet"] == "jackpot" else "game_win"] += bet["won"]
        elif type_ == "StakeRefunded":
            seat["returned"] += data["amount"]
    return seats

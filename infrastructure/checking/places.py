"""Whose money an event moves: account class and currency of its stream, remembered for the latest streams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import orjson

from infrastructure.checking.reading import Ledger

REMEMBERED_MAX: Final = 50_000

Place = tuple[str, str]
"""Account class and currency."""


class Places:
    """Looks them up. A round's are in its first event, a wallet's and a jackpot's in their rows."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: dict[str, Place] = {}

    def of(self, streams: Iterable[str]) -> dict[str, Place]:
        """Return the places of streams; one of which nothing is known is absent. Raises psycopg.Error."""
        wanted = list(streams)
        missing = [stream for stream in wanted if stream not in self._known]
        if len(self._known) + len(missing) > REMEMBERED_MAX:
            self._known.clear()
            missing = wanted
        for kind, read in (
            ("round-", self._rounds),
            ("wallet-", self._wallets),
            ("jackpot-", self._jackpots),
        ):
            if names := [stream.removeprefix(kind) for stream in missing if stream.startswith(kind)]:
                self._known.update(read(names))
        return {stream: self._known[stream] for stream in wanted if stream in self._known}

    def _rounds(self, names: list[str]) -> dict[str, Place]:
        rows = self._ledger.rows(
            "SELECT stream, data FROM {schema}.events WHERE stream = ANY (%s) AND version = 1",
            [f"round-{name}" for name in names],
        )
        opened = ((stream, orjson.loads(data)["data"]) for stream, data in rows)
        return {stream: (data["account_class"], data["currency"]) for stream, data in opened}

    def _wallets(self, names: list[str]) -> dict[str, Place]:
        rows = self._ledger.rows(
            "SELECT player, account_class, currency FROM {schema}.wallets WHERE player = ANY (%s)", names
        )
        return {f"wallet-{player}": (account_class, currency) for player, account_class, currency in rows}

    def _jackpots(self, names: list[str]) -> dict[str, Place]:
        rows = self._ledger.rows(
            "SELECT jackpot_id, state FROM {schema}.jackpots WHERE jackpot_id = ANY (%s)", names
        )
        states = ((f"jackpot-{jackpot_id}", orjson.loads(state)) for jackpot_id, state in rows)
        return {stream: (state["account_class"], state["currency"]) for stream, state in states}

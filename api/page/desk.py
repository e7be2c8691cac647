"""The page's dealings with the ledger: what it reads, and the commands it sends, the same as any client's.

The page acts as client ``page`` with actor ``demo``, for the demo players at the demo tables of a ledger that
is marked as a demonstration, and for nobody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson
from starlette.requests import Request

from api import json_body
from api.composition import Service
from api.demo import player_of
from api.page.house import House
from api.play.finished import evidence_of
from api.writing import submit
from domain.commands import Command
from domain.jackpots import Jackpot
from domain.rules import Rules, compile_rules
from domain.rulesets import SHIPPED
from domain.views import round_view
from domain.work import PublishedRuleset, Table, Wallet
from infrastructure.ledger.submission import Result, Submission, command_id, fingerprint
from infrastructure.reading import FoundRound, Reading

CLIENT: Final = "page"
ACTOR: Final = "demo"
PREFIX: Final = "demo-"
TABLES_MAX: Final = 50

_compiled: dict[tuple[Any, ...], tuple[PublishedRuleset, Rules]] = {}


class DemoTable(NamedTuple):
    """A demo table and its house."""

    table: Table
    house: House


class DemoRound(NamedTuple):
    """A round at a demo table: its house, as pinned when it opened (G7), its view, its recorded events.

    `taken` are the seats that have stakes; `player` is the demo player's pseudonym, None where
    nobody has that wallet.
    """

    house: House
    view: dict[str, Any]
    events: list[dict[str, Any]]
    taken: tuple[int, ...]
    found: FoundRound
    stored: list[bytes]
    player: str | None

    @property
    def last_position(self) -> int:
        """Where the round's newest event stands in the ledger, and so in its log."""
        return int(orjson.loads(self.stored[-1])["position"])

    @property
    def alone(self) -> bool:
        """Whether nobody but the demo player has a seat in it."""
        return len(self.view["seats"]) == len(self.taken)


class Desk:
    """One request's view of the demonstration."""

    def __init__(self, request: Request) -> None:
        self._service: Service = request.app.state.service
        self._reading: Reading = self._service.reading

    async def is_demo(self) -> bool:
        """Whether this ledger is marked as a demonstration. Raises ReadingUnavailable."""
        return await self._reading.is_demo()

    async def tables(self) -> list[DemoTable]:
        """The demo tables, in the order of the sources their houses come from. Raises ReadingUnavailable."""
        found = await self._reading.tables(PREFIX, TABLES_MAX)
        rng = [table for table in found if table.table_id.startswith(PREFIX) and table.deal_source == "rng"]
        tables = [DemoTable(table, await self._house(table)) for table in rng]
        order = {name: place for place, name in enumerate(SHIPPED)}
        return sorted(tables, key=lambda t: (order.get(t.house.ruleset.id, len(order)), t.table.table_id))

    async def wallet(self, currency: str) -> Wallet | None:
        """The demo player's wallet in a currency."""
        return await self._reading.wallet(player_of(currency))

    async def jackpot(self, house: House) -> Jackpot | None:
        """The table's jackpot."""
        return None if house.jackpot_id is None else await self._reading.jackpot(house.jackpot_id)

    async def unfinished(self, house: House) -> str | None:
        """The round to go on with at a table: the demo player's own, or the table's one that takes bets."""
        wallet = await self.wallet(house.currency)
        own = None if wallet is None else wallet.unfinished.get(house.table_id)
        if own is not None:
            return own
        table = await self._reading.table(house.table_id)
        shared = None if table is None or table.open_round is None else await self.round(table.open_round)
        return None if shared is None else shared.view["round_id"]

    async def round(self, round_id: str) -> DemoRound | None:
        """A round at a demo table in which the demo player sits, or nobody yet; None for any other."""
        found = await self._reading.round(round_id)
        if found is None or not found.round.opened.table_id.startswith(PREFIX):
            return None
        round_, opened = found.round, found.round.opened
        player_id = player_of(opened.currency)
        wallet = await self._reading.wallet(player_id)
        own = [
            seat.seat for seat in round_.seats.values() if wallet is not None and seat.player == wallet.player
        ]
        if opened.deal_source != "rng" or (round_.seats and not own and round_.phase != "betting"):
            return None
        player = None if wallet is None else wallet.player
        names: dict[str, str | None] = {} if wallet is None else {wallet.player: player_id}
        view = round_view(round_, found.rules, names, game_server=True, seats=own)
        stored = await self._reading.events(round_id)
        events = [_plain(orjson.loads(data)) for data in stored]
        jackpot_id = None if opened.jackpot is None else opened.jackpot.id
        house = House(opened.table_id, found.ruleset.ruleset, found.rules, opened.parameters, jackpot_id)
        return DemoRound(house, view, events, tuple(round_.seats), found, stored, player)

    async def evidence(self, round_: DemoRound, since: int | None = None) -> bytes | None:
        """The round's evidence file, without what is other players'; None while the round has not ended.

        Raises Problem evidence_not_ready, LogUnavailable, ReadingUnavailable.
        """
        if not round_.found.round.finished:
            return None
        player = None if round_.alone else round_.player
        return await evidence_of(self._service, round_.found, player, since)

    async def act(self, command: Command, key: str, path: str, fields: Mapping[str, str]) -> Result:
        """Hand a command to the ledger; the same key with the same form acts once.

        Raises Problem idempotency_key_reused, overloaded, internal_error.
        """
        asked = fingerprint("POST", path, json_body.canonical(dict(fields)))
        return await submit(self._service, Submission(command_id(CLIENT, key), asked, command, ACTOR))

    async def _house(self, table: Table) -> House:
        has_jackpot = table.jackpot_id is not None
        key = (table.ruleset, table.currency, table.parameters, has_jackpot)
        if key not in _compiled:
            versions = await self._reading.versions(table.ruleset.id)
            published = next(version for version in versions if version.ref == table.ruleset)
            rules = compile_rules(
                published.ruleset, published.ref, table.currency, table.parameters, has_jackpot=has_jackpot
            )
            if len(_compiled) >= TABLES_MAX:
                _compiled.clear()
            _compiled[key] = published, rules
        published, rules = _compiled[key]
        return House(table.table_id, published.ruleset, rules, table.parameters, table.jackpot_id)


def _plain(event: dict[str, Any]) -> dict[str, Any]:
    return {"type": event["type"], "data": event["data"]}

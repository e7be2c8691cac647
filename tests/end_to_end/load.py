"""Load for services that are under fire: clients that play and send again until they are answered.

Afterwards every answer is held against what the ledger remembers, and every command against its events.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from domain import events as ev
from infrastructure.ledger.stored_form import decode
from infrastructure.ledger.submission import command_id, command_name
from tests.end_to_end.asking import Answer, Client, at_once
from tests.end_to_end.service import Service, check_books, rows, run, stake

CLIENTS = 16
RETRY_SECONDS = 0.05
READ_SIDE_SECONDS_MAX = 60


@dataclass
class Sent:
    """One command: how often it was sent, and its answer."""

    path: str
    body: Any
    key: str
    times: int = 0
    answer: Answer | None = None


@dataclass
class Load:
    """Clients that play until they are told to end. `service` is whichever one runs now."""

    service: Service
    sent: list[Sent] = field(default_factory=list)
    ending: bool = False
    broken: int = 0
    put_off: int = 0
    hands: int = 0
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, client: Client, path: str, body: Any, key: str) -> Answer:
        """Send one command, again and again until it is answered; what was not decided is no answer."""
        sent = Sent(path, body, key)
        self.sent.append(sent)
        while True:
            client.service = self.service
            sent.times += 1
            try:
                answer = await client.post(path, body, key)
            except OSError:
                self.broken += 1
            else:
                if answer.status not in (500, 503):
                    sent.answer = answer
                    self.moved.set()
                    return answer
                self.put_off += 1
            await asyncio.sleep(RETRY_SECONDS)

    async def play(self, number: int) -> None:
        """Deposit, play a hand, withdraw: over and over, some of it on a wallet that all share."""
        client = Client(self.service, number)
        turns = random.Random(number)
        try:
            while not self.ending:
                await self.play_hand(client, turns)
                await client.close()  # the next hand is played at whichever worker takes the call
        finally:
            await client.close()

    async def play_hand(self, client: Client, turns: random.Random) -> None:
        """Move money in and out, and play one hand."""
        self.hands += 1
        own = f"kill-{client.number}"
        player = "all" if turns.random() < 0.3 else own
        key = f"{client.number}-{self.hands}"
        money = {"amount": turns.choice((100, 200)), "reference": key}
        for way in ("deposits", "withdrawals"):
            await self.ask(client, f"/v1/players/{player}/{way}", money, f"{way}-{key}")
        seats = [stake(own, side_bets={"jackpot": 100})]
        body = {"table_id": f"kill-{self.hands % 2}", "seats": seats, "deal": True}
        opened = await self.ask(client, "/v1/rounds", body, f"open-{key}")
        decision = f"/v1/rounds/{opened.done()['round_id']}/decisions"
        (await self.ask(client, decision, {"seat": 1, "action": "raise"}, f"raise-{key}")).done()


def furnish(service: Service) -> None:
    """Open what the clients play with."""
    service.jackpot("kill")
    for n in range(2):
        service.table(f"kill-{n}", jackpot_id="kill")
    for player in ("all", *(f"kill-{n}" for n in range(CLIENTS))):
        service.player(player, funds=10**8)


async def under_fire(load: Load, shots: list[Callable[[], Awaitable[None]]]) -> None:
    """Play while one shot after the other is fired; after each the service must answer again."""
    players = [asyncio.create_task(load.play(number)) for number in range(CLIENTS)]
    try:
        for shot in shots:
            await shot()
            await answered(load)
        load.ending = True
        await asyncio.wait_for(asyncio.gather(*players), 60)
    finally:
        for player in players:
            player.cancel()
        await asyncio.gather(*players, return_exceptions=True)


async def answered(load: Load) -> None:
    """Wait until some commands that were sent after a kill have been answered."""
    after = len(load.sent)
    async with asyncio.timeout(60):
        while sum(sent.answer is not None for sent in load.sent[after:]) < CLIENTS:
            load.moved.clear()
            await load.moved.wait()


# ── What must be true afterwards ────────────────────────────────────────────────────────────────────────────
def check_everything(service: Service, load: Load) -> None:
    """Nothing answered is lost, nothing has happened twice, and the books are whole."""
    check_commands(service, load)
    check_books(service.admin_dsn)
    assert rows(service.admin_dsn, "SELECT count(*) FROM open_rounds") == [(0,)]
    assert service.balance("kill-0")[1] == 0


def check_read_side(service: Service, *where: str, **environment: str) -> None:
    """The projections come to the ledger's end and are what a rebuild gives; the whole ledger checks.

    `where` and `environment` tell the commands which ledger.
    """
    end = time.monotonic() + READ_SIDE_SECONDS_MAX
    behind = "SELECT name FROM ledger_read.projections, head WHERE projections.position < head.position"
    while found := rows(service.admin_dsn, behind):
        assert time.monotonic() < end, found
        time.sleep(0.1)
    for command in (["api.cli.rebuild", "--all"], ["api.cli.check"]):
        ended = run(*command, *where, **environment)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    assert rows(service.admin_dsn, "SELECT * FROM ledger_read.alarms") == []
    ready = service.read("/readyz")
    assert ready.status_code == 200, ready.text


def check_commands(service: Service, load: Load) -> None:
    """Every answer is repeated byte for byte, and the events have each command's effect exactly once."""

    async def again(client: Client) -> list[tuple[Sent, Answer]]:
        mine = load.sent[client.number :: CLIENTS]
        return [(sent, await client.post(sent.path, sent.body, sent.key)) for sent in mine]

    effects = effects_of(service)
    repeated = [pair for pairs in at_once((service,), again, CLIENTS) for pair in pairs]
    assert len(repeated) == len(load.sent)
    for sent, answer in repeated:
        assert sent.answer is not None
        assert (answer.status, answer.content) == (sent.answer.status, sent.answer.content)
        assert answer.headers["ledger-position"] == sent.answer.headers["ledger-position"]
        assert answer.headers["idempotent-replayed"] == "true"
        name = command_name(command_id("tests", sent.key))
        assert effects[name] == expected(sent.key), sent
    assert effects_of(service) == effects


def expected(key: str) -> Counter[str]:
    """Return the effect a command of the load has, if it has it once."""
    kind = key.partition("-")[0]
    return {
        "deposits": Counter(Deposited=1),
        "withdrawals": Counter(Withdrawn=1),
        "open": Counter(RoundOpened=1, AntePlaced=1, SideBetPlaced=1, BettingClosed=1, Dealt=2),
        "raise": Counter(Raised=1, DealerQualified=1, Settled=1, RoundClosed=1),
    }[kind]


def effects_of(service: Service) -> dict[str, Counter[str]]:
    """Return how many events of each kind each command has written; a jackpot's hit is chance."""
    found: dict[str, Counter[str]] = {}
    for (data,) in rows(service.admin_dsn, "SELECT data FROM events"):
        recorded = decode(data)
        if not isinstance(recorded.event, ev.JackpotHit):
            found.setdefault(recorded.meta["command"], Counter())[type(recorded.event).__name__] += 1
    return found
